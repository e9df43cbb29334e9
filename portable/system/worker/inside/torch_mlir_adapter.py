"""torch-mlir, whose wheel carries upstream's StableHLO bindings."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .bindings import Bindings, ModuleEra
from .engines import Engines

if TYPE_CHECKING:
    from .engines import Engine

__all__ = ["load"]


def load(library: str, limit: float) -> Bindings:
    """Import the bindings.

    Returns:
        The adapter.
    """
    del library, limit
    ir = importlib.import_module("torch_mlir.ir")
    stablehlo = importlib.import_module("torch_mlir._mlir_libs._stablehlo")

    def prepare(context: Any) -> None:
        stablehlo.register_dialect(context)

    passes = importlib.import_module("torch_mlir.passmanager")
    stablehlo.register_stablehlo_passes()
    era = ModuleEra(ir, stablehlo, passes, prepare)
    evaluate = getattr(stablehlo, "eval_module", None)

    def interpreter(_platform: str) -> Engine:
        home = importlib.import_module(".interpreter", __package__)
        made: Engine = home.Interpreter(ir, era, evaluate)
        return made

    return Bindings(
        stablehlo,
        era,
        lambda: {"eval_module": "no" if evaluate is None else "yes"},
        Engines({} if evaluate is None else {"interpreter": interpreter}),
    )
