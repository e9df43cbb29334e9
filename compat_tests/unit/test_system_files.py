"""Files are read with clear errors and written completely or not at all."""

import os
import stat
from pathlib import Path

import pytest

from portable.system.files import FileError, read_file, write_file


def test_a_write_replaces_the_whole_file(tmp_path: Path) -> None:
    """The old content is gone, the mode stays, and no temporary file is left."""
    path = tmp_path / "a.bc"
    path.write_bytes(b"old and long")
    path.chmod(0o640)
    write_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["a.bc"]  # noqa: PTH208 - hidden files count


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    """It gets the mode that `open` would give it, not the private one of a temporary file."""
    (tmp_path / "plain").write_bytes(b"")
    write_file(tmp_path / "ours", b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk fails before the rename, nothing has happened."""
    path = tmp_path / "a.bc"
    path.write_bytes(b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="no space left"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.bc"]


@pytest.mark.parametrize("name", ["missing/a.bc", ".", "file/a.bc", "nul\0byte"])
def test_an_unwritable_path_is_an_error(tmp_path: Path, name: str) -> None:
    """A missing directory, a directory and a file as a directory are each one clear line."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileError, match="cannot write"):
        write_file(f"{tmp_path}/{name}", b"x")


@pytest.mark.parametrize("name", ["missing", ".", "nul\0byte"])
def test_an_unreadable_path_is_an_error(tmp_path: Path, name: str) -> None:
    """So are a missing file and a directory where a file is read."""
    with pytest.raises(FileError, match="cannot read"):
        read_file(f"{tmp_path}/{name}")
