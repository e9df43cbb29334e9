"""Needs jaxlib and numpy alone. Exits with 1 where the results are wrong."""

import os
import sys
from pathlib import Path

from jaxlib import xla_client

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [[0, 1], [10, 11]]

client = xla_client.make_cpu_client()
options = xla_client.CompileOptions()
options.num_replicas = 2
program = client.compile_and_load(TEXT, xla_client.DeviceList(tuple(client.devices())), options)
results = program.execute_sharded([]).disassemble_into_single_device_arrays()
found = [r[0]._single_device_array_to_np_array_did_copy()[0].tolist() for r in results]
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
