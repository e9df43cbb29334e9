"""Generated programs are valid: the verifiers of real Releases accept them."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

import portable
from portable import bindings
from portable.fuzz import generate, language, one_op_programs
from portable.releases import find_release
from portable.verdict import Stage
from tools.consumer import ERAS

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

PROGRAMS = 300
QUANTIZED = "!quant.uniform<i8:f32, 5.000000e-01:3>"


def test_every_form_is_valid_with_every_type(library: bindings.Library) -> None:
    """The verifier accepts each program of one op; this is what the table says, checked."""
    context = library.context()
    tried = 0
    for one in one_op_programs():
        if one.program.since <= library.current:
            library.parse(one.program.text, context)
            tried += 1
    assert tried > 20_000


def test_programs_are_valid_and_reach_every_form(library: bindings.Library) -> None:
    """Whatever ops come together; some forms stand in programs of one op only."""
    context, seen = library.context(), set[str]()
    for seed in range(PROGRAMS):
        made = generate(seed, version=library.current)
        library.parse(made.text, context)
        seen.update(made.forms)
    forms = [form for form in language() if form.since <= library.current and not form.alone]
    assert seen == {str(form) for form in forms}


@pytest.mark.parametrize("seed", range(0, 60, 7))
def test_the_version_that_is_said_expresses_it(seed: int) -> None:
    """A program can be written for the Version that the generator names."""
    made = generate(seed)
    needed = portable.minimum(made.text).version
    assert needed is not None
    assert needed <= made.since.first_target


@pytest.mark.parametrize("name", ERAS)
def test_old_verifiers_accept_them(
    name: str, release: Callable[[str], Environment], library: bindings.Library
) -> None:
    """A Release reads and verifies what is generated for its Version."""
    version = min(find_release(name).current.target, library.current.target)
    with release(name).worker() as worker:
        for seed in range(40):
            made = generate(seed, version=version)
            artifact = portable.serialize(made.text, version, locations="strip", expand=False)
            answer = worker.ask({"kind": "read", "data": b64encode(artifact.data).decode()})
            assert answer.ok, (answer.error, made.text)


@pytest.mark.parametrize("name", ["jaxlib 0.4.13", "jaxlib 0.4.30"])
def test_what_old_verifiers_refuse_is_predicted(
    name: str, release: Callable[[str], Environment]
) -> None:
    """Each op with one of the quantized types, which verifiers took one after the other."""
    version, seen = find_release(name).current.target, set[str]()
    with release(name).worker() as worker:
        for one in one_op_programs():
            quantized = QUANTIZED in one.variables.values()
            if not quantized or one.form.since > version or str(one.form) in seen:
                continue
            seen.add(str(one.form))
            artifact = portable.serialize(one.program.text, version, locations="strip")
            answer = worker.ask({"kind": "read", "data": b64encode(artifact.data).decode()})
            predicted = portable.predict(artifact, name)
            reads = predicted.compatible or predicted.stage > Stage.DECODE
            assert reads is answer.ok, (str(one.form), answer.error)
    assert len(seen) > 60
