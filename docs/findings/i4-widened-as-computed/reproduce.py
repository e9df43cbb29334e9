"""Needs jaxlib and numpy alone. Exits with 1 where the result is wrong."""

import sys
from pathlib import Path

import numpy as np
from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()
GIVEN, RIGHT = [1, 7, -3, -8], [2, -2, -6, 0]

client = xla_client.make_cpu_client()
devices = xla_client.DeviceList(tuple(client.devices()[:1]))
program = client.compile_and_load(TEXT, devices, xla_client.CompileOptions())
given = client.buffer_from_pyval(np.array(GIVEN, np.int8))
(result,) = program.execute_sharded([given]).disassemble_into_single_device_arrays()
array, _ = result[0]._single_device_array_to_np_array_did_copy()
found = array.tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
