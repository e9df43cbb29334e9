"""torch-mlir, whose wheel carries upstream's StableHLO bindings."""

from __future__ import annotations

import importlib
from typing import Any

from .bindings import Bindings, ModuleEra

__all__ = ["load"]


def load(library: str, limit: float) -> Bindings:
    """Import the bindings.

    Returns:
        The door.
    """
    del library, limit
    ir = importlib.import_module("torch_mlir.ir")
    stablehlo = importlib.import_module("torch_mlir._mlir_libs._stablehlo")

    def prepare(context: Any) -> None:
        stablehlo.register_dialect(context)

    passes = importlib.import_module("torch_mlir.passmanager")
    stablehlo.register_stablehlo_passes()
    evaluates = "yes" if hasattr(stablehlo, "eval_module") else "no"
    return Bindings(
        stablehlo, ModuleEra(ir, stablehlo, passes, prepare), lambda: {"eval_module": evaluates}
    )
