"""The backend torch_mlir: PyTorch to StableHLO by MLIR's own passes, without XLA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable.exporters.decompositions import decompositions
from portable.exporters.frameworks import ExportFailed, first_line
from portable.exporters.lowered import Lowered
from portable.exporters.traced import inspect_program, refuse_losses
from portable.pinning import program as programs

if TYPE_CHECKING:
    from portable.bindings import Library, Module
    from portable.exporters.traced import Traced

__all__ = ["lower"]

_CONSTANT = "arith.constant"


def lower(traced: Traced, platform: str) -> Lowered:  # noqa: ARG001 - it lowers for no platform
    """Lower a traced program; see `portable.exporters.export_torch`.

    Args:
        traced: The program; not changed.
        platform: Not used.

    Returns:
        The program, with its weights.

    Raises:
        ExportFailed: It cannot be lowered, or not without losing something.
    """
    from torch_mlir import fx

    if any(isinstance(size, str) for argument in traced.arguments for size in argument.shape):
        raise ExportFailed(
            "torch_mlir does not support dynamic dimensions", hint="use --backend torchax"
        )
    try:
        ready = inspect_program(traced.program.run_decompositions())
        refuse_losses(ready.program)
        ours = {**_their_decompositions(), **decompositions()}
        module = fx.export_and_import(
            _lifted(ready), output_type="stablehlo", decomposition_table=ours
        )
    except ExportFailed:
        raise
    except Exception as error:  # lowering runs a framework: anything may come
        raise ExportFailed(f"torch_mlir cannot lower the model: {first_line(error)}") from error
    library, parsed = programs.load(str(module))
    _rewrite_constants(library, parsed)
    return Lowered(parsed, ready.arguments, ready.results, ready.weights(), traced.pytree_specs)


def _their_decompositions() -> dict[Any, Any]:
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    return dict(get_decomposition_table())


def _lifted(traced: Traced) -> Any:
    """Trace the program again, with its weights as inputs: torch-mlir would write them into it."""
    import torch

    class Lifted(torch.nn.Module):
        def forward(self, *values: Any) -> Any:
            given = iter(values)
            full = [p.constant if p.argument is None else next(given) for p in traced.placeholders]
            interpreter = torch.fx.Interpreter(traced.program.graph_module)
            found = interpreter.run(*full, enable_io_processing=False)
            return tuple(value for value in found if value is not None)

    values = []
    for placeholder in traced.placeholders:
        if placeholder.tensor is not None:
            values.append(placeholder.tensor.detach())
        elif placeholder.argument is not None:
            dtype = getattr(torch, placeholder.argument.dtype)
            values.append(torch.zeros(placeholder.argument.shape, dtype=dtype))
    return torch.export.export(Lifted(), tuple(values))


def _rewrite_constants(library: Library, module: Module) -> None:
    """Write constants of MLIR's dialect arith, which StableHLO's artifacts cannot hold, its way."""
    if _CONSTANT not in library.operations(module):
        return
    with library.editing(module) as ir:
        found: list[Any] = []

        def visit(operation: Any) -> Any:
            if operation.name == _CONSTANT and isinstance(
                operation.results[0].type, ir.RankedTensorType
            ):
                found.append(operation)
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
        for operation in found:
            made = ir.Operation.create(
                "stablehlo.constant",
                results=[operation.results[0].type],
                attributes={"value": operation.attributes["value"]},
                ip=ir.InsertionPoint(operation),
            )
            operation.results[0].replace_all_uses_with(made.results[0])
            operation.erase()
