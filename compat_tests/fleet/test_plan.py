"""What a plan foretells, against what Releases did; what queries answer, against the rows."""

from __future__ import annotations

import datetime
import html
import importlib.metadata
import json
import re
import shlex
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from compat_tests.helpers.compiled import artifact_of
from compat_tests.helpers.documents import mismatches
from portable.bundle import pack_files
from portable.cli import main
from portable.fleet import (
    CopyOutcome,
    Expiring,
    FleetError,
    InvalidQuery,
    Outlook,
    Plan,
    Transition,
    ask,
    audit,
    calendar,
    plan,
    query_names,
    query_text,
    repin_all,
)
from portable.fleet.report import as_html, conclusion
from portable.fleet.subjects import read_subject
from portable.prediction import predict, subjects
from portable.releases import find_release, releases, window
from portable.system.files import FileError
from portable.verdict import Outcome, Stage
from portable.version import Version
from tools.matrix_pages import load_results
from tools.measure_plans import STAGES, compared

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpus"
ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audit of the corpus."""
    path = tmp_path_factory.mktemp("fleet") / "fleet.parquet"
    audit([str(CORPUS)], path, depth="content")
    return path


@pytest.mark.parametrize("stage", STAGES)
def test_what_a_plan_foretells_is_what_releases_did(stage: Stage) -> None:
    """For every artifact and every move between two Releases of the matrix, none left out."""
    found = compared(stage, planned=1500)
    assert not found.cells
    assert not found.unlike
    assert found.wrong == 0
    assert set(found.right) == {"keeps", "stops", "starts", "fails before and after"}
    assert found.right.total() > 50 * found.listed
    matrix = load_results()
    sealed = sum(row.origin == "sealed" for row in matrix.artifacts)
    transitions = found.right.total() + found.listed + found.open + found.wrong
    assert transitions == len(matrix.consumers) ** 2 * sealed


def test_a_subject_survives_being_written(fleet: Path) -> None:
    """What is predicted of what an audit wrote is what is predicted of the file."""
    rows = pyarrow.parquet.read_table(fleet, columns=["place", "subject"]).to_pylist()
    releases = [find_release(name) for name in ("jaxlib 0.4.13", "jaxlib 0.9.1")]
    compared = 0
    for row in rows[::7]:
        if row["subject"]:
            (subject,) = subjects(row["place"]).values()
            for release in releases:
                found = predict(read_subject(row["subject"]), release)
                # Where something is in the program is not written.
                expected = predict(subject, release)
                assert replace(found, diagnostics=()) == replace(expected, diagnostics=())
                compared += 1
    assert compared > 500


@pytest.mark.parametrize("stage", [Stage.DECODE, Stage.COMPILE, Stage.EXECUTE])
def test_a_plan_knows_what_a_check_knows(stage: Stage, tmp_path: Path) -> None:
    """Up to every Stage: of each artifact, what is predicted of its bytes."""
    fleet, release = tmp_path / "fleet.parquet", find_release("jaxlib 0.10.2")
    audit([str(CORPUS / "shapes")], fleet, depth="content")
    found = plan(fleet, [release], [release], stage=stage)
    places = [
        row["place"] for row in pyarrow.parquet.read_table(fleet).to_pylist() if row["subject"]
    ]
    held = Counter(predict(place, release, stage=stage).holds(stage) for place in places)
    assert held[True] > 0
    assert found.count(Transition.KEEPS) == held[True]
    assert found.count(Transition.UNKNOWN) == held[None]
    assert found.count(Transition.FAILS) == held[False]


def test_a_plan_says_what_it_assumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of an artifact that TensorFlow computes the same where no value is NaN."""
    fleet, clamp = tmp_path / "fleet.parquet", Path(artifact_of("clamp_between_arguments"))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "clamp.mlir.bc").write_bytes(clamp.read_bytes())
    audit([str(tmp_path / "models")], fleet, depth="content")
    words = ["plan", str(fleet), "--from", "jaxlib==0.12.0.1", "--to", "tensorflow==2.21.0"]
    assert main([*words, "--stage", "execute"]) == 2
    capsys.readouterr()
    assert main([*words, "--stage", "execute", "--assume", "no-nan"]) == 0
    assert "to tensorflow 2.21.0, assuming no-nan." in capsys.readouterr().out


def test_the_calendar_counts_each_artifact_once(fleet: Path) -> None:
    """With the date of the Window of its Version."""
    found = calendar(fleet)
    rows = pyarrow.parquet.read_table(fleet).to_pylist()
    assert sum(one.artifacts for one in found) == sum(row["kind"] != "other" for row in rows)
    unread = sum(one.artifacts for one in found if one.version is None)
    assert unread == sum(row["claimed"] is None and row["kind"] != "other" for row in rows) > 0
    for one in found:
        if one.until and one.version:
            assert one.until == window(one.version).readable_until
    assert [one.until for one in found if one.until] == sorted(
        one.until for one in found if one.until
    )


def test_every_query_answers(fleet: Path) -> None:
    """Those that can be counted otherwise, with what Python counts in the rows."""
    rows = pyarrow.parquet.read_table(fleet).to_pylist()
    good = [row for row in rows if row["error"] is None and row["kind"] != "other"]
    release = find_release("jaxlib 0.4.33")
    answers = {name: list(ask(fleet, query_text(name), [release])[1]) for name in query_names()}
    assert len(answers["damaged"]) == sum(row["error"] is not None for row in rows)
    claimed = Counter(row["claimed"] for row in good)
    assert {row[0]: row[1] for row in answers["by-version"]} == claimed
    verdicts = {row["place"]: predict(read_subject(row["subject"]), release) for row in good}
    unread = {
        place
        for place, verdict in verdicts.items()
        if verdict.holds(Stage.DECODE) is not True
        and (verdict.outcome is Outcome.NOT_KNOWN or verdict.stage < Stage.COMPILE)
    }
    assert {row[0] for row in answers["unread"]} == unread
    refused = {place for place, verdict in verdicts.items() if verdict.holds(Stage.DECODE) is False}
    assert refused <= unread | {row[0] for row in answers["advised"]}
    twice = Counter(row["fingerprint"] for row in good)
    assert {row[0]: row[1] for row in answers["duplicates"]} == {
        one: count for one, count in twice.items() if count > 1
    }
    assert answers["expiring"]
    assert answers["advised"]


def test_a_question_about_consumers_names_them(
    fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --for there are no Verdicts to query: an error, not an empty table."""
    for words in (["--query", "unread"], ["--query", "advised"], ["--sql", "FROM verdicts"]):
        assert main(["audit", str(fleet), *words]) == 2
        assert "name consumers (--for)" in capsys.readouterr().err


def test_what_expires_is_asked_by_a_date(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By default in 90 days; the day itself is one of them."""
    today = datetime.date.today()
    ends = sorted({one.until for one in calendar(fleet) if one.until})

    def told(*words: str) -> set[datetime.date]:
        assert main(["audit", str(fleet), "--query", "expiring", "--format", "json", *words]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        return {datetime.date.fromisoformat(row["until"]) for row in rows}

    soon = today + datetime.timedelta(90)
    assert told() == {end for end in ends if end <= soon}
    assert told("--by", ends[-2].isoformat()) == set(ends[:-1])
    assert main(["audit", str(fleet), "--query", "expiring", "--by", "soon"]) == 2
    assert main(["audit", "models", "-o", "x.parquet", "--by", "2027-01-01"]) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELEC",
        "COPY fleet TO 'stolen.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "ATTACH 'other.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "",
        "SELECT CASE i WHEN 100000 THEN CAST('x' AS INT) ELSE i END FROM range(100001) t(i)",
    ],
)
def test_a_question_reads_and_writes_nothing_else(fleet: Path, sql: str) -> None:
    """Whoever wrote the statement: it sees the fleet. What fails over a row is said, too."""
    with pytest.raises(InvalidQuery):
        list(ask(fleet, sql)[1])


def test_the_commands_show_it(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text says a number for everything, JSON has every name; exit codes as of the gate."""
    move = ["--from", "jaxlib==0.12.0.1", "--to", "jaxlib==0.4.33"]
    assert main(["plan", str(fleet), *move]) == 1
    text = capsys.readouterr().out
    assert main(["plan", str(fleet), *move, "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    stops = sum(len(e["artifacts"]) for e in found["outlooks"] if e["change"] == "stops")
    assert stops == found["counts"]["stops"]
    assert f"{stops} stop; " in text
    assert main(["plan", str(fleet), "--today"]) == 1
    assert "within 90 days" in capsys.readouterr().out


def test_the_page_says_in_one_sentence_what_stops(fleet: Path, tmp_path: Path) -> None:
    """Then the names of artifacts, before any click; every number is that of the JSON."""
    page = tmp_path / "plan.html"
    move = ["--from", "jaxlib==0.12.0.1", "--to", "jaxlib==0.4.33"]
    assert main(["plan", str(fleet), *move, "--report", str(page)]) == 1
    text = page.read_text("utf-8")
    found = plan(fleet, [find_release("jaxlib 0.12.0.1")], [find_release("jaxlib 0.4.33")])
    stops = found.count(Transition.STOPS)
    sentence = text.partition("<p class=conclusion>")[2].partition("</p>")[0]
    assert sentence.startswith(f"{stops:,} of ")
    assert "from jaxlib 0.12.0.1 to jaxlib 0.4.33" in sentence
    seen = text.partition("<details>")[0]
    assert html.escape(found.outlooks[0].artifacts[0]) in seen
    assert html.escape(found.outlooks[0].reason) in seen
    named = [*found.damaged, *(name for one in found.outlooks for name in one.artifacts)]
    assert text.count("<li>") == len(named)
    # What the page counts first is every artifact of its sentence.
    counts = re.findall(r"<td class=share-\d>([\d,]+)</td>", seen)
    every = sum(int(count.replace(",", "")) for count in counts)
    assert f"of {every:,} artifacts stop" in sentence
    assert len(found.damaged) > 0
    assert main(["plan", str(fleet), *move, "--report", str(tmp_path / "plan.pdf")]) == 2
    report = tmp_path / "plan.json"
    assert main(["plan", str(fleet), *move, "--report", str(report)]) == 1
    assert mismatches("plan", report.read_text("utf-8")) == []


def test_the_calendar_is_a_page_too(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, then a row for each Version and kind; the numbers are those of the JSON."""
    page, report = tmp_path / "calendar.html", tmp_path / "calendar.json"
    words = ["plan", str(fleet), "--today", "--report", str(page), "--report", str(report)]
    assert main([*words, "--format", "json"]) == 1
    printed = capsys.readouterr().out
    assert mismatches("plan", report.read_text("utf-8")) == []
    assert json.loads(printed) == json.loads(report.read_text("utf-8"))
    windows = json.loads(printed)["windows"]
    text = page.read_text("utf-8")
    ended = sum(one["artifacts"] for one in windows if one["days"] is not None and one["days"] < 0)
    every = sum(one["artifacts"] for one in windows)
    sentence = text.partition("<p class=conclusion>")[2].partition("</p>")[0]
    assert sentence.startswith(f"{ended:,} of {every:,} artifacts have left their Window")
    assert text.count("<tr>") == len(windows) + 1
    for one in windows:
        assert f"<th scope=row>{one['version'] or 'not known'}</th>" in text
        assert f"{one['artifacts']:,}</td>" in text


POLICY = """
[consumers]
now = ["jaxlib==0.12.0.1"]
next = ["jaxlib==0.4.33", "jaxlib==0.5.3"]
"""


@pytest.fixture(scope="module")
def containers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audit of containers, and of artifacts."""
    path = tmp_path_factory.mktemp("containers") / "fleet.parquet"
    data = ROOT / "compat_tests" / "data" / "containers"
    audit(
        [str(CORPUS / "control_flow"), str(CORPUS / "accuracy"), str(data)], path, depth="content"
    )
    return path


def test_a_plan_takes_the_consumer_sets_of_a_policy(
    containers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same plan as of the Releases that they name; a set that is not there is an error."""
    policy = tmp_path / "portable.toml"
    policy.write_text(POLICY)
    words = ["plan", str(containers), "--format", "json"]
    sets = ["--from", "@now", "--to", "@next", "--policy", str(policy)]
    assert main([*words, *sets]) == 1
    by_set = json.loads(capsys.readouterr().out)
    named = ["--from", "jaxlib==0.12.0.1", "--to", "jaxlib==0.4.33", "jaxlib==0.5.3"]
    assert main([*words, *named]) == 1
    assert by_set == json.loads(capsys.readouterr().out)
    assert main([*words, "--from", "@now", "--to", "@none", "--policy", str(policy)]) == 2


@pytest.mark.parametrize(
    ("move", "said", "code"),
    [
        # jaxlib opens no SavedModel; these hold artifacts that TensorFlow reads from 2.20 on.
        (("jaxlib==0.12.0.1", "tensorflow==2.20.0"), ["the new consumers get through"], 0),
        (("tensorflow==2.20.0", "jaxlib==0.12.0.1"), ["jaxlib 0.12.0.1: not known: "], 2),
        (("tensorflow==2.14.0", "jaxlib==0.12.0.1"), ["jaxlib 0.12.0.1: not known: "], 0),
        (("jaxlib==0.12.0.1", "tensorflow==2.14.0"),
         ["jaxlib 0.12.0.1: not known: ", "tensorflow 2.14.0: incompatible: "], 2),
    ],
)  # fmt: skip
def test_what_is_not_known_may_not_stop(
    move: tuple[str, str], said: list[str], code: int,
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """What the new consumers read stops nowhere, nor does what the old ones do not read."""
    fleet = str(tmp_path / "fleet.parquet")
    shutil.copytree(
        ARTIFACTS.parent / "containers" / "gate-jax2tf-0.7.1-tensorflow-2.20.0", tmp_path / "models"
    )
    audit([str(tmp_path / "models")], fleet, depth="content")
    words = ["plan", fleet, "--from", move[0], "--to", move[1]]
    assert main([*words, "--format", "json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert found["compatible"] is {0: True, 2: None}[code]
    (outlook,) = found["outlooks"]
    assert (outlook["change"], outlook["harmless"]) == ("not known", code == 0)
    assert all(words in outlook["reason"] for words in said)


def test_a_plan_promises_what_repin_all_does(tmp_path: Path) -> None:
    """What a plan says to pin is written, what it says has no remedy is not, and so the reverse."""
    models, fleet = tmp_path / "models", tmp_path / "fleet.parquet"
    models.mkdir()
    shutil.copytree(ARTIFACTS.parent / "containers", models / "containers")
    for path in CORPUS.glob("locations/*/artifacts/*.mlir.bc"):
        shutil.copy(path, models / f"{path.parents[1].name}-{path.name}")
    for case in ("elementwise/tan_*", "elementwise/cbrt_*", "quantized/*dot*"):
        for path in CORPUS.glob(f"{case}/artifacts/*.mlir.bc"):
            shutil.copy(path, models / f"{path.parents[1].name}-{path.name}")
    audit([str(models)], fleet, depth="content")
    newest = find_release(f"jaxlib {importlib.metadata.version('jaxlib')}")
    seen, wrong = Counter[tuple[str, str]](), []
    for after in ("jaxlib 0.4.20", "jaxlib 0.4.33", "jaxlib 0.5.3"):
        done = {
            one.place: one.outcome
            for one in repin_all(fleet, after.replace(" ", "=="), to=tmp_path / after)
        }
        for outlook in plan(fleet, [newest], [find_release(after)]).outlooks:
            remedy = outlook.remedy.partition(" ")[0]
            for name in outlook.artifacts:
                place = name if name in done else name.partition(": ")[0]
                outcome = done[place]
                seen[remedy, str(outcome)] += 1
                # A container may hold one program that can be pinned and one that cannot.
                if place == name and (remedy, outcome) not in _PROMISED:
                    wrong.append((after, name, outlook.reason, outlook.remedy, str(outcome)))
    assert not wrong
    assert {remedy for remedy, _ in seen} >= {"pin", "none", "none:"}


_PROMISED = {
    ("pin", CopyOutcome.WRITTEN),
    ("none:", CopyOutcome.FAILED),
    ("none", CopyOutcome.FAILED),
    ("", CopyOutcome.READ),
    ("", CopyOutcome.FAILED),  # not known whether they read it
}


def test_a_plan_says_who_moves_first_and_what_pins_again(
    containers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command is one that runs, and what it writes is read by both; on the page too."""
    before, after = find_release("jaxlib 0.12.0.1"), find_release("jaxlib 0.5.3")
    page = tmp_path / "plan.html"
    words = ["plan", str(containers), "--from", "jaxlib==0.12.0.1", "--to", "jaxlib==0.5.3"]
    assert main([*words, "--report", str(page), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    good = [
        row
        for row in pyarrow.parquet.read_table(containers).to_pylist()
        if row["error"] is None and row["kind"] != "other"
    ]
    refused = sum(
        predict(read_subject(r["subject"]), after).holds(Stage.DECODE) is False for r in good
    )
    assert found["refused"] == {"jaxlib 0.5.3": refused}
    version = found["order"].partition("pinned for ")[2].partition(",")[0]
    assert found["order"].startswith("artifacts move first")
    command = shlex.split(found["command"])
    copies = tmp_path / "copies"
    assert command[0] == "portable"
    command[command.index("DIRECTORY")] = str(copies)
    assert main([*command[1:], "--format", "json"]) in {0, 1}
    done = json.loads(capsys.readouterr().out)
    assert done["counts"]["written"] > 0
    for one in done["objects"]:
        if one["outcome"] == "written":
            verdict = predict(one["to"], after)
            assert verdict.stage > Stage.DECODE or verdict.holds(Stage.DECODE) is not False
    assert Version.parse(version) <= min(before.current, after.current)
    text = page.read_text("utf-8")
    assert html.escape(found["command"]) in text
    assert html.escape(found["order"]) in text


def test_a_bundle_is_one_artifact_of_which_a_consumer_needs_one_version(tmp_path: Path) -> None:
    """For every jaxlib the plan is what the whole bundle is predicted; copies are of none."""
    models, fleet = tmp_path / "models", tmp_path / "fleet.parquet"
    old, new = (ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in ("0.14.0", "1.17.0"))
    both, one, single = (models / name for name in ("both", "one", "blobs/sha256/of no bundle"))
    models.mkdir()
    pack_files([old, new], to=both)
    pack_files([new], to=one)
    single.parent.mkdir(parents=True)
    shutil.copy(new, single)
    audit([str(models)], fleet, depth="content")
    newest, seen = find_release("jaxlib 0.10.2"), set()
    for release in releases("jaxlib"):
        found = plan(fleet, [newest], [release])
        said = {name: each.change for each in found.outlooks for name in each.artifacts}
        held = tuple(predict(path, release).holds(Stage.DECODE) for path in (both, one, single))
        stops = {
            str(path) for path, reads in zip((both, one, single), held, strict=True) if not reads
        }
        assert said == dict.fromkeys(stops, Transition.STOPS), release
        assert found.kept == 3 - len(stops)
        seen.add(held)
    assert seen == {(True, True, True), (True, False, False)}
    done = {
        found.place: found.outcome
        for found in repin_all(fleet, "jaxlib==0.4.20", to=tmp_path / "to")
    }
    assert done == {
        str(both): CopyOutcome.READ,
        str(one): CopyOutcome.FAILED,
        str(single): CopyOutcome.WRITTEN,
    }


def test_a_plan_says_when_containers_expire(
    containers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of each kind and Version as the calendar does, and of no plain artifact."""
    words = ["plan", str(containers), "--from", "jaxlib==0.12.0.1", "--to", "jaxlib==0.5.3"]
    main([*words, "--format", "json"])
    expiring = json.loads(capsys.readouterr().out)["expiring"]
    today = datetime.date.today()
    every = [one.record(today) for one in calendar(containers)]
    assert expiring == [one for one in every if one["kind"] in CONTAINER_KINDS]
    assert {one["kind"] for one in expiring} == CONTAINER_KINDS
    main(words)
    said = capsys.readouterr().out
    assert "in jax.export.Exported, 0.9.0: promised until 2023-08-29" in said


CONTAINER_KINDS = {"jax.export.Exported", "TensorFlow SavedModel"}


ENDED = (
    "1 of 3 artifacts have left their Window; 1 more leave it within 90 days; of 1 it is not known."
)
UNSURE = (
    "Of 1 of 2 artifacts it is not known when they leave their Window; "
    "none of the others leaves it within 90 days."
)


@pytest.mark.parametrize(
    ("days", "said", "code"),
    [
        ((), "No artifact claims a Version.", 0),
        ((91,), "None of 1 artifacts leaves its Window within 90 days.", 0),
        ((91, 90), "1 of 2 artifacts leave their Window within 90 days.", 1),
        ((-1, 0, None), ENDED, 1),
        ((91, None), UNSURE, 2),
    ],
)
def test_the_calendar_says_what_ends_soon(
    days: tuple[int | None, ...],
    said: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Not known is never green, and what ends outweighs it."""
    today = datetime.date.today()
    found = tuple(
        Expiring(
            Version.parse("1.0.0"),
            "portable artifact",
            None if left is None else today + datetime.timedelta(left),
            1,
        )
        for left in days
    )
    monkeypatch.setattr("portable.cli.plan.calendar", lambda _: found)
    page = tmp_path / "calendar.html"
    assert main(["plan", "fleet.parquet", "--today", "--report", str(page)]) == code
    assert f"<p class=conclusion>{said}</p>" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({}, "Nothing stops: 7 artifacts, from jaxlib 0.9.1 to jaxlib 0.5.3 and 1 more Release."),
        (
            {"by_claim": 5},
            "Nothing is known to stop of 7 artifacts, 5 judged by what they claim alone",
        ),
        ({"damaged": ("x",)}, "Not known whether anything stops"),
        ({"kept": 0}, "There is no artifact in the fleet: nothing is planned."),
        (
            {"outlooks": (Outlook(Transition.STOPS, "why", "", ("a", "b")),)},
            "2 of 9 artifacts stop",
        ),
        (
            {"outlooks": (Outlook(Transition.UNKNOWN, "why", "", ("a",)),)},
            "Not known whether anything stops, from jaxlib 0.9.1 to jaxlib 0.5.3 and 1 more",
        ),
        (
            {"outlooks": (Outlook(Transition.UNKNOWN, "why", "", ("a",), harmless=True),)},
            "Nothing stops: 8 artifacts",
        ),
    ],
)
def test_the_conclusion_is_never_better_than_the_plan(held: dict[str, Any], said: str) -> None:
    """What is not known does not hold."""
    found = Plan(("jaxlib 0.9.1",), ("jaxlib 0.5.3", "jaxlib 0.6.0"), Stage.DECODE, (), 7, 0, ())
    assert conclusion(replace(found, **held)).startswith(said)


def test_names_are_text_on_the_page(tmp_path: Path) -> None:
    """Whatever keys a bucket has; of very many a thousand are listed."""
    hostile = Outlook(Transition.STOPS, "<b>", "</script>", ("<script>alert(1)</script>\x1b[31m",))
    many = Outlook(Transition.FAILS, "why", "", tuple(map(str, range(5000))))
    found = Plan(("a 1",), ("b 2",), Stage.DECODE, (hostile, many), 0, 0, ("&amp;\u202e",))
    text = as_html(found)
    assert text.count("<script") == 2
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("<li>") == 1002
    assert "4,000 others" in text
    assert str(tmp_path) not in text


def test_a_folder_is_no_fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error says what makes one of it."""
    assert main(["plan", str(tmp_path), "--today"]) == 2
    assert "a folder, not a fleet file" in (said := capsys.readouterr().err)
    assert "portable audit FOLDER -o fleet.parquet --depth content" in said


def test_a_plan_ends_with_its_conclusion(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Read by its header alone nothing is known of what an artifact holds, and the text says so."""
    words = ["--from", "jaxlib==0.12.0.1", "--to", "jaxlib==0.5.3"]
    assert main(["plan", str(fleet), *words]) == 1
    assert "artifacts stop, from jaxlib 0.12.0.1" in capsys.readouterr().out.splitlines()[-1]
    words = ["--from", "jaxlib==0.9.1", "--to", "jaxlib==0.12.0.1"]
    named = CORPUS / "elementwise" / "add_f32" / "artifacts"
    claimed = tmp_path / "claimed.parquet"
    assert main(["audit", str(named), "-o", str(claimed), "-q"]) == 0
    capsys.readouterr()
    assert main(["plan", str(claimed), *words]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("Nothing is known to stop of ")
    assert "judged by what they claim alone" in last


def test_an_audit_that_was_damaged_is_an_error(tmp_path: Path) -> None:
    """Not a wrong plan."""
    with pytest.raises(FleetError):
        read_subject('{"format": "x"}')
    with pytest.raises(FileError):
        calendar(tmp_path / "missing.parquet")
