"""The gate: a tree of artifacts against a policy, as text, JSON, JUnit and annotations."""

import datetime
import io
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from portable.artifact import Artifact
from portable.cli import main
from portable.policy import (
    Depth,
    ExpiredWaiver,
    GateResult,
    NothingToGate,
    Policy,
    Recorded,
    Rule,
    gate,
    parse_policy,
)
from portable.policy.gate import CannotObserve
from portable.policy.report import as_github, as_junit, as_record, as_text
from portable.policy.summary import as_html, as_markdown, conclusion
from portable.prediction import examine
from portable.system.files import FileError
from portable.verdict import Basis, Outcome, Stage, Verdict

ARTIFACTS = Path(__file__).parents[1] / "data" / "artifacts"
TODAY = datetime.date(2026, 11, 21)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a folder with three artifacts, one of them deeper, and another file."""
    (tmp_path / "deep" / ".git").mkdir(parents=True)
    shutil.copy(ARTIFACTS / "add_f32+0.9.0.mlir.bc", tmp_path / "add.mlir.bc")
    shutil.copy(ARTIFACTS / "tan+1.4.0.mlir.bc", tmp_path / "deep" / "tan.mlirbc")
    shutil.copy(ARTIFACTS / "custom_calls+1.0.0.mlir.bc", tmp_path / "deep" / "calls.mlir.bc")
    shutil.copy(ARTIFACTS / "tan+1.4.0.mlir.bc", tmp_path / "deep" / ".git" / "x.mlir.bc")
    (tmp_path / "notes.txt").write_text("no artifact")
    return tmp_path


def _policy(tree: Path, **parts: object) -> Policy:
    fields: dict[str, object] = {"consumers": {"all": ["jaxlib>=0.5"]}, **parts}
    return parse_policy(fields, root=tree)


def _failures(result: GateResult) -> list[tuple[str, str]]:
    return [(finding.path.name, str(finding.rule)) for finding in result.findings]


def test_a_tree_that_satisfies_its_policy_passes(tree: Path) -> None:
    """Every artifact is found, hidden folders and other files are not looked at."""
    result = gate([tree], _policy(tree))
    assert result.passed
    assert [file.path.name for file in result.files] == [
        "add.mlir.bc",
        "calls.mlir.bc",
        "tan.mlirbc",
    ]
    assert all(len(file.verdicts) == len(result.consumers) for file in result.files)
    assert "3 artifacts" in as_text(result)


def test_a_finding_names_the_sets_that_its_consumer_is_in(tree: Path) -> None:
    """Where the policy has several: who has to be asked depends on it."""
    phones, servers = ["jaxlib==0.4.30"], ["jaxlib==0.4.31", "@phones"]
    sets = {"phones": phones, "servers": servers}
    result = gate([tree], _policy(tree, consumers=sets))
    (finding,) = result.findings
    assert finding.sets == ("phones", "servers")
    said = "jaxlib 0.4.30 (phones, servers): "
    assert finding.message.startswith(said)
    assert as_record(result)["findings"] == [finding.record()]
    assert finding.record()["sets"] == ["phones", "servers"]
    for text in (as_text(result), as_github(result), as_junit(result)):
        assert said in text
    assert as_markdown(result).count("(phones, servers)") == 1
    (one,) = gate([tree], _policy(tree, consumers={"phones": phones})).findings
    assert one.message.startswith("jaxlib 0.4.30: ")
    assert "sets" not in one.record()


def test_what_consumers_have_in_common_is_said_once(tree: Path) -> None:
    """Each reason of an artifact is one line and one annotation, however many consumers it has.

    GitHub shows ten annotations of a step: 25 of one artifact would hide all others.
    """
    sets = {"new": ["jaxlib>=0.9,<0.11"], "old": ["jaxlib==0.4.36"]}
    artifacts = [
        shutil.copy(tree / "deep" / "calls.mlir.bc", tree / f"{name}.mlir.bc") for name in "ab"
    ]
    result = gate(artifacts, _policy(tree, consumers=sets, rules={"stage": "compile"}))
    named = {verdict.consumer for verdict in result.files[0].verdicts}
    assert len(result.findings) == 2 * len(named) > 10
    new = "jaxlib 0.9.0 to 0.10.2 (new)"
    said = [one for one in as_text(result).splitlines() if "not known whether" in one]
    errors = [one for one in as_github(result).splitlines() if one.startswith("::error")]
    assert len(said) == len(errors) == 2
    for text in (*said, *errors, *as_markdown(result).splitlines()[-2:]):
        assert text.count(new) == text.count("jaxlib 0.4.36 (old)") == 1


@pytest.mark.parametrize("depth", ["header", "content"])
def test_a_consumer_that_cannot_read_is_a_finding(tree: Path, depth: str) -> None:
    """Tan needs 1.4.0; jaxlib 0.4.30 has 1.1.3."""
    policy = _policy(
        tree, rules={"depth": depth, "consumers": ["jaxlib==0.4.30", "jaxlib==0.4.31"]}
    )
    result = gate([tree], policy)
    assert _failures(result) == [("tan.mlirbc", "consumer")]
    (finding,) = result.findings
    assert finding.consumer == "jaxlib 0.4.30"
    assert "1.4.0" in finding.message
    assert not result.passed


def test_depth_decides_whether_a_claim_is_believed(tmp_path: Path) -> None:
    """An artifact labelled 1.17.0 that needs 0.15.0: the header says more than the content."""
    shutil.copy(ARTIFACTS / "add_f32+1.17.0.mlir.bc", tmp_path / "a.mlir.bc")
    rules = {"consumers": ["jaxlib==0.5.0"]}
    assert not gate([tmp_path], _policy(tmp_path, rules=rules | {"depth": "header"})).passed
    assert gate([tmp_path], _policy(tmp_path, rules=rules)).passed


def test_versions_and_dates_are_consumers_too(tree: Path) -> None:
    """A bare Version stands for a reader that has it."""
    result = gate([tree], _policy(tree, rules={"consumers": ["1.3.0", "2024-07-16"]}), on=TODAY)
    assert _failures(result) == [("tan.mlirbc", "consumer")]
    assert result.findings[0].consumer == "stablehlo 1.3.0"


@pytest.mark.parametrize(
    ("name", "rules", "rule"),
    [
        ("sdy+1.11.0", {}, Rule.DIALECTS),
        ("custom_calls+1.0.0", {"custom_calls": ["Sharding"]}, Rule.CUSTOM_CALLS),
        ("custom_calls+1.0.0", {"custom_calls": []}, Rule.CUSTOM_CALLS),
        ("location_range+1.0.0", {"locations": "points"}, Rule.LOCATIONS),
        ("location_range+1.0.0", {"locations": "none"}, Rule.LOCATIONS),
    ],
)
def test_rules_about_the_content(
    tmp_path: Path, name: str, rules: dict[str, object], rule: Rule
) -> None:
    """What is not allowed is found, and what is allowed is not."""
    shutil.copy(ARTIFACTS / f"{name}.mlir.bc", tmp_path)
    consumers = {"consumers": ["jaxlib>=0.12"]}
    found = gate([tmp_path], _policy(tmp_path, rules=consumers | rules)).findings
    assert {finding.rule for finding in found} == {rule}
    allowed = {"dialects": ["sdy"], "custom_calls": ["Sharding", "lapack_*"], "locations": "any"}
    assert gate([tmp_path], _policy(tmp_path, rules=consumers | allowed)).passed


def test_a_waiver_excuses_until_its_last_day(tree: Path) -> None:
    """A waived finding is shown and does not fail; an expired waiver is an error."""
    waiver = {
        "rule": "consumer", "path": "deep/*", "consumer": "jaxlib<0.4.31",
        "reason": "ported in spring", "expires": datetime.date(2026, 12, 31),
    }  # fmt: skip
    policy = _policy(tree, rules={"consumers": ["jaxlib==0.4.30"]}, waivers=[waiver])
    result = gate([tree], policy, on=datetime.date(2026, 12, 31))
    assert result.passed
    assert _failures(result) == [("tan.mlirbc", "consumer")]
    assert result.findings[0].waiver is not None
    assert result.unused == ()
    assert "waived until 2026-12-31: ported in spring" in as_text(result)
    with pytest.raises(ExpiredWaiver):
        gate([tree], policy, on=datetime.date(2027, 1, 1))


def test_a_waiver_is_of_where_a_file_lies(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not of how its path is written: a way through a waived folder leads to the same file."""
    monkeypatch.chdir(tree)
    waiver = {"rule": "consumer", "path": "old/*", "reason": "why", "expires": TODAY}
    policy = _policy(tree, rules={"consumers": ["jaxlib==0.4.30"]}, waivers=[waiver])
    (tree / "old").mkdir()
    assert not gate(["old/../deep/tan.mlirbc"], policy, on=TODAY).passed
    shutil.copy("deep/tan.mlirbc", "old/tan.mlirbc")
    assert gate(["deep/../old/tan.mlirbc"], policy, on=TODAY).passed


@pytest.mark.parametrize(
    "change",
    [{"path": "other/*"}, {"consumer": "jaxlib==0.5.0"}, {"rule": "artifact", "consumer": ""}],
)
def test_a_waiver_excuses_nothing_else(tree: Path, change: dict[str, str]) -> None:
    """Another path, another consumer or another rule is not excused, and the waiver is reported."""
    waiver = {
        "rule": "consumer", "path": "deep/*", "consumer": "jaxlib==0.4.30",
        "reason": "why", "expires": datetime.date(2026, 12, 31),
    }  # fmt: skip
    rules = {"consumers": ["jaxlib==0.4.30"]}
    result = gate([tree], _policy(tree, rules=rules, waivers=[waiver | change]), on=TODAY)
    assert not result.passed
    assert len(result.unused) == 1
    assert "unused waiver" in as_text(result)


@pytest.mark.parametrize("depth", ["header", "content"])
@pytest.mark.parametrize("content", [b"", b"module {}", b"\0\1\2", b"ML\xefR\x0dStableHLO_v1.0.0"])
def test_a_file_that_is_no_artifact_is_a_finding(tree: Path, depth: str, content: bytes) -> None:
    """It does not end the gate, and the result says that something could not be checked."""
    (tree / "bad.mlir.bc").write_bytes(content)
    result = gate([tree], _policy(tree, rules={"depth": depth}))
    assert _failures(result) == [("bad.mlir.bc", "artifact")]
    assert result.unreadable
    assert len(result.files) == 4


def test_damage_in_the_content_is_a_finding(tree: Path) -> None:
    """A truncated artifact is no artifact, whatever its header claims."""
    whole = (tree / "add.mlir.bc").read_bytes()
    (tree / "add.mlir.bc").write_bytes(whole[:-20])
    assert gate([tree], _policy(tree)).unreadable


def test_a_named_file_is_checked_whatever_its_name(tree: Path) -> None:
    """The patterns are for searching; what is named is meant."""
    shutil.copy(tree / "add.mlir.bc", tree / "model")
    result = gate([tree / "model", tree / "model"], _policy(tree))
    assert [file.path.name for file in result.files] == ["model"]


def test_a_gate_that_checks_nothing_does_not_pass(tmp_path: Path) -> None:
    """An empty tree and a path that is not there are errors."""
    with pytest.raises(NothingToGate, match="no artifact in"):
        gate([tmp_path], _policy(tmp_path))
    with pytest.raises(FileError, match="no such file"):
        gate([tmp_path / "missing"], _policy(tmp_path))


def test_stages_that_nothing_reaches_are_refused(tree: Path) -> None:
    """Whether an artifact is written back as it was is not predicted."""
    with pytest.raises(CannotObserve, match="demands roundtrip, which is not predicted"):
        gate([tree], _policy(tree, rules={"stage": "roundtrip"}))


def test_an_observer_is_asked_of_every_artifact(tree: Path) -> None:
    """What it saw is a Verdict beside those that are predicted."""
    policy = _policy(tree)
    seen: list[Artifact] = []

    def observe(artifact: Artifact) -> Verdict:
        seen.append(artifact)
        return Verdict("this one", Outcome.CRASHED, Stage.DECODE, Basis.OBSERVED, "died")

    result = gate([tree], policy, observe=observe)
    assert len(seen) == 3
    assert {finding.consumer for finding in result.findings} == {"this one"}


def _mixed(tree: Path) -> GateResult:
    (tree / "bad<&\x07,:%\n.mlir.bc").write_bytes(b"")
    waiver = {
        "rule": "consumer", "path": "deep/*", "reason": "why",
        "expires": datetime.date(2026, 12, 31),
    }  # fmt: skip
    policy = _policy(tree, rules={"consumers": ["jaxlib==0.4.30"]}, waivers=[waiver])
    return gate([tree], policy, on=TODAY)


def test_junit_is_well_formed_and_counts(tree: Path) -> None:
    """An XML parser reads it, whatever the file names hold."""
    suite = ET.fromstring(as_junit(_mixed(tree)))  # noqa: S314 - we have just written it
    assert suite.attrib["tests"] == "4"
    assert suite.attrib["failures"] == str(len(suite.findall("testcase/failure"))) == "1"
    assert suite.attrib["skipped"] == str(len(suite.findall("testcase/skipped"))) == "1"
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.attrib["type"] == "artifact"


def test_annotations_are_one_line_each(tree: Path) -> None:
    """A finding is an error, a waived one a warning; nothing in a name breaks the line."""
    lines = as_github(_mixed(tree)).splitlines()
    *commands, total = lines
    assert [line.split(" ")[0] for line in commands] == ["::error", "::warning", "::notice"]
    assert re.fullmatch(r"\d+ artifacts, 1 consumer, .* \d+ fail; .*", total)
    assert r"bad<&\x07%2C%3A%25\n.mlir.bc" in lines[0]


def test_the_record_is_json(tree: Path) -> None:
    """It carries the version of its schema and every finding."""
    record = json.loads(json.dumps(as_record(_mixed(tree))))
    assert record["schema"] == 2
    assert record["passed"] is False
    assert [finding["rule"] for finding in record["findings"]] == ["artifact", "consumer"]
    assert record["findings"][1]["waived"] == "why (until 2026-12-31)"


def _run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in this process."""
    told, wrong = io.StringIO(), io.StringIO()
    with chdir(tree), redirect_stdout(told), redirect_stderr(wrong):
        code = main(["gate", *words])
    return subprocess.CompletedProcess(words, code, told.getvalue(), wrong.getvalue())


def test_the_command_ends_with_0_1_or_2(tree: Path) -> None:
    """0 passes, 1 fails, 2 could not check; without a traceback."""
    process = [sys.executable, "-m", "portable", "gate", "missing"]
    ended = subprocess.run(process, cwd=tree, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr[:7]) == (2, b"error: ")
    (tree / "portable.toml").write_text('[consumers]\na = ["jaxlib>=0.5"]\n')
    passed = _run(tree, ".")
    assert (passed.returncode, passed.stderr) == (0, "")
    (tree / "old.toml").write_text('[consumers]\na = ["jaxlib==0.4.30"]\n')
    failed = _run(tree, ".", "--policy", "old.toml", "--format", "junit", "-o", "out.xml")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "<failure" in (tree / "out.xml").read_text()
    (tree / "bad.mlir.bc").write_bytes(b"")
    assert _run(tree, ".", "--format", "github").returncode == 2
    for words in (["missing"], [".", "--policy", "none.toml"], [".", "--as-of", "soon"]):
        wrong = _run(tree, *words)
        assert wrong.returncode == 2
        assert wrong.stderr.startswith("error: ")
        assert wrong.stderr.count("\n") == 1


def test_a_summary_concludes_in_one_sentence_and_names_every_artifact(tree: Path) -> None:
    """Markdown and HTML say the same; what fails comes first, and foreign text stays text."""
    mixed = _mixed(tree)
    assert conclusion(mixed) == "Failed: 1 of 4 artifacts for 1 consumer."
    passed = gate([tree / "add.mlir.bc"], _policy(tree))
    assert conclusion(passed) == f"Passed: 1 artifact for {len(passed.consumers)} consumers."
    head, _, titles, _, *rows = as_markdown(mixed).splitlines()
    assert head == "### portable gate: Failed: 1 of 4 artifacts for 1 consumer."
    assert titles == "| artifact | jaxlib | why |"
    assert [row.partition(".mlir")[0].rpartition("/")[2][:3] for row in rows] == [
        "bad", "tan", "add", "cal",
    ]  # fmt: skip
    assert "waived until 2026-12-31 (why)" in rows[1]
    assert "| 0 of 1 |" in rows[1]
    assert "| 1 of 1 |" in rows[2]
    page = as_html(mixed)
    assert "bad&lt;&amp;\\x07,:%\\n.mlir.bc" in page
    assert "bad<" not in page
    assert "<p class=conclusion>Failed: 1 of 4 artifacts for 1 consumer.</p>" in page
    assert page.count("<tr>") == 1 + len(mixed.files)
    assert "default-src 'none'" in page


def test_one_run_writes_many_reports(tree: Path) -> None:
    """Each by the ending of its name; an unknown ending is bad usage before anything is judged."""
    (tree / "portable.toml").write_text('[consumers]\na = ["jaxlib>=0.5"]\n')
    names = ("r.json", "r.xml", "r.md", "r.html")
    words = [word for name in names for word in ("--report", name)]
    done = _run(tree, ".", "--format", "github", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tree / "r.json").read_text())["passed"] is True
    assert ET.parse(tree / "r.xml").getroot().tag == "testsuite"  # noqa: S314 - ours
    assert (tree / "r.md").read_text().startswith("### portable gate: Passed: 3 artifacts")
    assert (tree / "r.html").read_text().startswith("<!DOCTYPE html>")
    wrong = _run(tree, ".", "--report", "r.pdf")
    assert wrong.returncode == 2
    assert "valid endings: .json, .xml, .md, .html" in wrong.stderr
    over = _run(tree, ".", "--report", "add.mlir.bc.md", "--report", "portable.toml")
    assert over.returncode == 2
    assert (tree / "portable.toml").read_text().startswith("[consumers]")


def test_what_an_audit_read_too_little_of_is_not_judged(tree: Path) -> None:
    """A policy that is about the content needs it; what could not be read at all is a finding."""
    header = {"consumers": ["jaxlib==0.5.0"], "depth": "header"}
    content = {"consumers": ["jaxlib==0.5.0"]}
    subject = examine(Artifact.load(tree / "add.mlir.bc"))
    add = tree / "add.mlir.bc"
    for rules, depth, left in (
        (header, Depth.HEADER, 0), (header, Depth.CONTENT, 0),
        (content, Depth.HEADER, 1), (content, Depth.CONTENT, 0),
    ):  # fmt: skip
        recorded = Recorded("s3://bucket/a.mlir.bc", "", depth, subject)
        result = gate([add], _policy(tree, rules=rules), elsewhere=[[recorded]])
        assert len(result.not_judged) == left
        assert len(result.files) == 2 - left
        assert result.passed is not bool(left)
        again = GateResult(result.files, result.consumers, (), result.not_judged)
        assert again.passed is result.passed  # strict, unless it is said otherwise
    broken = Recorded("s3://bucket/a.mlir.bc", "", Depth.HEADER, None, "cut short")
    result = gate([add], _policy(tree, rules=content), elsewhere=[[broken]])
    assert [finding.rule for finding in result.findings] == [Rule.ARTIFACT]


def test_a_summary_names_the_rule_where_no_consumer_is_named(tree: Path) -> None:
    """A consumer that does not read it says it all; of the others it is said which rule."""
    rows = as_markdown(_mixed(tree)).splitlines()[4:]
    assert "| `artifact: " in rows[0]
    assert "(why): " in rows[1]
    assert "consumer: " not in rows[1]
