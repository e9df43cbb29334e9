"""Needs iree-base-compiler alone. Exits with 1 where it is refused."""

import sys
from pathlib import Path

import iree.compiler

TEXT = Path(__file__).with_name("program.mlir").read_text()
flags = ["--iree-llvmcpu-target-cpu=generic"]
try:
    iree.compiler.compile_str(
        TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
    )
except iree.compiler.CompilerToolError as error:
    print(f"right: it compiles, found: {error}")
    sys.exit(1)
print("right: it compiles, found: that")
