"""What the exports of PyTorch models are executed on."""

from collections.abc import Iterator

import pytest

from portable.runtime.executors import Executor, find_executor


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    """One XLA for all models."""
    with find_executor("pjrt") as opened:
        yield opened
