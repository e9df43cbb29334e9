"""Needs jaxlib alone. Exits with 1 where 40 processes of it do not agree."""

import sys
from pathlib import Path
from subprocess import DEVNULL, run

CODE = """
import sys
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func, stablehlo
with ir.Context() as context:
    stablehlo.register_dialect(context)
    stablehlo.deserialize_portable_artifact(context, b"")  # loads quant
    ir.Module.parse(sys.argv[1])
"""
text = Path(__file__).with_name("program.mlir").read_text()
command = [sys.executable, "-I", "-c", CODE, text]
found = {run(command, stderr=DEVNULL, check=False).returncode for _ in range(40)}
print(f"right: one exit code, found: {sorted(found)}")
sys.exit(len(found) > 1)
