"""Needs jaxlib alone. Exits with 1 where the op of the region is not in what is written."""

import sys
from pathlib import Path

from jaxlib.mlir.dialects import stablehlo

TEXT = Path(__file__).with_name("program.mlir").read_text()
version = stablehlo.get_current_version()
artifact = stablehlo.serialize_portable_artifact_str(TEXT, version)
found = b"tanh" in artifact
print(f"right: True, found: {found}")
sys.exit(not found)
