"""Needs jaxlib and numpy alone. Exits with 1, or crashes, where the result is wrong."""

import sys
from pathlib import Path

import numpy as np
from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()
GIVEN = np.arange(15, dtype=np.int8).reshape(3, 5) % 8

client = xla_client.make_cpu_client()
devices = xla_client.DeviceList(tuple(client.devices()[:1]))
program = client.compile_and_load(TEXT, devices, xla_client.CompileOptions())
given = client.buffer_from_pyval(GIVEN)
turned, _ = program.execute_sharded([given]).disassemble_into_single_device_arrays()
array, _ = turned[0]._single_device_array_to_np_array_did_copy()
found = array.astype(np.int8)
print(f"right: {GIVEN.T.tolist()}, found: {found.tolist()}")
sys.exit(not np.array_equal(found, GIVEN.T))
