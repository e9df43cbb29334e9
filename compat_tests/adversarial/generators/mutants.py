"""Damaged artifacts and containers: bytes changed blindly, or numbers and sections knowingly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat_tests.helpers.bytecode_writer import section, varint
from portable.bytecode import read_header
from portable.bytecode.encoding import Cursor

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

__all__ = ["blindly", "knowingly"]


def _flip(luck: random.Random, data: bytearray, at: int, _: Sequence[bytes]) -> None:
    data[at] ^= 1 << luck.randrange(8)


def _replace(luck: random.Random, data: bytearray, at: int, _: Sequence[bytes]) -> None:
    data[at] = luck.choice((0, 1, 2, 3, 5, 0x7F, 0x80, 0xFE, 0xFF, luck.randrange(256)))


def _overwrite(luck: random.Random, data: bytearray, at: int, _: Sequence[bytes]) -> None:
    word = luck.choice((0, 0xFFFFFFFF, luck.randrange(len(data) + 1)))
    data[at : at + 4] = word.to_bytes(4, "little")


def _remove(luck: random.Random, data: bytearray, at: int, _: Sequence[bytes]) -> None:
    del data[at : at + luck.choice((1, 1, 2, 4, 16, 64))]


def _insert(luck: random.Random, data: bytearray, at: int, _: Sequence[bytes]) -> None:
    data[at:at] = luck.randbytes(luck.choice((1, 1, 2, 4, 9)))


def _copy(luck: random.Random, data: bytearray, at: int, _: Sequence[bytes]) -> None:
    length, source = luck.choice((1, 2, 4, 8, 32)), luck.randrange(len(data))
    data[at : at + length] = data[source : source + length]


def _cut(_: random.Random, data: bytearray, at: int, __: Sequence[bytes]) -> None:
    del data[at:]


def _graft(luck: random.Random, data: bytearray, at: int, others: Sequence[bytes]) -> None:
    other, length = luck.choice(others), luck.choice((4, 16, 64))
    source = luck.randrange(len(other))
    data[at : at + length] = other[source : source + length]


def _repeat(luck: random.Random, data: bytearray, at: int, _: Sequence[bytes]) -> None:
    data[at:at] = data[at : at + luck.choice((1, 4, 16, 200))] * luck.choice((1, 2, 20))


_BLIND = (_flip, _replace, _overwrite, _remove, _insert, _copy, _cut, _graft, _repeat)


def blindly(luck: random.Random, data: bytes, others: Sequence[bytes], start: int = 4) -> bytes:
    """Damage a file in a few places.

    Args:
        luck: Decides what and where.
        data: The file.
        others: Files to take pieces from.
        start: The first byte that may change.
    """
    found = bytearray(data)
    for _ in range(luck.choice((1, 1, 1, 2, 3, 8))):
        if len(found) < start + 4:
            break
        luck.choice(_BLIND)(luck, found, luck.randrange(start, len(found)), others)
    return bytes(found)


def knowingly(luck: random.Random, data: bytes) -> bytes:
    """Change numbers, or the order of sections, of an artifact so that its lengths stay right.

    What is damaged blindly seldom gets past the first length; this gets to the indices behind.

    Args:
        luck: Decides what and where.
        data: An artifact that is sound.
    """
    start = read_header(data).length
    cursor = Cursor(data, start, len(data))
    parts: list[tuple[int, bytes]] = []
    while not cursor.done():
        number, content = cursor.section()
        parts.append((number, data[content.position : content.end]))
    for _ in range(luck.choice((1, 1, 2, 4))):
        at = luck.randrange(len(parts))
        kind, held = parts[at]
        match luck.randrange(8):
            case 0:
                other = luck.randrange(len(parts))
                parts[at], parts[other] = parts[other], parts[at]
            case 1:
                parts[at] = parts[luck.randrange(len(parts))][0], held
            case _:
                parts[at] = kind, _renumbered(luck, held)
    return data[:start] + b"".join(section(number, content) for number, content in parts)


def _renumbered(luck: random.Random, content: bytes) -> bytes:
    """Change numbers, each to one of as many bytes if that can be."""
    found = bytearray(content)
    for _ in range(luck.choice((1, 1, 2, 5))):
        if not found:
            break
        at = luck.randrange(len(found))
        if found[at] & 1:
            near = (found[at] >> 1) + luck.choice((-2, -1, 1, 2, luck.randrange(128)))
            found[at] = (near % 128) << 1 | 1
        else:
            found[at : at + 1] = varint(luck.choice((0, 1, 127, 128, 1 << 14, 1 << 62)))
    return bytes(found)
