"""Ops that something is computed from: a compiler removes the others first.

XLA drops them on its way to its own form, before it looks at what it supports. It keeps what other
devices, the host or a library may wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portable.prediction.computing import COMMUNICATING, channel, like

if TYPE_CHECKING:
    from portable.bytecode.operations import Operation, Source
    from portable.prediction.forms import Reading

__all__ = ["used"]

_FUNCTION, _RETURN, _PRIVATE = "vhlo.func", "vhlo.return", "private"
# Ops of StableHLO that are kept whether or not their results are used.
_KEPT = frozenset(
    f"vhlo.{name}"
    for name in ("collective_broadcast", "custom_call", "infeed", "outfeed", "recv", "send")
)
# Ops that run a function, and the attribute that names it.
_CALLS = {"vhlo.call": "callee", "vhlo.composite": "decomposition"}


class _Op(NamedTuple):
    kind: str
    like: tuple[object, ...]
    sources: tuple[Source | None, ...]
    parent: int | None
    function: object
    """The name of the function that it is, or runs."""
    kept: bool


def used(reading: Reading) -> frozenset[tuple[object, ...]]:
    """Find the ops that are kept, and those that they are computed from.

    Args:
        reading: An artifact's ops. To follow their values takes as long as reading everything else.

    Returns:
        What the ops are like, as `portable.prediction.computing.like` says.
    """
    ops = _ops(reading)
    returns: dict[int | None, list[int]] = {}
    functions: dict[object, list[int]] = {}
    for number, op in enumerate(ops):
        if op.kind == _RETURN:
            returns.setdefault(op.parent, []).append(number)
        elif op.kind == _FUNCTION:
            functions.setdefault(op.function, []).append(number)
    waiting = [number for number, op in enumerate(ops) if op.kept]
    seen = set(waiting)
    while waiting:
        number = waiting.pop()
        op = ops[number]
        # What an op needs: its operands, the op it stands in, what its bodies return, what it runs.
        needs = [source[0] for source in op.sources if source]
        needs += () if op.parent is None else (op.parent,)
        needs += returns.get(number, ())
        needs += functions.get(op.function, ()) if op.kind in _CALLS else ()
        waiting += set(needs) - seen
        seen.update(needs)
    return frozenset(ops[number].like for number in seen)


def _ops(reading: Reading) -> list[_Op]:
    found: list[_Op] = []
    around: list[int] = []
    for number, (operation, sources) in enumerate(reading.content.uses()):
        del around[operation.depth :]
        name = reading.names[operation.name]
        kind = name.rpartition("_v")[0]
        symbol = "sym_name" if kind == _FUNCTION else _CALLS.get(kind)
        found.append(
            _Op(
                kind,
                like(operation),
                sources,
                around[-1] if around else None,
                reading.value(operation, symbol).get("value") if symbol else None,
                _is_kept(reading, operation, name, kind),
            )
        )
        around.append(number)
    return found


def _is_kept(reading: Reading, operation: Operation, name: str, kind: str) -> bool:
    if kind == _FUNCTION:
        return reading.value(operation, "sym_visibility").get("value") != _PRIVATE
    if kind in COMMUNICATING and channel(reading, operation) is not None:
        return True
    return kind in _KEPT or not name.startswith("vhlo.")
