"""Needs jaxlib alone. Exits with 1 where batching dimensions are lost."""

import sys
from pathlib import Path

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

ARTIFACT = Path(__file__).with_name("gather_batching.mlir.bc").read_bytes()
found = "kept"
with ir.Context() as context:
    stablehlo.register_dialect(context)
    context.allow_unregistered_dialects = True
    try:
        ir.Module.parse(stablehlo.deserialize_portable_artifact(ARTIFACT))
    except ir.MLIRError as error:  # the op without them is not valid
        found = error
print(f"right: kept, found: {found}")
sys.exit(found != "kept")
