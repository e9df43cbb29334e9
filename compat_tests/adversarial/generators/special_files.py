"""Everything that a path can lead to beside a regular file."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

__all__ = ["INPUTS", "OUTPUTS", "make", "snapshot"]


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listening:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket has at most 107 bytes
        listening.bind(path.name)
        os.chdir(here)


def _device(path: Path) -> None:
    """Make a node of /dev/zero, or a link to it for those who may not."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        path.symlink_to("/dev/zero")


def _block_device(path: Path) -> None:
    try:
        os.mknod(path, 0o666 | stat.S_IFBLK, os.makedev(7, 200))
    except PermissionError:
        path.symlink_to("/dev/null")


def _directory(path: Path) -> None:
    path.mkdir()


def _link(to: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.symlink_to(to)

    return make


def _link_to_fifo(path: Path) -> None:
    pipe = path.with_name(f"{path.name}-pipe")
    os.mkfifo(pipe)
    path.symlink_to(pipe)


def _link_to_folder(path: Path) -> None:
    folder = path.with_name(f"{path.name}-folder")
    folder.mkdir()
    path.symlink_to(folder.name)


def _link_to_file(path: Path) -> None:
    target = path.with_name(f"{path.name}-target")
    target.write_bytes(b"precious")
    path.symlink_to(target.name)


def _sparse(path: Path) -> None:
    """Make a file that says it has 8 TB and takes none; it begins as an artifact does."""
    path.write_bytes(b"ML\xefR\x0dStableHLO_v1.0.0\0")
    os.truncate(path, 1 << 43)


# What no command may read, wait for, or be ended by.
INPUTS: dict[str, Callable[[Path], None]] = {
    "fifo": _fifo,
    "socket": _socket,
    "device": _device,
    "block-device": _block_device,
    "directory": _directory,
    "link-to-zero": _link("/dev/zero"),
    "link-to-tty": _link("/dev/tty"),
    "link-to-fifo": _link_to_fifo,
    "link-to-itself": lambda path: path.symlink_to(path.name),
    "link-to-nothing": _link("nowhere"),
    "link-to-folder": _link_to_folder,
    "sparse": _sparse,
}

# What no command may replace.
OUTPUTS: dict[str, Callable[[Path], None]] = {
    "fifo": _fifo,
    "socket": _socket,
    "device": _device,
    "block-device": _block_device,
    "directory": _directory,
    "link-to-null": _link("/dev/null"),
    "link-to-file": _link_to_file,
    "link-to-nothing": _link("nowhere"),
    "link-to-fifo": _link_to_fifo,
}


def make(kind: str, path: Path) -> Path:
    """Make one.

    Args:
        kind: A name in `INPUTS` or `OUTPUTS`.
        path: Where.

    Returns:
        The path.
    """
    (INPUTS | OUTPUTS)[kind](path)
    return path


def snapshot(folder: Path) -> dict[str, object]:
    """Return what is in a folder: names, kinds, where links lead, what files hold."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content: object = None
        if path.is_symlink():
            content = str(path.readlink())
        elif stat.S_ISREG(status.st_mode) and status.st_size < 1 << 20:
            content = path.read_bytes()
        found[str(path.relative_to(folder))] = (
            stat.S_IFMT(status.st_mode), status.st_rdev, status.st_ino, content,
        )  # fmt: skip
    return found
