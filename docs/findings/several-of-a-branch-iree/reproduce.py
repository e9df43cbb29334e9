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
    print("found:", *program.main(np.array(False), *[np.ones(4, np.float32)] * 7))
except ValueError as error:
    print("right: three times -1, found:", error)
    sys.exit(1)
