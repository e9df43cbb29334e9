"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [[0.0, 1.0, 2.0, 3.0], [0.0, 9.0, 9.0, 3.0]]
flags = ["--iree-llvmcpu-target-cpu=generic"]
module = iree.compiler.compile_str(
    TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
results = program.main(np.float32([9, 9]))
found = [one.to_host().tolist() for one in results]
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
