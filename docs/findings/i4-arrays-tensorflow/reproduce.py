"""Needs tensorflow alone. Exits with 1 where the result is wrong."""

import sys
from pathlib import Path

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops.gen_xla_ops import xla_call_module

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = [1, 2, -3, 4, 5]
INPUTS = [tf.cast(tf.constant(RIGHT, tf.int8), tf.dtypes.experimental.int4)]

given = {"platforms": ["CPU"], "function_list": [], "Sout": [[5]], "Tout": [tf.int8]}
(result,) = xla_call_module(INPUTS, version=6, module=TEXT, **given)
found = result.numpy().tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
