"""What is concluded from executions: which op signature a failure is put down to."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from portable.artifact import Artifact
from portable.releases import find_release
from portable.releases.capability import parse
from portable.verdict import Basis, NotKnown, Outcome, Stage, Verdict
from tools.capabilities import Program, disagreed, in_part, same, supports, table, unknown
from tools.measure_predictions import Measured

ARTIFACTS = Path(__file__).parents[1] / "data" / "artifacts"
NOTHING = Artifact.load(ARTIFACTS / "add_f32+0.9.0.mlir.bc")
RIGHT = np.array([1, 2], np.int32)
WRONG = np.array([1, 3], np.int32)


def _learnt(*rows: tuple[str, str, str]) -> dict[str, str]:
    """Learn from programs: an op, its signatures and how it ended; `w` computes something else."""
    programs, results, right = [], {}, {}
    for number, (op, signatures, ended) in enumerate(rows):
        name = f"{op} {number}"
        programs.append(Program(name, NOTHING, frozenset(signatures.split(", "))))
        results[name] = _result(ended)
        right[name] = [RIGHT]
    return {name: found.value for name, found in supports(programs, results, right).items()}


def _result(ended: str) -> dict[str, Any]:
    if ended not in "cw":
        return {"ended": ended, "reason": "not implemented"}
    array = RIGHT if ended == "c" else WRONG
    return {"ended": "c", "outputs": [["int32", [2], _encoded(array)]]}


def _encoded(array: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(array.tobytes()).decode()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # What is computed elsewhere is not to blame.
        (
            [("add", "add f32", "c"), ("tan", "tan f32, add f32", "r")],
            {"add f32": "c", "tan f32": "r"},
        ),
        # What stands in a body is blamed there, not the op that has the body, nor the op alone.
        (
            [
                ("maximum", "maximum c64", "c"),
                ("reduce", "reduce c64, add c64, add c64 in reduce", "c"),
                ("reduce", "reduce c64, maximum c64, maximum c64 in reduce", "r"),
            ],
            {"reduce c64": "c", "maximum c64": "c", "maximum c64 in reduce": "r"},
        ),
        # Two floats that are each reduced alone.
        (
            [
                ("reduce", "reduce f32", "c"),
                ("reduce", "reduce bf16", "c"),
                ("reduce", "reduce f32, reduce bf16, reduce different floats", "r"),
            ],
            {"reduce f32": "c", "reduce bf16": "c", "reduce different floats": "r"},
        ),
        # Now this and now that, and nothing that tells the programs apart.
        ([("sort", "sort i4", "c"), ("sort", "sort i4", "r")], {"sort i4": "m"}),
        ([("sort", "sort i4", "r"), ("sort", "sort i4", "c")], {"sort i4": "m"}),
        # It compiles always, and does not always compute the same.
        ([("sort", "sort i4", "c"), ("sort", "sort i4", "w")], {"sort i4": "k"}),
        ([("sort", "sort i4", "w")], {"sort i4": "w"}),
        ([("sort", "sort i4", "x"), ("sort", "sort i4", "r")], {"sort i4": "x"}),
    ],
)
def test_what_a_failure_is_put_down_to(
    rows: list[tuple[str, str, str]], expected: dict[str, str]
) -> None:
    """To the only signature of a program that passes in no other."""
    assert _learnt(*rows).items() >= expected.items()


@pytest.mark.parametrize(
    ("advised", "expected"),
    [(False, {"imag f16": "x"}), (None, {"imag f16": "x"}), (True, {})],
)
def test_what_an_advisory_says_is_put_down_to_no_type(
    advised: bool | None, expected: dict[str, str]
) -> None:
    """IREE before 3.9 ends at an argument that nothing uses: that is nothing about the op."""
    program = Program("imag 1", NOTHING, frozenset({"imag f16"}))
    found = supports([program], {"imag 1": _result("x")}, {}, lambda *_: advised)
    assert {name: one.value for name, one in found.items()} == expected


@pytest.mark.parametrize(
    ("outcome", "stage", "ended", "kind"),
    [
        (Outcome.COMPATIBLE, Stage.COMPILE, "c", "compiles, executed"),
        (Outcome.COMPATIBLE, Stage.COMPILE, "r", "compiles, failed"),
        (Outcome.COMPATIBLE, Stage.COMPILE, "x", "compiles, failed"),
        (Outcome.INCOMPATIBLE, Stage.COMPILE, "r", "fails, failed"),
        (Outcome.INCOMPATIBLE, Stage.COMPILE, "c", "fails, executed"),
        (Outcome.WRONG_RESULT, Stage.EXECUTE, "c", "computes something else, executed"),
        (Outcome.NOT_KNOWN, Stage.COMPILE, "r", "not known, failed"),
    ],
)
def test_how_a_prediction_is_counted(outcome: Outcome, stage: Stage, ended: str, kind: str) -> None:
    """By what was predicted up to compiling, and what was seen."""
    open_ = (NotKnown(stage, "whether"),) if outcome is Outcome.NOT_KNOWN else ()
    verdict = Verdict("jaxlib 0.10.2", outcome, stage, Basis.PREDICTED, "because", not_known=open_)
    assert Measured(0, verdict, ended, "").kind == kind


KNOWN = """\
# Of two Releases that were executed elsewhere.
[jaxlib]\tcpu\t2026-01-02\t0.10.2 0.12.0.1
add\tcr\tf32;i4
add\t-x\ti4 in reduce
custom_call\tcr\tcarried
custom_call\trr\tno_such_target
"""
CALL = "custom_call no_such_target"
NO_SUCH_TARGET = Program(CALL, NOTHING, frozenset({CALL}))


def _write(folder: Path, name: str, *results: dict[str, Any]) -> None:
    handlers = {"program": "handlers", "targets": ["new"]}
    text = "\n".join(map(json.dumps, [handlers, *results]))
    (folder / f"{name}.jsonl").write_text(text)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that nothing was executed into."""
    monkeypatch.setattr("tools.capabilities.STORE", tmp_path)
    return tmp_path


def test_what_was_executed_elsewhere_stays(store: Path) -> None:
    """A table without any result here is what it was."""
    assert parse(table([NO_SUCH_TARGET], KNOWN)) == parse(KNOWN)
    assert not [*store.iterdir()]


def test_a_release_more_keeps_the_others(store: Path) -> None:
    """Beside those of its distribution, between them in order, and in a section of its own."""
    programs = [
        Program("add 1", NOTHING, frozenset({"add f32"})),
        Program("add 2", NOTHING, frozenset({"add i8 in map"})),
        NO_SUCH_TARGET,
    ]
    refused = {"ended": "r", "reason": "no"}
    results = [{"program": "add 1", **_result("c")}]
    results += [{"program": one.name, **refused} for one in programs[1:]]
    _write(store, "jaxlib-0.11.2-pjrt", *results)
    _write(store, "iree-base-compiler-3.13.0-iree", *results)
    # Runs that were ended, the first of a Release that stands there already.
    _write(store, "jaxlib-0.10.2-pjrt", *results[1:2])
    _write(store, "tensorflow-2.20.0-tensorflow", *results[:1])
    found = parse(table(programs, KNOWN))
    assert found["jaxlib"].executed == ("0.10.2", "0.11.2", "0.12.0.1")
    assert found["jaxlib"].rows == {
        # The table had no row of it, and an op in a body that has no row computes.
        "add": [("ccr", "f32"), ("c-r", "i4"), ("--x", "i4 in reduce"), ("crc", "i8 in map")],
        "custom_call": [("crr", "carried"), ("rcr", "new"), ("rrr", "no_such_target")],
    }
    assert found["iree-base-compiler"].executed == ("3.13.0",)
    assert found["iree-base-compiler"].rows == {
        "add": [("c", "f32"), ("r", "i8 in map")],
        # A call that another distribution carries is one that this does not know.
        "custom_call": [("r", "carried;no_such_target"), ("c", "new")],
    }
    assert found["jaxlib"].date > "2026-01-02"
    assert found["tensorflow"].rows == {
        "add": [("c", "f32")],
        "custom_call": [("c", "new")],
    }


def test_a_release_that_is_executed_again_is_written_again(store: Path) -> None:
    """What was executed here counts."""
    _write(
        store, "jaxlib-0.10.2-pjrt", {"program": NO_SUCH_TARGET.name, "ended": "x", "reason": ""}
    )
    found = parse(table([NO_SUCH_TARGET], KNOWN))["jaxlib"]
    assert found.executed == ("0.10.2", "0.12.0.1")
    assert found.rows["custom_call"] == [("xr", "carried;no_such_target"), ("cr", "new")]


def test_new_programs_add_to_what_is_known(store: Path) -> None:
    """Of the Releases in the table; what it says of other ops stays, also where it was seen."""
    programs = [
        Program("tan 1", NOTHING, frozenset({"tan f32", "add f32"})),
        Program("add 1", NOTHING, frozenset({"add f32"})),
    ]
    assert unknown([*programs, NO_SUCH_TARGET], KNOWN) == programs[:1]
    _write(store, "jaxlib-0.10.2-pjrt", {"program": "tan 1", "ended": "r", "reason": "no"})
    _write(store, "jaxlib-0.11.2-pjrt", {"program": "tan 1", **_result("c")})
    found = parse(table(programs[:1], KNOWN, adding=True))["jaxlib"]
    assert found.executed == ("0.10.2", "0.12.0.1")
    assert found.rows["tan"] == [("r-", "f32")]
    assert found.rows["add"] == [("cr", "f32;i4"), ("-x", "i4 in reduce")]


def test_programs_of_some_ops_say_nothing_of_others(store: Path) -> None:
    """What stands beside an op in its programs stays, and what another Release computed there."""
    programs = [Program("tan 1", NOTHING, frozenset({"tan f32", "add i4"}))]
    for version in ("0.10.2", "0.12.0.1"):
        _write(store, f"jaxlib-{version}-pjrt", {"program": "tan 1", **_result("c")})
    newest = find_release("jaxlib 0.12.0.1")
    found = parse(table(programs, KNOWN, of=[newest]))["jaxlib"]
    assert found.executed == ("0.10.2", "0.12.0.1")
    assert found.rows["tan"] == [("-c", "f32")]
    assert found.rows["add"] == [("cr", "f32;i4"), ("-x", "i4 in reduce")]


def test_a_release_between_two_is_written_in_part(store: Path) -> None:
    """With what these do not agree about alone, and marked until it was executed whole."""
    release = find_release("jaxlib 0.11.2")
    disagreeing = {"add f32", "add i4", "add i4 in reduce", "custom_call carried"}
    assert disagreed(KNOWN, release) == disagreeing
    programs = [
        Program("add 1", NOTHING, frozenset({"add f32"})),
        Program("add 2", NOTHING, frozenset({"add i4"})),
        NO_SUCH_TARGET,
    ]
    refused = {"ended": "r", "reason": "no"}
    results = [{"program": "add 1", **_result("c")}]
    results += [{"program": one.name, **refused} for one in programs[1:]]
    _write(store, "jaxlib-0.10.2-pjrt", *results[:1])
    _write(store, "jaxlib-0.11.2-pjrt", *results)
    text = in_part(programs, KNOWN, release)
    assert "\t0.10.2 0.11.2~ 0.12.0.1\n" in text
    found = parse(text)["jaxlib"]
    assert found.rows["add"] == [("ccr", "f32"), ("crr", "i4"), ("--x", "i4 in reduce")]
    assert found.rows["custom_call"] == [("c-r", "carried"), ("r-r", "no_such_target")]
    assert not parse(table(programs, text))["jaxlib"].partly


def test_what_nothing_is_compared_with_takes_nothing_back(store: Path) -> None:
    """Where an op was seen to compute the same, that it compiles is no news; a refusal is."""
    programs = [
        Program("add 1", NOTHING, frozenset({"add f32"})),
        Program("add 2", NOTHING, frozenset({"add i8"})),
    ]
    _write(
        store, "jaxlib-0.10.2-pjrt", *({"program": one.name, **_result("c")} for one in programs)
    )
    alone = find_release("jaxlib 0.10.2")
    found = parse(table(programs, KNOWN, of=[alone]))["jaxlib"]
    assert found.rows["add"] == [("cr", "f32;i4"), ("-x", "i4 in reduce"), ("k-", "i8")]
    refused = ({"program": one.name, "ended": "r", "reason": "no"} for one in programs)
    _write(store, "jaxlib-0.10.2-pjrt", *refused)
    found = parse(table(programs, KNOWN, of=[alone]))["jaxlib"]
    assert found.rows["add"] == [("rr", "f32"), ("cr", "i4"), ("-x", "i4 in reduce"), ("r-", "i8")]


def test_programs_are_chosen_by_their_types() -> None:
    """Of the op that they are about, whether its shapes are known or not."""
    program = Program("sort 1", NOTHING, frozenset({"sort i4? -> i4?", "constant f32"}))
    assert program.is_of(["ui4", "i4"])
    assert not program.is_of(["f32", "sort"])


@pytest.mark.parametrize(
    "dtype",
    [
        *("bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn"),
        *("float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
        *("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"),
    ],
)
def test_numbers_of_few_bits_are_not_all_the_same(dtype: str) -> None:
    """What is four times as much, or of the other sign, is another number; the next one is not."""
    one, four, other, near = (
        [np.array([number], np.float32).astype(getattr(ml_dtypes, dtype))]
        for number in (1.0, 4.0, -1.0, 2.0 if "e8m0" in dtype else 1.5)
    )
    assert same(one, one)
    assert same(one, near) is (dtype != "bfloat16")
    assert not same(one, four)
    assert not same(four, one)
    assert not same(one, other)
