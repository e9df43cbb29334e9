"""Needs tensorflow alone. Ends by SIGSEGV where it is wrong."""

from pathlib import Path

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops.gen_xla_ops import xla_call_module

TEXT = Path(__file__).with_name("program.mlir").read_text()

given = {"platforms": ["CPU"], "function_list": [], "Sout": [[]], "Tout": [tf.uint32]}
xla_call_module([], version=6, module=TEXT, **given)
print("right: refuses or computes, found: that")
