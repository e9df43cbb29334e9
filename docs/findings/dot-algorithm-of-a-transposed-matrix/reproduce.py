"""Needs jaxlib alone. Exits with 1 where it is refused."""

import sys
from pathlib import Path

from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()
client = xla_client.make_cpu_client()
devices = xla_client.DeviceList(tuple(client.devices()[:1]))
try:
    client.compile_and_load(TEXT, devices, xla_client.CompileOptions())
    found = "compiled"
except RuntimeError as error:
    found = str(error).splitlines()[0]
print(f"right: compiled, found: {found}")
sys.exit(found != "compiled")
