"""Needs jaxlib alone. Ends by SIGABRT where it is wrong."""

from pathlib import Path

from jaxlib import xla_client, xla_extension

TEXT = Path(__file__).with_name("program.mlir").read_text()

xla_extension.jax_jit.set_thread_local_state_initialization_callback(lambda: None)
xla_extension.jax_jit.global_state().enable_memories = False
client = xla_client.make_cpu_client()
program = client.compile(TEXT, xla_client.CompileOptions())
(result,) = program.execute_sharded([]).disassemble_into_single_device_arrays()
result[0].block_until_ready()
print("right: ends with 0, found: that")
