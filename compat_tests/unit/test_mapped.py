"""Arrays in files that two processes hand each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from portable.system.worker.inside.mapped import MAPPED_BYTES, MappedFiles

if TYPE_CHECKING:
    from pathlib import Path

LARGE = MAPPED_BYTES // 4


def test_what_is_alike_takes_the_same_memory(tmp_path: Path) -> None:
    """A reader that has a large array mapped sees the next one, from the same file."""
    path, ours, theirs = str(tmp_path / "a.npy"), MappedFiles(), MappedFiles()
    ours.write(path, np.zeros((2, LARGE), np.float32))
    seen = theirs.read(path)
    before = (tmp_path / "a.npy").stat().st_ino
    for value in (1, 2):
        ours.write(path, np.full((2, LARGE), value, np.float32))
        assert (seen == value).all()
    assert theirs.read(path) is seen
    assert (tmp_path / "a.npy").stat().st_ino == before


def test_what_is_not_alike_takes_another_file(tmp_path: Path) -> None:
    """Another shape, dtype or size: the reader keeps what it has, and reads the new one next."""
    path, ours, theirs = str(tmp_path / "a.npy"), MappedFiles(), MappedFiles()
    first = np.arange(2 * LARGE, dtype=np.float32).reshape(2, LARGE)
    others = [first.reshape(LARGE, 2), first.view(np.int32), first[:1], first[0, :3]]
    for other in others:
        ours.write(path, first)
        seen = theirs.read(path)
        ours.write(path, other)
        assert (seen == first).all()
        again = theirs.read(path)
        assert (again.shape, again.dtype) == (other.shape, other.dtype)
        assert (again == other).all()


def test_others_are_let_go(tmp_path: Path) -> None:
    """Only the files that are named stay mapped."""
    files, paths = MappedFiles(), [str(tmp_path / name) for name in ("a.npy", "b.npy")]
    for path in paths:
        files.write(path, np.zeros(LARGE, np.float32))
    kept, gone = (files.read(path) for path in paths)
    files.keep_only(paths[:1])
    assert files.read(paths[0]) is kept
    assert files.read(paths[1]) is not gone
