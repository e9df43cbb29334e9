"""Needs jaxlib and numpy alone. Exits with 1 where a result is wrong."""

import sys
from pathlib import Path

from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [[1j, 1 + 2j], [-0.5j, 1 + 1j]]

client = xla_client.make_cpu_client()
devices = xla_client.DeviceList(tuple(client.devices()[:1]))
program = client.compile_and_load(TEXT, devices, xla_client.CompileOptions())
results = program.execute_sharded([]).disassemble_into_single_device_arrays()
found = [one[0]._single_device_array_to_np_array_did_copy()[0].tolist() for one in results]
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
