"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
X = np.float16([0, 1])
RIGHT = (1 / np.sqrt(X + np.float32(1e-5))).astype(np.float16)
flags = ["--iree-llvmcpu-target-cpu=generic"]
module = iree.compiler.compile_str(
    TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
found = program.main(X).to_host()
print(f"right: {RIGHT}, found: {found}")
sys.exit(not np.allclose(RIGHT, found, rtol=0.01))
