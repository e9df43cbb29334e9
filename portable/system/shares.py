"""Work that several threads share, and that ends soon where one of them fails or is interrupted."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Threads", "in_shares"]

_T = TypeVar("_T")
_R = TypeVar("_R")
_P = ParamSpec("_P")


class Threads(ThreadPoolExecutor):
    """Threads that use the table of Releases that their caller uses, see `places.named_table`."""

    def submit(self, fn: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_R]:
        """Have a thread call a function in a copy of the caller's context."""
        return super().submit(partial(copy_context().run, fn, *args, **kwargs))


def in_shares(items: Sequence[_T], threads: int, work: Callable[[Iterator[_T]], _R]) -> list[_R]:
    """Have threads do a share of some items each.

    Args:
        items: What there is to do.
        threads: How many at most; one where there are no items.
        work: Does a share, which ends early where another one failed, or the caller is interrupted.

    Returns:
        What it returned, of each share.
    """
    over = threading.Event()
    count = max(1, min(threads, len(items)))

    def share(number: int) -> Iterator[_T]:
        for item in items[number::count]:
            if over.is_set():
                return
            yield item

    def one(number: int) -> _R:
        try:
            return work(share(number))
        except BaseException:
            over.set()
            raise

    with Threads(count) as pool:
        try:
            return [*pool.map(one, range(count))]
        except BaseException:
            over.set()
            raise
