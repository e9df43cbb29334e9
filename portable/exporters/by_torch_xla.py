"""The backend torch_xla: PyTorch's own lowering to XLA, which writes its current Version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portable.exporters.decompositions import decompositions
from portable.exporters.exported import Argument, ArgumentKind
from portable.exporters.frameworks import ExportFailed, first_line, flat_tree
from portable.exporters.lowered import Lowered
from portable.exporters.traced import refuse_losses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.exporters.traced import Traced
    from portable.runtime.executors.tensors import Array

__all__ = ["lower"]


def lower(traced: Traced, platform: str) -> Lowered:  # noqa: ARG001 - it lowers for XLA as such
    """Lower a traced program; see `portable.exporters.export_torch`.

    Args:
        traced: The program; not changed.
        platform: Not used.

    Returns:
        The program, with its weights.

    Raises:
        ExportFailed: It cannot be lowered, or not without losing something.
    """
    from torch.export import default_decompositions

    torch_xla = _import_torch_xla()
    # Its text would cost as much as the bytecode again.
    options = torch_xla.StableHLOExportOptions(include_human_readable_text=False)
    try:
        table = {**default_decompositions(), **decompositions(), **_its_own()}
        ready = traced.program.run_decompositions(table)
        # torch_xla would do it again, which takes as long as all the rest.
        ready.run_decompositions = lambda _table: ready
        refuse_losses(ready)
        # torch_xla writes down how results are nested, and cannot for all that PyTorch returns.
        signature = ready.module_call_graph[0].signature
        signature.out_spec = flat_tree(signature.out_spec)
        module = torch_xla.exported_program_to_stablehlo(ready, options)
        bundle = module._bundle
        arguments = tuple(_arguments(bundle.stablehlo_funcs[0].meta, traced))
        weights = dict(_weights(bundle, arguments))
    except ExportFailed:
        raise
    except Exception as error:  # lowering runs a framework: anything may come
        raise ExportFailed(f"torch_xla cannot lower the model: {first_line(error)}") from error
    data = module.get_stablehlo_bytecode()
    return Lowered(data, arguments, traced.results, weights, traced.pytree_specs)


def _import_torch_xla() -> Any:
    """Import torch_xla, and leave the PyTorch of this process as it was.

    Importing it puts a GRU of its own in the place of `torch.nn.GRU`, which runs on its devices
    alone and which `torch.export` cannot trace.
    """
    from torch import nn

    gru, clip = nn.GRU, nn.utils.clip_grad_norm_
    import torch_xla.stablehlo

    nn.GRU, nn.utils.clip_grad_norm_ = gru, clip
    return torch_xla.stablehlo


def _its_own() -> dict[Any, Any]:
    """Return what torch_xla decomposes beside what PyTorch does: sampling of grids, and softmax.

    In attention's softmax rows that are masked as a whole are zero: torch_xla's own, the plain
    softmax, makes NaN of them. PyTorch's decomposition chooses between two constants, for which
    torch_xla finds no place inside of composites.
    """
    import torch
    from torch._decomp import get_decompositions

    def decomposed(x: Any, dim: int, dtype: Any = None) -> Any:
        kept = dtype or x.dtype
        wide = x.to(torch.promote_types(kept, torch.float32))
        largest = wide.amax(dim, keepdim=True).clamp(min=torch.finfo(wide.dtype).min)
        exponentials = (wide - largest).exp()
        total = exponentials.sum(dim, keepdim=True)
        return (exponentials / (total + (total == 0).to(wide.dtype))).to(kept)

    aten = torch.ops.aten
    return {
        **get_decompositions([aten.grid_sampler_2d]),
        aten._safe_softmax.default: decomposed,
    }


def _arguments(meta: Any, traced: Traced) -> Iterator[Argument]:
    """Yield what `main` takes: torch_xla orders arguments its own way."""
    names = {a.position: a.name for a in traced.arguments if a.kind is ArgumentKind.INPUT}
    for signature, location in zip(meta.input_signature, meta.input_locations, strict=True):
        kind = ArgumentKind(location.type_.value)
        name = location.name or names.get(location.position) or f"constant{location.position}"
        if kind is ArgumentKind.CONSTANT:
            name = f"constant{location.position}"
        position = location.position if kind is ArgumentKind.INPUT else -1
        yield Argument(name, kind, tuple(signature.shape), signature.dtype, position)


def _weights(bundle: Any, arguments: tuple[Argument, ...]) -> Iterator[tuple[str, Array]]:
    constants = iter(bundle.additional_constants)
    for argument in arguments:
        if argument.kind is ArgumentKind.PARAMETER:
            yield argument.name, np.array(bundle.state_dict[argument.name])
        elif argument.kind is ArgumentKind.CONSTANT:
            yield argument.name, np.array(next(constants))
