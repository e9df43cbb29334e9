"""Needs jaxlib and numpy alone. Exits with 1 where the result is wrong."""

import sys
from pathlib import Path

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import stablehlo

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [[[1200.0]]]
with ir.Context() as context:
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    stablehlo.register_dialect(context)
    found = np.array(stablehlo.eval_module(ir.Module.parse(TEXT), [])[0]).tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
