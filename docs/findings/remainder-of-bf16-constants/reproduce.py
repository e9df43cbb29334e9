"""Needs jaxlib and numpy alone. Exits with 1 where the result is wrong."""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
from jaxlib import xla_client, xla_extension

TEXT, RIGHT = Path(__file__).with_name("program.mlir").read_text(), [0.5, -0.25, 0.25, -0.125]
GIVEN = np.array([0.5, -0.25, 2.25, -0.625], ml_dtypes.bfloat16)

xla_extension.jax_jit.set_thread_local_state_initialization_callback(lambda: None)
xla_extension.jax_jit.global_state().enable_memories = False
client = xla_client.make_cpu_client()
results = client.compile(TEXT).execute_sharded([client.buffer_from_pyval(GIVEN)])
(array,) = results.disassemble_into_single_device_arrays()[0]
found = array._single_device_array_to_np_array().tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
