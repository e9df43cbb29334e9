"""The matrix on real Releases: reading, executing, crashing, being interrupted, on a cluster."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import portable
from portable.cli import main
from portable.matrix import Agreement, Matrix, Pick, Run, Store, collect
from portable.matrix.document import load
from portable.matrix.inputs import with_inputs
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.old_releases

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
    matrix = Run(store, Stage.EXECUTE).observe(items, ERAS)
    worked, refused = "compatible execute", "incompatible decode"
    assert _outcomes(matrix) == [worked, worked, worked, refused, worked, worked]
    assert all(cell.agreement is Agreement.AGREES for cell in matrix.cells)


def test_a_wrong_result_is_found_and_was_predicted(store: Store) -> None:
    """Jaxlib 0.9.1 reads a splat of 32 true and computes 255; 0.10.2 computes 1."""
    items = collect(
        [CORPUS / "constants" / "constant_i1_splat_32_converted_to_i32"], pick=Pick.ENDS
    )
    releases = [find_release("jaxlib 0.9.1"), find_release("jaxlib 0.10.2")]
    matrix = Run(store, Stage.EXECUTE).observe(items[:1], releases)
    assert _outcomes(matrix) == ["wrong-result execute", "compatible execute"]
    assert matrix.cells[0].predicted.outcome is Outcome.WRONG_RESULT
    assert "255" in matrix.cells[0].verdict.reason


def test_a_crash_costs_one_cell(store: Store) -> None:
    """What kills the process of a Release is a Verdict; the artifacts after it are still read."""
    healthy = collect([CORPUS / "elementwise" / "abs_f32"], pick=Pick.LOWEST)
    matrix = Run(store).observe([*collect([CRASHER]), *healthy], ERAS[2:])
    assert _outcomes(matrix) == ["crashed decode", "compatible decode"]
    assert "SIG" in matrix.cells[0].verdict.reason


def test_the_reported_command_finds_a_wrong_result_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where inputs were made and a jaxlib said what is right, it names the seed and that jaxlib."""
    wrong = str(
        ROOT / "compat_tests" / "data" / "artifacts" / "remainder_of_bf16_constants+0.9.0.mlir.bc"
    )
    words = ["matrix", wrong, "--for", "jaxlib==0.4.30", "jaxlib==0.10.2", "--stage", "execute"]
    words += ["--random", "7", "--rtol", "0.001"]
    assert main([*words, "--all", "--cache", str(tmp_path / "one.sqlite")]) == 1
    told = capsys.readouterr().out
    assert "listed as remainder-of-bf16-constants" in told
    assert "0 of them not explained" in told
    (command,) = {
        line.strip() for line in told.splitlines() if "portable matrix" in line and "0.4.30" in line
    }
    assert (
        main([*shlex.split(command)[1:], "--all", "--cache", str(tmp_path / "other.sqlite")]) == 1
    )
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
        *("jaxlib==0.4.30", "jaxlib==0.4.33", "jaxlib==0.5.3", "jaxlib==0.9.1"),
    ]
    return [*words, "--judge", "predicted", "--format", "json", "--cache", str(store), *more]


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    """Ctrl-C keeps what was observed; the same command then observes only the rest."""
    kept, out = tmp_path / "store.sqlite", tmp_path / "out.json"
    # What runs in the background of a shell inherits that SIGINT is ignored; what has a handler
    # here has the default there.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    first = subprocess.Popen(
        _command(kept, "-o", str(out)), stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    signal.signal(signal.SIGINT, before)
    while not _known(kept) and first.poll() is None:
        time.sleep(0.05)
    first.send_signal(signal.SIGINT)
    _, said = first.communicate(timeout=120)
    assert first.returncode == 130
    assert "run the same command again to continue" in said
    assert "Traceback" not in said
    assert not out.exists()
    done = _known(kept)
    assert done
    subprocess.run(_command(kept, "-o", str(out)), check=True, timeout=600)
    document = json.loads(out.read_text())
    cells = {(item["digest"], str(c)) for item in document["items"] for c in document["consumers"]}
    assert _known(kept) == len(cells) > done


def _known(path: Path, table: str = "observation") -> int:
    if not path.exists():
        return 0
    with contextlib.closing(sqlite3.connect(path, timeout=60)) as connection:
        try:
            return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - ours
        except sqlite3.OperationalError:  # the table is not there yet
            return 0


def test_a_cluster_that_loses_a_worker_loses_nothing(tmp_path: Path) -> None:
    """On a Dask scheduler with two workers, one killed at work, every cell is observed once."""
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    items = collect([CORPUS], pick=Pick.ENDS)
    releases = [find_release(f"jaxlib {version}") for version in ("0.4.30", "0.5.3", "0.9.1")]
    for release in releases:
        Environments().get(release)
    path = tmp_path / "store.sqlite"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
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
        matrix = run.observe(items, releases)
    assert killed
    assert not matrix.unobserved
    assert _known(path) == len({item.digest for item in items}) * len(releases)
    with Store(tmp_path / "alone.sqlite") as store:
        alone = Run(store).observe(items, releases)
    assert _outcomes(matrix) == _outcomes(alone)


JUDGE, OTHER = find_release("jaxlib 0.12.0.1"), find_release("jaxlib 0.4.33")
_TOPK = "stablehlo.custom_call @TopK(%a) : (tensor<3xf32>) -> tensor<3xf32>"
_UNKNOWN = "stablehlo.custom_call @nobody(%a) : (tensor<3xf32>) -> tensor<3xf32>"
_HARMLESS = "stablehlo.negate %a : tensor<3xf32>"
_ENDLESS = """stablehlo.while(%x = %a) : tensor<3xf32> cond {
    %s = stablehlo.slice %x [0:1] : (tensor<3xf32>) -> tensor<1xf32>
    %v = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
    %c = stablehlo.compare EQ, %v, %v : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.sine %x : tensor<3xf32>
    stablehlo.return %n : tensor<3xf32>
  }"""


def _write(folder: Path, **bodies: str) -> str:
    """Write one artifact for each body."""
    folder.mkdir(exist_ok=True)
    for name, body in bodies.items():
        text = f"func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {{ %r = {body}\n"
        portable.serialize(text + "return %r : tensor<3xf32> }", "1.0.0").save(
            folder / f"{name}.mlir.bc"
        )
    return str(folder)


def _words(folder: str, out: Path, *more: str) -> list[str]:
    words = ["matrix", folder, "--for", str(JUDGE).replace(" ", "=="), "jaxlib==0.4.33"]
    words += ["--stage", "execute", "--random", "7", "--format", "json", "-o", str(out)]
    return [*words, "--cache", str(out.with_suffix(".sqlite")), *more]


def test_what_the_judge_cannot_say_is_a_cell_without_a_judgement(tmp_path: Path) -> None:
    """A judge that crashes on one artifact, hangs on one and refuses one judges the others.

    XLA's TopK takes its second result for granted; it aborts in 0.12.0.1, and crashes in 0.4.33.
    """
    folder = _write(
        tmp_path / "in", a=_HARMLESS, crash=_TOPK, hang=_ENDLESS, refuse=_UNKNOWN, z=_HARMLESS
    )
    # One more, whose inputs nobody can make.
    no_main = "func.func @other() { return }"
    portable.serialize(no_main, "1.0.0").save(tmp_path / "in" / "none.mlir.bc")
    out = tmp_path / "out.json"
    assert main(_words(folder, out, "--timeout", "6")) == 1
    matrix = load(out.read_text())
    seen = {
        (Path(cell.item.path).name.partition(".")[0], str(cell.release)): cell
        for cell in matrix.cells
    }
    assert len(seen) == 12
    for release in map(str, (JUDGE, OTHER)):
        outcomes = {
            name: str(cell.verdict.outcome) for (name, on), cell in seen.items() if on == release
        }
        assert outcomes == {
            "a": "compatible",
            "crash": "crashed",
            "hang": "hung",
            "none": "compatible",
            "refuse": "incompatible",
            "z": "compatible",
        }
        assert {name for (name, on), cell in seen.items() if on == release and cell.note} == {
            "none"
        }
        assert seen["a", release].verdict.stage is Stage.EXECUTE
        assert seen["none", release].verdict.stage is Stage.ROUNDTRIP
        assert "main" in seen["none", release].note
    assert {cell.item.name for cell in matrix.partial} == {f"{folder}/none.mlir.bc"}


def test_one_process_judges_all(tmp_path: Path) -> None:
    """Judging starts as many processes as there are cores, not one for each artifact."""
    count = 45
    bodies = {f"p{n}": f"stablehlo.constant dense<{n}.0> : tensor<3xf32>" for n in range(count)}
    out = tmp_path / "out.json"
    words = _words(_write(tmp_path / "in", **bodies), out)
    counted = subprocess.run(
        [sys.executable, "-c", _COUNTING, *words], check=True, capture_output=True, text=True
    )
    cores = len(os.sched_getaffinity(0))
    # One executor of the judge for each core; one reader and one executor of each of two Releases.
    assert int(counted.stdout) <= cores * 5
    assert all(cell.verdict.stage is Stage.EXECUTE for cell in load(out.read_text()).cells)


_COUNTING = """
import sys
import portable
from portable.cli import main
started = []
sys.addaudithook(lambda event, args: started.append(args) if event == "subprocess.Popen" else None)
assert main(sys.argv[1:]) == 0
print(len(started))
"""


def test_what_was_judged_before_a_kill_is_kept(tmp_path: Path) -> None:
    """Killed in the middle of judging, the same command asks the judge for the rest only."""
    bodies = {f"p{n}": f"stablehlo.constant dense<{n}.0> : tensor<3xf32>" for n in range(80)}
    out = tmp_path / "out.json"
    words = _words(_write(tmp_path / "in", **bodies), out)
    kept = out.with_suffix(".sqlite")
    first = subprocess.Popen(
        [sys.executable, "-m", "portable", *words],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not _known(kept, "judgement") and first.poll() is None:
        time.sleep(0.02)
    first.kill()
    first.wait(timeout=60)
    known = _judged(kept)
    assert 0 < len(known) < 80
    assert main(words) == 0
    again = _judged(kept)
    assert len(again) == 80
    assert known.items() <= again.items()


def _judged(path: Path) -> dict[str, float]:
    """Return how long the judge took for each artifact: a second time it would take another."""
    with contextlib.closing(sqlite3.connect(path, timeout=60)) as connection:
        return dict(connection.execute("SELECT digest, seconds FROM judgement"))


def test_an_execution_without_a_judgement_is_no_verdict(tmp_path: Path, store: Store) -> None:
    """Where the judge failed, a Release that executes the artifact was seen to read it, no more."""
    (item,) = collect([_write(tmp_path / "in", a=_HARMLESS)])
    item = replace(with_inputs(item, tmp_path, inputs=7, relative=0.0), unjudged="nobody knows")
    matrix = Run(store, Stage.EXECUTE).observe([item], [OTHER])
    assert _outcomes(matrix) == ["compatible roundtrip"]
    assert matrix.partial == matrix.cells
    assert matrix.cells[0].note == "nobody knows"
