"""Needs jaxlib and numpy alone. Exits with 1 where it is refused."""

import sys
from pathlib import Path

from jaxlib import xla_client, xla_extension

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [[136, 17, 34, 51], [136, 17, 68, 85]]

xla_extension.jax_jit.set_thread_local_state_initialization_callback(lambda: None)
xla_extension.jax_jit.global_state().enable_memories = False
program = xla_client.make_cpu_client().compile(TEXT, xla_client.CompileOptions())
try:
    (result,) = program.execute_sharded([]).disassemble_into_single_device_arrays()
    found = result[0]._single_device_array_to_np_array().tolist()
except xla_client.XlaRuntimeError as error:
    found = str(error)
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
