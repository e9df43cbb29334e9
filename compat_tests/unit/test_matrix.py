"""What a matrix is made of: items, what is kept of them, how prediction and observation agree."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compat_tests.helpers import misbehaving
from compat_tests.helpers.matrices import cell, observed
from portable.cli.matrix import newest_jaxlib
from portable.matrix import Agreement, Pick, Run, Store, collect
from portable.matrix.batch import Batch, Benches, Observation
from portable.matrix.cell import agreement
from portable.matrix.inputs import with_expected, with_inputs
from portable.matrix.item import Item, NothingToTest
from portable.matrix.listed import contradictions, listed
from portable.matrix.store import Key, StoreUnusable, key
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.runtime.executors.tensors import stored_arrays
from portable.system.files import FileError
from portable.verdict import Basis, Diagnostic, Outcome, Severity, Stage, Verdict

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpus"
CASE = CORPUS / "elementwise" / "abs_f32"
ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"
RELEASE = "jaxlib 0.4.33"


def _verdict(words: str, basis: Basis = Basis.OBSERVED) -> Verdict:
    outcome, stage = words.split()
    told = (Diagnostic(Severity.ERROR, "no", "here", (Diagnostic(Severity.NOTE, "why"),)),)
    return Verdict(RELEASE, Outcome(outcome), Stage[stage.upper()], basis, "no", told)


@pytest.mark.parametrize(
    ("predicted", "observed", "expected"),
    [
        ("compatible window", "compatible decode", Agreement.AGREES),
        ("compatible window", "incompatible decode", Agreement.CONTRADICTS),
        ("incompatible window", "compatible decode", Agreement.CONTRADICTS),
        ("incompatible window", "incompatible decode", Agreement.AGREES),
        ("incompatible window", "crashed decode", Agreement.AGREES),
        ("compatible window", "crashed decode", Agreement.CONTRADICTS),
        ("wrong-result execute", "compatible decode", Agreement.AGREES),
        ("wrong-result execute", "compatible execute", Agreement.CONTRADICTS),
        ("wrong-result execute", "wrong-result execute", Agreement.AGREES),
        ("compatible window", "wrong-result execute", Agreement.CONTRADICTS),
        ("compatible window", "incompatible execute", Agreement.AGREES),
        ("compatible window", "incompatible roundtrip", Agreement.AGREES),
        ("compatible window", "crashed roundtrip", Agreement.CONTRADICTS),
    ],
)
def test_a_prediction_is_held_against_what_was_reached(
    predicted: str, observed: str, expected: Agreement
) -> None:
    """What is predicted for a later Stage than was observed is not contradicted."""
    one = _verdict(predicted, Basis.PREDICTED)
    assert agreement(one, _verdict(observed)) is expected


def test_a_case_gives_its_sealed_artifacts() -> None:
    """Every artifact of a Case is an item with its producer, inputs and expected outputs."""
    items = collect([CASE])
    files = sorted(path.name for path in (CASE / "artifacts").iterdir())
    assert sorted(Path(item.path).name for item in items) == files
    assert all(item.case == "abs_f32" and item.inputs and item.expected for item in items)
    oldest = items[0]
    assert oldest.producer == "jaxlib 0.4.13"
    assert oldest.producer_version == find_release("jaxlib 0.4.13").current


def test_a_corpus_can_be_cut_down() -> None:
    """`lowest` takes one artifact of each Case, `ends` two; a folder of Cases is a corpus."""
    lowest, ends = collect([CORPUS], pick=Pick.LOWEST), collect([CORPUS], pick=Pick.ENDS)
    assert len({item.case for item in lowest}) == len(lowest)
    versions = {item.case: item.claimed for item in lowest if item.claimed}
    assert all(item.claimed and item.claimed >= versions[item.case] for item in ends)
    assert len(lowest) < len(ends) <= 2 * len(lowest)


def test_a_folder_is_searched(tmp_path: Path) -> None:
    """A folder gives its artifacts by name; one without any is an error that says what is one."""
    with pytest.raises(NothingToTest, match="no artifact and no Case"):
        collect([tmp_path])
    artifact = next((CASE / "artifacts").iterdir())
    (tmp_path / "b.mlir.bc").write_bytes(artifact.read_bytes())
    (tmp_path / "notes.txt").write_text("no artifact")
    assert [Path(item.path).name for item in collect([tmp_path])] == ["b.mlir.bc"]


def test_a_container_gives_what_is_inside(tmp_path: Path) -> None:
    """A jax Exported is an item for each artifact in it, under the container's path."""
    container = next((CORPUS.parent / "compat_tests" / "data" / "containers").glob("*jax*"))
    (item,) = collect([container])[:1]
    assert item.path == str(container)
    assert item.inside
    assert item.artifact().digest == item.digest
    moved = replace(item, path=str(tmp_path / "gone"))
    with pytest.raises(FileError):
        moved.artifact()


def test_observations_come_back_as_they_were_kept(tmp_path: Path) -> None:
    """Outcome, Stage, reason, diagnostics and notes survive; an absent Verdict is not kept."""
    one, other = collect([CASE], pick=Pick.ENDS)
    seen = Observation(_verdict("crashed decode"), "a note", 0.25)
    with Store(tmp_path / "store.sqlite") as store:
        store.keep(
            RELEASE,
            Stage.DECODE,
            {key(one, Stage.DECODE): seen, key(other, Stage.DECODE): Observation(None, "gone")},
        )
    with Store(tmp_path / "store.sqlite") as store:
        wanted = [key(item, Stage.DECODE) for item in (one, other)]
        assert store.find(RELEASE, Stage.DECODE, wanted) == {wanted[0]: seen}
        assert store.find("jaxlib 0.4.34", Stage.DECODE, wanted) == {}
        assert store.find(RELEASE, Stage.EXECUTE, wanted) == {}


def test_an_execution_is_known_by_its_inputs_too() -> None:
    """Other inputs, expected outputs or tolerances are another execution, but the same reading."""
    item = collect([CASE], pick=Pick.LOWEST)[0]
    nearer, by_ulps = replace(item, relative=0.5), replace(item, ulps=1)
    swapped = replace(item, inputs=item.expected)
    assert key(item, Stage.DECODE) == key(nearer, Stage.DECODE) == key(swapped, Stage.DECODE)
    assert len({key(one, Stage.EXECUTE) for one in (item, nearer, by_ulps, swapped)}) == 4


def _keep(path: str, release: str) -> None:
    item = collect([CASE], pick=Pick.LOWEST)[0]
    for _ in range(50):
        with Store(path) as store:
            seen = Observation(_verdict("compatible decode"))
            store.keep(release, Stage.DECODE, {key(item, Stage.DECODE): seen})


def test_two_runs_share_a_store(tmp_path: Path) -> None:
    """Two processes that write at once both get everything in."""
    path = str(tmp_path / "store.sqlite")
    context = multiprocessing.get_context("spawn")
    names = ["jaxlib 0.4.30", "jaxlib 0.4.31"]
    processes = [context.Process(target=_keep, args=(path, name)) for name in names]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    wanted = [key(collect([CASE], pick=Pick.LOWEST)[0], Stage.DECODE)]
    with Store(path) as store:
        assert all(store.find(name, Stage.DECODE, wanted) for name in names)


def test_a_damaged_store_is_an_error(tmp_path: Path) -> None:
    """A file that is no database, or of a newer layout, is named and left as it is."""
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(StoreUnusable, match=r"store\.sqlite"):
        Store(path)
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreUnusable, match="newer portable"):
        Store(path)


@pytest.fixture
def nowhere(tmp_path: Path) -> Environments:
    """Return a folder of environments in which none can be made: it is a file."""
    (tmp_path / "file").touch()
    return Environments(tmp_path / "file")


def test_a_release_that_cannot_be_had_is_told(nowhere: Environments) -> None:
    """Without an environment a cell has no observation, and says what to do."""
    with Store(":memory:") as store:
        run = Run(store, environments=nowhere)
        matrix = run.observe(collect([CASE], pick=Pick.LOWEST), [find_release(RELEASE)])
    (cell,) = matrix.cells
    assert cell.observed is None
    assert cell.agreement is Agreement.UNOBSERVED
    assert "PORTABLE_CACHE" in cell.note
    assert not matrix.compatible


def _misbehaving(folder: Path, *words: str) -> list[Item]:
    """Write what makes the Release misbehave, as artifacts."""
    items = []
    for word in words:
        path = folder / f"{word}.mlir.bc"
        path.write_text(word)
        items.append(Item(word, str(path), word, None))
    return items


def test_a_release_that_misbehaves_costs_one_cell_each(tmp_path: Path) -> None:
    """A hang, a crash, noise on stdout, garbage and a full disk are Verdicts of their artifacts."""
    words = ("before", "hang", "segfault", "print", "answer-itself", "full", "exit", "after")
    items = _misbehaving(tmp_path, *words)
    with Store(":memory:") as store:
        run = Run(store, environments=misbehaving.environments(tmp_path / "envs"), limit=2.0)
        matrix = run.observe(items, [misbehaving.RELEASE])
    seen = {cell.item.name: cell.observed for cell in matrix.cells}
    assert {name: one and str(one.outcome) for name, one in seen.items()} == {
        **dict.fromkeys(("before", "print", "after"), "compatible"),
        **dict.fromkeys(("segfault", "answer-itself", "exit"), "crashed"),
        "hang": "hung",
        "full": "incompatible",
    }


def test_processes_are_kept_for_the_next_batch_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of a kind, until it has done as many artifacts as it may or more rest than may."""
    made: list[Process] = []

    class Process:
        """What has a Release at work."""

        def __init__(self, _: Batch) -> None:
            self.done, self.closed = 0, False
            made.append(self)

        def close(self) -> None:
            self.closed = True

    monkeypatch.setattr("portable.matrix.batch._bench", Process)
    item: Any = None
    one, two = (Batch(f"jaxlib {n}", Stage.EXECUTE, (item,) * 400, 1.0) for n in "12")
    with Benches(1, artifacts=1000) as benches:
        for batch, closed in (
            (one, [False]), (one, [False]), (one, [True]), (one, [True, False]),
            (two, [True, True, False]),
        ):  # fmt: skip
            with benches.lent(batch):
                pass
            assert [process.closed for process in made] == closed
    assert made[-1].closed


def test_a_defect_of_an_adapter_costs_one_cell(tmp_path: Path) -> None:
    """A job that cannot be done is no Verdict, and the others of its batch have theirs."""
    items = _misbehaving(tmp_path, "before", "defect", "after", "gone")
    Path(items[-1].path).unlink()
    with Store(":memory:") as store:
        run = Run(store, environments=misbehaving.environments(tmp_path / "envs"))
        before, defect, after, gone = run.observe(items, [misbehaving.RELEASE]).cells
    assert before.observed
    assert after.observed
    assert defect.observed is None
    assert "KeyError" in defect.note
    assert gone.observed is None
    assert "FileNotFoundError" in gone.note


@pytest.mark.parametrize(
    ("largest", "allowed"), [(1.0, 1e-5), (300.0, 3e-4), (np.inf, 1e-5), (np.nan, 1e-5)]
)
def test_what_rounding_does_follows_the_largest_value(
    tmp_path: Path, largest: float, allowed: float
) -> None:
    """Where large numbers cancel each other out compilers differ; what is asked for is taken."""
    (item,) = collect([ARTIFACTS / "add_f32+0.9.0.mlir.bc"])
    expected = [np.array([-1, -largest], np.float32)]
    given = with_inputs(item, tmp_path, inputs=1, relative=1e-4)
    found = with_expected(given, tmp_path, expected)
    assert found.relative == 1e-4
    assert found.absolute == pytest.approx(allowed)
    assert with_expected(given, tmp_path, expected, 0).absolute == 0


def _judgement(outcome: str, outputs: bytes = b"") -> Observation:
    return Observation(_verdict(f"{outcome} execute"), outputs=outputs)


def test_what_a_judge_said_is_not_asked_again(tmp_path: Path, nowhere: Environments) -> None:
    """Kept results are what is expected of the others; no environment of the judge is needed."""
    items = [
        with_inputs(item, tmp_path, inputs=1, relative=0.0)
        for item in collect([ARTIFACTS / "add_f32+0.9.0.mlir.bc", ARTIFACTS / "tan+1.4.0.mlir.bc"])
    ]
    computed = np.array([1.5, -2.5], np.float32)
    seen = [_judgement("compatible", stored_arrays([computed])), _judgement("crashed")]
    judge = find_release(RELEASE)
    with Store(tmp_path / "store.sqlite") as store:
        found = dict(zip([key(item, Stage.EXECUTE) for item in items], seen, strict=True))
        store.keep(RELEASE, Stage.EXECUTE, found, judging=True)
        run = Run(store, Stage.EXECUTE, environments=nowhere)
        known, crashed = run.judged(items, judge, tmp_path)
        (other,) = run.judged(
            [with_inputs(items[0], tmp_path, inputs=2, relative=0.0)], judge, tmp_path
        )
    np.testing.assert_array_equal(np.load(known.expected[0].path), computed)
    assert known.reference == "jaxlib==0.4.33"
    assert crashed.unjudged == (
        "nothing to compare with: jaxlib 0.4.33 crashed with no while executing"
    )
    assert "PORTABLE_CACHE" in other.unjudged


def test_without_room_for_scratch_nothing_is_observed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that takes no file is the note of each cell; nothing is taken for a Verdict."""
    environments = misbehaving.environments(tmp_path / "envs")
    items = _misbehaving(tmp_path, "before", "after")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with Store(":memory:") as store:
        cells = Run(store, environments=environments).observe(items, [misbehaving.RELEASE]).cells
    assert [cell.observed for cell in cells] == [None, None]
    assert all("No such file" in cell.note for cell in cells)


_FILLING = """
import resource, sys
from compat_tests.unit.test_matrix import RELEASE, _verdict
from portable.matrix import Store
from portable.matrix.batch import Observation
from portable.matrix.store import Key, StoreUnusable
from portable.verdict import Stage

with Store(sys.argv[1]) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    for number in range(1000):
        seen = Observation(_verdict("compatible decode"), "x" * 1000)
        try:
            store.keep(RELEASE, Stage.DECODE, {Key(str(number), ""): seen})
        except StoreUnusable as error:
            print(number, error)
            break
"""


def test_a_full_disk_keeps_what_was_observed(tmp_path: Path) -> None:
    """Where the store cannot grow any more it says so, and all that was kept before is there."""
    path = tmp_path / "store.sqlite"
    command = [sys.executable, "-c", _FILLING, str(path)]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    kept, _, error = told.partition(" ")
    assert "cannot keep observations" in error
    with Store(path) as store:
        wanted = [Key(str(number), "") for number in range(1000)]
        found = store.find(RELEASE, Stage.DECODE, wanted)
    assert set(found) == set(wanted[: int(kept)]) != set()


def test_what_is_known_is_not_asked_again(nowhere: Environments) -> None:
    """A second run needs no environment; `fresh` does."""
    items = collect([CASE], pick=Pick.LOWEST)
    with Store(":memory:") as store:
        seen = Observation(_verdict("compatible decode"))
        store.keep(RELEASE, Stage.DECODE, {key(items[0], Stage.DECODE): seen})
        known = Run(store, environments=nowhere).observe(items, [find_release(RELEASE)])
        again = Run(store, environments=nowhere, fresh=True).observe(items, [find_release(RELEASE)])
    assert known.cells[0].observed == seen.verdict
    assert again.cells[0].observed is None


def test_what_hung_is_asked_again_when_there_is_more_time(nowhere: Environments) -> None:
    """A hang says that the time was too short: with less it is known, with more it is not."""
    items = collect([CASE], pick=Pick.LOWEST)
    with Store(":memory:") as store:
        seen = Observation(_verdict("hung decode"), seconds=5.2)
        store.keep(RELEASE, Stage.DECODE, {key(items[0], Stage.DECODE): seen})
        found = {
            limit: Run(store, environments=nowhere, limit=limit)
            .observe(items, [find_release(RELEASE)])
            .cells[0]
            .observed
            for limit in (5.0, 60.0)
        }
    assert found == {5.0: seen.verdict, 60.0: None}


def test_a_sealed_artifact_that_is_named_alone_is_its_cases() -> None:
    """The command of a report names one file of a Case: it has the inputs of the Case."""
    (item,) = collect([CASE], pick=Pick.LOWEST)
    assert item.case
    assert item.inputs
    assert collect([item.path]) == (item,)


def test_what_an_advisory_may_apply_to_is_explained_by_it() -> None:
    """The prediction lists the Advisory as not known; only its own outcome and Stage confirm it."""
    wrong = (Outcome.WRONG_RESULT, Stage.EXECUTE)
    for outcome, stage in (wrong, (Outcome.CRASHED, Stage.EXECUTE), (wrong[0], Stage.COMPILE)):
        for release in ("jaxlib 0.4.30", "jaxlib 0.10.2"):
            seen = observed(release, outcome, stage, "4 of 4 elements differ")
            found = listed(cell("remainder_of_bf16_constants+0.9.0", release, seen))
            foreseen = (outcome, stage) == wrong and release == "jaxlib 0.4.30"
            assert found == ("remainder-of-bf16-constants" if foreseen else "")


def test_every_listed_contradiction_says_why() -> None:
    """An entry of the list names Releases of the table, a reason and a link, and has its own id."""
    rows = contradictions()
    assert len({row.id for row in rows}) == len(rows)
    assert all(row.consumers and row.reason and row.link and row.cases for row in rows)


def test_damaged_bytes_are_predicted_to_be_refused(tmp_path: Path, nowhere: Environments) -> None:
    """An artifact whose bytes make no sense is an item with a prediction, not an error."""
    artifact = next((CASE / "artifacts").iterdir()).read_bytes()
    (tmp_path / "cut.mlir.bc").write_bytes(artifact[: len(artifact) // 2])
    items: tuple[Item, ...] = collect([tmp_path])
    with Store(":memory:") as store:
        matrix = Run(store, environments=nowhere).observe(items, [find_release(RELEASE)])
    assert matrix.cells[0].predicted.outcome is Outcome.INCOMPATIBLE
    assert matrix.cells[0].predicted.stage is Stage.DECODE


def test_the_newest_jaxlib_says_what_is_expected() -> None:
    """In whatever order consumers are named; without a jaxlib nobody says it."""
    named = [find_release(name) for name in ("jaxlib 0.10.2", "tensorflow 2.18.1", "jaxlib 0.4.33")]
    assert newest_jaxlib(named) == named[0]
    assert newest_jaxlib(named[::-1]) == named[0]
    assert newest_jaxlib(named[1:2]) is None


def test_where_nobody_tells_which_cores_are_free_all_are_used(
    nowhere: Environments, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A matrix also runs on a system without affinities, as macOS."""
    monkeypatch.delattr(os, "sched_getaffinity")
    with Store(":memory:") as store:
        run = Run(store, environments=nowhere)
        matrix = run.observe(collect([CASE], pick=Pick.LOWEST), [find_release(RELEASE)])
    assert "PORTABLE_CACHE" in matrix.cells[0].note
