"""Needs jaxlib alone. Exits with 1 where what jaxlib 0.10.1 wrote is refused."""

import sys
from pathlib import Path

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

ARTIFACT = Path(__file__).with_name("mesh_symbol.mlir.bc").read_bytes()
found = "read"
with ir.Context() as context:
    stablehlo.register_dialect(context)
    try:
        stablehlo.deserialize_portable_artifact(context, ARTIFACT)
    except (ValueError, ir.MLIRError):
        found = "refused"
print(f"right: read, found: {found}")
sys.exit(found != "read")
