"""Ops that something is computed from: a compiler removes the others first.

XLA drops them on its way to its own form, before it looks at what it supports. It keeps what other
devices, the host or a library may wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.computing import COMMUNICATING, F8, channel
from portable.prediction.functions import CALLS
from portable.prediction.parts import QUANTIZED_TYPES
from portable.prediction.signatures import IN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portable.bytecode.operations import Head
    from portable.prediction.forms import Reading

__all__ = ["KEPT", "is_refused_first", "used"]

_FUNCTION, _RETURN = "vhlo.func", "vhlo.return"
# What is kept whether or not its results are used; functions that are private only if called.
KEPT = frozenset(
    f"vhlo.{name}"
    for name in ("collective_broadcast", "custom_call", "func", "infeed", "outfeed", "recv", "send")
)
# Refused where ops become those of XLA, which comes before it removes what devices tell each other
# without a channel, and what that is computed from.
_UNTRANSLATED = frozenset({"vhlo.unary_einsum"})
# It comes before it removes a call, too: of what that takes and runs, it, or IREE, refuses these.
_UNTRANSLATED_IN_CALLS = _UNTRANSLATED.union(
    f"vhlo.{op}"
    for op in ("batch_norm_training", "dynamic_conv", "dynamic_iota", "reduce", "rng_bit_generator")
)
_UNTRANSLATED_TYPES = {"vhlo.cbrt": frozenset({"complex_v1"})}
# What IREE does not make into its own form at once.
_COMBINING = frozenset({"and", "or", "xor"})
_LEFT = frozenset(
    {
        *("bool", "i2", "i4", "ui2", "ui4", "complex<f32>", "complex<f64>"),
        *("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", *(one.removesuffix("_v1") for one in F8)),
    }
)
# Of quantized types these are made into other ops where they are lowered.
_LOWERED = frozenset({"batch_norm_grad", "cholesky"})


def is_refused_first(signature: str) -> bool:
    """Say whether a compiler may refuse an op before it removes it, where nothing uses it.

    IREE does so with quantized types, and with what devices tell each other of some types, or
    combine bit by bit. Whether it refuses an op at all the table of capabilities says.

    Args:
        signature: As `all_reduce bool`, see `portable.prediction.signatures`.
    """
    op, _, types = signature.partition(" ")
    types, _, around = types.partition(IN)
    elements = {one.rstrip("?") for one in types.split()}
    if any(one.startswith("quant") for one in elements):
        return op not in _LOWERED and "?" not in types
    if not {f"vhlo.{op}", f"vhlo.{around}"} & COMMUNICATING:
        return False
    return not _LEFT.isdisjoint(elements) or (bool(around) and op in _COMBINING)


def used(reading: Reading) -> frozenset[tuple[object, ...]]:
    """Find the ops that are kept or refused, and those that the kept ones are computed from.

    Args:
        reading: An artifact's ops.

    Returns:
        What the ops are like, as `portable.bytecode.operations.like` says; of a large program all.
    """
    if reading.is_large:
        return frozenset(map(like, reading.signatures))
    needs, kinds = _Needs(reading), reading.kinds
    seen = needs.behind(needs.kept)
    if not _UNTRANSLATED.isdisjoint(kinds):
        early = needs.behind(needs.unheard)
        seen.update(number for number in early if needs.kind(number) in _UNTRANSLATED)
    if not reading.functions.within.keys() <= seen:
        early = needs.behind(needs.kept, all_calls=True) - seen
        seen.update(number for number in early if _is_untranslated(reading, needs.ops[number]))
    return frozenset(like(needs.ops[number]) for number in seen)


class _Needs:
    """What each op needs: its operands, the op that it stands in, and what its bodies return.

    Args:
        reading: An artifact's ops.

    Attributes:
        ops: The ops, by their numbers.
        kept: The numbers of those that are kept whatever uses them.
        unheard: Of those by which devices communicate without a channel.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.ops: list[Head] = []
        self.kept: list[int] = []
        self.unheard: list[int] = []
        self._needs: list[list[int]] = []
        self._calls: dict[int, list[int]] = {}  # by the function that they stand in
        for call, function in reading.functions.within.items():
            self._calls.setdefault(function, []).append(call)
        kinds = reading.kinds
        stays = [kind in KEPT or not kind.startswith("vhlo.") for kind in kinds]
        calls = not CALLS.keys().isdisjoint(kinds)
        around: list[int] = []
        for visit in reading.walk:
            operation = visit.operation
            del around[operation.depth :]
            kind = kinds[operation.name]
            waits = stays[operation.name] or (kind in COMMUNICATING and channel(reading, operation))
            if waits and not (calls and kind == _FUNCTION and _is_private(reading, operation)):
                self.kept.append(visit.number)
            elif kind in COMMUNICATING:
                self.unheard.append(visit.number)
            self.ops.append(operation)
            self._needs.append([source[0] for source in visit.sources if source] + around[-1:])
            if kind == _RETURN and around:
                self._needs[around[-1]].append(visit.number)
            around.append(visit.number)

    def kind(self, number: int) -> str:
        """Return the name of an op, without its version."""
        return self._reading.kinds[self.ops[number].name]

    def behind(self, ends: Iterable[int], *, all_calls: bool = False) -> set[int]:
        """Return some ops and all that they need.

        Args:
            ends: The numbers of the ops.
            all_calls: Whether a function needs the calls in it, too, whatever uses them.
        """
        waiting = [*ends]
        seen = set(waiting)
        while waiting:
            number = waiting.pop()
            needed = {*self._needs[number]}
            if self.kind(number) in CALLS:
                needed.update(self._reading.functions.called(number))
            elif all_calls and self.kind(number) == _FUNCTION:
                needed.update(self._calls.get(number, ()))
            waiting += needed - seen
            seen |= needed
        return seen


def _is_untranslated(reading: Reading, op: Head) -> bool:
    """Say whether XLA may refuse an op that a call takes, or runs, though nothing uses the call."""
    kind = reading.kinds[op.name]
    of = QUANTIZED_TYPES | _UNTRANSLATED_TYPES.get(kind, frozenset())
    return kind in _UNTRANSLATED_IN_CALLS or reading.gives(op, of)


def _is_private(reading: Reading, function: Head) -> bool:
    return reading.value(function, "sym_visibility").get("value") == "private"
