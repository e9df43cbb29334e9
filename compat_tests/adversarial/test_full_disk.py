"""A disk without space while an environment is made: one line that says what to free."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat_tests.helpers.wheels import record, see_only, write_wheel
from portable.runtime.environments import Environments

# A Release of which one file is kept, and one that is installed as it is.
KEPT, WHOLE = "libtpu==0.0.30", "torch-mlir==20261001"
LIBRARY = b"1" * 300_000

# Ends like `portable`, after a limit on how large any file of it and its children may be.
LIMITED = """
import resource, sys
from pathlib import Path
from portable.runtime.environments import digests
digests.TABLE = Path(sys.argv[2])
digests.LOCKS = digests.TABLE.with_name("locks.txt")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
from portable.cli import main
raise SystemExit(main(sys.argv[3:]))
"""


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the clients see nothing but two large wheels and their companions."""
    folder = tmp_path / "index"
    folder.mkdir()
    write_wheel(folder, "libtpu", {"libtpu/libtpu.so": LIBRARY}, KEPT.partition("==")[2])
    write_wheel(folder, "torch_mlir", {"torch_mlir/big.so": LIBRARY}, WHOLE.partition("==")[2])
    for beside in ("numpy", "ml_dtypes"):
        write_wheel(folder, beside, {f"{beside}/__init__.py": b""})
    see_only(folder, tmp_path, monkeypatch)
    record(folder, tmp_path / "digests.txt")
    return tmp_path / "digests.txt"


@contextlib.contextmanager
def disk(folder: Path, size: int) -> Iterator[None]:
    """Mount a disk of so many bytes, where the machine allows it."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    mount = shutil.which("mount")
    if os.geteuid() or mount is None or subprocess.run([mount, *options], check=False).returncode:
        pytest.skip("cannot mount a file system here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def make(spec: str, table: Path, limit: int = -1) -> str:
    """Make an environment as a command; return what it printed on standard error."""
    command = [sys.executable, "-c", LIMITED, str(limit), str(table), "env", "make", spec]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2, done
    return done.stderr


def assert_told(error: str) -> None:
    """One line that says what is wrong and what to do, and nothing half-made."""
    lines = [line for line in error.splitlines() if line.startswith("error")]
    assert len(lines) == 1, error
    assert "portable env prune --keep" in lines[0]
    # Before it stand the names of the steps.
    name = "libtpu-" if "libtpu" in lines[0] else "torch-mlir-"
    assert all(one in lines or one.startswith(name) for one in error.splitlines()), error
    assert Environments().all() == ()
    assert Environments().broken() == ()


@pytest.mark.parametrize(
    ("spec", "size"),
    [(KEPT, 4096), (KEPT, 200_000), (KEPT, 450_000), (WHOLE, 8192), (WHOLE, 200_000)],
)
def test_a_full_disk_is_one_line(spec: str, size: int, tmp_path: Path, table: Path) -> None:
    """Whatever fills it: folders, the download, the copy of one file, or what is installed."""
    with disk(tmp_path / "cache", size):
        assert_told(make(spec, table))


@pytest.mark.parametrize("spec", [KEPT, WHOLE])
def test_a_file_that_may_not_be_so_large_is_one_line(spec: str, table: Path) -> None:
    """A limit or quota is told as a full disk is."""
    assert_told(make(spec, table, limit=200_000))
