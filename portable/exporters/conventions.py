"""How a framework's user passes values to a program, and what comes back.

`main` takes and returns arrays one by one; the user of a framework calls a function with its own
values, nested as the framework nests them, and gets such values back.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from portable.exporters.frameworks import to_torch, tree_of_json
from portable.runtime.executors import InputMismatch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from portable.exporters.exported import ExportedArtifact
    from portable.runtime.executors.tensors import Array

__all__ = ["Convention", "TorchConvention", "convention_of", "overwrite", "share_memory"]

# `torch.utils._pytree.TreeSpec`; the framework is imported where it is used.
_Tree = Any


class Convention(Protocol):
    """The calls of one framework."""

    def flat(
        self, exported: ExportedArtifact, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> list[Any]:
        """Return the value of each input, in the order of `ExportedArtifact.inputs`.

        Args:
            exported: What is called.
            args: What the caller passes.
            kwargs: What the caller passes by name.

        Raises:
            InputMismatch: The program was exported for another call.
        """

    def nested(self, arrays: list[Array], given: Sequence[Any]) -> Any:
        """Return what the framework's function would: its own values, nested.

        Args:
            arrays: The results of `main` that the function returns.
            given: What the caller passed, flat.
        """


class _Arrays:
    """Arrays one by one, and a list of arrays."""

    def flat(
        self, exported: ExportedArtifact, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> list[Any]:
        if kwargs:
            raise _mismatch(exported, "inputs are given by name")
        return list(args)

    def nested(self, arrays: list[Array], given: Sequence[Any]) -> Any:
        del given
        return arrays


@dataclass(frozen=True, slots=True)
class TorchConvention:
    """Tensors, nested as the model nests them; arrays in, and a list of arrays comes back.

    Args:
        arguments: How `(args, kwargs)` are nested; None where it is not known.
        results: How results are nested; None where it is not known.
        fixed: The inputs that are no tensors by their place among the leaves, as exported.
        constants: The results that are no tensors, None among them, by their place among the
            leaves, as exported.
    """

    arguments: _Tree = None
    results: _Tree = None
    fixed: Mapping[int, object] = field(default_factory=dict)
    constants: Mapping[int, object] = field(default_factory=dict)

    @classmethod
    def of_program(cls, program: Any) -> TorchConvention:
        """Return how an `ExportedProgram` is called."""
        from torch.export import graph_signature as kinds

        signature = program.graph_signature
        taken = [s.arg for s in signature.input_specs if s.kind is kinds.InputKind.USER_INPUT]
        made = [s.arg for s in signature.output_specs if s.kind is kinds.OutputKind.USER_OUTPUT]
        constant = kinds.ConstantArgument
        return cls(
            program.call_spec.in_spec,
            program.call_spec.out_spec,
            *(
                {at: arg.value for at, arg in enumerate(args) if isinstance(arg, constant)}
                for args in (taken, made)
            ),
        )

    def flat(
        self, exported: ExportedArtifact, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> list[Any]:
        """Return the value of each input; as `Convention.flat`."""
        from torch.utils import _pytree as pytree

        leaves, tree = pytree.tree_flatten((args, self._ordered(kwargs)))
        if tree == self.arguments:
            for at, value in self.fixed.items():
                if leaves[at] is not value and leaves[at] != value:
                    raise _mismatch(exported, f"{leaves[at]!r} is given where {value!r} was")
            places = [argument.position for argument in exported.inputs]
            found = [leaves[place] for place in places if place < len(leaves)]  # but the seed
        elif kwargs:
            raise _mismatch(exported, "inputs are nested unlike those of the export")
        else:
            found = list(args)  # one by one
        return found

    def nested(self, arrays: list[Array], given: Sequence[Any]) -> Any:
        """Return tensors, nested; as `Convention.nested`."""
        import torch
        from torch.utils import _pytree as pytree

        if given and not any(isinstance(value, torch.Tensor) for value in given):
            return arrays
        tensors = [to_torch(array) for array in arrays]
        if self.results is None or self.results.num_leaves != len(tensors) + len(self.constants):
            return tensors
        left = iter(tensors)
        places = range(self.results.num_leaves)
        leaves = [self.constants[at] if at in self.constants else next(left) for at in places]
        return pytree.tree_unflatten(leaves, self.results)

    def _ordered(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return inputs by name in the order in which the model was traced."""
        if self.arguments is None or self.arguments.num_children != 2:
            return dict(kwargs)
        names = self.arguments.child(1).context
        return {name: kwargs[name] for name in names if name in kwargs} | dict(kwargs)


def convention_of(exported: ExportedArtifact) -> Convention:
    """Return how a program is called that was not exported in this process.

    Args:
        exported: What `ExportedArtifact.load` read.
    """
    if "torch" not in sys.modules:  # then no value is a tensor
        return _Arrays()
    specs = exported.pytree_specs
    return TorchConvention(tree_of_json(specs.arguments), tree_of_json(specs.results))


def overwrite(value: Any, array: Array) -> None:
    """Write what a program made of an input into the caller's own tensor or array."""
    if not hasattr(value, "detach"):
        np.copyto(value, array)
        return
    value.detach().copy_(to_torch(array))


def share_memory(one: Any, other: Any) -> bool:
    """Say whether two values of the caller may lie in the same memory."""
    if hasattr(one, "untyped_storage") and hasattr(other, "untyped_storage"):
        return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.may_share_memory(one, other)
    return False


def _mismatch(exported: ExportedArtifact, what: str) -> InputMismatch:
    takes = ", ".join(argument.name for argument in exported.inputs) or "nothing"
    return InputMismatch(what, hint=f"the model takes {takes}, one by one or as it was exported")
