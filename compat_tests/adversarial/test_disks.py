"""Disks that are full, have no room for names, or cannot be written: one line, and nothing half.

For commands that write, each place where they write: the output, TMPDIR, the cache.
`PORTABLE_DISKS=1` tries every command.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat_tests.adversarial.kills import KINDS, Killer

pytest.importorskip("jaxlib")

DISKS = {
    "full": "size=4k",
    "nearly full": "size=32k",
    "no names": "size=1m,nr_inodes=1",
    "few names": "size=1m,nr_inodes=3",
    "read-only": "size=1m,ro",
}
"""Options of a file system in memory."""
PLACES = ("output", "tmp", "cache")
# What an operating system says of them.
SAID = ("no space left", "read-only", "disk quota", "no usable temporary")


@contextlib.contextmanager
def disk(folder: Path, options: str) -> Iterator[None]:
    """Mount a file system in memory, where the machine allows it."""
    folder.mkdir(exist_ok=True)
    mount = shutil.which("mount")
    words = ["-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if os.geteuid() or mount is None or subprocess.run([mount, *words], check=False).returncode:
        pytest.skip("cannot mount a file system here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        if folder.name == "disk":
            folder.rmdir()


class Writer(Killer):
    """A command that writes its outputs to a folder of their own."""

    def beside(self, place: str, options: str) -> None:
        """Run it with one place on another disk, and then on this one; check both."""
        where = {"output": self.folder / "disk", "tmp": self.folder / "tmp"}.get(
            place, self.folder / "cache"
        )
        self._clear()
        if place == "cache":
            shutil.rmtree(where, ignore_errors=True)
        words = self._words
        if place == "output":
            outputs = self._what.outputs
            words = [f"disk/{word}" if word in outputs else word for word in words]
        before = self._listing()
        with disk(where, options):
            code = self._run(words).wait(600)
            said = self._said()
            left = [one for one in where.rglob("*") if one.is_file()]
            if place == "output":
                whole = {str(where / name) for name, content in self._whole[1] if content}
                left = [
                    one for one in left
                    if not any(str(one).startswith(name) for name in whole)
                ]  # fmt: skip
            elif place == "cache":
                left = [one for one in left if one.suffix != ".lock"]
        assert "Traceback" not in said, said
        assert "internal error" not in said, said
        if code != self._whole[0]:
            assert code == 2, said
            assert said.startswith("error: "), said
            assert said.count("\n") == 1, said
            assert any(words in said.lower() for words in SAID), said
            assert left == []
        assert self._listing() - before <= {where}
        self._next_run()
        assert self.counts.total() == 1, dict(self.counts)


SOME = {"gate", "pin", "pick", "releases-add"}
ALL = bool(os.environ.get("PORTABLE_DISKS"))


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"hunt", "env", "matrix"} if ALL else SOME))
def test_a_disk_that_takes_nothing_is_told(kind: str, tmp_path: Path) -> None:
    """Exit code 2 and what the system says; the next run, with room, completes."""
    writer = Writer(kind, tmp_path / "work", 0)
    for place in PLACES if KINDS[kind].cache else PLACES[:2]:
        for name, options in DISKS.items():
            print(kind, place, name)
            writer.counts.clear()
            writer.beside(place, options)
