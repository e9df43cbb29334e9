"""Write the TensorFlow SavedModels of the tests, with the TensorFlow and jax that are installed.

    uv run --no-project --python 3.11 --with tensorflow==2.20.0 --with jax==0.7.1 \
        --with jaxlib==0.7.1 python -m tools saved_model_sample compat_tests/data/containers

Both agree on a version of ml_dtypes, which not every pair does. Write the samples of jax first.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def main() -> int:
    """Write one with jax2tf, one of TensorFlow 1, and one without an artifact."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where to write them")
    folder = parser.parse_args().folder
    _jax2tf(folder / "gate-jax2tf-0.7.1-tensorflow-2.20.0")
    _graph(folder / "graph-tensorflow-2.20.0", _module(folder))
    _plain(folder / "plain-tensorflow-2.20.0")
    return 0


def _jax2tf(to: Path) -> None:
    """A function in the library, with its derivative and a variable."""
    import jax
    import jax.numpy as jnp
    import tensorflow as tf
    from jax.experimental import jax2tf

    # Locations must not contain where on the disk this file lay.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

    def gate(x: Any, scale: Any) -> Any:
        return {"y": jnp.tanh(x) * scale + 0.5}

    converted = jax2tf.convert(gate, native_serialization=True)
    module = tf.Module()
    module.scale = tf.Variable(2.0)
    module.f = tf.function(
        lambda x: converted(x, module.scale),
        autograph=False,
        input_signature=[tf.TensorSpec([2, 3], tf.float32)],
    )
    tf.saved_model.save(module, str(to), signatures=module.f)


def _module(folder: Path) -> bytes:
    """Return the artifact of two arguments that is in the samples already."""
    from portable.containers import open_container

    exported = open_container(folder / "gate-vjp0-jax-0.5.3.exported")
    return bytes(exported.artifacts()[0])


def _graph(to: Path, artifact: bytes) -> None:
    """Two nodes in the graph itself, as programs of TensorFlow 1 have them."""
    import tensorflow as tf
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [2, 3], "x")
        for name in ("first", "second"):
            y = gen_xla_ops.xla_call_module(
                [x, tf.constant(2.0)],
                version=9,
                module=artifact,
                Sout=[[2, 3]],
                Tout=[tf.float32],
                platforms=["CPU"],
                name=name,
            )
            x = y[0]
        builder = tf.compat.v1.saved_model.Builder(str(to))
        signature = tf.compat.v1.saved_model.predict_signature_def(
            {"x": session.graph.get_tensor_by_name("x:0")}, {"y": x}
        )
        builder.add_meta_graph_and_variables(
            session, ["serve"], signature_def_map={"serving_default": signature}
        )
        builder.save()


def _plain(to: Path) -> None:
    import tensorflow as tf

    module = tf.Module()
    module.f = tf.function(tf.math.tanh, input_signature=[tf.TensorSpec([3], tf.float32)])
    tf.saved_model.save(module, str(to))


if __name__ == "__main__":
    sys.exit(main())
