"""Artifacts with every order of the uses of a value, of as many uses and numbers as are few."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from compat_tests.helpers.bytecode_writer import Artifact, entry, operation, region, section, varint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["orders", "program", "resources"]

_MODULE, _FUNCTION, _NEGATE, _RETURN, _BARRIER = range(5)
_NAMES = (
    "builtin.module", "vhlo.func_v1", "vhlo.negate_v1", "vhlo.return_v1",
    "vhlo.optimization_barrier_v1",
)  # fmt: skip
_MOST_USES, _MOST_NUMBERS = 4, 4
_HAS_ORDER = 32


def program(body: Sequence[bytes], values: int, order: bytes = b"\0") -> Artifact:
    """Write a module with a function of one argument, whose body is given without its end.

    Args:
        body: Its operations; they use value 0, the argument.
        values: How many values there are.
        order: What follows the arguments of the block: whether there is an order of uses, and it.
    """
    end = operation(_RETURN, operands=[0])
    count = varint(len(body) + 1 << 1 | 1)
    block = count + varint(1) + varint(0) + order + b"".join(body) + end
    inside = varint(1) + varint(values) + block
    function = operation(_FUNCTION, properties=1, regions=[inside], isolated=True)
    module = operation(_MODULE, properties=0, regions=[region([function])], isolated=True)
    return Artifact(
        names=_NAMES,
        attributes=[
            ("builtin", entry(15)), ("vhlo", entry(1, 0)), ("vhlo", entry(17, 2)),
            ("vhlo", entry(14, 0)), ("vhlo", entry(14, 1)),
        ],
        types=[
            ("vhlo", entry(20, 1, 8, 1)), ("vhlo", entry(4)), ("vhlo", entry(8, 1, 0, 1, 0)),
        ],
        properties=[entry(0, 0), entry(1, 2, 1, 3, 4)],
        strings=["main", "", "vhlo"],
        operations=[module],
    )  # fmt: skip


def _written(numbers: Sequence[int], *, paired: bool) -> bytes:
    return varint(len(numbers) << 1 | paired) + b"".join(map(varint, numbers))


def orders() -> Iterator[tuple[str, bytes]]:
    """Yield artifacts with all orders of an argument, and of one of two results, by name."""
    for uses, paired in itertools.product(range(1, _MOST_USES + 1), (False, True)):
        for count in range(_MOST_NUMBERS + 1):
            for numbers in itertools.product(range(uses + 1), repeat=count):
                what = f"{uses} uses, {'pairs' if paired else 'places'} {numbers}"
                order = _written(numbers, paired=paired)
                # The end of the function is a use too.
                body = [operation(_NEGATE, results=[0], operands=[0])] * (uses - 1)
                yield f"argument, {what}", bytes(program(body, uses, b"\1" + order))
                if uses < _MOST_USES:
                    two = bytearray(operation(_BARRIER, results=[0, 0], operands=[0, 0]))
                    two[1] |= _HAS_ORDER
                    two += varint(1) + varint(1) + order  # one order, of the second result
                    used = [operation(_NEGATE, results=[0], operands=[2])] * uses
                    yield f"result, {what}", bytes(program([bytes(two), *used], uses + 3))


def resources() -> Iterator[tuple[str, bytes]]:
    """Yield artifacts with sections of resources that are right, and wrong in one way each."""
    whole = bytes(program([], 1))
    number, key, far = varint, varint(0), varint(99)
    one = key + varint(6) + b"\0"
    blob = varint(1) + varint(4) + b"abcd"
    head = varint(0) + varint(0) + varint(1)
    made: dict[str, tuple[bytes | None, bytes | None]] = {
        "no sections": (None, None),
        "heads alone": (number(0), None),
        "data alone": (None, b""),
        "no number of groups": (b"", b""),
        "nothing": (number(0), b""),
        "data of nobody": (number(0), b"abc"),
        "an empty group of others": (number(1) + key + number(0), b""),
        "others without a name": (number(1) + far + number(0), b""),
        "one of others": (number(1) + key + number(1) + key + number(3) + b"\x09", b"abc"),
        "one of others beyond": (number(1) + key + number(1) + key + number(4) + b"\0", b"abc"),
        "a cut group of others": (number(1) + key + number(2) + key + number(0) + b"\0", b""),
        "an empty group": (number(0) + number(0) + number(0), b""),
        "a group of no dialect": (number(0) + far + number(0), b""),
        "an empty group of VHLO": (number(0) + number(1) + number(0), b""),
        "a declaration": (head + key + number(0) + b"\0", b""),
        "a declaration of any kind": (head + key + number(0) + b"\7", b""),
        "a declaration without a name": (head + far + number(0) + b"\0", b""),
        "a declaration that is cut": (head + key + number(0), b""),
        "two of one name": (number(0) + number(0) + number(2) + (key + number(0) + b"\0") * 2, b""),
        "data": (head + one, blob),
        "data that are a boolean": (head + key + number(6) + b"\1", blob),
        "data that are a string": (head + key + number(6) + b"\2", blob),
        "data and more in the section": (head + one, blob + b"ef"),
        "data and more in the resource": (head + key + number(7) + b"\0", blob + b"e"),
        "data that are cut": (head + key + number(5) + b"\0", blob),
        "data beyond the section": (head + key + number(7) + b"\0", blob),
        "alignment 3": (head + one, varint(3) + blob[1:]),
        "alignment 0": (head + one, varint(0) + blob[1:]),
    }
    for what, (heads, data) in made.items():
        parts = [(5, data), (6, heads)]
        yield what, whole + b"".join(section(at, held) for at, held in parts if held is not None)
