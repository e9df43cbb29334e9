"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is refused."""

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
try:
    print("found:", *map(np.asarray, program.main(*np.eye(3, 4, dtype=np.float32))))
except RuntimeError as error:
    print("right: [0 0 -1 0] and [0 0 1 0], found:", error)
    sys.exit(1)
