"""What a backend hands back: a StableHLO program, and what its `main` takes and returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portable import program as programs
from portable.exporters.exported import Trees

if TYPE_CHECKING:
    from portable.executors.tensors import Array
    from portable.exporters.exported import Argument, Result
    from portable.libstablehlo import Module
    from portable.program import Program

__all__ = ["Lowered"]

_INLINE_COMPOSITES = (
    "builtin.module(func.func(stablehlo-legalize-composite-to-call),inline,symbol-dce)"
)


@dataclass(frozen=True, slots=True)
class Lowered:
    """A framework's program, lowered.

    Args:
        program: The program, as `portable.serialize` takes it.
        arguments: What its `main` takes, in order.
        results: What it returns, in order.
        weights: The arrays of all arguments that are no inputs, by name.
        trees: How the framework nests arguments and results.
    """

    program: Program
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    weights: dict[str, Array] = field(repr=False)
    trees: Trees = field(default_factory=Trees)

    def without_composites(self) -> Module:
        """Return the program with every composite replaced by what it is made of."""
        library, module = programs.load(self.program)
        library.run(module, _INLINE_COMPOSITES)
        return module
