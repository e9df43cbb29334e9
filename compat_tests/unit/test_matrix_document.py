"""Matrices as documents: nothing is lost, nothing malformed gets in, and how they are merged."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from compat_tests.helpers.matrices import DAY, cell, item, matrix, observed, sample
from portable.matrix import Agreement, MalformedMatrix, Matrix, merge
from portable.matrix.document import SCHEMA, dump, load, parse, record
from portable.matrix.item import TensorFile
from portable.matrix.merging import NothingToMerge
from portable.verdict import Diagnostic, Outcome, Severity, Stage, Verdict
from portable.version import Version

OLD = "jaxlib 0.4.13"


def test_nothing_is_lost() -> None:
    """What is read back is what was written, Releases with all their fields among it."""
    written = sample()
    assert load(dump(written)) == written
    assert {one.outcome for one in (c.verdict for c in written.cells)} == {*Outcome} - {
        Outcome.NOT_KNOWN
    }


def test_every_field_of_an_item_and_a_verdict_is_kept() -> None:
    """Arrays, tolerances, producers, nested notes, and of a name that is no UTF-8 what JSON has."""
    note = Diagnostic(Severity.NOTE, "in bytecode version 6 produced by: StableHLO_v1.16.0")
    seen = _with(note)
    full = replace(
        item("tan+1.4.0"),
        name="caf\udce9 \x00 </script>",
        claimed=None,
        producer="jaxlib 0.4.31",
        producer_version=Version(1, 4, 1),
        case="tan_f32",
        inputs=(),
        expected=(TensorFile("expected/0.npy", "bfloat16"),),
        relative=1e-6,
        absolute=1e-9,
        ulps=3,
        given=("--inputs=x y.npz", "--rtol=0.1"),
        reference="jaxlib==0.12.0.1",
    )
    one = cell("tan+1.4.0", OLD, seen, note="n", listed="l")
    one = replace(one, item=full, also=(observed(OLD),))
    written = matrix(one, stage=Stage.EXECUTE)
    text = dump(written)
    assert text.isascii()
    written_name = replace(full, name="caf\\udce9 \x00 </script>")
    assert load(text) == matrix(replace(one, item=written_name), stage=Stage.EXECUTE)


def _with(note: Diagnostic) -> Verdict:
    """Return an observation whose error has a note."""
    seen = observed(OLD, Outcome.INCOMPATIBLE, Stage.DECODE, "unknown attribute code: 22")
    first = seen.diagnostics[0]
    told = Diagnostic(first.severity, first.message, first.location, (note,))
    return Verdict(OLD, seen.outcome, seen.stage, seen.basis, seen.reason, (told,))


def test_a_matrix_with_holes_keeps_them() -> None:
    """An artifact that was not tried on a consumer has no Cell there afterwards either."""
    written = sample()
    assert len(written.cells) < len(written.items) * len(written.releases)
    assert len(load(dump(written)).cells) == len(written.cells)


def test_equal_verdicts_stand_in_it_once() -> None:
    """A cell that says what another says costs one number."""
    base = sample()
    copies = [replace(one, item=replace(one.item, name=str(n))) for n in range(200)
              for one in base.cells if one.item.name == "add_f32+0.9.0"]  # fmt: skip
    many = record(matrix(*copies))
    assert isinstance(many["verdicts"], list)
    assert isinstance(many["results"], list)
    assert len(many["verdicts"]) <= 6
    assert len(many["results"]) <= 3
    assert len(json.dumps(many["cells"], separators=(",", ":"))) < 10 * len(copies)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '"x"', "{}", '{"schema":"1"}', "[" * 100_000, b"\xff"]
)
def test_what_is_no_matrix_is_refused(text: str | bytes) -> None:
    """By one error, whatever it is."""
    with pytest.raises(MalformedMatrix):
        load(text)


def test_a_newer_schema_says_what_to_do() -> None:
    """A document of a later version is not guessed at."""
    with pytest.raises(MalformedMatrix, match="update stablehlo-portable"):
        parse(record(sample()) | {"schema": SCHEMA + 1})


def _broken(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(dump(sample()))
    change(data)
    return data


BREAKS: dict[str, Callable[[dict[str, Any]], object]] = {
    "missing key": lambda d: d.pop("stage"),
    "unknown key": lambda d: d.update(more=1),
    "older schema": lambda d: d.update(schema=0),
    "no date": lambda d: d.update(date="yesterday"),
    "date of another type": lambda d: d.update(date=20261121),
    "no Stage": lambda d: d.update(stage="linked"),
    "consumers that are no list": lambda d: d.update(consumers={}),
    "a consumer twice": lambda d: d["consumers"].__setitem__(1, d["consumers"][0]),
    "a consumer without a Version": lambda d: d["consumers"][0].pop("current"),
    "a Version that is none": lambda d: d["consumers"][0].update(current="1.9"),
    "an artifact twice": lambda d: d["items"].__setitem__(1, d["items"][0]),
    "an artifact with an unknown key": lambda d: d["items"][0].update(colour="red"),
    "a name that is no text": lambda d: d["items"][0].update(name=7),
    "a tolerance that is true": lambda d: d["items"][0].update(relative=True),
    "ulps that are true": lambda d: d["items"][0].update(ulps=True),
    "ulps below nothing": lambda d: d["items"][0].update(ulps=-1),
    "an outcome that is none": lambda d: d["verdicts"][0].update(outcome="fine"),
    "a verdict that is no object": lambda d: d["verdicts"].__setitem__(0, []),
    "a role that is none": lambda d: d["results"][0].__setitem__(0, "sideways"),
    "a verdict that is not there": lambda d: d["results"][0].__setitem__(1, 10_000),
    "an observation as a prediction": lambda d: d["results"][0].__setitem__(1, d["results"][0][2]),
    "a prediction as an observation": lambda d: d["results"][0].__setitem__(2, d["results"][0][1]),
    "a result that is too short": lambda d: d["results"].__setitem__(0, ["backward", 0]),
    "a position before the first": lambda d: d["cells"][0].__setitem__(0, -1),
    "a position that is true": lambda d: d["cells"][0].__setitem__(0, True),
    "a row that is too short": lambda d: d["cells"][0].pop(),
    "a row too few": lambda d: d["cells"].pop(),
}


@pytest.mark.parametrize("what", BREAKS)
def test_what_is_malformed_is_refused(what: str) -> None:
    """Every kind of damage is one typed error, of one line."""
    with pytest.raises(MalformedMatrix) as caught:
        parse(_broken(BREAKS[what]))
    assert "\n" not in str(caught.value)


def test_a_matrix_that_contradicts_itself_is_not_written() -> None:
    """A Cell twice, or of a consumer that the Matrix does not have."""
    base = sample()
    for broken in (
        replace(base, cells=(*base.cells, base.cells[0])),
        replace(base, releases=base.releases[1:]),
        replace(base, items=(*base.items, base.items[0])),
    ):
        with pytest.raises(MalformedMatrix):
            record(broken)


def _alone(base: Matrix, consumer: str) -> Matrix:
    return matrix(*(one for one in base.cells if str(one.release) == consumer))


def test_what_ran_consumer_by_consumer_is_merged() -> None:
    """The union of artifacts and consumers; nothing is lost and nothing made up."""
    base = sample()
    merged = merge(_alone(base, str(release)) for release in base.releases)
    assert {(c.item.key, str(c.release)): c for c in merged.cells} == {
        (c.item.key, str(c.release)): c for c in base.cells
    }
    assert set(merged.releases) == set(base.releases)
    assert merge([merged, base]).cells == merged.cells


def test_nothing_is_not_merged() -> None:
    """There is no empty matrix."""
    with pytest.raises(NothingToMerge):
        merge([])


def test_an_observation_wins_over_none_whichever_is_later() -> None:
    """A machine that could not ask does not undo what another one saw."""
    seen, unseen = cell("tan+1.4.0", OLD, observed(OLD)), cell("tan+1.4.0", OLD, None, note="n")
    for days in ((0, 1), (1, 0)):
        merged = merge(
            matrix(one, date=DAY + datetime.timedelta(day))
            for one, day in zip((seen, unseen), days, strict=True)
        )
        assert merged.cells[0].observed == seen.observed
        assert merged.cells[0].note == ""
        assert merged.date == DAY + datetime.timedelta(1)


READ = observed(OLD)
RAN = observed(OLD, Outcome.COMPATIBLE, Stage.EXECUTE)
WRONG = observed(OLD, Outcome.WRONG_RESULT, Stage.EXECUTE, "result 0 is off by 1")
REFUSED = observed(OLD, Outcome.INCOMPATIBLE, Stage.DECODE, "unknown attribute code: 22")
CRASHED = observed(OLD, Outcome.CRASHED, Stage.DECODE, "SIGSEGV")


@pytest.mark.parametrize(("one", "other", "counts"), [
    (READ, READ, READ),
    (READ, RAN, RAN),
    (READ, WRONG, WRONG),
    (REFUSED, REFUSED, REFUSED),
])  # fmt: skip
def test_the_observation_that_went_further_counts(
    one: Verdict, other: Verdict, counts: Verdict
) -> None:
    """Reading and then computing wrongly is no contradiction between two runs."""
    for pair in ((one, other), (other, one)):
        merged = merge(matrix(cell("tan+1.4.0", OLD, seen)) for seen in pair).cells[0]
        assert merged.observed == counts
        assert merged.also == ()


@pytest.mark.parametrize(("one", "other", "counts"), [
    (READ, REFUSED, REFUSED),
    (READ, CRASHED, CRASHED),
    (REFUSED, CRASHED, CRASHED),
    (REFUSED, WRONG, WRONG),
    (RAN, WRONG, WRONG),
])  # fmt: skip
def test_observations_that_exclude_each_other_are_both_kept(
    one: Verdict, other: Verdict, counts: Verdict
) -> None:
    """The worse one counts, in whichever order they are merged; the other one is told."""
    for pair in ((one, other), (other, one), (one, other, one), (other, one, other)):
        merged = merge(matrix(cell("tan+1.4.0", OLD, seen)) for seen in pair).cells[0]
        assert merged.observed == counts
        assert merged.also == (one if counts == other else other,)
        assert merged.agreement is not Agreement.UNOBSERVED
        assert load(dump(matrix(merged))).cells[0] == merged


def test_what_an_artifact_was_executed_with_is_not_lost() -> None:
    """An artifact that was executed, and read on a later day, still says with what."""
    one = cell("tan+1.4.0", OLD, observed(OLD))
    given = replace(one.item, inputs=(), given=("--random=0",), reference="jaxlib==0.10.2")
    executed = matrix(replace(one, item=given), stage=Stage.EXECUTE)
    later = matrix(one, date=DAY + datetime.timedelta(1))
    assert merge([later, executed]).items == (given,)
    assert merge([executed, replace(later, date=DAY)]).cells[0].item == given


def test_the_same_name_with_other_bytes_is_another_artifact() -> None:
    """Merging is by content, so that no observation is taken for that of other bytes."""
    one = cell("tan+1.4.0", OLD, observed(OLD))
    other = replace(one, item=replace(one.item, digest="0" * 64))
    assert len(merge([matrix(one), matrix(other)]).items) == 2
