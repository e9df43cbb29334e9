"""Which Releases each Executor executes on: the row of its table says it, by their drivers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from portable.releases import find_release
from portable.runtime import observe
from portable.runtime.executors import (
    EXECUTORS,
    ExecutorMissing,
    check_executor,
    executor_of,
    find_executor,
)
from portable.system.worker import Driver, drivers


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("pjrt", "jaxlib 0.4.33"),
        ("interpreter", "jaxlib 0.4.33"),
        ("interpreter", "torch-mlir 20261001"),
        ("iree", "iree-base-compiler 3.13.0"),
        ("tensorflow", "tensorflow 2.16.2"),
        ("torch_xla", "torch-xla 2.9.0"),
    ],
)
def test_a_release_executes_by_what_it_has(name: str, release: str) -> None:
    """Also torch-mlir, whose interpreter is in no jaxlib."""
    assert check_executor(name, release=find_release(release)).name == name


def test_another_executor_is_refused_and_the_right_one_named() -> None:
    """Before an environment is made."""
    with pytest.raises(ExecutorMissing, match=r"torch-mlir .* has no pjrt; use interpreter"):
        check_executor("pjrt", release=find_release("torch-mlir 20261001"))


def test_every_driver_that_reads_also_executes() -> None:
    """A driver leads to one Executor; plugins execute as a platform of `pjrt`."""
    found = {name: executor_of(Driver(name)) for name in drivers() - {"plugin"}}
    assert {*found.values()} <= {*EXECUTORS}
    with pytest.raises(ExecutorMissing, match="driven as plugin"):
        executor_of(Driver("plugin"))


def test_the_page_has_a_row_for_every_executor() -> None:
    """With how to install it."""
    page = (Path(__file__).parents[2] / "docs" / "executors.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \|.* GB \|", page, re.MULTILINE) == [*EXECUTORS]


@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_within_which_nothing_runs_is_refused(value: float) -> None:
    """It would be said of a Release that it hangs."""
    path = Path(__file__).parents[1] / "data" / "artifacts" / "tan+1.4.0.mlir.bc"
    with pytest.raises(ValueError, match="timeout must be above 0"):
        observe(path, timeout=value)
    for name in ("limit", "memory", "processes"):
        with pytest.raises(ValueError, match=f"{name} must be above 0"):
            find_executor("pjrt", **{name: value})  # type: ignore[arg-type]  # wrong types
