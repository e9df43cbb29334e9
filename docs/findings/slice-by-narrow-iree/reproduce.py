"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
GIVEN = np.arange(10, dtype=np.float32), np.asarray(-1, np.int8), np.asarray(1 << 63, np.uint64)
RIGHT = [[0.0, 1.0], [8.0, 9.0]]
flags = ["--iree-llvmcpu-target-cpu=generic"]
module = iree.compiler.compile_str(
    TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
found = [one.to_host().tolist() for one in program.main(*GIVEN)]
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
