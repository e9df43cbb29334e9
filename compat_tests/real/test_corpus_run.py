"""The corpus on a platform against the CPU: a PJRT plugin for the CPU stands for one for GPUs."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.sealed import CASES, CORPUS
from portable.cli import main
from portable.corpus.execution import Ending
from portable.corpus.observed import driver, observe, observe_platform
from portable.releases import find_release
from portable.runtime.executors import find_executor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from portable.runtime.environments import Environment

    Release = Callable[[str], Environment]

pytestmark = pytest.mark.old_releases


def test_a_plugin_is_observed(release: Release, tmp_path: Path) -> None:
    """One command writes a page with the device, its driver, the date, and how each Case ended."""
    library = str(release("xla-cpu-pjrt 0.0.1").library)
    words = ["--platform", library, "--on", "jaxlib 0.10.2", "--corpus", str(CORPUS)]
    written = tmp_path / "page.md"
    assert main(["corpus", "run", "ceil_f32", *words, "-o", str(written)]) == 0
    told = written.read_text("utf-8")
    assert "# The corpus on cpu" in told
    assert f"| driver | {driver() or 'none'} |" in told
    assert "| executor | jaxlib 0.10.2, its PJRT client |" in told
    assert "| Cases | 1 computed |" in told
    assert "portable corpus run --platform xla_cpu_pjrt.so`" in told


def test_cases_are_executed_at_a_time(
    release: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each in processes of its own: none is lost."""
    release("jaxlib 0.9.1")
    words = ["--on", "jaxlib 0.9.1", "--corpus", str(CORPUS), "-o", str(tmp_path / "page.md")]
    assert main(["corpus", "run", "or_f32", *words, "--jobs", "3", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    wanted = [one for name, one in CASES.items() if "or_f32" in name and one.expected]
    assert len(wanted) > 1
    assert sum(told["cases"].values()) == len(wanted)
    assert main(["corpus", "run", "or_f32", *words, "--jobs", "0"]) == 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_ends_it_after_the_cases_at_hand(release: Release, jobs: int) -> None:
    """And not after all that there are, of which some take seconds."""
    release("jaxlib 0.10.2")
    done: list[int] = []

    def tell(count: int, _of: int) -> None:
        done.append(count)
        if count == 2:
            os.kill(os.getpid(), signal.SIGINT)

    cases = [one for name, one in sorted(CASES.items()) if name.endswith("_f32")]
    with pytest.raises(KeyboardInterrupt):
        observe_platform("cpu", cases, find_release("jaxlib 0.10.2"), jobs=jobs, progress=tell)
    assert 2 <= len(done) <= 2 + 2 * jobs < len(cases)


def test_what_differs_is_recorded(release: Release) -> None:
    """A Case that ends otherwise, and one whose bits are others, each with its reason."""
    wrong = CASES["constant_i1_splat_12_converted_to_i32"]
    rounded = CASES["tanh_f32"]
    with (
        find_executor("pjrt", release("jaxlib 0.9.1")) as there,
        find_executor("interpreter", release("jaxlib 0.10.2")) as here,
    ):
        newest = find_release("jaxlib 0.9.1").target
        counts, differences = observe(there, here, [wrong, rounded, CASES["add_f32"]], newest)
    assert counts == {Ending.WRONG: 1, Ending.COMPUTED: 2}
    otherwise, bits = differences
    assert (otherwise.case, otherwise.there.ending) == (wrong.name, Ending.WRONG)
    assert otherwise.here.ending is Ending.COMPUTED
    assert (bits.case, bits.there.ending) == (rounded.name, Ending.COMPUTED)
    assert "elements differ; first [" in bits.bits


def test_the_driver_is_what_the_kernel_says(tmp_path: Path) -> None:
    """As NVIDIA's kernel modules write it, the closed one and the open one; else there is none."""
    kernel = tmp_path / "version"
    assert driver(kernel) == ""
    for said in (
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.104.05  Release Build  (x)",
    ):
        kernel.write_text(f"{said}\nGCC version:  gcc version 12.2.0\n")
        assert driver(kernel) == "535.104.05"
