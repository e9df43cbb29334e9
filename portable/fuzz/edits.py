"""What can be taken away from a program, each as an edit that leaves a valid program or none.

Works on modules of the bindings; `portable.fuzz.reduction` has a child process do it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from portable.bindings import LibraryError
from portable.bindings.returning import COMPOSITES_TO_CALLS, inline_calls
from portable.pinning import program as programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from portable.bindings import Library, Module
    from portable.pinning.program import Program

__all__ = ["KINDS", "Edited", "counts", "edited", "opened"]

_TERMINATORS = frozenset({"func.return", "stablehlo.return"})
_WITH_REGIONS = frozenset({"stablehlo.if", "stablehlo.case", "stablehlo.while"})
# On ops that are not needed any more.
_MARK = "portable.cut"
_SIZE = re.compile(r"(?<=[<x])(\d+)(?=x)")
# Which type takes the place of another: one that more executors have, and that is easier to read.
_PLAINER = {"f64": "f32", "bf16": "f32", "f16": "f32", "i64": "i32", "ui64": "ui32"}


@dataclass(frozen=True, slots=True)
class Edited:
    """A program after an edit.

    Args:
        text: The program.
        ops: How many ops it has.
        takes: The type of each argument of `main`, without `tensor<>`.
        kept: Which argument each was before; None for a new one.
    """

    text: str
    ops: int
    takes: tuple[str, ...]
    kept: tuple[int | None, ...]


class _Work:
    """A module that is being edited.

    Args:
        library: Its bindings.
        module: The module.
        ir: The `ir` of the bindings.
        bodies: Whether ops in the bodies of `reduce` and its like may go.
    """

    def __init__(self, library: Library, module: Module, ir: Any, *, bodies: bool) -> None:
        self._bodies = bodies
        self.library = library
        self.module = module
        self.ir = ir
        self.kept: list[int | None] = list(range(len(self.block.arguments)))

    @property
    def context(self) -> Any:
        """Where the module lives."""
        return self.module.context

    @property
    def main(self) -> Any:
        """The function `main`."""
        return next(one for one in self.functions() if self._name(one) == "main")

    @property
    def block(self) -> Any:
        """The body of `main`."""
        return self.main.regions[0].blocks[0]

    @property
    def end(self) -> Any:
        """What `main` returns with."""
        return list(self.block.operations)[-1].operation

    def functions(self) -> list[Any]:
        """Return every function."""
        return [one.operation for one in self.module.body.operations]

    def _name(self, function: Any) -> str:
        return str(self.ir.StringAttr(function.attributes["sym_name"]).value)

    def ops(self) -> list[Any]:
        """Return every op that could go, the last first."""
        return [
            op for f in reversed(self.functions()) for op in self._inside(f, every=self._bodies)
        ]

    def _inside(self, operation: Any, *, every: bool) -> Iterator[Any]:
        if not every and operation.name not in {*_WITH_REGIONS, "func.func"}:
            return
        for region in operation.regions:
            for block in region.blocks:
                for op in reversed(list(block.operations)):
                    if op.operation.name not in _TERMINATORS:
                        yield op.operation
                        yield from self._inside(op.operation, every=every)

    def in_main(self, operation: Any) -> bool:
        """Whether an argument of `main` can be used where an op stands."""
        parent = operation.parent.operation
        while parent.name in _WITH_REGIONS:
            parent = parent.parent.operation
        return bool(parent == self.main)

    def mark(self, operation: Any) -> None:
        """Have an op removed, if nothing uses it in the end."""
        operation.attributes[_MARK] = self.ir.UnitAttr.get()

    def abandon(self, operation: Any) -> None:
        """Mark what computes the operands of an op and of all ops in it."""
        for op in (operation, *self._inside(operation, every=True)):
            for value in op.operands:
                if not isinstance(value.owner, self.ir.Block):
                    self.mark(value.owner)

    def tidy(self) -> None:
        """Remove what is marked and nothing uses, and give `main` the type that it has now."""
        while dead := [op for op in self.ops() if _MARK in op.attributes and not _used(op)]:
            self.abandon(dead[0])
            dead[0].erase()
        for op in self.ops():
            if _MARK in op.attributes:
                del op.attributes[_MARK]
        called = set(re.findall(r"(?:call|decomposition =) @([\w.$-]+)", str(self.module)))
        for function in self.functions():
            if self._name(function) not in {"main", *called}:
                function.erase()
        main, block = self.main, self.block
        for number in reversed(range(len(block.arguments))):
            if not list(block.arguments[number].uses):
                block.erase_argument(number)
                del self.kept[number]
        kinds = (
            [value.type for value in values] for values in (block.arguments, self.end.operands)
        )
        main.attributes["function_type"] = self.ir.TypeAttr.get(self.ir.FunctionType.get(*kinds))
        for name in {"arg_attrs", "res_attrs"} & set(_names(main)):
            del main.attributes[name]

    def takes(self) -> tuple[str, ...]:
        """Return the types of the arguments of `main`, without `tensor<>`."""
        kinds = (str(argument.type) for argument in self.block.arguments)
        return tuple(kind.removeprefix("tensor<").removesuffix(">") for kind in kinds)


def _used(operation: Any) -> bool:
    return any(list(result.uses) for result in operation.results)


def _names(operation: Any) -> list[str]:
    """Return the names of an op's attributes; older bindings iterate over named attributes."""
    return [getattr(one, "name", one) for one in operation.attributes]


def opened(program: Program) -> str:
    """Return a program as the text that is edited."""
    return str(programs.load(program)[1])


def counts(text: str, *, bodies: bool = True) -> dict[str, int]:
    """Return how many edits of each kind a program has.

    Args:
        text: The program.
        bodies: Whether ops in the bodies of `reduce` and its like may go.
    """
    library, module = programs.load(text)
    with library.editing(module) as ir:
        work = _Work(library, module, ir, bodies=bodies)
        return {name: kind.count(work) for name, kind in KINDS.items()}


def edited(text: str, kind: str, numbers: Sequence[int], *, bodies: bool = True) -> Edited | None:
    """Make edits of one kind.

    Args:
        text: The program.
        kind: A key of `KINDS`.
        numbers: Which; each is below what `counts` says.
        bodies: As for `counts`.

    Returns:
        The program after those edits; None where they change nothing, or it would not be valid.
    """
    library, module = programs.load(text)
    try:
        with library.editing(module) as ir:
            work = _Work(library, module, ir, bodies=bodies)
            KINDS[kind].make(work, numbers)
            work.tidy()
            if not work.module.operation.verify():
                return None
        changed = str(work.module)
        if changed == text:
            return None
        return Edited(changed, len(work.ops()), work.takes(), tuple(work.kept))
    except (LibraryError, programs.InvalidProgram):
        return None


@dataclass(frozen=True, slots=True)
class _EditKind:
    """One way to make programs smaller.

    Args:
        count: How many edits of the kind a module has.
        make: Make some of them.
        together: Whether several can be made at once.
    """

    count: Callable[[_Work], int]
    make: Callable[[_Work, Sequence[int]], None]
    together: bool = True


def _results(work: _Work) -> int:
    operands = work.end.operands
    return len(operands) if len(operands) > 1 else 0


def _drop_results(work: _Work, numbers: Sequence[int]) -> None:
    """Have `main` return less."""
    end = work.end
    left = [value for number, value in enumerate(end.operands) if number not in numbers]
    if left:
        with work.ir.InsertionPoint(end):
            work.ir.Operation.create("func.return", operands=left)
        work.abandon(end)
        end.erase()


def _earlier(work: _Work) -> list[tuple[int, Any]]:
    """Return what could be returned in the place of each result: what it is computed from."""
    return [
        (number, operand)
        for number, value in enumerate(work.end.operands)
        if not isinstance(value.owner, work.ir.Block)
        for operand in value.owner.operands
        if isinstance(operand.type, work.ir.RankedTensorType) and "quant" not in str(operand.type)
    ]


def _return_earlier(work: _Work, numbers: Sequence[int]) -> None:
    """Have `main` return an operand of the op that computes a result."""
    place, other = _earlier(work)[numbers[0]]
    end = work.end
    returned = list(end.operands)
    returned[place] = other
    with work.ir.InsertionPoint(end):
        work.ir.Operation.create("func.return", operands=returned)
    work.abandon(end)
    end.erase()


def _cut_with(
    replacement: Callable[[_Work, Any, Any], Any],
) -> Callable[[_Work, Sequence[int]], None]:
    """Return the edit that replaces the results of ops by something else."""

    def cut(work: _Work, numbers: Sequence[int]) -> None:
        operations = work.ops()
        for number in numbers:
            operation = operations[number]
            work.mark(operation)
            for result in operation.results:
                if list(result.uses):
                    other = replacement(work, operation, result)
                    if other is not None:
                        result.replace_all_uses_with(other)

    return cut


def _nothing(work: _Work, operation: Any, result: Any) -> Any:
    """Return no value: only an op that nothing uses goes."""
    del work, operation, result


def _same_operand(work: _Work, operation: Any, result: Any) -> Any:
    """Return an operand of the same type: the op does nothing then."""
    del work
    return next((value for value in operation.operands if value.type == result.type), None)


def _new_argument(work: _Work, operation: Any, result: Any) -> Any:
    """Return a new argument of `main`: what computed the value is not needed then."""
    plain = isinstance(result.type, work.ir.RankedTensorType) and "quant" not in str(result.type)
    constant = operation.name == "stablehlo.constant"
    if constant or not plain or not work.in_main(operation):
        return None
    work.kept.append(None)
    return work.block.add_argument(result.type, work.ir.Location.unknown())


def _constant(work: _Work, operation: Any, result: Any) -> Any:
    """Return a constant."""
    if operation.name == "stablehlo.constant":
        return None
    # Through text: the bindings have no class for complex constants.
    for value in ("0.0", "0", "(0.0, 0.0)", "false"):
        made = f"stablehlo.constant dense<{value}> : {result.type}"
        try:
            module = work.library.parse(f"func.func @f() {{ %0 = {made}\n return }}", work.context)
        except LibraryError:
            continue
        (function,) = module.body.operations
        first = function.operation.regions[0].blocks[0].operations[0].operation
        copy = first.clone(work.ir.InsertionPoint(operation))
        return copy.operation.results[0]
    return None


def _ops(work: _Work) -> int:
    return len(work.ops())


def _unwrapped(work: _Work) -> list[tuple[Any, int]]:
    return [
        (op, number)
        for op in work.ops()
        if op.name in _WITH_REGIONS
        for number in range(len(op.regions))
        if op.name != "stablehlo.while" or number == 1
    ]


def _unwrap(work: _Work, numbers: Sequence[int]) -> None:
    """Put one region of an op in its place."""
    for number in numbers[:1]:
        operation, region = _unwrapped(work)[number]
        block = operation.regions[region].blocks[0]
        *inner, end = [op.operation for op in block.operations]
        for argument, value in zip(block.arguments, operation.operands, strict=False):
            argument.replace_all_uses_with(value)
        for op in inner:
            op.move_before(operation)
        for result, value in zip(operation.results, list(end.operands), strict=True):
            result.replace_all_uses_with(value)
        work.mark(operation)


def _calls(work: _Work) -> int:
    return int(len(work.functions()) > 1)


def _inline(work: _Work, numbers: Sequence[int]) -> None:
    """Put what is called where it is called."""
    del numbers
    work.library.run(work.module, COMPOSITES_TO_CALLS)
    inline_calls(work.module, work.ir)


def _attributed(work: _Work) -> list[tuple[Any, str]]:
    return [(op, name) for op in work.ops() for name in _names(op)]


def _drop_attributes(work: _Work, numbers: Sequence[int]) -> None:
    """Remove attributes; where one is needed the program is not valid any more."""
    found = _attributed(work)
    for number in numbers:
        operation, name = found[number]
        if name in operation.attributes:
            del operation.attributes[name]


def _substitution(choices: Callable[[str], Sequence[tuple[str, str]]]) -> _EditKind:
    """Return the kind of edits that replace a part of the text wherever it stands."""

    def count(work: _Work) -> int:
        return len(choices(str(work.module)))

    def substitute(work: _Work, numbers: Sequence[int]) -> None:
        text = str(work.module)
        pattern, other = choices(text)[numbers[0]]
        work.module = work.library.parse(re.sub(pattern, other, text), work.context)

    return _EditKind(count, substitute, together=False)


def _sizes(text: str) -> list[tuple[str, str]]:
    """Return how each size in the types can become smaller."""
    found = sorted({int(size) for size in _SIZE.findall(text)}, reverse=True)
    pairs = {
        (size, smaller): None
        for size in found
        for smaller in (1, 2, size // 2)
        if 0 < smaller < size
    }
    return [(rf"(?<=[<x]){size}(?=x)", str(smaller)) for size, smaller in pairs]


def _types(text: str) -> list[tuple[str, str]]:
    """Return which element types can become plainer."""
    pairs = [(rf"(?<=[x<]){one}(?=>)", other) for one, other in _PLAINER.items()]
    return [(pattern, other) for pattern, other in pairs if re.search(pattern, text)]


KINDS = {
    "results": _EditKind(_results, _drop_results),
    "earlier": _EditKind(lambda work: len(_earlier(work)), _return_earlier, together=False),
    "calls": _EditKind(_calls, _inline, together=False),
    "unused": _EditKind(_ops, _cut_with(_nothing)),
    "arguments": _EditKind(_ops, _cut_with(_new_argument)),
    "operands": _EditKind(_ops, _cut_with(_same_operand)),
    "constants": _EditKind(_ops, _cut_with(_constant)),
    "regions": _EditKind(lambda work: len(_unwrapped(work)), _unwrap, together=False),
    "attributes": _EditKind(lambda work: len(_attributed(work)), _drop_attributes),
    "sizes": _substitution(_sizes),
    "types": _substitution(_types),
}
"""The kinds of edits, those that remove most first."""
