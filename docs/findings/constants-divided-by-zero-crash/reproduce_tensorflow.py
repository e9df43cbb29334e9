"""Needs tensorflow alone. Ends by SIGFPE where it is wrong."""

from pathlib import Path

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops.gen_xla_ops import xla_call_module

TEXT = Path(__file__).with_name("program.mlir").read_text()

given = {"platforms": ["CPU"], "function_list": [], "Sout": [[4]], "Tout": [tf.int32]}
(result,) = xla_call_module([], version=6, module=TEXT, **given)
print(f"right: some numbers, found: {result.numpy().tolist()}")
