"""Needs iree-base-compiler alone. Exits with 1 where compiling takes longer than a minute."""

import os
import signal
import subprocess
import sys
from pathlib import Path

COMPILE = """import sys; from iree.compiler import compile_file
compile_file(sys.argv[1], target_backends=["llvm-cpu"], input_type="stablehlo")"""
command = [sys.executable, "-c", COMPILE, Path(__file__).with_name("program.mlir")]
child = subprocess.Popen(command, start_new_session=True)  # it starts the compiler
try:
    found = f"ended with {child.wait(60)}"
except subprocess.TimeoutExpired:
    os.killpg(child.pid, signal.SIGKILL)
    found = "runs on after 60 s"
print(f"right: refused or compiled, found: {found}")
sys.exit("runs on" in found)
