"""What people ask in public of plugins that nothing here can load, answered by one command each.

The answers come from the names in the binaries that the index has; `static_releases --check` holds
the rows to these names, and `real/test_binaries.py` those to what loadable libraries say.
"""

from __future__ import annotations

import pytest

from portable.cli import main

QUESTIONS = {
    "tenstorrent/tt-xla #97: the plugin has no attribute for its Version": (
        *("jax-tt-plugin==0.1.0", "jax-tt-plugin 0.1.0"),
        "at least 1.13.0, below 1.14.0 (static)",
    ),
    "intel/intel-extension-for-openxla #27: which jax writes for it": (
        *("intel-extension-for-openxla==0.3.0", "intel-extension-for-openxla 0.3.0"),
        "at least 0.16.0, below 0.18.0 (static)",
    ),
    "jax-ml/jax #32800: what Apple's plugin for Metal still reads": (
        *("jax-metal==0.1.1", "jax-metal 0.1.1"),
        "at least 0.19.0, below 0.19.9 (static)",
    ),
    "tillahoffmann/jax-mps #226: what the plugin for MPS reads": (
        *("jax-mps==0.11.1", "jax-mps 0.11.1"),
        "at least 1.19.0, below 1.20.0",
    ),
    "zml/zml #34: a TPU": (
        *("libtpu==0.0.3", "libtpu 0.0.3"),
        "at least 1.8.0, below 1.9.0 (static)",
    ),
    "zml/zml #108: CUDA": ("jax-cuda12-pjrt==0.5.3", "jax-cuda12-pjrt 0.5.3", "1.10.0 (measured)"),
    "openxla/xla #18117: ROCm": (
        *("jax-rocm60-pjrt==0.4.35", "jax-rocm60-pjrt 0.4.35"),
        "at least 1.7.0, below 1.8.0 (static)",
    ),
    "what jax calls its plugin for ROCm of today": (
        *("jax-rocm10-plugin==0.12.0", "jax-rocm10-pjrt 0.12.0"),
        "at least 1.22.0, below 1.23.0",
    ),
    "what Intel's plugin of today reads": (
        *("jax-oneapi-plugin", "jax-oneapi-pjrt 0.11.2"),
        "at least 1.20.0, below 1.22.0",
    ),
    "another plugin for Metal, by its latest name": (
        *("jax-graft==0.0.5", "metal-pjrt-core 0.0.5"),
        "at least 1.20.0, below 1.22.0",
    ),
    "what jax calls its CUDA plugin": (
        *("jax-cuda12-plugin==0.8.0", "jax-cuda12-pjrt 0.8.0"),
        "1.13.1 (measured)",
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_by_one_command(
    question: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which Release it is, what it reads, and how that is known."""
    spec, release, has = QUESTIONS[question]
    assert main(["target", "--for", spec]) == 0
    said = capsys.readouterr().out
    assert f"{release} of " in said
    assert f"has StableHLO {has}" in said


def test_what_the_index_has_no_binary_of_is_not_answered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """aws-neuron-sdk #1094: its plugin is on an index of its own; the file is asked instead."""
    assert main(["target", "--for", "libneuronxla"]) == 2
    assert "no Release of 'libneuronxla' is known" in capsys.readouterr().err
