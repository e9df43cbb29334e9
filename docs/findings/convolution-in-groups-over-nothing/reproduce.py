"""Needs jaxlib and numpy alone. Exits with 1 where the result is wrong."""

import sys
from pathlib import Path

import numpy as np
from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()
GIVEN = [np.float32([[1, 2, 3, 4]]), np.float32([[1, 10], [100, 1000]])]
RIGHT = [[1 + 200, 30 + 4000]]

client = xla_client.make_cpu_client()
devices = xla_client.DeviceList(tuple(client.devices()[:1]))
program = client.compile_and_load(TEXT, devices, xla_client.CompileOptions())
given = [client.buffer_from_pyval(one) for one in GIVEN]
(result,) = program.execute_sharded(given).disassemble_into_single_device_arrays()
array, _ = result[0]._single_device_array_to_np_array_did_copy()
print(f"right: {RIGHT}, found: {array.tolist()}")
sys.exit(array.tolist() != RIGHT)
