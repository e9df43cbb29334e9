"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
flags = ["--iree-llvmcpu-target-cpu=generic"]
module = iree.compiler.compile_str(
    TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
rows = np.float32([[[1, 2], [3, 4], [5, 6]]])
window = np.float32([[[1, 1, 1, 1]], [[10, 10, 10, 10]]])
# The second weight is the first to be multiplied.
right = [[[10 + 3, 10 + 3, 20 + 4, 20 + 4], [30 + 5, 30 + 5, 40 + 6, 40 + 6]]]
found = program.main(rows, window).to_host().tolist()
print(f"right: {right}, found: {found}")
sys.exit(found != right)
