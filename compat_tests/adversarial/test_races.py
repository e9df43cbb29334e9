"""Threads and processes that use the same files at once."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from portable.system.files import umask


@pytest.fixture
def private() -> object:
    """A process whose files nobody else may read, and whose threads take turns all the time."""
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
