"""Every Case is whole: schema, tensors, oracle; and the oracle still says the same."""

from __future__ import annotations

import re

import numpy as np
import pytest

from compat_tests.helpers.sealed import CASES, CORPUS, scanner
from portable.corpus import Case, Oracle, find_case
from portable.corpus.tensors import load_tensor
from portable.releases import matching_releases
from portable.version import Version
from tools.new_case import same
from tools.oracles import evaluate, signature
from tools.programs import load_programs
from tools.whole_programs import WHOLE_PROGRAMS

EXECUTED = [case for case in CASES.values() if case.oracle is not Oracle.NONE]


def test_there_are_enough_cases() -> None:
    """At least 350 Cases, and every one that the tables ask for."""
    asked = {program.name for program in load_programs() if program.case}
    asked |= {whole.name for whole in WHOLE_PROGRAMS}
    assert asked <= CASES.keys()
    assert len(CASES) >= 350


def test_program_is_the_one_of_the_tables() -> None:
    """A Case that was generated still has the program that the tables generate."""
    programs = {program.name: program.text for program in load_programs()}
    changed = [
        name
        for name, case in CASES.items()
        if case.provenance.startswith("generated from") and case.program != programs.get(name)
    ]
    assert changed == []


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_manifest_is_complete(case: Case) -> None:
    """Names are words, a missing oracle has a reason, exceptions name Releases that exist."""
    assert re.fullmatch("[A-Za-z0-9_]+", case.name)
    assert case.feature
    assert case.provenance
    assert find_case(CORPUS, case.name) == case
    if case.oracle is Oracle.NONE:
        assert case.reason
        assert not case.expected
    else:
        assert case.expected
    if case.oracle is Oracle.INTERPRETER_AND_XLA:
        assert len(case.agreeing) == 2
    for known in case.exceptions:
        assert list(matching_releases(known.consumer))
        assert known.reason
        assert known.link


@pytest.mark.parametrize("case", EXECUTED)
def test_tensors_have_the_types_that_are_named(case: Case) -> None:
    """Inputs and expected outputs load without pickles, in the dtype that the manifest names."""
    for tensor in (*case.inputs, *case.expected):
        assert load_tensor(tensor).dtype.name == tensor.dtype
        assert load_tensor(tensor).nbytes < 100_000


@pytest.mark.parametrize("case", [case for case in EXECUTED if case.expression])
def test_numpy_still_computes_what_is_expected(case: Case) -> None:
    """Evaluating the expression again gives the sealed outputs, within the stated tolerance."""
    driver = scanner()
    if case.first > Version.parse(driver.current):
        pytest.skip(f"needs {case.first}, this jaxlib has {driver.current}")
    of = signature(driver, case.program)
    inputs = {tensor.name: load_tensor(tensor) for tensor in case.inputs}
    expected = [load_tensor(tensor) for tensor in case.expected]
    assert [name for name, _, _ in of.arguments] == list(inputs)
    assert same(evaluate(case.expression, inputs, of), expected, case.tolerance)


def test_no_expected_output_is_trivial() -> None:
    """Almost no Case is satisfied by zeros: what is expected tells something."""
    zeros = [
        case.name
        for case in EXECUTED
        if not any(np.any(load_tensor(t).astype(np.complex128)) for t in case.expected)
    ]
    assert len(zeros) <= len(EXECUTED) // 20
