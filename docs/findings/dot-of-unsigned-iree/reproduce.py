"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
X, W = np.uint8([[200, 3, 255], [127, 128, 0]]), np.float32([[1, 2], [3, 4], [5, 6]])
RIGHT = X.astype(np.float32) @ W
flags = ["--iree-llvmcpu-target-cpu=generic"]
module = iree.compiler.compile_str(
    TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
found = program.main(X, W).to_host()
print(f"right: {RIGHT}, found: {found}")
sys.exit(not np.allclose(RIGHT, found))
