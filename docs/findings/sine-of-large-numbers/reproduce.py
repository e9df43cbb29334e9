"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
X = np.float32([1e4, 1e8, 1e15])
RIGHT = np.sin(np.float64(X))
flags = ["--iree-llvmcpu-target-cpu=generic"]
module = iree.compiler.compile_str(
    TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
found = program.main(X).to_host()
print(f"right: {RIGHT}, found: {found}")
sys.exit(not np.allclose(RIGHT, found, atol=0.1))
