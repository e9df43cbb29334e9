"""Up to which Stage a Verdict speaks, in words, and what the exit codes make of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from portable.artifact import Artifact
from portable.cli import main
from portable.cli.output import show_verification
from portable.policy import gate, parse_policy
from portable.policy.report import as_record, as_text
from portable.prediction import examine, predict, predict_all
from portable.releases import matching_releases, releases
from portable.runtime.verification import Verification
from portable.verdict import Basis, NotKnown, Outcome, Stage, Verdict, worst

DATA = Path(__file__).parents[1] / "data"
ARTIFACTS = DATA / "artifacts"
CONTAINERS = DATA / "containers"
CORPUS = Path(__file__).parents[2] / "corpus"
PLAIN = ARTIFACTS / "add_f32+0.9.0.mlir.bc"
QUANTIZED = ARTIFACTS / "quantized_abs+0.9.0.mlir.bc"
OLD = CONTAINERS / "gate-vjp0-jax-0.5.3.exported"
SAVED_MODEL = CONTAINERS / "gate-jax2tf-0.7.1-tensorflow-2.20.0"
JAXLIBS = releases("jaxlib")
NEWEST = JAXLIBS[-1].version
# Of a Release that is new nothing was executed yet.
EXECUTED = "jaxlib>=0.4.13,<=0.12.0.1"


def _check(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    code = main(["check", *map(str, words)])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "spec", "stage", "code", "says"),
    [
        (PLAIN, "jaxlib", "decode", 0, f"{len(JAXLIBS)} compatible: reads it (predicted)"),
        (PLAIN, EXECUTED, "open", 0, "45 compatible: reads it (predicted)"),
        # What was executed, and what was not.
        (PLAIN, EXECUTED, "compile", 0, "45 compatible: compiles it (predicted)"),
        (PLAIN, EXECUTED, "execute", 0, "45 compatible: computes the same (predicted)"),
        (PLAIN, "libtpu", "compile", 2, "no program was executed on this Release"),
        (PLAIN, "jaxlib", "roundtrip", 2, "not known whether it writes back what it read"),
        # A known obstacle counts, however late it comes.
        (QUANTIZED, "jaxlib>=0.9,<0.12.1", "decode", 1,
         "12 incompatible: does not compile it (predicted)"),
        (QUANTIZED, "jaxlib>=0.9,<0.12.1", "open", 1,
         "12 incompatible: does not compile it (predicted)"),
        (ARTIFACTS / "i1_splat_32+1.0.0.mlir.bc", "jaxlib==0.9.1", "decode", 1,
         "1 wrong-result: does not compute the same (predicted)"),
        # The container comes first.
        (OLD, "jaxlib>=0.11.1,<0.12.1", "decode", 1,
         "4 incompatible: does not open it (predicted)"),
        (OLD, "jaxlib==0.10.2", "decode", 0, "1 compatible: reads it (predicted)"),
        (OLD, "libtpu==0.0.51", "decode", 2, "1 not known whether it opens it (predicted)"),
        (SAVED_MODEL, "tensorflow==2.16.*", "decode", 1, "2 incompatible: does not open it"),
        (SAVED_MODEL, "tensorflow>=2.20,<2.22", "decode", 0, "2 compatible: reads it (predicted)"),
        (SAVED_MODEL, "jaxlib==0.10.2", "decode", 2, "1 not known whether it opens it"),
        # Who is asked about.
        (PLAIN, "tensorflow", "decode", 0, "compatible: reads it (predicted)"),
        (PLAIN, "stablehlo==1.9.0", "decode", 0, "1 compatible: reads it (predicted)"),
        (ARTIFACTS / "tan+1.4.0.mlir.bc", "1.3.0", "decode", 1, "needs 1.4.0, has 1.3.0"),
        (PLAIN, "jaxlib<0.5", "decode", 2, "not known: jaxlib before 0.4.13 is not in the table"),
        (PLAIN, "jaxlib>=0.5", "decode", 0, f"note: jaxlib after {NEWEST} is not in the table"),
        (ARTIFACTS / "mesh_inline+1.16.0.mlir.bc", "jax-rocm7-pjrt>=0.6", "decode", 1,
         "at least 1.10.0, below 1.12.0"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else str(value)[:20],
)  # fmt: skip
def test_the_exit_code_judges_up_to_the_stage(  # noqa: PLR0917 - a table of cases
    path: Path, spec: str, stage: str, code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """0: gets through, 1: an obstacle is known, 2: not known; in words, also as JSON."""
    found, out = _check(capsys, path, "--for", spec, "--stage", stage)
    assert found == code, out
    assert says in out
    found, out = _check(capsys, path, "--for", spec, "--stage", stage, "--format", "json")
    document = json.loads(out)
    (record,) = document["files"]
    assert found == code
    assert (document["schema"], document["stage"]) == (3, stage)
    assert record["compatible"] is {0: True, 1: False, 2: None}[code]
    parts = record.get("artifacts", [record])
    for verdict in (verdict for part in parts for verdict in part["verdicts"]):
        assert verdict["says"].startswith(verdict["outcome"])
        assert {"stage", "not_known"} <= verdict.keys()


def test_no_verdict_is_printed_without_its_stage(capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever an outcome stands, the words of its Stage follow."""
    outcomes = [str(outcome) for outcome in Outcome]
    for path in (PLAIN, QUANTIZED, OLD, SAVED_MODEL):
        _, out = _check(capsys, path, "--for", "jaxlib", "tensorflow", "--all")
        for line in out.splitlines():
            for outcome in outcomes:
                _, found, rest = line.partition(f" {outcome}")
                assert not found or rest.startswith((":", " whether it")), line


def test_a_custom_call_that_a_release_lacks_is_a_reason() -> None:
    """Its target is one of TPUs: jaxlib's own client reads the program and does not compile it."""
    path = next(CORPUS.glob("*/custom_call_api_version_original/artifacts/0.9.0*"))
    target, other = "tpu_custom_call", "foo"
    subject = replace(
        examine(Artifact.load(path)),
        custom_calls=frozenset({target, other}),
        signatures=frozenset({f"custom_call {target}", f"custom_call {other}"}),
        present=frozenset({f"custom_call:{target}", f"custom_call:{other}"}),
    )
    verdict = predict(subject, "jaxlib 0.10.2")
    assert (verdict.outcome, verdict.stage) == (Outcome.INCOMPATIBLE, Stage.COMPILE)
    assert "tpu-custom-call-cpu: custom call tpu_custom_call is one of TPUs" in verdict.reason
    assert verdict.not_known == (NotKnown(Stage.COMPILE, "custom call 'foo'"),)
    elsewhere = predict(subject, "jax-cuda12-pjrt 0.12.0.1")
    assert elsewhere.compatible
    assert {one.what for one in elsewhere.not_known} == {
        "custom call 'foo'",
        "custom call 'tpu_custom_call'",
    }


def test_custom_calls_are_listed_as_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    """Whether a Release has the target of a custom call no table says; it does read it."""
    path = next(CORPUS.glob("*/custom_call_api_version_original/artifacts/0.9.0*"))
    verdict = predict(path, "jaxlib 0.10.2")
    assert verdict.not_known == (NotKnown(Stage.COMPILE, "custom call 'foo'"),)
    assert verdict.holds(Stage.DECODE)
    assert verdict.holds(Stage.COMPILE) is None
    code, out = _check(capsys, path, "--for", "jaxlib>=0.9")
    count = len(matching_releases("jaxlib>=0.9"))
    assert code == 0
    assert f"not known whether it compiles it: custom call 'foo' ({count} consumers)" in out


def test_who_does_not_read_it_is_not_asked_whether_it_compiles_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is not known is counted of the consumers that get so far, by `check` and by the gate."""
    path = next(CORPUS.glob("*/custom_call_api_version_original/artifacts/1.18.0*"))
    names = ["jaxlib 0.10.2", "jaxlib 0.12.0"]
    counted = "not known whether it compiles it: custom call 'foo' (1 consumer)"
    assert [predict(path, name).compatible for name in names] == [False, True]
    assert counted in _check(capsys, path, "--for", *names)[1]
    assert counted in as_text(gate([path], parse_policy({"consumers": {"all": names}})))


def test_what_holds_never_grows_with_the_stage() -> None:
    """Who gets through a Stage gets through those before; an obstacle is known at all of them."""
    rank = {True: 2, None: 1, False: 0}
    for number, path in enumerate(sorted(ARTIFACTS.glob("*.bc"))):
        for verdict in predict_all(path, releases()[number % 4 :: 4]):
            held = [rank[verdict.holds(stage)] for stage in Stage]
            assert held == sorted(held, reverse=True), verdict
            assert len(set(held)) == 1 or 0 not in held, verdict
            assert (Outcome.NOT_KNOWN is verdict.outcome) == (held[Stage.DECODE] == 1)


def test_the_worst_of_several_counts() -> None:
    """An obstacle more than what is not known, that more than a pass."""
    assert worst([]) is True
    assert worst([True, True]) is True
    assert worst([True, None]) is None
    assert worst([None, False, True]) is False


def test_an_observation_says_its_stage_too() -> None:
    """The words are those of the Stage that was reached."""
    read = Verdict("jaxlib 0.10.2", Outcome.COMPATIBLE, Stage.DECODE, Basis.OBSERVED)
    died = Verdict("jaxlib 0.10.2", Outcome.CRASHED, Stage.COMPILE, Basis.OBSERVED)
    assert (read.says, died.says) == ("compatible: reads it", "crashed: does not compile it")


@pytest.mark.parametrize("outcome", [Outcome.COMPATIBLE, Outcome.WRONG_RESULT, Outcome.HUNG])
def test_a_verification_says_its_stage(
    outcome: Outcome, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is compared is what was computed, or not to the end."""
    verdict = Verdict("jaxlib 0.10.2 (pjrt)", outcome, Stage.EXECUTE, Basis.OBSERVED, "seed 0")
    show_verification(Verification(verdict), "old", "new")
    does = "computes" if outcome is Outcome.COMPATIBLE else "does not compute"
    assert f"  {outcome}: {does} the same: seed 0\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "consumer", "passed", "undecided"),
    [
        (OLD, "jaxlib==0.10.2", True, False),
        (OLD, "jaxlib>=0.11", False, False),
        (OLD, "libtpu==0.0.51", False, True),
        (PLAIN, "jaxlib<0.5", False, True),
        (PLAIN, "stablehlo==1.9.0", True, False),
        (QUANTIZED, "jaxlib==0.10.2", False, False),
    ],
)
def test_the_gate_judges_the_same(path: Path, consumer: str, passed: bool, undecided: bool) -> None:
    """A container that nobody opens does not pass, nor does what nobody knows."""
    result = gate([path], parse_policy({"rules": {"consumers": [consumer]}}))
    assert (result.passed, result.undecided) == (passed, undecided)
    assert "up to decode (reads it)" in as_text(result)
    record = as_record(result)
    assert (record["schema"], record["stage"]) == (2, "decode")


def test_a_hole_counts_as_its_worst_member_in_the_gate() -> None:
    """A Release that was not measured, jax-rocm7-pjrt 0.6.0, does not pass what needs 1.16.0."""
    path = ARTIFACTS / "mesh_inline+1.16.0.mlir.bc"
    assert predict(path, "jax-rocm7-pjrt 0.12.0").compatible
    result = gate([path], parse_policy({"rules": {"consumers": ["jax-rocm7-pjrt>=0.6"]}}))
    failed = {finding.consumer for finding in result.findings}
    assert "jax-rocm7-pjrt 0.6.0" in failed
    assert failed < {str(one) for one in matching_releases("jax-rocm7-pjrt>=0.6")}
