"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime

ARTIFACT = Path(__file__).with_name("booleans.mlir.bc").read_bytes()
RIGHT = [True, False, True, True, False, True, True, True]
flags = ["--iree-llvmcpu-target-cpu=generic"]
module = iree.compiler.compile_str(
    ARTIFACT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
found = program.main().to_host().tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
