"""Needs iree-base-compiler alone. Exits with 1 where the compiler ends by a signal."""

import sys
from pathlib import Path

from iree.compiler import CompilerToolError, compile_str

TEXT = Path(__file__).with_name("program.mlir").read_text()
FLAGS = ["--iree-llvmcpu-target-cpu=generic"]
try:
    compile_str(TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=FLAGS)
    found = "compiled"
except CompilerToolError as error:
    found = str(error).splitlines()[0]
print(f"right: compiled, found: {found}")
sys.exit(found != "compiled")
