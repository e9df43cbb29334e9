"""Executing on the reference interpreter, `stablehlo.eval_module`.

Its arguments and results are attributes, and the bindings make arrays only of those of plain
numbers. So `main` is wrapped: the new one takes and returns plain numbers that carry the others
exactly. Of a NaN the sign and payload may be lost.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from typing import TYPE_CHECKING, Any

from .answer import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from .answer import Payload
    from .bindings import ModuleEra

__all__ = ["Interpreter"]

INNER = "portable_wrapped_main"
PLAIN = re.compile(r"f16|f32|f64|u?i(8|16|32|64)")
# What carries each element type that is not plain; `stablehlo.convert` is exact there and back.
CARRIERS = (
    (re.compile(r"i1|ui2|ui4"), "ui8"),
    (re.compile(r"i2|i4"), "i8"),
    (re.compile(r"bf16|f[468]E\w+"), "f32"),
)
TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)(?:complex<(f32|f64)>|(\w+))>")
ELEMENT = re.compile(r"(bf|f|ui|i)(\d+)(\w*)")
KINDS = {"bf": "bfloat", "f": "float", "ui": "uint", "i": "int"}


class Interpreter:
    """The program that was prepared last.

    Args:
        ir: The bindings.
        era: How to read programs with them.
        evaluate: `eval_module`.
    """

    device = "cpu"

    def __init__(self, ir: Any, era: ModuleEra, evaluate: Callable[..., Any]) -> None:
        self._numpy = importlib.import_module("numpy")
        self._named = importlib.import_module(".tensors", __package__).dtype_named
        self._ir = ir
        self._era = era
        self._evaluate = evaluate
        self._digest = b""
        self._module: Any = None
        self._given: list[_Carried] = []
        self._taken: list[_Carried] = []

    def compile(self, program: bytes) -> None:
        """Wrap a program, unless that was just done.

        Args:
            program: A portable artifact, MLIR bytecode or MLIR text.

        Raises:
            Refused: It does not parse.
            Unavailable: A type of its signature cannot travel.
        """
        digest = hashlib.sha256(program).digest()
        if digest == self._digest:
            return
        self._digest = b""
        ir, module = self._ir, self._era.module(program)
        with module.context:
            functions = [operation.operation for operation in module.body.operations]
            (main,) = (
                f for f in functions if "sym_name" in f.attributes and _symbol(f, ir) == "main"
            )
            function = ir.TypeAttr(main.attributes["function_type"]).value
            self._taken = [_Carried(str(item)) for item in function.inputs]
            self._given = [_Carried(str(item)) for item in function.results]
            main.attributes["sym_name"] = ir.StringAttr.get(INNER)
            wrapped = ir.Module.parse(_wrapper(self._taken, self._given))
            module.body.append(list(wrapped.body.operations)[-1].operation.clone())
        self._module, self._digest = module, digest

    def run(self, program: bytes, inputs: list[Any], results: list[Payload]) -> list[Any]:
        """Evaluate a program.

        Args:
            program: As for `compile`.
            inputs: One array for each argument of `main`.
            results: Not needed.

        Returns:
            One array for each result.

        Raises:
            Refused: The interpreter says no.
        """
        del results
        self.compile(program)
        # Evaluating gives dynamic dimensions their sizes, in the module itself: it serves once.
        self._digest = b""
        numpy = self._numpy
        carriers = []
        for carried, array in zip(self._taken, inputs, strict=True):
            parts = [array.real, array.imag] if carried.complex else [array.astype(carried.dtype)]
            carriers += [numpy.ascontiguousarray(p).reshape(array.shape) for p in parts]
        with self._module.context:
            attribute = self._ir.DenseElementsAttr.get
            arguments = [attribute(part, signless=part.dtype.kind != "u") for part in carriers]
            results = self._era.asked(self._evaluate, self._module, arguments)
            arrays = iter([numpy.array(result) for result in results])
        return [self._array(carried, arrays) for carried in self._given]

    def _array(self, carried: _Carried, arrays: Any) -> Any:
        array, dtype = next(arrays), self._named(carried.name)
        if not carried.complex:
            return array.astype(dtype)
        whole = self._numpy.empty(array.shape, dtype)
        whole.real, whole.imag = array, next(arrays)
        return whole


class _Carried:
    """A tensor type, and the plain one that carries it.

    Args:
        text: As MLIR prints it.
    """

    def __init__(self, text: str) -> None:
        match = TENSOR.fullmatch(text)
        if match is None:
            raise Unavailable(f"numpy has no array for {text}")
        self.text = text
        self.complex = match[2] is not None
        element = match[2] or match[3]
        carrier = element if PLAIN.fullmatch(element) else ""
        for elements, other in CARRIERS:
            carrier = other if elements.fullmatch(element) else carrier
        if not carrier:
            raise Unavailable(f"nothing carries {text}")
        self.carrier = f"tensor<{match[1]}{carrier}>"
        self.dtype = _dtype_name(carrier)
        self.name = f"complex{2 * int(element[1:])}" if self.complex else _dtype_name(element)

    def carriers(self) -> list[str]:
        """Return the types that travel: two for complex numbers."""
        return [self.carrier] * (1 + self.complex)


def _dtype_name(element: str) -> str:
    match = ELEMENT.fullmatch(element)
    if element == "i1" or match is None:
        return "bool"
    return KINDS[match[1]] + match[2] + (f"_{match[3].lower()}" if match[3] else "")


def _wrapper(taken: list[_Carried], given: list[_Carried]) -> str:
    """Write a module with the new `main`, and the old one by its new name as it is called."""
    old = f"({', '.join(c.text for c in taken)}) -> ({', '.join(c.text for c in given)})"
    arguments, body, inner = [], [], []
    for number, carried in enumerate(taken):
        names = [f"%a{number}_{part}" for part in range(len(carried.carriers()))]
        arguments += [f"{n}: {t}" for n, t in zip(names, carried.carriers(), strict=True)]
        op = "complex" if carried.complex else "convert"
        function = f"({', '.join(carried.carriers())}) -> {carried.text}"
        inner.append(f"%i{number}")
        body.append(f'%i{number} = "stablehlo.{op}"({", ".join(names)}) : {function}')
    results = f"%r:{len(given)} = " if given else ""
    body.append(f"{results}func.call @{INNER}({', '.join(inner)}) : {old}")
    returned, types = [], []
    for number, carried in enumerate(given):
        for part in ("real", "imag") if carried.complex else ("convert",):
            name = f"%o{number}_{part}"
            body.append(
                f'{name} = "stablehlo.{part}"(%r#{number}) : ({carried.text}) -> {carried.carrier}'
            )
            returned.append(name)
            types.append(carried.carrier)
    end = f"func.return {', '.join(returned)} : {', '.join(types)}" if given else "func.return"
    head = f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)})"
    lines = "\n  ".join([*body, end])
    return f"func.func private @{INNER}{old}\n{head} {{\n  {lines}\n}}\n"


def _symbol(operation: Any, ir: Any) -> str:
    attributes = operation.attributes
    return str(ir.StringAttr(attributes["sym_name"]).value) if "sym_name" in attributes else ""
