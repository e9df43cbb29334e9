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

from operator import attrgetter, itemgetter

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
    body |= _methods(names, cls.__qualname__, order=order) | {
        # What the class body defines itself wins.
        key: value
        for key, value in body.items()
        if key in {"__repr__", "__eq__", "__hash__", "__str__"}
    }
    made = type(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    setattr(made, "__init__", _initializer(made, names, defaults))  # noqa: B010 - mypy forbids to assign it
    return made


def _methods(names: tuple[str, ...], title: str, *, order: bool) -> dict[str, object]:
    def few(self: object) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in names])

    # For several names `attrgetter` does this in C; for one it returns no tuple.
    fields: Callable[[object], tuple[object, ...]] = attrgetter(*names) if names[1:] else few

    def comparison(name: str) -> Callable[[object, object], object]:
        compare = getattr(tuple, name)

        def method(self: object, other: object) -> object:
            if other.__class__ is not self.__class__:
                return NotImplemented
            return compare(fields(self), fields(other))

        return method

    def shown(self: object) -> str:
        return f"{title}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return {
        "__hash__": lambda self: hash(fields(self)),
        "__reduce__": lambda self: (type(self), fields(self)),
        "__repr__": shown,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        **{name: comparison(name) for name in ("__eq__", *_ORDER * order)},
    }


_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")


def _initializer(
    made: type[Any], names: tuple[str, ...], defaults: dict[str, object]
) -> Callable[..., None]:
    """Return an initializer that is as fast as a compiled one, and is not compiled."""
    setters = tuple([made.__dict__[name].__set__ for name in names])

    def initialize(self: object, *values: object, **keywords: object) -> None:
        if keywords or len(values) != len(setters):
            values = _complete(type(self).__name__, names, defaults, values, keywords)
        for assign, value in zip(setters, values, strict=True):
            assign(self, value)

    return initialize


def _complete(
    title: str,
    names: tuple[str, ...],
    defaults: dict[str, object],
    values: tuple[object, ...],
    keywords: dict[str, object],
) -> tuple[object, ...]:
    """Return a value for every field, from positions, keywords and defaults in this order."""
    given = dict(zip(names, values, strict=False))
    if len(values) > len(names) or not given.keys().isdisjoint(keywords):
        raise TypeError(f"{title}() got more than one value for a field, or too many")
    given = defaults | given | keywords
    if given.keys() != set(names):
        wrong = ", ".join(sorted(given.keys() ^ set(names)))
        raise TypeError(f"{title}() lacks, or does not have, the fields {wrong}")
    return tuple([given[name] for name in names])


def _refuse(self: object, name: str, *_value: object) -> None:
    raise AttributeError(f"{type(self).__name__} is immutable: cannot change {name!r}")


class _Meta(type):
    """Makes a named tuple of a class body's annotations, with its defaults and methods."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
        if not bases:
            return super().__new__(cls, name, bases, body)
        names = tuple(body.pop("__annotations__", ()))
        defaults = {field: body.pop(field) for field in names if field in body}
        made: dict[str, Any] = {"__slots__": (), "__match_args__": names, "_fields": names}
        made |= {field: property(itemgetter(at)) for at, field in enumerate(names)}
        made |= {"__new__": _constructor(names, defaults)} | _tuple_methods(names)
        return type(name, (tuple,), made | body)


def _constructor(names: tuple[str, ...], defaults: dict[str, object]) -> Callable[..., Any]:
    size, make = len(names), tuple.__new__

    def construct(cls: type[Any], *values: object, **keywords: object) -> Any:
        if keywords or len(values) != size:
            values = _complete(cls.__name__, names, defaults, values, keywords)
        return make(cls, values)

    return construct


def _tuple_methods(names: tuple[str, ...]) -> dict[str, object]:
    def shown(self: tuple[object, ...]) -> str:
        fields = zip(names, self, strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in fields)})"

    def replaced(self: Any, **changes: object) -> Any:
        return type(self)(**dict(zip(names, self, strict=True)) | changes)

    def arguments(self: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(self)  # for pickling

    return {"__repr__": shown, "__getnewargs__": arguments, "_replace": replaced}


class NamedTuple(metaclass=_Meta):
    """The base of a named tuple."""
