"""Opens each Executor: what is installed here, else a Release in an environment of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.runtime.executors import find_executor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.runtime.executors import Executor

    Open = Callable[..., Executor]

LIMIT_S = 120.0
RELEASES = {
    "pjrt": "jaxlib 0.10.2",
    "interpreter": "jaxlib 0.10.2",
    "iree": "iree-base-compiler 3.13.0",
    "tensorflow": "tensorflow 2.20.0",
    "torch_xla": "torch_xla 2.9.0",
}


@pytest.fixture
def open_executor() -> Iterator[Open]:
    """Return a function that opens an Executor by its name, or by the Release to run it on."""
    opened: list[Executor] = []

    def find(
        name: str, release: str = "", *, limit: float = LIMIT_S, memory: int | None = None
    ) -> Executor:
        executor = find_executor(name, limit=limit, memory=memory)
        if release or not executor.available():
            wanted = find_release(release or RELEASES[name])
            environment = Environments().get(wanted, to_execute=True)
            executor = find_executor(name, environment, limit=limit, memory=memory)
        opened.append(executor)
        return executor

    yield find
    for executor in opened:
        executor.close()
