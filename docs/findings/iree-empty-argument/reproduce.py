"""Needs iree-base-compiler, iree-base-runtime and numpy alone. Ends by SIGSEGV where wrong."""

from pathlib import Path

import iree.compiler
import iree.runtime
import numpy as np

TEXT = Path(__file__).with_name("program.mlir").read_text()

module = iree.compiler.compile_str(
    TEXT,
    target_backends=["llvm-cpu"],
    input_type="stablehlo",
    extra_args=["--iree-llvmcpu-target-cpu=generic"],
)
program = iree.runtime.load_vm_flatbuffer(module, driver="local-task")
found = program.main(np.zeros(0, np.float32)).to_host()
print(f"right: [], found: {found.tolist()}")
