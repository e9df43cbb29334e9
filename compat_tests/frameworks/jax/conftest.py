"""What the tests of JAX's exports share."""

from collections.abc import Iterator

import pytest

from portable.runtime.executors import Executor, find_executor


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    """One XLA for all programs of a module."""
    with find_executor("pjrt") as opened:
        yield opened
