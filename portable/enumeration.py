"""Enums without what importing `enum` costs, which is a third of the time Python takes to start.

Modules on the path of a short command write

    TYPE_CHECKING = False
    if TYPE_CHECKING:
        from enum import Enum
    else:
        from portable.enumeration import Enum

and get members that behave the same: type checkers see the real one. Names in capitals are members;
what else `enum` offers (aliases, flags, `auto`) is not supported.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["Enum", "IntEnum"]


class _Members(type):
    """Makes the names in capitals of a class body into the members of the class."""

    _members: dict[object, Any]

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _Members:
        values = {key: body.pop(key) for key in list(body) if key.isupper()}
        made = super().__new__(cls, name, bases, body)
        made._members = {value: made._member(key, value) for key, value in values.items()}
        return made

    def _member(cls, name: str, value: Any) -> object:
        member: Any = cls.__new__(cls, value) if issubclass(cls, int) else cls.__new__(cls)
        member.__dict__.update(name=name, value=value)
        type.__setattr__(cls, name, member)
        return member

    def __call__(cls, value: object) -> Any:
        kind: object = type(value)
        if kind is cls:
            return value
        try:
            return cls._members[value]
        except (KeyError, TypeError):
            raise ValueError(f"{value!r} is not a valid {cls.__name__}") from None

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls._members.values())

    def __contains__(cls, value: object) -> bool:
        return value in cls._members or value in cls._members.values()

    def __len__(cls) -> int:
        return len(cls._members)

    def __setattr__(cls, name: str, value: object) -> None:
        if name in cls.__dict__ and name != "_members":
            raise AttributeError(f"{cls.__name__} is an enum: cannot change {name!r}")
        type.__setattr__(cls, name, value)


class Enum(metaclass=_Members):
    """One of a few named values; equal to itself only."""

    name: str
    value: Any

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self!r} is an enum member: cannot change {name!r}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.value,)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}: {self.value!r}>"

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class IntEnum(int, metaclass=_Members):
    """One of a few named numbers; a number in every other way."""

    name: str
    value: int

    __setattr__ = Enum.__setattr__
    __reduce__ = Enum.__reduce__
    __repr__ = Enum.__repr__
    __str__ = int.__repr__
