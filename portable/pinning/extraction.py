"""Programs whose large constants become arguments of `main`: the reverse of `baking`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from portable.errors import PortableError
from portable.pinning import pipeline
from portable.pinning.program import apart, load
from portable.pinning.rewrites.editor import Editor

if TYPE_CHECKING:
    from typing import Unpack

    from portable.artifact import Artifact
    from portable.pinning.options import PinOptions
    from portable.pinning.program import Program

__all__ = ["LARGE", "Extracted", "NothingLarge", "extract_constants"]

LARGE = 4096
"""From how many bytes on a constant is extracted."""

_MAIN, _FUNCTION, _CALL, _CONSTANT = "main", "func.func", "func.call", "stablehlo.constant"
# What names functions otherwise than calls do: these take what they take.
_REFERENCES = {
    "stablehlo.composite": "decomposition",
    "stablehlo.custom_call": "called_computations",
}
_TENSOR = re.compile(r"tensor<((?:\d+x)+)(\w+)>")
_WIDTHS = {"i1": 1, "bf16": 2} | {f"{kind}{8 * n}": n for kind in ("i", "ui") for n in (1, 2, 4, 8)}
_WIDTHS |= {f"f{8 * n}": n for n in (2, 4, 8)}
# The bindings hand out no buffer of these, but MLIR prints their bytes.
_PRINTED = re.compile(r"bf16|f8\w+")
_BYTES = re.compile(r'dense<"0x([0-9A-Fa-f]+)"> : ')


class NothingLarge(PortableError):
    """A program has no constant that is worth a file of its own."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """A program, and what its last arguments were.

    Args:
        artifact: The program, for the current Version of the installed library.
        values: What each of its last arguments was: little endian, row by row, a byte for each
            truth value.
    """

    artifact: Artifact
    values: tuple[bytes, ...]

    def __repr__(self) -> str:
        return f"<Extracted {len(self.values)} constants, {sum(map(len, self.values))} bytes>"


@apart
def extract_constants(program: Program, **options: Unpack[PinOptions]) -> Extracted:
    """Make arguments of the large constants of a program; of equal ones, one argument.

    Constants stay that repeat one value, whose elements are complex, quantized or less than a byte,
    and those of functions that something else names than calls.

    Args:
        program: As for `portable.serialize`.
        options: The same.

    Returns:
        The program, which takes them behind its other arguments.

    Raises:
        NothingLarge: There is none of `LARGE` bytes that can be extracted.
        PortableError: As `portable.serialize`.
    """
    library, module = load(program, options.get("library"))
    with library.editing(module) as ir:
        values = _Lifting(Editor(ir, module, library.current, library.run)).run()
    if not values:
        what = f"no constant of {LARGE} bytes or more can be extracted"
        raise NothingLarge(what, hint="leave out --extract-constants")
    return Extracted(pipeline.serialize(module, "current", **options), values)


@dataclass(frozen=True, slots=True)
class _Lifted:
    """A function: its calls, its large constants by value, and which values it needs in all."""

    operation: Any
    calls: list[Any] = field(default_factory=list)
    constants: dict[Any, list[Any]] = field(default_factory=dict)
    needed: set[Any] = field(default_factory=set)


class _Lifting:
    """The functions of a module, which get arguments for what is in them and in what they call.

    Args:
        editor: Of the module.
    """

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._values: dict[Any, bytes] = {}
        found = [one.operation for one in editor.module.body.operations]
        self._functions = {
            one.attributes["sym_name"].value: _Lifted(one) for one in found if one.name == _FUNCTION
        }
        self._fixed = {name for name, one in self._functions.items() if _is_entry(name, one)}
        for function in self._functions.values():
            function.operation.walk(partial(self._visit, function))

    def run(self) -> tuple[bytes, ...]:
        """Change the module; return what `main` takes behind its other arguments."""
        self._demand()
        for function in self._functions.values():
            if function.needed:
                self._extend(function)
        main = self._functions.get(_MAIN)
        return tuple(data for value, data in self._values.items() if main and value in main.needed)

    def _visit(self, function: _Lifted, operation: Any) -> Any:
        """Note a call, a large constant, or a function that is named otherwise."""
        if operation.name == _CALL:
            function.calls.append(operation)
        elif operation.name == _CONSTANT:
            value = _value(operation)
            if value is not None and value not in self._values and (data := _large(value)):
                self._values[value] = data
            if value in self._values:
                function.constants.setdefault(value, []).append(operation)
        elif (key := _REFERENCES.get(operation.name)) and key in operation.attributes:
            named = operation.attributes[key]
            several = isinstance(named, self._editor.ir.ArrayAttr)
            self._fixed |= {one.value for one in (named if several else [named])}
        return self._editor.ir.WalkResult.ADVANCE

    def _demand(self) -> None:
        """Determine what each function needs: what is in it, and what those need that it calls."""
        waiting = list(self._fixed)
        while waiting:
            function = self._functions[waiting.pop()]
            function.constants.clear()
            callees = {_callee(call) for call in function.calls} - self._fixed
            self._fixed |= callees
            waiting += callees
        size = -1
        while size < (size := sum(len(one.needed) for one in self._functions.values())):
            for function in self._functions.values():
                called = (self._functions[_callee(call)].needed for call in function.calls)
                function.needed.update(function.constants, *called)

    def _extend(self, function: _Lifted) -> None:
        """Give a function its arguments, and pass them to what it calls."""
        ir, operation = self._editor.ir, function.operation
        block = operation.regions[0].blocks[0]
        # The same order everywhere.
        given = {
            value: block.add_argument(value.type, operation.location)
            for value in self._values
            if value in function.needed
        }
        for value, constants in function.constants.items():
            for constant in constants:
                self._editor.replace(constant, [given[value]])
        for call in function.calls:
            needed = self._functions[_callee(call)].needed
            if needed:
                more = [argument for value, argument in given.items() if value in needed]
                attributes = {
                    name: call.attributes[name] for name in self._editor.names(call.attributes)
                }
                types = [result.type for result in call.results]
                new = self._editor.emit(call, _CALL, [*call.operands, *more], types, attributes)
                self._editor.replace(call, new.results)
        results = ir.FunctionType(ir.TypeAttr(operation.attributes["function_type"]).value).results
        taken = [argument.type for argument in block.arguments]
        operation.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(taken, results))
        if "arg_attrs" in operation.attributes:
            said = [
                *ir.ArrayAttr(operation.attributes["arg_attrs"]),
                *[ir.DictAttr.get({})] * len(given),
            ]
            operation.attributes["arg_attrs"] = ir.ArrayAttr.get(said)


def _is_entry(name: str, function: _Lifted) -> bool:
    """Say whether others than calls of this module may call a function."""
    said = function.operation.attributes
    private = "sym_visibility" in said and said["sym_visibility"].value == "private"
    return name != _MAIN and not private


def _callee(call: Any) -> str:
    return str(call.attributes["callee"].value)


def _value(constant: Any) -> Any:
    """Return what a constant is; None where the bindings have no attribute for it."""
    try:
        value = constant.attributes["value"]
    except TypeError:
        return None
    return value if value.type == constant.results[0].type else None


def _large(value: Any) -> bytes | None:
    """Return the bytes of a value that is large, where the bindings or the printer have them."""
    match = _TENSOR.fullmatch(str(value.type))
    if match is None or value.is_splat:
        return None
    if math.prod(map(int, match[1].split("x")[:-1])) * _width(match[2]) < LARGE:
        return None
    if not _PRINTED.fullmatch(match[2]):
        return memoryview(value).tobytes()
    printed = _BYTES.match(str(value))
    return bytes.fromhex(printed[1]) if printed else None


def _width(element: str) -> int:
    """Return the bytes of an element; nothing where they are none, or not handed out."""
    if element.startswith("f8"):
        return 1
    return _WIDTHS.get(element, 0)
