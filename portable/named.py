"""Named tuples at a fraction of the import cost of `typing`.

Where values are made, compared and hashed by the ten thousand, a tuple is several times faster than
a frozen dataclass. Modules on the path of every command write

    TYPE_CHECKING = False
    if TYPE_CHECKING:
        from typing import NamedTuple
    else:
        from portable.named import NamedTuple

and get the same class: type checkers see the real one.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NamedTuple"]


class _Meta(type):
    """Makes a named tuple of a class body's annotations, with its defaults and methods."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> type:
        fields = body.pop("__annotations__", {})
        if not bases:
            return super().__new__(cls, name, bases, body)
        assert isinstance(fields, dict)  # noqa: S101 - Python puts it there
        defaults = [body.pop(field) for field in fields if field in body]
        make: Callable[..., type] = namedtuple  # noqa: PYI024 - what typing.NamedTuple calls too
        made = make(name, fields, defaults=defaults, module=body["__module__"])
        for key, value in body.items():
            if key not in {"__module__", "__qualname__"}:
                setattr(made, key, value)
        return made


class NamedTuple(metaclass=_Meta):
    """The base of a named tuple."""
