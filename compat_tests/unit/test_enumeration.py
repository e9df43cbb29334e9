"""The light enums behave as the real ones, for what they support."""

import copy
import enum
import pickle
from typing import Any

import pytest

from portable import enumeration
from portable.bytecode.tables import Section
from portable.containers import Kind


def _colour(base: Any) -> Any:
    class Colour(base):  # type: ignore[misc] # either kind of enum
        """A colour."""

        RED = "red"
        BLUE = "blue"

        def __str__(self) -> str:
            return f"the colour {self.value}"

    return Colour


def _size(base: Any) -> Any:
    class Size(base):  # type: ignore[misc] # either kind of enum
        """A size."""

        SMALL = 1
        LARGE = 4

    return Size


@pytest.mark.parametrize("base", [enum.Enum, enumeration.Enum])
def test_members_are_named_values(base: Any) -> None:
    """Lookup by value, names, values, order, text, identity and types agree."""
    colour = _colour(base)
    assert colour("red") is colour.RED is colour(colour.RED)
    assert [(each.name, each.value) for each in colour] == [("RED", "red"), ("BLUE", "blue")]
    assert len(colour) == 2
    assert str(colour.RED) == "the colour red"
    assert repr(colour.RED) == "<Colour.RED: 'red'>"
    assert isinstance(colour.RED, colour)
    assert colour.RED in colour
    assert colour.RED != colour.BLUE != "blue"
    assert {colour.RED: 1}[colour("red")] == 1
    assert copy.deepcopy(colour.BLUE) is colour.BLUE
    match colour.BLUE:
        case colour.RED:
            pytest.fail("another member matches")
        case colour.BLUE:
            pass


@pytest.mark.parametrize("base", [enum.Enum, enumeration.Enum])
def test_what_is_no_member_is_refused(base: Any) -> None:
    """Other values are an error with their text, and members stay what they are."""
    colour = _colour(base)
    values: list[object] = ["green", [], None]
    for value in values:
        with pytest.raises(ValueError, match="is not a valid"):
            colour(value)
    with pytest.raises(AttributeError):
        colour.RED = "green"
    with pytest.raises(AttributeError):
        colour.RED.value = "green"


@pytest.mark.parametrize("base", [enum.IntEnum, enumeration.IntEnum])
def test_numbers_are_numbers(base: Any) -> None:
    """They count, compare, combine, and stand for themselves as keys."""
    size = _size(base)
    assert size(4) is size.LARGE
    assert size.SMALL == 1 < size.LARGE <= 4
    assert size.SMALL | size.LARGE == 5
    assert {size.LARGE: "l"}[4] == "l"
    assert [each.name for each in size] == ["SMALL", "LARGE"]
    assert f"{size.LARGE:#x}" == "0x4"
    assert str(size.LARGE) == "4"
    with pytest.raises(ValueError, match="is not a valid"):
        size(2)


@pytest.mark.parametrize("member", [Kind.TEXT, Section.IR])
def test_members_survive_pickling(member: object) -> None:
    """Children send them to their parents."""
    assert pickle.loads(pickle.dumps(member)) is member
