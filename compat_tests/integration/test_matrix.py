"""The matrix on real Releases: reading, executing, crashing, being interrupted, on a cluster."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portable.cli import main
from portable.environments import Environments
from portable.matrix import Agreement, Matrix, Pick, Run, Store, collect
from portable.releases import find_release
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpus"
CRASHER = ROOT / "compat_tests" / "data" / "crashers" / "segv.mlir.bc"
ERAS = [find_release(f"jaxlib {version}") for version in ("0.4.13", "0.4.33", "0.10.2")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return a file of observations that knows nothing."""
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


def _outcomes(matrix: Matrix) -> list[str]:
    return [
        f"{cell.observed.outcome} {cell.observed.stage}" for cell in matrix.cells if cell.observed
    ]


def test_releases_of_every_era_execute_what_they_read(store: Store) -> None:
    """0.4.13 cannot read bytecode format 6 of the newest artifact; all else computes |x|."""
    items = collect([CORPUS / "elementwise" / "abs_f32"], pick=Pick.ENDS)
    matrix = Run(store, Stage.EXECUTE).matrix(items, ERAS)
    worked, refused = "compatible execute", "incompatible decode"
    assert _outcomes(matrix) == [worked, worked, worked, refused, worked, worked]
    assert all(cell.agreement is Agreement.AGREES for cell in matrix.cells)


def test_a_wrong_result_is_found_and_was_predicted(store: Store) -> None:
    """Jaxlib 0.9.1 reads a splat of 32 true and computes 255; 0.9.2 computes 1."""
    items = collect(
        [CORPUS / "constants" / "constant_i1_splat_32_converted_to_i32"], pick=Pick.ENDS
    )
    releases = [find_release("jaxlib 0.9.1"), find_release("jaxlib 0.9.2")]
    matrix = Run(store, Stage.EXECUTE).matrix(items[:1], releases)
    assert _outcomes(matrix) == ["wrong-result execute", "compatible execute"]
    assert matrix.cells[0].predicted.outcome is Outcome.WRONG_RESULT
    assert "255" in matrix.cells[0].verdict.reason


def test_a_crash_costs_one_cell(store: Store) -> None:
    """What kills the process of a Release is a Verdict; the artifacts after it are still read."""
    healthy = collect([CORPUS / "elementwise" / "abs_f32"], pick=Pick.LOWEST)
    matrix = Run(store).matrix([*collect([CRASHER]), *healthy], ERAS[2:])
    assert _outcomes(matrix) == ["crashed decode", "compatible decode"]
    assert "SIG" in matrix.cells[0].verdict.reason


def test_the_reported_command_finds_a_wrong_result_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where inputs were made and a jaxlib said what is right, it names the seed and that jaxlib."""
    rounds = str(ROOT / "compat_tests" / "data" / "artifacts" / "f8_round_trip+1.0.0.mlir.bc")
    words = ["matrix", rounds, "--for", "jaxlib==0.4.30", "jaxlib==0.10.2", "--stage", "execute"]
    words += ["--random", "7", "--rtol", "0.001"]
    assert main([*words, "--full", "--cache", str(tmp_path / "one.sqlite")]) == 1
    told = capsys.readouterr().out
    (command,) = {
        line.strip() for line in told.splitlines() if "portable matrix" in line and "0.4.30" in line
    }
    assert main([*shlex.split(command)[1:], "--cache", str(tmp_path / "other.sqlite")]) == 1
    again = capsys.readouterr().out
    (wrong,) = set(re.findall(r"output 0: .* became \S+", told))
    assert wrong in again


def _command(store: Path, *more: str) -> list[str]:
    words = [
        sys.executable,
        "-m",
        "portable",
        "matrix",
        str(CORPUS),
        "--for",
        "jaxlib>=0.4.30,<0.5",
    ]
    return [*words, "--judge", "predicted", "--format", "json", "--cache", str(store), *more]


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    """Ctrl-C keeps what was observed; the same command then observes only the rest."""
    kept, out = tmp_path / "store.sqlite", tmp_path / "out.json"
    first = subprocess.Popen(
        _command(kept, "-o", str(out)), stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    while not _known(kept) and first.poll() is None:
        time.sleep(0.05)
    first.send_signal(signal.SIGINT)
    _, said = first.communicate(timeout=120)
    assert first.returncode == 130
    assert "run it again to go on" in said
    assert "Traceback" not in said
    assert not out.exists()
    before = _known(kept)
    assert before
    subprocess.run(_command(kept, "-o", str(out)), check=True, timeout=600)
    document = json.loads(out.read_text())
    cells = {(item["digest"], str(c)) for item in document["items"] for c in document["consumers"]}
    assert _known(kept) == len(cells) > before


def _known(path: Path) -> int:
    if not path.exists():
        return 0
    import sqlite3

    with sqlite3.connect(path, timeout=60) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM observation").fetchone()[0])
        except sqlite3.OperationalError:  # the table is not there yet
            return 0


def test_a_cluster_that_loses_a_worker_loses_nothing(tmp_path: Path) -> None:
    """On a Dask scheduler with two workers, one killed at work, every cell is observed once."""
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    items = collect([CORPUS], pick=Pick.ENDS)
    releases = [find_release(f"jaxlib {version}") for version in ("0.4.30", "0.4.38", "0.8.0")]
    for release in releases:
        Environments().get(release)
    path = tmp_path / "store.sqlite"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
        Store(path) as store,
    ):
        victim = cluster.workers[0].pid
        killed: list[int] = []

        def kill_once(done: int, total: int) -> None:
            del total
            if done and not killed:
                killed.append(victim)
                os.kill(victim, signal.SIGKILL)

        run = Run(store, executor=client.get_executor(), progress=kill_once)
        matrix = run.matrix(items, releases)
    assert killed
    assert not matrix.unobserved
    assert _known(path) == len({item.digest for item in items}) * len(releases)
    with Store(tmp_path / "alone.sqlite") as store:
        alone = Run(store).matrix(items, releases)
    assert _outcomes(matrix) == _outcomes(alone)
