"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [1 + 0j, -1 - 2j]
flags = ["--iree-llvmcpu-target-cpu=generic"]
module = iree.compiler.compile_str(
    TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
found = program.main().to_host().tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
