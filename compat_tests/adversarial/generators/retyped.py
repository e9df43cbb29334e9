"""Artifacts in which one operation has another type, value or attribute than it had.

Each is an artifact of the corpus, in which one number is another: so everything in it is
well-formed, and what differs is what a verifier compares.
"""

from __future__ import annotations

import struct
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from compat_tests.helpers.bytecode_writer import varint
from portable.bytecode import MalformedArtifact, read
from portable.bytecode.entries import ATTRIBUTES, Blob
from portable.bytecode.layouts import VHLO
from portable.bytecode.operations import Mask
from portable.prediction.dimensions import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.bytecode import Bytecode
    from portable.bytecode.operations import Operation

__all__ = ["Change", "changes", "samples"]

CORPUS = Path(__file__).parents[3] / "corpus"
_LARGEST, _OPERATIONS = 3_000, 3
# What is changed in beside those that rules are about.
_OTHERS = ("call", "return", "while")


class Change(NamedTuple):
    """What differs.

    Args:
        op: The op, without its version.
        part: `result`, `operand`, or the name of an attribute that has numbers.
        offset: Where in the artifact.
        number: The number that is there.
    """

    op: str
    part: str
    offset: int
    number: int


@cache
def samples() -> dict[str, bytes]:
    """Return for each op the artifact of the corpus with it that is largest, within bounds."""
    found: dict[str, bytes] = {}
    for path in sorted(CORPUS.rglob("artifacts/*.mlir.bc"), key=_rank):
        if path.stat().st_size > _LARGEST:
            continue
        data = path.read_bytes()
        with suppress(MalformedArtifact):
            for name in read(data).names:
                op = name.name.rpartition("_v")[0]
                if name.dialect == VHLO and (op in RULES or op in _OTHERS):
                    found[op] = data
    return dict(sorted(found.items()))


def _rank(path: Path) -> tuple[bool, int, str]:
    # Those for 0.9.0 are read by all; equal ones in the same order everywhere.
    return path.name.startswith("0.9.0"), path.stat().st_size, str(path)


def changes(op: str, data: bytes) -> Iterator[tuple[Change, bytes]]:
    """Yield an artifact with each number of the first operations of a kind changed.

    Args:
        op: The op, without its version.
        data: An artifact with it.
    """
    content = read(data)
    found = [
        one
        for one in content.operations()
        if content.names[one.name].name.rpartition("_v")[0] == op
    ]
    for one in found[:_OPERATIONS]:
        sizes = {"result": len(content.pool.types), "operand": max(one.operands, default=-1) + 1}
        for part, at, was in _numbers(data, one):
            for number in range(sizes[part]):
                new = varint(number)
                if number != was and len(new) == len(varint(was)):
                    yield Change(op, part, at, number), _with(data, at, new)
    for field, offset in _integers(content, found) if op != "constant" else ():
        (was,) = struct.unpack_from("<q", data, offset)
        for number in sorted({-1, 0, 1, 7, was + 1, was - 1} - {was}):
            yield Change(op, field, offset, number), _with(data, offset, struct.pack("<q", number))


def _integers(content: Bytecode, found: list[Operation]) -> Iterator[tuple[str, int]]:
    """Yield where the attributes of some operations have integers."""
    held = {
        field: content.pool.attribute(number).fields.get("data")
        for one in found[:_OPERATIONS]
        for field, number in content.attributes_of(one).items()
        if content.pool.outline(ATTRIBUTES, number).dialect == VHLO
    }
    for field, blob in held.items():
        if isinstance(blob, Blob):
            yield from ((field, blob.offset + 8 * at) for at in range(blob.size // 8))


def _with(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def _numbers(data: bytes, one: Operation) -> Iterator[tuple[str, int, int]]:
    """Yield what can be changed in an operation: which part, where, and the number there."""
    at = one.offset + len(varint(one.name))
    mask = data[at]
    at += 1 + len(varint(one.location))
    if mask & Mask.ATTRIBUTES:
        at += len(varint(one.attributes))
    if mask & Mask.PROPERTIES:
        at += len(varint(one.properties))
    for part, bit, numbers in (
        ("result", Mask.RESULTS, one.results),
        ("operand", Mask.OPERANDS, one.operands),
    ):
        if mask & bit:
            at += len(varint(len(numbers)))
        for number in numbers:
            yield part, at, number
            at += len(varint(number))
