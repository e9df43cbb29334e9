"""Needs tensorflow alone. Exits with 1 where the result is wrong."""

import sys
from pathlib import Path

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops.gen_xla_ops import xla_call_module

TEXT = Path(__file__).with_name("program.mlir").read_text()
RIGHT = 1e-10

given = {"platforms": ["CPU"], "function_list": [], "Sout": [[1]], "Tout": [tf.float32]}
(result,) = xla_call_module([], version=6, module=TEXT, **given)
found = result.numpy().tolist()[0]
print(f"right: {RIGHT}, found: {found}")
sys.exit(abs(found / RIGHT - 1) > 0.1)
