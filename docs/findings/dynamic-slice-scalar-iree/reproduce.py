"""Needs iree-base-compiler alone. Exits with 1 where the compiler crashes."""

import sys
from pathlib import Path

from iree.compiler import CompilerToolError, compile_file

program = str(Path(__file__).with_name("program.mlir"))
try:
    compile_file(program, target_backends=["llvm-cpu"], input_type="stablehlo")
    found = "compiled"
except CompilerToolError as error:
    found = str(error)[:200]
print(f"right: compiled, found: {found}")
sys.exit(found != "compiled")
