"""Write convnet.mlir: a small convolutional network, as JAX traces it, with its locations.

Usage (jax 0.10.2 wrote the checked-in file):

    python docs/examples/export_convnet.py docs/examples/convnet.mlir
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp

BATCH, SIZE, CLASSES = 2, 16, 10


def convolve(x, kernel):
    """Convolve float32[N, H, W, C] with float32[3, 3, C, D], same padding."""
    return jax.lax.conv_general_dilated(
        x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def pool(x):
    """Halve height and width by the maximum of each 2x2 window."""
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def convnet(image, weights):
    """Classify float32[BATCH, SIZE, SIZE, 3] into log-probabilities float32[BATCH, CLASSES]."""
    x = pool(jax.nn.relu(convolve(image, weights["conv1"])))
    x = pool(jnp.tanh(convolve(x, weights["conv2"])))
    x = x.mean(axis=(1, 2))
    return jax.nn.log_softmax(x @ weights["dense"] + weights["bias"])


def main() -> None:
    """Trace, lower and write the program."""
    # Locations name the file, not the directory of whoever ran this.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", r"^.*/")
    shapes = {"conv1": (3, 3, 3, 8), "conv2": (3, 3, 8, 16), "dense": (16, CLASSES)}
    shapes["bias"] = (CLASSES,)
    weights = {name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, shape in shapes.items()}
    image = jax.ShapeDtypeStruct((BATCH, SIZE, SIZE, 3), jnp.float32)
    text = jax.jit(convnet).lower(image, weights).as_text(debug_info=True)
    Path(sys.argv[1]).write_text(text)


if __name__ == "__main__":
    main()
