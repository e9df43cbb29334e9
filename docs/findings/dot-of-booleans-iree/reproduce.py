"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
GIVEN = np.arange(24, dtype=np.float32).reshape(2, 4, 3), np.tile([False, True], (2, 2))
RIGHT = [[12.0, 14.0, 16.0], [36.0, 38.0, 40.0]]
flags = ["--iree-llvmcpu-target-cpu=generic"]
module = iree.compiler.compile_str(
    TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
found = program.main(*GIVEN).to_host().tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
