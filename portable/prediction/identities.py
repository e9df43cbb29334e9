"""Ops that give what they take, alone or with the one before them: compilers remove them first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.prediction.form import kinds, repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from portable.bytecode.operations import Head
    from portable.prediction.forms import Reading

__all__ = ["CHANGING", "ORDERS", "RESHAPE", "changes_nothing", "undoes"]

RESHAPE = "vhlo.reshape"
_CONVERT, _REVERSE, _TRANSPOSE = "vhlo.convert", "vhlo.reverse", "vhlo.transpose"
_BROADCAST, _PAD = "vhlo.broadcast_in_dim", "vhlo.pad"
CHANGING = kinds("broadcast_in_dim convert pad reshape reverse slice transpose")
"""What may change nothing, where it gives the type that it takes."""
ORDERS = {_BROADCAST: "broadcast_dimensions", _TRANSPOSE: "permutation"}
"""What may put dimensions into another order, each with the attribute that says which."""
# What of a pad adds elements.
_ADDS = ("edge_padding_low", "edge_padding_high", "interior_padding")
# Which types hold every number of one.
_WIDER = {
    "bf16_v1": {"f32_v1", "f64_v1"},
    "f16_v1": {"f32_v1", "f64_v1"},
    "f32_v1": {"f64_v1"},
    **{
        f"{sign}{bits}_v1": {f"{sign}{more}_v1" for more in (16, 32, 64) if more > bits}
        for sign in ("i", "ui")
        for bits in (4, 8, 16, 32)
    },
}


def changes_nothing(reading: Reading, kind: str, operation: Head, taken: int | None) -> bool:
    """Say whether an operation gives what it takes.

    Args:
        reading: An artifact's ops.
        kind: Its name without the version, one of `CHANGING`.
        operation: The operation.
        taken: The type of its first operand; None where it is not known.
    """
    shape = reading.dimensions(taken) if operation.results[:1] == (taken,) else None
    if shape is None or min(shape, default=0) < 0:
        return False
    numbers = _numbers(reading, operation, len(shape))
    if kind in ORDERS:
        return [*numbers(ORDERS[kind])] == [*range(len(shape))]
    if kind == _PAD:
        return not any(any(numbers(name)) for name in _ADDS)
    return kind != _REVERSE


def undoes(reading: Reading, kind: str, operation: Head, maker: Head, taken: int | None) -> bool:
    """Say whether an operation gives what one of its kind takes, whose result it takes.

    Args:
        reading: An artifact's ops.
        kind: Their name without the version, one of `CHANGING`.
        operation: The operation.
        maker: The one before.
        taken: The type of the first operand of `maker`; None where it is not known.
    """
    shape = reading.dimensions(taken)
    if taken is None or operation.results[:1] != (taken,) or not maker.results or shape is None:
        return False
    numbers, before = (_numbers(reading, one, len(shape)) for one in (operation, maker))
    if kind == _TRANSPOSE:
        first = before(ORDERS[kind])
        turned = [first[at] for at in numbers(ORDERS[kind]) if at < len(first)]
        return turned == [*range(len(shape))]
    if kind == _CONVERT:
        return reading.element(maker.results[0]) in _WIDER.get(reading.element(taken), ())
    if kind == _REVERSE:
        each = (reading.numbers(one, "dimensions") for one in (operation, maker))
        return len({frozenset(one) for one in each}) == 1
    return kind == RESHAPE


def _numbers(reading: Reading, operation: Head, rank: int) -> Callable[[str], Sequence[int]]:
    """Return what gives an attribute that has one number for each dimension."""
    return lambda name: repeated(reading.numbers(operation, name), rank, 0)
