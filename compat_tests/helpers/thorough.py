"""Which sets of parameters every run takes, where `tox -e thorough` takes the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from _pytest.mark import ParameterSet

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["pairs", "some"]


def some(values: Iterable[object], *, each: int, first: int = 0) -> list[ParameterSet]:
    """Return values to test with, those that not every run takes with the mark.

    Args:
        values: The values, or sets of parameters: in tuples those of several names.
        each: Which part every run takes: each second, third.
        first: Where the part begins, from 0: tests of the same values take different ones.
    """
    return [_set(value, number % each == first) for number, value in enumerate(values)]


def pairs(rows: Iterable[object], columns: Iterable[object], *, each: int) -> list[ParameterSet]:
    """Return each value with each other one, those that not every run takes with the mark.

    Args:
        rows: The first values.
        columns: The others.
        each: Which part every run takes: along each row and column one in so many.
    """
    others = [*columns]
    return [
        _set((row, column), (up + along) % each == 0)
        for up, row in enumerate(rows)
        for along, column in enumerate(others)
    ]


def _set(value: object, taken: bool) -> ParameterSet:
    if not isinstance(value, ParameterSet):
        value = pytest.param(*value) if isinstance(value, tuple) else pytest.param(value)
    marks = value.marks if taken else (*value.marks, pytest.mark.thorough)
    return pytest.param(*value.values, marks=marks, id=value.id)
