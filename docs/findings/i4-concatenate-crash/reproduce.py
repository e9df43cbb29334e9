"""Needs jaxlib alone. Ends by SIGABRT where it is wrong."""

from pathlib import Path

from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()

client = xla_client.make_cpu_client()
client.compile(TEXT, xla_client.CompileOptions())
print("right: ends with 0, found: that")
