"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [5, 0, 7, 0]  # of two equal elements the first is greater or equal
flags = {"input_type": "stablehlo", "extra_args": ["--iree-llvmcpu-target-cpu=generic"]}
module = iree.compiler.compile_str(TEXT, target_backends=["llvm-cpu"], **flags)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
found = program.main(np.float32([1, 1, 2, 2]), np.float32([5, 7])).to_host().tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
