"""Ops that something is computed from: a compiler removes the others first.

XLA drops them on its way to its own form, before it looks at what it supports. It keeps what other
devices, the host or a library may wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.computing import COMMUNICATING, channel

if TYPE_CHECKING:
    from portable.bytecode.operations import Operation
    from portable.prediction.forms import Reading

__all__ = ["CALLS", "KEPT", "used"]

_FUNCTION, _RETURN = "vhlo.func", "vhlo.return"
_VISIBILITY, _PRIVATE = "sym_visibility", "private"
# What is kept whether or not its results are used; functions that are private only if called.
KEPT = frozenset(
    f"vhlo.{name}"
    for name in ("collective_broadcast", "custom_call", "func", "infeed", "outfeed", "recv", "send")
)
# Ops that run a function, and the attribute that names it.
CALLS = {"vhlo.call": "callee", "vhlo.composite": "decomposition"}


def used(reading: Reading) -> frozenset[tuple[object, ...]]:
    """Find the ops that are kept, and those that they are computed from.

    Args:
        reading: An artifact's ops.

    Returns:
        What the ops are like, as `portable.bytecode.operations.like` says; of a large program all.
    """
    if reading.is_large:
        return frozenset(map(like, reading.signatures))
    kinds = reading.kinds
    kept = [kind in KEPT or not kind.startswith("vhlo.") for kind in kinds]
    calls = not CALLS.keys().isdisjoint(kinds)
    ops: list[Operation] = []
    # What each op needs: its operands, the op that it stands in, and what its bodies return.
    needs: list[list[int]] = []
    functions: dict[object, list[int]] = {}
    waiting: list[int] = []
    around: list[int] = []
    for number, _, operation, sources, _ in reading.walk:
        del around[operation.depth :]
        kind = kinds[operation.name]
        if kind == _FUNCTION and calls and _symbol(reading, operation, _VISIBILITY) == _PRIVATE:
            functions.setdefault(_symbol(reading, operation, "sym_name"), []).append(number)
        elif kept[operation.name] or (kind in COMMUNICATING and channel(reading, operation)):
            waiting.append(number)
        ops.append(operation)
        needs.append([source[0] for source in sources if source] + around[-1:])
        if kind == _RETURN and around:
            needs[around[-1]].append(number)
        around.append(number)
    seen = set(waiting)
    while waiting:
        number = waiting.pop()
        needed = {*needs[number]}
        if calls and (symbol := CALLS.get(kinds[ops[number].name])):
            needed.update(functions.get(_symbol(reading, ops[number], symbol), ()))
        waiting += needed - seen
        seen |= needed
    return frozenset(like(ops[number]) for number in seen)


def _symbol(reading: Reading, operation: Operation, field: str) -> object:
    return reading.value(operation, field).get("value")
