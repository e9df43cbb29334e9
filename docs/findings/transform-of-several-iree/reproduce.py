"""Needs iree-base-compiler before 3.11, iree-base-runtime and numpy. Exits with 1 if wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
GIVEN = np.arange(64, dtype=np.float32).reshape(8, 8)
RIGHT = np.fft.rfft2(GIVEN)
flags = ["--iree-llvmcpu-target-cpu=generic"]
module = iree.compiler.compile_str(
    TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
found = program.main(GIVEN).to_host()
print(f"right: {RIGHT[0, 0]}, found: {found[0, 0]}")
sys.exit(not np.allclose(found, RIGHT, atol=1e-2))
