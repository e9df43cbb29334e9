"""Ops that are merged or simplified: each artifact is computed, or not, as it is predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import portable
from compat_tests.helpers import fused, merged, simplified
from compat_tests.helpers.compiled import artifact_of
from compat_tests.helpers.eras import marked, versions
from compat_tests.helpers.thorough import some
from portable.releases.assumption import assumption_about
from portable.runtime.executors import ExecutionFailed, find_executor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from portable.runtime.environments import Environment
    from portable.runtime.executors.executor import Executor

pytestmark = pytest.mark.old_releases

# Of logs and exponentials; another result differs by far more.
_RELATIVE = 1e-5
_IREE = "iree-base-compiler 3.13.0"


_JAXLIB = {
    **merged.PROGRAMS,
    **simplified.PROGRAMS,
    **simplified.ON_IREE,
    **fused.PROGRAMS,
}
_WRONG = {**merged.WRONG, **simplified.WRONG, **fused.WRONG}


# Where Advisories that an Assumption leaves out are about most.
_ASSUMING = [_IREE, "jaxlib 0.5.3", "jaxlib 0.10.2", "jaxlib 0.12.0.1"]
# Programs that break it whatever the inputs, and one of which the helper knows one result alone.
_CONTRADICTING = {
    "gather_rows_constant_beyond",
    "gather_rows_from_beyond_the_end",
    "gather_rows_resized_more",
    "sine_of_a_difference",
    "cbrt_of_a_great_sum",
    "gather_rows_narrowed",
}


@pytest.mark.parametrize("version", some(versions(*merged.EVERY), each=3, first=2))
def test_results_are_numpy_s_where_they_are_predicted_to_be(
    version: str, release: Callable[[str], Environment]
) -> None:
    """All of a Release that are computed otherwise, or end it, are those of the table."""
    with find_executor("pjrt", release(f"jaxlib {version}")) as executor:
        otherwise = _computed_otherwise(executor, _JAXLIB)
    expected = {name for name, wrong in _WRONG.items() if version in wrong}
    assert otherwise - simplified.BY_CHANCE == expected - simplified.BY_CHANCE


@pytest.mark.parametrize("name", [marked([_IREE], _IREE)])
def test_iree_takes_integers_as_signed_and_indices_as_they_are(
    name: str, release: Callable[[str], Environment]
) -> None:
    """Where it multiplies unsigned ones, and where it gathers and scatters."""
    with find_executor("iree", release(name)) as executor:
        otherwise = _computed_otherwise(executor, simplified.ON_IREE)
    assert otherwise - simplified.BY_CHANCE_ON_IREE == simplified.WRONG_ON_IREE


@pytest.mark.parametrize("name", [marked([one], one, to_execute=True) for one in _ASSUMING])
def test_what_is_wrong_is_right_where_an_assumption_holds(
    name: str, release: Callable[[str], Environment]
) -> None:
    """Of other inputs, what Advisories do not count for is what numpy computes."""
    distribution, _, version = name.partition(" ")
    programs = {
        one: program
        for one, program in _JAXLIB.items()
        if assumption_about(program.form) and one not in _CONTRADICTING
        if one in simplified.WRONG_ON_IREE or version in _WRONG.get(one, ())
    }
    executor = "iree" if distribution.startswith("iree") else "pjrt"
    with find_executor(executor, release(name)) as started:
        assert programs
        assert not _computed_otherwise(started, programs, assumed=True)


def _computed_otherwise(
    executor: Executor, programs: Mapping[str, merged.Program], *, assumed: bool = False
) -> set[str]:
    """Return the names of those artifacts whose result is not numpy's.

    Args:
        executor: What runs them.
        programs: They, by name.
        assumed: Whether they are run on inputs of which the Assumption about their form holds.
    """
    otherwise = set()
    for name, program in programs.items():
        try:
            executable = executor.compile(portable.Artifact.load(artifact_of(name)))
            given = merged.inputs(program, [one.dtype for one in executable.signature.arguments])
            if assumed:
                given = merged.where_it_holds(program, assumption_about(program.form), given)
            (found,) = executable.run(given)
        except ExecutionFailed:
            otherwise.add(name)
            continue
        with np.errstate(all="ignore"):
            right = program.right(*given)
        if not np.allclose(found, right, rtol=_RELATIVE, atol=0, equal_nan=True):
            otherwise.add(name)
    return otherwise
