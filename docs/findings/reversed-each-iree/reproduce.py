"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
# Of the window, which is reversed, the second weight is the first to be multiplied.
RIGHT = [[[13, 13, 24, 24], [35, 35, 46, 46]]]
flags = {"input_type": "stablehlo", "extra_args": ["--iree-llvmcpu-target-cpu=generic"]}
module = iree.compiler.compile_str(TEXT, target_backends=["llvm-cpu"], **flags)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
rows, window = [[[1, 2], [3, 4], [5, 6]]], [[[1] * 4], [[10] * 4]]
found = program.main(np.float32(rows), np.float32(window)).to_host().tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
