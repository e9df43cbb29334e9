"""Needs jaxlib and numpy alone. Exits with 1 where the result is wrong."""

import sys
from pathlib import Path

import numpy as np
from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [float("nan"), 1.0]

client = xla_client.make_cpu_client()
devices = xla_client.DeviceList(tuple(client.devices()[:1]))
program = client.compile_and_load(TEXT, devices, xla_client.CompileOptions())
(result,) = program.execute_sharded([]).disassemble_into_single_device_arrays()
array, _ = result[0]._single_device_array_to_np_array_did_copy()
found = array.tolist()
same = np.allclose(found, RIGHT, atol=0, equal_nan=True)
print(f"right: {RIGHT}, found: {found}")
sys.exit(not same)
