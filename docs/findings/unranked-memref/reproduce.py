"""Needs jaxlib alone. Exits with 1 where the artifact is not read to its end."""

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
with ir.Context() as context:
    stablehlo.deserialize_portable_artifact(context, open(sys.argv[1], "rb").read())
"""
command = [sys.executable, "-I", "-c", CODE, Path(__file__).with_name("unranked_memref.mlir.bc")]
try:
    found = subprocess.run(command, capture_output=True, timeout=20, check=False).returncode
except subprocess.TimeoutExpired:
    found = "runs on after 20 s"
print(f"right: 0 or 1, found: {found}")
sys.exit(found not in {0, 1})
