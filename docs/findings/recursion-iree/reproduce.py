"""Needs iree-base-compiler alone. Exits with 1 where compiling takes longer than a minute."""

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
try:
    ended = subprocess.run([sys.executable, "-c", COMPILE, PROGRAM], timeout=60, check=False)
    found = f"ended with {ended.returncode}"
except subprocess.TimeoutExpired:
    found = "runs on after 60 s"
print(f"right: refused or compiled, found: {found}")
sys.exit("runs on" in found)
