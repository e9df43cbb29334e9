"""Bytes that are far away, as a buffer: read where they are looked at, each block once."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["View"]

_BLOCK = 1024


class View:
    """A buffer that reads what is looked at, in blocks that it keeps.

    Args:
        size: How many bytes there are.
        read: Returns those from one offset to another.
    """

    __slots__ = ("_blocks", "_read", "_size")

    def __init__(self, size: int, read: Callable[[int, int], bytes]) -> None:
        self._size = size
        self._read = read
        self._blocks: dict[int, bytes] = {}

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, part: int) -> int: ...

    @overload
    def __getitem__(self, part: slice) -> bytes: ...

    def __getitem__(self, part: int | slice) -> int | bytes:
        if isinstance(part, int):
            return self._block(part // _BLOCK)[part % _BLOCK]
        start, stop, _ = part.indices(self._size)
        first, last = start // _BLOCK, (stop - 1) // _BLOCK
        if last > first + 1:
            return self._read(start, stop)  # what is that long is read once
        found = b"".join(map(self._block, range(first, last + 1)))
        return found[start - first * _BLOCK : max(0, stop - first * _BLOCK)]

    def _block(self, number: int) -> bytes:
        block = self._blocks.get(number)
        if block is None:
            start = number * _BLOCK
            block = self._blocks[number] = self._read(start, min(start + _BLOCK, self._size))
        return block
