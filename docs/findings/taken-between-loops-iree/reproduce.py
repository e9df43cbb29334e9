"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
flags = {"input_type": "stablehlo", "extra_args": ["--iree-llvmcpu-target-cpu=generic"]}
module = iree.compiler.compile_str(TEXT, target_backends=["llvm-cpu"], **flags)
rows = np.ones((7, 6), np.float32)
wrong = 0
for _ in range(2000):
    program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
    found, _ = program.main(rows, 10 * rows)
    wrong += not np.array_equal(found.to_host(), -rows / 2)
print(f"right: 2000 of 2000, found: {2000 - wrong}")
sys.exit(wrong > 0)
