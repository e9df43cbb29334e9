"""The light `dataclass` behaves as the real one, for what it supports."""

import dataclasses
import pickle
from typing import Any

import pytest

from portable import record


def _make(decorator: Any) -> Any:
    class Point:
        """A point."""

        x: int
        y: int = 3

        def __str__(self) -> str:
            return f"({self.x}, {self.y})"

    return decorator(frozen=True, slots=True, order=True)(Point)


@pytest.mark.parametrize("make", [dataclasses.dataclass, record.dataclass])
def test_it_is_a_frozen_slotted_value(make: Any) -> None:
    """Construction, defaults, equality, order, hash, repr, slots and refusal to change agree."""
    kind = _make(make)
    point = kind(1)
    assert (point.x, point.y) == (1, 3)
    assert point == kind(x=1, y=3)
    assert point != (1, 3)
    assert point < kind(1, 4) <= kind(1, 4)
    assert hash(point) == hash(kind(1, 3))
    assert repr(point).endswith("Point(x=1, y=3)")
    assert str(point) == "(1, 3)"
    assert kind.__slots__ == ("x", "y")
    assert kind.__doc__ == "A point."
    for name in ("x", "z"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(point, name, 5)
    with pytest.raises((AttributeError, TypeError)):
        del point.x
    with pytest.raises(TypeError):
        kind()
    match point:
        case kind(1, y):
            assert y == 3
        case _:
            pytest.fail("positional patterns do not match")


def test_values_are_always_frozen_and_slotted() -> None:
    """Anything else is a programming error."""
    with pytest.raises(TypeError):
        record.dataclass(frozen=False, slots=True)


def test_verdicts_survive_pickling() -> None:
    """Children send them to their parents."""
    from portable.verdict import Diagnostic, Severity

    value = Diagnostic(Severity.ERROR, "m", "l", (Diagnostic(Severity.NOTE, "n"),))
    assert pickle.loads(pickle.dumps(value)) == value
