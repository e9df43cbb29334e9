"""The functions of a program and their types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.bytecode.layouts import VHLO
from portable.bytecode.text import type_text

if TYPE_CHECKING:
    from portable.bytecode.content import Bytecode
    from portable.bytecode.scan import Shape

__all__ = ["Function", "functions"]

_FUNCTION = "func_v1"
_PRIVATE = "private"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a program.

    Args:
        name: Its symbol.
        public: Whether it can be called from outside.
        arguments: The types of its arguments, as StableHLO writes them.
        results: The types of its results.
    """

    name: str
    public: bool
    arguments: tuple[str, ...]
    results: tuple[str, ...]


def functions(content: Bytecode) -> tuple[Function, ...]:
    """Return the functions of an artifact, those that can be called from outside first.

    Args:
        content: The artifact.

    Raises:
        MalformedArtifact: A function does not make sense.
    """
    names = content.names
    wanted = {at for at, name in enumerate(names) if name[:2] == (VHLO, _FUNCTION)}
    shown: dict[int, str] = {}
    shapes = [shape for shape in content.scan().shapes if shape.name in wanted]
    found = [_function(content, shape, shown) for shape in shapes]
    return tuple(sorted(found, key=lambda function: not function.public))


def _function(content: Bytecode, shape: Shape, shown: dict[int, str]) -> Function:
    pool = content.pool

    def value(name: str) -> object:
        index = content.inherent(shape.name, shape.attributes, shape.properties, name)
        return None if index is None else pool.attribute(index).fields.get("value")

    type_ = value("function_type")
    fields = pool.type(type_).fields if isinstance(type_, int) else {}

    def types(field: str) -> tuple[str, ...]:
        numbers = fields.get(field)
        items = numbers if isinstance(numbers, list) else []
        for number in set(items) - shown.keys():
            shown[number] = type_text(pool, number)
        return tuple([shown[number] for number in items])

    return Function(
        str(value("sym_name")),
        value("sym_visibility") != _PRIVATE,
        types("inputs"),
        types("outputs"),
    )
