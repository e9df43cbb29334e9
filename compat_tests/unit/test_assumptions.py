"""Assumptions: what a user vouches for is named in each Verdict that depends on it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from compat_tests.helpers.compiled import artifact_of
from portable.artifact import Artifact
from portable.bundle import pack_files, pick
from portable.cli import main
from portable.policy import ContradictoryPolicy, PolicyError, gate, parse_policy
from portable.policy.report import as_record, as_text
from portable.policy.summary import as_html, as_markdown
from portable.prediction import Subject, examine, predict
from portable.releases.advisory import Effect, advisories
from portable.releases.assumption import assumption_about, assumptions, find_assumptions
from portable.releases.capability import TABLE, parse
from portable.system.files import read_file
from portable.verdict import Outcome, Stage

# The clamp of an argument between arguments, of which TensorFlow loses a NaN.
CLAMP, TENSORFLOW = "clamp_between_arguments", "tensorflow 2.21.0"
ROOT = Path(__file__).parents[2]
NAMES = [one.name for one in assumptions()]


def _subject() -> Subject:
    return examine(Artifact.load(artifact_of(CLAMP)))


def test_each_is_about_what_advisories_are_about() -> None:
    """None is about what is refused, or seen in the bytes: values have nothing to do with that.

    The other thing that they are about are ops of which no Release was ever seen to give the same,
    or that one gives otherwise by an Advisory that does not count either.
    """
    by_feature = {row.feature: row for row in advisories()}
    for one in assumptions():
        for feature in one.features:
            assert assumption_about(feature) == one.name
            if feature not in by_feature:
                op = feature.removeprefix("op:vhlo.").removesuffix("_v1")
                left_out = {by_feature[other] for other in one.features if other in by_feature}
                otherwise = {row.distribution for row in left_out if row.feature.startswith(op)}
                for distribution, letters in _abilities(op).items():
                    excused = otherwise and ("k" not in letters or distribution in otherwise)
                    assert excused or letters <= set("kx-")
                continue
            row = by_feature[feature]
            assert row.stage is Stage.EXECUTE
            assert row.effect is not Effect.REFUSES


def _abilities(op: str) -> dict[str, set[str]]:
    """Return the letters of what Releases make of an op, by distribution."""
    sections = parse(read_file(TABLE).decode())
    found = {
        distribution: {letter for row in one.rows.get(op, ()) for letter in row[0]}
        for distribution, one in sections.items()
    }
    assert any("k" in letters for letters in found.values())
    return found


def test_what_is_drawn_at_random_need_not_be_the_same() -> None:
    """Not known, unless any numbers will do; then the Verdict says for which op."""
    artifact = artifact_of("uniform_numbers")
    for release in ("jaxlib 0.12.0.1", TENSORFLOW, "iree-base-compiler 3.13.0"):
        (unknown,) = predict(artifact, release, stage=Stage.EXECUTE).not_known
        assert unknown.what.endswith("; does not count if you assume any-random")
        verdict = predict(artifact, release, stage=Stage.EXECUTE, assume=NAMES)
        assert verdict.reason.endswith(", assuming any-random")
        said = "assumed any-random, so that what rng f32 i64 -> f32 gives need not be the same"
        assert said in [one.message for one in verdict.diagnostics]


def test_what_is_not_known_names_what_would_have_to_hold() -> None:
    """So that a user who knows it can say so."""
    (unknown,) = predict(_subject(), TENSORFLOW, stage=Stage.EXECUTE).not_known
    assert unknown.what.endswith("; does not count if you assume no-nan")


def test_a_verdict_says_what_it_assumes() -> None:
    """In its reason, and in a note what does not count."""
    verdict = predict(_subject(), TENSORFLOW, stage=Stage.EXECUTE, assume=["no-nan"])
    assert (verdict.outcome, verdict.stage) == (Outcome.COMPATIBLE, Stage.EXECUTE)
    assert verdict.reason.endswith(", assuming no-nan")
    assert any(
        "assumed no-nan, so that nan-clamped-by-several-tensorflow (wrong result) does not count"
        in one.message
        for one in verdict.diagnostics
    )


def test_what_certainly_occurs_counts_whatever_is_assumed() -> None:
    """Only what the bytes leave open is a question of values."""
    form = "clamp of floats other than from one constant number to constants"
    subject = _subject()
    certain = replace(subject, forms={**subject.forms, form: True})
    verdict = predict(certain, TENSORFLOW, stage=Stage.EXECUTE, assume=["no-nan"])
    assert verdict.outcome is Outcome.WRONG_RESULT


@pytest.mark.parametrize("names", [[], [one for one in NAMES if one != "no-nan"]])
def test_another_assumption_changes_nothing(names: list[str]) -> None:
    """Nor is one named that no Verdict depends on."""
    before = predict(_subject(), TENSORFLOW, stage=Stage.EXECUTE)
    assert predict(_subject(), TENSORFLOW, stage=Stage.EXECUTE, assume=names) == before


def test_where_nothing_depends_on_it_it_is_not_named() -> None:
    """A jaxlib keeps every NaN in a clamp."""
    verdict = predict(_subject(), "jaxlib 0.12.0.1", stage=Stage.EXECUTE, assume=NAMES)
    assert verdict == predict(_subject(), "jaxlib 0.12.0.1", stage=Stage.EXECUTE)


def test_a_stage_before_does_not_depend_on_it() -> None:
    """What is read is read whatever the values are."""
    verdict = predict(_subject(), TENSORFLOW, stage=Stage.COMPILE, assume=["no-nan"])
    assert verdict.compatible
    assert "assuming" not in verdict.reason


def test_one_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """In a call, on the command line, and in a policy, with those that there are."""
    with pytest.raises(ValueError, match="no assumption is called 'no-man': no-nan, in-bounds"):
        find_assumptions(["no-nan", "no-man"])
    for words in (["check", artifact_of(CLAMP)], ["plan", "f"], ["pick", "b", "-o", "o"]):
        assert main([*words, "--assume", "no-man"]) == 2
        assert "no assumption is called 'no-man'" in capsys.readouterr().err
    for wrong in (["no-man"], "no-nan", [1], 1):
        with pytest.raises(PolicyError, match="assume"):
            parse_policy(_policy(wrong), root=tmp_path)


def test_a_header_says_nothing_about_values(tmp_path: Path) -> None:
    """A policy that assumes something has to read the content."""
    fields = _policy(["no-nan"])
    fields["rules"] = {"depth": "header", "assume": ["no-nan"]}
    with pytest.raises(ContradictoryPolicy, match="requires the content"):
        parse_policy(fields, root=tmp_path)


def test_the_page_lists_each() -> None:
    """In the words of the table."""
    page = (ROOT / "docs" / "explanation" / "verdicts.md").read_text("utf-8")
    for one in assumptions():
        assert f"| `{one.name}` | {one.says} |" in page


def test_the_help_lists_each() -> None:
    """As they stand in the table, and whole: to be copied."""
    said = subprocess.run(
        [sys.executable, "-m", "portable", "check", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert not [name for name in NAMES if name not in said]


def test_check_says_what_is_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    """In the reason of each Verdict, and for machines in a list."""
    words = ["check", artifact_of(CLAMP), "--for", "tensorflow==2.21.0", "--stage", "execute"]
    assert main(words) == 2
    assert "does not count if you assume no-nan" in capsys.readouterr().out
    assert main([*words, "--assume", "no-nan", "in-bounds"]) == 0
    assert "assuming no-nan" in capsys.readouterr().out
    assert main([*words, "--assume", "no-nan", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["assumed"] == ["no-nan"]


def test_a_gate_says_what_its_policy_assumes(tmp_path: Path) -> None:
    """In the sentence or the list of each format that says that it has passed."""
    (tmp_path / "clamp.mlir.bc").write_bytes(Path(artifact_of(CLAMP)).read_bytes())
    assert not gate([tmp_path], parse_policy(_policy([]), root=tmp_path)).passed
    result = gate([tmp_path], parse_policy(_policy(["no-nan"]), root=tmp_path))
    assert result.passed
    assert as_record(result)["assumed"] == ["no-nan"]
    for render in (as_text, as_markdown, as_html):
        assert "assuming no-nan" in render(result)


def test_a_version_is_taken_out_of_a_bundle_by_it(tmp_path: Path) -> None:
    """Else none is, since it is not known that it computes the same."""
    (tmp_path / "clamp.mlir.bc").write_bytes(Path(artifact_of(CLAMP)).read_bytes())
    pack_files([tmp_path / "clamp.mlir.bc"], to=tmp_path / "bundle")
    for assume, held in (((), None), (("no-nan",), True)):
        picked = pick(
            tmp_path / "bundle",
            "tensorflow==2.21.0",
            to=tmp_path / "picked.mlir.bc",
            stage=Stage.EXECUTE,
            assume=assume,
        )
        assert picked.held is held


def _policy(assume: object) -> dict[str, object]:
    rules = {"stage": "execute", "assume": assume}
    return {"consumers": {"all": ["tensorflow==2.21.0"]}, "rules": rules}
