"""Needs jaxlib 0.4 and numpy alone. Exits with 1 where the result is wrong."""

import sys
from pathlib import Path

from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [[[2.0], [4.0], [6.0]]]

# What jax would do: arrays ask for its state.
jit = xla_client._xla.jax_jit
jit.set_thread_local_state_initialization_callback(lambda: None)
jit.global_state().enable_memories = False
client = xla_client.make_cpu_client()
program = client.compile(TEXT, xla_client.CompileOptions())
(result,) = program.execute_sharded([]).disassemble_into_single_device_arrays()
found = result[0]._single_device_array_to_np_array().tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
