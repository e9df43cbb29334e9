"""torch-mlir, whose wheel carries upstream's StableHLO bindings."""

from __future__ import annotations

import importlib
from typing import Any

from .answer import Job, Payload
from .bindings import Bindings, ModuleEra

__all__ = ["open_door"]


class TorchMlirDoor:
    """One torch-mlir."""

    def __init__(self) -> None:
        self._bindings: Bindings | None = None

    def load(self, job: Job) -> Payload:
        """Import the native code."""
        del job
        ir = importlib.import_module("torch_mlir.ir")
        stablehlo = importlib.import_module("torch_mlir._mlir_libs._stablehlo")

        def prepare(context: Any) -> None:
            stablehlo.register_dialect(context)

        facts = {"eval_module": "yes" if hasattr(stablehlo, "eval_module") else "no"}
        self._bindings = Bindings(stablehlo, ModuleEra(ir, stablehlo, prepare), facts)
        return facts

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._bindings is None:
            raise AttributeError(name)
        return getattr(self._bindings, name, None)


def open_door(library: str) -> TorchMlirDoor:
    """Open the door; nothing native is loaded yet."""
    del library
    return TorchMlirDoor()
