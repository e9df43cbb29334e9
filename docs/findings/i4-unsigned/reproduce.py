"""Needs jaxlib and numpy alone. Exits with 1 where the result is wrong."""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
from jaxlib import xla_client

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [-2, 3]

client = xla_client.make_cpu_client()
program = client.compile(TEXT, xla_client.CompileOptions())
given = client.buffer_from_pyval(np.array(RIGHT, ml_dtypes.int4))
(result,) = program.execute_sharded([given]).disassemble_into_single_device_arrays()
array = result[0]._single_device_array_to_np_array()
found = array.tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
