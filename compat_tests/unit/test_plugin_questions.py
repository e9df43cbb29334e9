"""What people ask in public of plugins that nothing here can load, answered by one command each.

The answers come from the names in the binaries that the index has; `static_releases --check` holds
the rows to these names, and `real/test_binaries.py` those to what loadable libraries say.
"""

from __future__ import annotations

import pytest

from portable.cli import main

QUESTIONS = {
    "tenstorrent/tt-xla #97: the plugin has no attribute for its Version": (
        "jax-tt-plugin==0.1.0",
        "target 1.13.0: jax-tt-plugin 0.1.0",
    ),
    "intel/intel-extension-for-openxla #27: which jax writes for it": (
        "intel-extension-for-openxla==0.3.0",
        "target 0.16.0: intel-extension-for-openxla 0.3.0",
    ),
    "jax-ml/jax #32800: what Apple's plugin for Metal still reads": (
        "jax-metal",
        "target 0.19.0: jax-metal 0.0.7",
    ),
    "tillahoffmann/jax-mps #226: what the plugin for MPS reads": (
        "jax-mps==0.11.1",
        "target 1.19.0: jax-mps 0.11.1",
    ),
    "zml/zml #34: a TPU": ("libtpu==0.0.3", "target 1.8.0: libtpu 0.0.3"),
    "zml/zml #108: CUDA": ("jax-cuda12-pjrt==0.4.35", "target 1.7.0: jax-cuda12-pjrt 0.4.35"),
    "openxla/xla #18117: ROCm": (
        "jax-rocm60-pjrt==0.4.35",
        "target 1.7.0: jax-rocm60-pjrt 0.4.35",
    ),
    "jax says jax-cuda12-plugin": (
        "jax-cuda12-plugin==0.8.0",
        "target 1.13.0: jax-cuda12-pjrt 0.8.0",
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_by_one_command(
    question: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The target, for which Release, and how that is known."""
    spec, answer = QUESTIONS[question]
    assert main(["target", "--for", spec]) == 0
    said = capsys.readouterr().out
    assert answer in said
    assert "(static)" in said or "(measured)" in said


def test_what_the_index_has_no_binary_of_is_not_answered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """aws-neuron-sdk #1094: its plugin is on an index of its own; the file is asked instead."""
    assert main(["target", "--for", "libneuronxla"]) == 2
    assert "no Release of 'libneuronxla' is known" in capsys.readouterr().err
