"""Needs jaxlib alone. Ends by SIGABRT where it is wrong."""

from pathlib import Path

from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()

client = xla_client.make_cpu_client()
devices = xla_client.DeviceList(tuple(client.devices()[:1]))
client.compile_and_load(TEXT, devices, xla_client.CompileOptions())
print("right: compiles, found: compiles")
