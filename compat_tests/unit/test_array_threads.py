"""Arrays are loaded by several threads at a time, as a matrix does."""

import gc
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from portable.runtime.executors.tensors import load_array


class _Slow:
    """What other threads get time in while it is collected."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        sum(range(50))


@pytest.fixture
def _interrupted() -> Iterator[None]:
    """Change threads, and collect what is not used, as often as possible."""
    every, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(10)
    yield
    sys.setswitchinterval(every)
    gc.set_threshold(*threshold)


@pytest.mark.usefixtures("_interrupted")
def test_threads_load_at_a_time(tmp_path: Path) -> None:
    """CPython 3.11 fails where two read the header of an array: python/cpython#106905."""
    path = tmp_path / "array.npy"
    np.save(path, np.arange(6))
    failed: list[Exception] = []

    def load() -> None:
        for _ in range(1500):
            _Slow()
            try:
                assert load_array(path).sum() == 15
            except Exception as error:  # noqa: BLE001 - whatever it is, in another thread
                failed.append(error)
                return

    threads = [threading.Thread(target=load) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed
