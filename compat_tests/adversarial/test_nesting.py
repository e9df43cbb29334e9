"""What nests too deep for native code is refused by our reader, and predicted so."""

from __future__ import annotations

import time

import pytest

from compat_tests.adversarial.generators.depths import ARTIFACTS, TEXTS
from portable.artifact import Artifact
from portable.bytecode import read
from portable.bytecode.nesting import TooDeep, demand_shallow, demand_shallow_text, limit
from portable.inspection import inspect
from portable.prediction import predict
from portable.verdict import Outcome, Stage

READERS = ("jaxlib 0.4.33", "jaxlib 0.6.2", "jaxlib 0.10.2", "jaxlib 0.12.0.1")
SHALLOW, DEEP, DEEPEST = 900, 1100, 20_000
GENEROUS = 60  # seconds: nothing here takes more than two


@pytest.mark.parametrize("what", ARTIFACTS)
def test_what_nests_moderately_is_not_refused(what: str) -> None:
    """Below the limit nothing is said about it, whatever nests."""
    demand_shallow(read(ARTIFACTS[what](SHALLOW)))


@pytest.mark.parametrize("what", ARTIFACTS)
def test_what_nests_deep_is_compatible_with_nobody(what: str) -> None:
    """Just above the limit and far above it, every prediction is a refusal, and is made soon."""
    for depth in (DEEP, DEEPEST):
        artifact = Artifact.from_bytes(ARTIFACTS[what](depth))
        began = time.process_time()
        verdicts = [predict(artifact, reader) for reader in READERS]
        assert time.process_time() - began < GENEROUS
        assert {verdict.outcome for verdict in verdicts} == {Outcome.INCOMPATIBLE}
        assert {verdict.stage for verdict in verdicts} == {Stage.DECODE}
        with pytest.raises(TooDeep):
            demand_shallow(read(artifact.data))


def test_an_inspection_says_it_and_predicts_the_same() -> None:
    """What `inspect` finds is what `predict` says of it."""
    found = inspect(ARTIFACTS["modules"](DEEP))
    assert f"regions nested {DEEP} deep" in "".join(found.warnings)
    assert predict(found, READERS[0]).outcome is Outcome.INCOMPATIBLE


def test_an_entry_that_contains_itself_is_malformed() -> None:
    """A cycle has no depth; it is found, not followed."""
    data = ARTIFACTS["type tuple"](2000)
    # The innermost type, f32 (code 4), becomes a tuple of the next one.
    inner, outer = b"\x09\x2f\x03\x01", b"\x2f\x03\x03\x03\x01"
    assert data.count(inner) == 1
    damaged = data.replace(inner, outer[:3] + b"\x03" + b"\x01")
    with pytest.raises(Exception, match="byte"):
        demand_shallow(read(damaged))


@pytest.mark.parametrize("what", TEXTS)
def test_text_is_measured_before_anybody_parses_it(what: str) -> None:
    """Brackets, and aliases of aliases, in time that is linear in the text."""
    demand_shallow_text(TEXTS[what](SHALLOW))
    for depth in (DEEP, DEEPEST):
        with pytest.raises(TooDeep):
            demand_shallow_text(TEXTS[what](depth))


@pytest.mark.parametrize(
    "text",
    [
        '"' + "(" * DEEP + '"',
        "//" + "(" * DEEP + "\n",
        "{}" * DEEP,
        "() -> ()" * DEEP,
        "d0 >= 0, " * DEEP,
    ],
)
def test_what_only_looks_like_brackets_does_not_count(text: str) -> None:
    """Strings, comments, arrows and comparisons hold brackets that open nothing."""
    demand_shallow_text(text)


def test_strings_and_comparisons_close_nothing() -> None:
    """A deep text cannot be hidden behind closing brackets that are none."""
    pieces = ['"' + ")" * DEEP + '"', "//" + ")" * DEEP + "\n", ">=" * DEEP, "->" * DEEP]
    for piece in pieces:
        with pytest.raises(TooDeep):
            demand_shallow_text("[" * 600 + piece + "[" * 600)


@pytest.mark.parametrize("what", TEXTS)
def test_serialize_of_text_raises_instead_of_dying(what: str) -> None:
    """What would kill the caller's process is refused before native code sees it."""
    pytest.importorskip("jaxlib")
    import portable

    with pytest.raises(TooDeep):
        portable.serialize(TEXTS[what](DEEPEST), "1.0.0")


@pytest.mark.parametrize("what", ARTIFACTS)
def test_deserialize_raises_instead_of_dying(what: str) -> None:
    """The same for artifacts."""
    pytest.importorskip("jaxlib")
    import portable

    with pytest.raises(TooDeep):
        portable.deserialize(ARTIFACTS[what](DEEPEST))


def test_the_limit_is_below_what_was_survived() -> None:
    """Every Release that was asked reads four times as deep; see nesting.ini."""
    assert {limit(what) for what in ("regions", "entries", "text")} == {1000}
