"""Needs jaxlib and numpy alone. Exits with 1 where the result is wrong."""

import sys
from pathlib import Path

from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()

client = xla_client.make_cpu_client()
devices = xla_client.DeviceList(tuple(client.devices()[:1]))
program = client.compile_and_load(TEXT, devices, xla_client.CompileOptions())
(result,) = program.execute_sharded([]).disassemble_into_single_device_arrays()
array, _ = result[0]._single_device_array_to_np_array_did_copy()
print(f"right: float32, found: {array.dtype}")
sys.exit(array.dtype != "float32")
