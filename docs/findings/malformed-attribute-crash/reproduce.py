"""Needs jaxlib alone. Exits with 1 where a reader of an artifact ends by a signal."""

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
with ir.Context() as context:
    print(stablehlo.deserialize_portable_artifact(context, open(sys.argv[1], "rb").read()))
"""
found = {}
for artifact in sorted(Path(__file__).parent.glob("*.mlir.bc")):
    command = [sys.executable, "-I", "-c", CODE, str(artifact)]
    found[artifact.name] = subprocess.run(command, capture_output=True, check=False).returncode
print(f"right: refused (1), found: {found}")
sys.exit(min(found.values()) < 0)
