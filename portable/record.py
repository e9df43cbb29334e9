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
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["dataclass"]


def dataclass(
    *, frozen: bool, slots: bool, order: bool = False
) -> Callable[[type[object]], type[object]]:
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


def _build(cls: type[object], *, order: bool) -> type[object]:
    names = tuple(cls.__dict__.get("__annotations__", ()))
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
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _methods(
    names: tuple[str, ...], defaults: dict[str, object], title: str, *, order: bool
) -> dict[str, object]:
    arguments = "".join(
        f", {name}=_defaults[{name!r}]" if name in defaults else f", {name}" for name in names
    )
    own = "".join(f"self.{name}, " for name in names)
    its = own.replace("self.", "other.")
    source = f"def __init__(self{arguments}):\n"
    source += "".join(f"    _set(self, {name!r}, {name})\n" for name in names) or "    pass\n"
    source += f"def __hash__(self):\n    return hash(({own}))\n"
    source += f"def __reduce__(self):\n    return (type(self), ({own}))\n"
    for name, sign in (("eq", "=="), *((("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")) * order)):
        source += f"def __{name}__(self, other):\n"
        source += "    if other.__class__ is not self.__class__: return NotImplemented\n"
        source += f"    return ({own}) {sign} ({its})\n"
    shown = ", ".join(f"{name}={{self.{name}!r}}" for name in names)
    source += f"def __repr__(self):\n    return f{title + '(' + shown + ')'!r}\n"
    made: dict[str, object] = {}
    exec(source, {"_set": object.__setattr__, "_defaults": defaults}, made)  # noqa: S102 - as dataclasses do
    return made | {"__setattr__": _refuse, "__delattr__": _refuse}


def _refuse(self: object, name: str, *_value: object) -> None:
    raise AttributeError(f"{type(self).__name__} is immutable: cannot change {name!r}")
