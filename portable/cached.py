"""Answers that are remembered, without what importing `functools` costs.

Modules on the path of a short command import these in place of `functools.cache` and
`functools.cached_property`, which type checkers see; see `portable.enumeration` for the pattern.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["cache", "cached_property"]


def cache(function: Callable[..., Any]) -> Callable[..., Any]:
    """Remember the answers of a function of hashable positional arguments."""
    known: dict[tuple[object, ...], Any] = {}

    def remembered(*arguments: object) -> Any:
        try:
            return known[arguments]
        except KeyError:
            answer = known[arguments] = function(*arguments)
            return answer

    remembered.__doc__ = function.__doc__
    return remembered


class cached_property:  # noqa: N801 - the name of what it stands in for
    """An attribute that is computed when it is first asked for."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        # What lies in the instance is found before this is asked again.
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
