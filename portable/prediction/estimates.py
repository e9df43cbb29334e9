"""What is known of values whatever the arguments are, as far as constants say.

Followed through functions, loops and branches: where they hand a value on, it is the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from portable.prediction.form import kinds
from portable.prediction.functions import HANDING_ON

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from portable.bytecode.operations import Head
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["EACH", "Estimates"]

_T = TypeVar("_T")

EACH = kinds("all_gather all_to_all optimization_barrier sort")
"""What gives for each operand what it is, in another place."""

_FUNCTION = "vhlo.func"
# What gives what its bodies return, or the function that it calls. Of what else has a body, as a
# reduction of nothing, the result may be another.
# So often what is handed on is looked at, and what is computed from it: a function may stand behind
# what calls it, and what one gives may be what another takes.
_TURNS = 8


class Estimates(ABC, Generic[_T]):
    """What is known of those values of which something is.

    What is known after a turn is right: a further one finds more, and of what is handed on only
    where all that it may be is known.

    Args:
        reading: An artifact's ops.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._known: dict[Value, _T] = {}
        handed: dict[Value, Sequence[Value]] = (
            {} if HANDING_ON.isdisjoint(reading.kinds) else self._handed()
        )
        takers = self._takers() if handed else {}
        for turn in range(_TURNS if handed else 1):
            changed = [value for value, made_of in handed.items() if self._join(value, made_of)]
            if turn and not changed:
                break
            # After the first turn others give what they gave.
            for visit in (
                self._following(changed, takers) if turn else reading.walk.of(self.computed)
            ):
                for at, given in enumerate(self._given(visit)):
                    if self._keep((visit.number, at), given):
                        # What a loop itself says is closer than what it hands on.
                        handed.pop((visit.number, at), None)

    def of(self, visit: Visit) -> list[_T]:
        """Return what is known of the operands of an op."""
        return list(map(self.at, self._reading.flow.operands(visit)))

    @property
    @abstractmethod
    def computed(self) -> frozenset[str]:
        """The ops of whose results something may be known."""

    @abstractmethod
    def at(self, value: Value) -> _T:
        """Return what is known of a value."""

    @abstractmethod
    def _joined(self, ones: Sequence[_T]) -> _T | None:
        """Return what is known of a value that is one of some; None if nothing is."""

    @abstractmethod
    def _given(self, visit: Visit) -> Sequence[_T | None]:
        """Return what is known of the results of an op; of the last ones, None is left out."""

    def _handed(self) -> dict[Value, Sequence[Value]]:
        """Return what becomes values that are handed on, of those that are nothing else."""
        flow, reading = self._reading.flow, self._reading
        return {
            (number, at): made_of
            for (number, at), made_of in flow.before.items()
            if (
                number != reading.functions.main
                if at < 0
                else self._hands_on(reading.walk.head(number))
            )
        }

    def _hands_on(self, operation: Head) -> bool:
        kind = self._reading.kinds[operation.name]
        return kind == _FUNCTION or kind in HANDING_ON

    def _takers(self) -> Mapping[Value, Sequence[int]]:
        """Return, for each value, the numbers of the ops that take it."""
        takers: dict[Value, list[int]] = {}
        for visit in self._reading.walk.of(self.computed):
            for value in self._reading.flow.operands(visit):
                takers.setdefault(value, []).append(visit.number)
        return takers

    def _following(
        self, values: Iterable[Value], takers: Mapping[Value, Sequence[int]]
    ) -> Iterator[Visit]:
        """Return the ops that are computed from some values, in their order."""
        walk, found = self._reading.walk, set[int]()
        waiting = [*values]
        while waiting:
            for number in {*takers.get(waiting.pop(), ())} - found:
                found.add(number)
                waiting += [(number, at) for at in range(len(walk.head(number).results))]
        return map(walk.__getitem__, sorted(found))

    def _join(self, value: Value, made_of: Sequence[Value]) -> bool:
        return self._keep(value, self._joined([*map(self.at, made_of)]))

    def _keep(self, value: Value, known: _T | None) -> bool:
        """Keep what is known of a value, if anything is; say whether that was not known before."""
        if known is None or self._known.get(value) == known:
            return False
        self._known[value] = known
        return True
