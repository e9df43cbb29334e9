"""Needs jaxlib and numpy alone. Exits with 1 where a result is wrong."""

import sys
from pathlib import Path

import numpy as np
from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [[100], [100]]

client = xla_client.make_cpu_client()
devices = xla_client.DeviceList(tuple(client.devices()[:1]))
program = client.compile_and_load(TEXT, devices, xla_client.CompileOptions())
results = program.execute_sharded([]).disassemble_into_single_device_arrays()
arrays = [one[0]._single_device_array_to_np_array_did_copy()[0] for one in results]
found = [np.flatnonzero(one).tolist() for one in arrays]
print(f"right: updated at {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
