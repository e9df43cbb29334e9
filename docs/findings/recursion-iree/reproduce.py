"""Needs iree-base-compiler alone. Exits with 1 where compiling takes longer than a minute."""

import os
import signal
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("program.mlir")
COMPILE = """
import sys
from iree.compiler import compile_file
compile_file(sys.argv[1], target_backends=["llvm-cpu"], input_type="stablehlo",
             extra_args=["--iree-llvmcpu-target-cpu=generic"])
"""
# In a group of its own: it starts the compiler, which has to end too.
child = subprocess.Popen([sys.executable, "-c", COMPILE, PROGRAM], start_new_session=True)
try:
    found = f"ended with {child.wait(60)}"
except subprocess.TimeoutExpired:
    os.killpg(child.pid, signal.SIGKILL)
    found = "runs on after 60 s"
print(f"right: refused or compiled, found: {found}")
sys.exit("runs on" in found)
