"""Threads and processes that use the same files at once."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compat_tests.helpers.sealed import CASES
from portable.cli import main
from portable.corpus import CorpusError, making
from portable.system.files import umask
from portable.system.holding import FolderBusy, hold

pytest.importorskip("jaxlib")


@pytest.fixture
def private() -> object:
    """Set a umask of 0077, and have threads switch as often as possible."""
    before, interval = os.umask(0o077), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    os.umask(before)


@pytest.mark.usefixtures("private")
def test_what_other_threads_make_meanwhile_stays_private(tmp_path: Path) -> None:
    """The umask belongs to the whole process: to ask for it by setting it opens their files."""
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            umask()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for one in threads:
        one.start()
    modes = set()
    for number in range(3000):
        file = os.open(tmp_path / str(number), os.O_CREAT | os.O_WRONLY, 0o666)
        modes.add(os.fstat(file).st_mode & 0o777)
        os.close(file)
    over.set()
    for one in threads:
        one.join()
    assert modes == {0o600}
    assert os.umask(0o077) == 0o077


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a folder as another process would."""
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(handle)


def test_one_hunt_at_a_time_writes_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two would do the same rounds, and write over each other's causes and times."""
    line = ["fuzz", "hunt", "--for", "jaxlib==0.12.0.1", "--hours", "1e-9", "-o", str(tmp_path)]
    with _held(tmp_path):
        assert main(line) == 2
        assert "another process" in capsys.readouterr().err
        assert not [*tmp_path.iterdir()]
    assert main(line) == 0


def test_a_corpus_is_sealed_by_one_process_at_a_time(tmp_path: Path) -> None:
    """The seals that another one adds between reading and writing would be lost."""
    corpus = tmp_path / "corpus"
    shutil.copytree(CASES["abs_f32"].directory, corpus / "unary" / "abs_f32")
    words = [sys.executable, "-m", "portable", "corpus", "seal", "--corpus", str(corpus)]
    with _held(corpus):
        sealing = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        with pytest.raises(subprocess.TimeoutExpired):
            sealing.wait(3)
        assert not (corpus / "SEALS").exists()
    assert sealing.wait(60) == 0
    assert (corpus / "SEALS").exists()


def test_a_case_that_somebody_else_makes_meanwhile_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is as it was, and nothing is left behind."""
    program = tmp_path / "p.mlir"
    program.write_text(
        "func.func @main(%a: tensor<i32>) -> tensor<i32> { return %a : tensor<i32> }"
    )
    other = tmp_path / "corpus" / "own" / "same" / "case.toml"

    def write_case(*given: Any) -> None:
        making_case(*given)
        other.parent.mkdir()
        other.write_text("theirs")

    making_case = making.write_case
    monkeypatch.setattr(making, "write_case", write_case)
    with pytest.raises(CorpusError, match="exists"):
        making.make_case(tmp_path / "corpus", "own", "same", program)
    assert other.read_text() == "theirs"
    assert [*other.parents[1].iterdir()] == [other.parent]


def test_a_folder_that_was_removed_meanwhile_is_not_held(tmp_path: Path) -> None:
    """As an audit removes its parts when it is done: another one has made them again."""
    parts = tmp_path / "fleet.parquet.parts"
    parts.mkdir()
    with _held(parts):
        waiting = threading.Thread(target=lambda: found.append(hold(parts, wait=True)))
        found: list[int] = []
        waiting.start()
        time.sleep(0.5)
        parts.rmdir()
        parts.mkdir()
    waiting.join(60)
    assert os.path.samestat(os.fstat(found[0]), parts.stat())
    with pytest.raises(FolderBusy):
        hold(parts)
    os.close(found[0])


def test_a_copy_that_somebody_else_makes_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there and was not judged is never written over."""
    pytest.importorskip("pyarrow")
    from portable.fleet import audit, repin_all, repinning

    tree, copies = tmp_path / "tree", tmp_path / "copies"
    tree.mkdir()
    newest = max((CASES["abs_f32"].directory / "artifacts").iterdir())
    shutil.copy(newest, tree / "a.mlir.bc")
    audit([str(tree)], to=str(tmp_path / "fleet.parquet"))
    made: list[Path] = []

    def refusal(file: Path, releases: Any) -> str:
        copy = copies / str(tree).lstrip("/") / "a.mlir.bc"
        copy.write_bytes(b"theirs")
        made.append(copy)
        return judging(file, releases)

    judging = repinning._refusal
    monkeypatch.setattr(repinning, "_refusal", refusal)
    found = [*repin_all(tmp_path / "fleet.parquet", "jaxlib==0.4.33", to=copies)]
    assert [one.outcome for one in found] == [repinning.CopyOutcome.FAILED]
    assert "exists" in found[0].why
    assert made[0].read_bytes() == b"theirs"
    assert [*made[0].parent.iterdir()] == made
