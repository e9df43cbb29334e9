"""The light caches behave as the real ones, for what they support."""

import functools
from typing import Any

import pytest

from portable import cached


@pytest.mark.parametrize("cache", [functools.cache, cached.cache])
def test_an_answer_is_computed_once(cache: Any) -> None:
    """For each combination of arguments; an error is not remembered."""
    asked = []

    def divide(one: int, other: int) -> float:
        """Divide."""
        asked.append((one, other))
        return one / other

    remembered = cache(divide)
    assert [remembered(6, 3), remembered(6, 2), remembered(6, 3)] == [2, 3, 2]
    assert asked == [(6, 3), (6, 2)]
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            remembered(1, 0)
    assert asked[2:] == [(1, 0), (1, 0)]
    assert remembered.__doc__ == "Divide."


@pytest.mark.parametrize("cached_property", [functools.cached_property, cached.cached_property])
def test_an_attribute_is_computed_once(cached_property: Any) -> None:
    """For each instance, when it is first asked for."""
    asked = []

    class Box:
        """A box."""

        @cached_property  # type: ignore[untyped-decorator] # either of the two
        def content(self) -> object:
            """What is inside."""
            asked.append(self)
            return object()

    one, other = Box(), Box()
    assert one.content is one.content
    assert one.content is not other.content
    assert asked == [one, other]
    assert Box.content.__doc__ == "What is inside."
