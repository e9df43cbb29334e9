"""Random choices that do not depend on each other: one that changes leaves the others as they are.

A generator of numbers gives one stream, in which every draw moves all that follow it. Here a choice
is a function of its seed and of its place, such as `step 3, operand 1`. One of several options is
chosen by rendezvous hashing: each option has a score of its own, and the best is taken. An option
that is added or removed changes only the choices that it wins or won.
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Choices"]

_T = TypeVar("_T")
_BYTES = 8


class Choices:
    """All choices at one place of a program.

    Args:
        seed: Where they come from, by its `str`.
    """

    def __init__(self, seed: object) -> None:
        self._place = str(seed)

    def at(self, *place: object) -> Choices:
        """Return the choices at a place within this one."""
        return Choices("/".join([self._place, *map(str, place)]))

    def unit(self, *place: object) -> float:
        """Return a number above 0 and below 1."""
        return _unit(hashlib.blake2b(str(self.at(*place)).encode(), digest_size=_BYTES))

    def chance(self, probability: float, *place: object) -> bool:
        """Return whether something happens that does so with this probability."""
        return self.unit(*place) < probability

    def ranked(
        self, options: Iterable[_T], *place: object, weight: Callable[[_T], float] = lambda _: 1.0
    ) -> list[_T]:
        """Return options, the one that is chosen first and then those to fall back to.

        Args:
            options: By their `str`, which must differ.
            place: Which choice.
            weight: How likely each is, relative to the others; above 0.
        """
        common = hashlib.blake2b(f"{self.at(*place)}/".encode(), digest_size=_BYTES)

        def score(option: _T) -> float:
            own = common.copy()
            own.update(str(option).encode())
            return math.log(_unit(own)) / weight(option)

        return sorted(options, key=score, reverse=True)

    def pick(
        self, options: Iterable[_T], *place: object, weight: Callable[[_T], float] = lambda _: 1.0
    ) -> _T:
        """Return one of some options, as `ranked` does."""
        return self.ranked(options, *place, weight=weight)[0]

    def __str__(self) -> str:
        return self._place


def _unit(hashed: hashlib.blake2b) -> float:
    return (int.from_bytes(hashed.digest()) + 0.5) / (1 << 8 * _BYTES)
