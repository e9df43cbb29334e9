"""Programs in one process of IREE, one after another: none changes what becomes of the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import portable
from compat_tests.helpers.compiled import artifact_of
from portable.runtime.executors import ExecutionFailed, random_inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.executors import Executor

_NEXT = "exponential_of_nan_added"
# These fail while they run; the first on a queue, up to 3.11, which then took nothing more.
_FAILING = ("update_by_itself_flat", "update_by_itself", "aliased_to_wider")


def _runs(executor: Executor, name: str) -> bool:
    executable = executor.compile(portable.Artifact.load(artifact_of(name)))
    try:
        executable.run(random_inputs(executable.signature, 0))
    except ExecutionFailed:
        return False
    return True


@pytest.mark.parametrize(
    ("release", "failing"),
    [
        ("iree-base-compiler 3.13.0", 2),
        pytest.param("iree-base-compiler 3.11.0", 3, marks=pytest.mark.more_releases),
        pytest.param("iree-base-compiler 3.9.0", 3, marks=pytest.mark.more_releases),
    ],
)
def test_a_program_that_fails_ends_no_other(
    release: str, failing: int, open_executor: Callable[..., Executor]
) -> None:
    """What ran before it runs after it."""
    executor = open_executor("iree", release)
    assert _runs(executor, _NEXT)
    failed = 0
    for name in _FAILING:
        failed += not _runs(executor, name)
        assert _runs(executor, _NEXT), name
    assert failed == failing
