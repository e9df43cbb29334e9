"""Needs iree-base-compiler alone. Exits with 1 where it is refused."""

import sys
from pathlib import Path

from iree.compiler import CompilerToolError, compile_str

TEXT = Path(__file__).with_name("program.mlir").read_text()
FLAGS = ["--iree-llvmcpu-target-cpu=generic"]
try:
    compile_str(TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=FLAGS)
    found = "compiled"
except CompilerToolError as error:
    found = next(line for line in str(error).splitlines() if "error: " in line)
print(f"right: compiled, found: {found}")
sys.exit(found != "compiled")
