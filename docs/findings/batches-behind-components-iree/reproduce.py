"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Exits with 1 where it is wrong."""

import sys
from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()
flags = {"input_type": "stablehlo", "extra_args": ["--iree-llvmcpu-target-cpu=generic"]}
module = iree.compiler.compile_str(TEXT, target_backends=["llvm-cpu"], **flags)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
rows = np.arange(24, dtype=np.float32).reshape(4, 6)
columns = (np.arange(16, dtype=np.int32) % 6).reshape(1, 4, 2, 2)
right = np.stack([row[chosen] for row, chosen in zip(rows, columns[0], strict=True)])
found = program.main(rows, columns).to_host()
print(f"right: {right.tolist()}, found: {found.tolist()}")
sys.exit(not np.array_equal(found, right))
