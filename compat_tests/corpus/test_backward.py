"""Backward: what an older Release wrote, the installed one reads as the same program."""

from __future__ import annotations

import pytest

from compat_tests.helpers.sealed import CASES, different, is_excepted, readable, scanner
from portable.corpus import Case
from portable.inspection import inspect
from portable.version import Version


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_sealed_artifact_reads_as_its_program(case: Case) -> None:
    """Each artifact up to the installed Version is syntactically identical to the program."""
    sealed = readable(case)
    if not sealed:
        pytest.skip(f"first written for {case.first}, this jaxlib has {scanner().current}")
    wrong = different(case, (artifact.path.read_bytes() for artifact in sealed))
    # A listed exception that stopped happening has to go.
    assert bool(wrong) == is_excepted(case), [sealed[number].path.name for number in wrong]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_reading_without_a_compiler_agrees_with_the_seal(case: Case) -> None:
    """The claim is the target, the bytes need no more, and the program starts at `first`."""
    for artifact in case.artifacts:
        found = inspect(artifact.path.read_bytes())
        assert found.damage == ""
        assert found.warnings == ()
        assert found.claimed == artifact.target
        assert found.required is not None
        assert found.analysis is not None
        assert isinstance(found.required.version, Version)
        assert found.required.version <= artifact.target.target
        if case.family != "torch_xla":
            lowest = found.analysis.minimum.version
            assert isinstance(lowest, Version)
            assert lowest.first_target == case.first, artifact.path.name
