"""Counts work in what no load of the machine changes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

__all__ = ["CountedBytes", "calls", "steps"]


class CountedBytes(bytes):
    """Bytes that count what is copied out of them.

    Attributes:
        copied: How many bytes so far.
    """

    copied = 0

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, bytes):
            self.copied += len(found)
        return found


def calls(work: Callable[[], object]) -> int:
    """Count the calls of functions, those of C included."""
    found = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal found
        found += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


def steps(work: Callable[[], object]) -> int:
    """Count calls, and the lines that are executed; one of a loop counts each time."""
    found = 0

    def count(_: FrameType, __: str, ___: object) -> Callable[..., Any]:
        nonlocal found
        found += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        called = calls(work)
    finally:
        sys.settrace(before)
    return found + called
