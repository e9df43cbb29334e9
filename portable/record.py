"""Frozen, slotted values at a tenth of the import cost of `dataclasses`.

`import dataclasses` takes 14 ms, more than starting Python itself, because it loads `inspect`; a
command that reads a header cannot afford it. Modules on that path write

    TYPE_CHECKING = False
    if TYPE_CHECKING:
        from dataclasses import dataclass
    else:
        from portable.record import dataclass

and get the same class: type checkers see the real decorator. Only what this project uses is
supported: `frozen=True, slots=True`, `order`, and plain defaults.

`NamedTuple` stands in for that of `typing` in the same way, where values are made, compared and
hashed by the ten thousand: a tuple does that several times faster.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["NamedTuple", "dataclass"]


def dataclass(
    *, frozen: bool, slots: bool, order: bool = False
) -> Callable[[type[Any]], type[Any]]:
    """Make a class of annotations into an immutable value.

    Args:
        frozen: Must be true; there are no mutable values here.
        slots: Must be true.
        order: Whether values compare as the tuples of their fields.

    Returns:
        The class decorator.
    """
    if not (frozen and slots):
        raise TypeError("values are frozen and slotted")
    return lambda cls: _build(cls, order=order)


def _build(cls: type[Any], *, order: bool) -> type[Any]:
    names = tuple(cls.__dict__.get("__annotations__", ()))  # noqa: RUF063 - inspect is what this avoids
    defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
    body = {
        key: value
        for key, value in cls.__dict__.items()
        if key not in {"__dict__", "__weakref__", *names}
    }
    body |= {"__slots__": names, "__match_args__": names}
    body |= _methods(names, defaults, cls.__qualname__, order=order) | {
        # What the class body defines itself wins.
        key: value
        for key, value in body.items()
        if key in {"__repr__", "__eq__", "__hash__", "__str__"}
    }
    made = type(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _methods(
    names: tuple[str, ...], defaults: dict[str, object], title: str, *, order: bool
) -> dict[str, object]:
    def fields(self: object) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in names])

    def comparison(name: str) -> Callable[[object, object], object]:
        compare = getattr(tuple, name)

        def method(self: object, other: object) -> object:
            if other.__class__ is not self.__class__:
                return NotImplemented
            return compare(fields(self), fields(other))

        return method

    def initialize(self: object, *arguments: object, **keywords: object) -> None:
        # Compiled when the first value is made: most commands make values of few classes, and
        # compiling costs more than all the rest of a class.
        made = _initializer(names, defaults)
        setattr(type(self), "__init__", made)  # noqa: B010 - a class that type checkers do not see
        made(self, *arguments, **keywords)

    def shown(self: object) -> str:
        return f"{title}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return {
        "__init__": initialize,
        "__hash__": lambda self: hash(fields(self)),
        "__reduce__": lambda self: (type(self), fields(self)),
        "__repr__": shown,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        **{name: comparison(name) for name in ("__eq__", *_ORDER * order)},
    }


_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")


def _initializer(names: tuple[str, ...], defaults: dict[str, object]) -> Callable[..., None]:
    arguments = "".join(
        f", {name}=_defaults[{name!r}]" if name in defaults else f", {name}" for name in names
    )
    source = f"def __init__(self{arguments}):\n"
    source += "".join(f"    _set(self, {name!r}, {name})\n" for name in names) or "    pass\n"
    made: dict[str, Callable[..., None]] = {}
    exec(source, {"_set": object.__setattr__, "_defaults": defaults}, made)  # noqa: S102 - as dataclasses do
    return made["__init__"]


def _refuse(self: object, name: str, *_value: object) -> None:
    raise AttributeError(f"{type(self).__name__} is immutable: cannot change {name!r}")


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
