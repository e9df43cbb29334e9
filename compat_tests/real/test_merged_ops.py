"""Ops that are merged or simplified: each artifact is computed, or not, as it is predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import portable
from compat_tests.helpers import merged, simplified
from compat_tests.helpers.compiled import artifact_of
from compat_tests.helpers.eras import versions
from portable.runtime.executors import ExecutionFailed, find_executor

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

# Of logs and exponentials; another result differs by far more.
_RELATIVE = 1e-5


@pytest.mark.parametrize("version", versions("0.4.13", "0.4.33", "0.5.3", "0.10.2", "0.12.0.1"))
def test_results_are_numpy_s_where_they_are_predicted_to_be(
    version: str, release: Callable[[str], Environment]
) -> None:
    """All of a Release that are computed otherwise, or end it, are those of the table."""
    otherwise = set()
    with find_executor("pjrt", release(f"jaxlib {version}")) as executor:
        for name, program in {**merged.PROGRAMS, **simplified.PROGRAMS}.items():
            try:
                executable = executor.compile(portable.Artifact.load(artifact_of(name)))
                dtypes = [one.dtype for one in executable.signature.arguments]
                given = merged.inputs(program, dtypes)
                (found,) = executable.run(given)
            except ExecutionFailed:
                otherwise.add(name)
                continue
            with np.errstate(all="ignore"):
                right = program.right(*given)
            if not np.allclose(found, right, rtol=_RELATIVE, atol=0, equal_nan=True):
                otherwise.add(name)
    wrong = {**merged.WRONG, **simplified.WRONG}
    assert otherwise == {name for name, versions in wrong.items() if version in versions}
