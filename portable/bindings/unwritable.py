"""What a portable artifact cannot hold: libStablehlo names the op that failed, not the cause."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from portable.bindings.diagnostics import LibraryError, location_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.bindings.library import Module

__all__ = ["PROBE", "unwritable"]

PROBE = "func.func @main() { %0 = stablehlo.constant dense<1> : tensor<i32> return }"
"""A program whose first op can be given any attribute."""

_FAILED = re.compile(r"failed to legalize operation '([^']+)'")
# Ops of StableHLO have forms of their own for these.
_OWN = re.compile(r"\[?#stablehlo\b")
_OWN_UNIT = "use_global_device_ids"
_SHOWN = 100
# What can be written instead, by what is there.
_INSTEAD = (
    (re.compile(r"array<i\d"), "write it as array<i64: ...> or dense<[...]> : tensor<NxiM>"),
    (re.compile(r"array<f"), "write it as dense<[...]> : tensor<NxfM>"),
    (re.compile(r"unit$"), "write it as true"),
    (re.compile(r"-?\d+ : "), "write it as an integer of 8, 16, 32 or 64 bits"),
    (re.compile(r"@"), "name it by one symbol, as @f"),
)
_ATTRIBUTE = (
    "write it as true or false, an integer, a float, a string, a type, a [list], a {dictionary}, "
    "array<i64: ...> or a dense tensor"
)
_TYPE = "convert it to a type of StableHLO first"


def unwritable(
    error: LibraryError, module: Module, ir: Any, accepts: Callable[[Any], bool]
) -> LibraryError:
    """Name what cannot be written in a program, by writing each part of what failed alone.

    Args:
        error: What libStablehlo said.
        module: The program; not changed.
        ir: The bindings.
        accepts: Whether an attribute can be written.

    Returns:
        An error that names the parts and what to do, or the same one where it is of another kind.
    """
    failures = [(d.location, _FAILED.search(d.message)) for d in error.diagnostics]
    where, name = next(((place, match[1]) for place, match in failures if match), ("", ""))
    if not name:
        return error
    found: dict[str, str] = {}
    known: dict[str, bool] = {}
    for part, value in _parts(module, name, where, ir):
        text = str(value)
        if "." not in part and (part == _OWN_UNIT or _OWN.match(text)):
            continue
        if text not in known:
            known[text] = accepts(value)
        if not known[text]:
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
            found[f"{part} = {shown}"] = _workaround(part, text)
    what = ", ".join(found) or "an attribute or type, or the op itself"
    return LibraryError(
        f"op {name} cannot be written into a portable artifact: {what}",
        where=where or None,
        diagnostics=error.diagnostics,
        hint="; ".join(dict.fromkeys(found.values())) or None,
    )


def _workaround(part: str, text: str) -> str:
    if part.startswith("type of "):
        return _TYPE
    return next((hint for pattern, hint in _INSTEAD if pattern.match(text)), _ATTRIBUTE)


def _parts(module: Module, name: str, location: str, ir: Any) -> Iterator[tuple[str, Any]]:
    """Yield every attribute and type of the ops of a name at a location."""
    found: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name == name and location_text(operation.location) == location:
            found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for operation in found:
        # Iterating gives names, or in older bindings pairs of name and attribute.
        for key in [getattr(one, "name", one) for one in operation.attributes]:
            with suppress(TypeError):  # as in `_leaves`
                yield from _leaves(key, operation.attributes[key], ir)
        for what, values in (("operand", operation.operands), ("result", operation.results)):
            for number, value in enumerate(values):
                yield f"type of {what} {number}", ir.TypeAttr.get(value.type)


def _leaves(part: str, attribute: Any, ir: Any) -> Iterator[tuple[str, Any]]:
    """Yield an attribute, or what is in it where it is a list, a dictionary or a signature."""
    if isinstance(attribute, ir.DictAttr):
        for named in attribute:
            name = getattr(named, "name", named)
            with suppress(TypeError):  # the bindings have no class for locations as attributes
                yield from _leaves(f"{part}.{name}", attribute[name], ir)
    elif isinstance(attribute, ir.ArrayAttr):
        for number, one in enumerate(attribute):
            yield from _leaves(f"{part}[{number}]", one, ir)
    elif isinstance(attribute, ir.TypeAttr) and isinstance(attribute.value, ir.FunctionType):
        for what, types in (
            ("argument", attribute.value.inputs),
            ("result", attribute.value.results),
        ):
            for number, kind in enumerate(types):
                yield f"type of {what} {number}", ir.TypeAttr.get(kind)
    elif isinstance(attribute, ir.DenseElementsAttr):
        # Only its type can be at fault, and it may be large.
        yield f"type of {part}", ir.TypeAttr.get(attribute.type)
    else:
        yield part, attribute
