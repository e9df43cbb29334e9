"""Needs jaxlib alone. Ends by SIGSEGV where it is wrong."""

from pathlib import Path

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

ARTIFACT = Path(__file__).with_name("tf32_splat.mlir.bc").read_bytes()
with ir.Context() as context:
    try:
        stablehlo.deserialize_portable_artifact(context, ARTIFACT)
    except (ValueError, ir.MLIRError) as error:
        print(error)
print("right: reads or refuses it, found: that")
