"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
GIVEN = np.arange(4, dtype=np.float32)
flags = ["--iree-llvmcpu-target-cpu=generic"]
module = iree.compiler.compile_str(
    TEXT, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
try:
    found = str(program.main(GIVEN).to_host().tolist())
except IndexError as error:
    found = str(error)
print(f"right: {GIVEN.tolist()}, found: {found}")
sys.exit(found != str(GIVEN.tolist()))
