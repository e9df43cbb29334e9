"""Needs jaxlib alone. Ends by SIGABRT where what it wrote cannot be read."""

from pathlib import Path

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

TEXT = Path(__file__).with_name("program.mlir").read_text()

with ir.Context() as context:
    stablehlo.register_dialect(context)
    artifact = stablehlo.serialize_portable_artifact_str(TEXT, "1.3.0")
    stablehlo.deserialize_portable_artifact(context, artifact)
print("right: read, found: read")
