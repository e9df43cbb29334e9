"""Write encoder.mlir: a small transformer encoder block, as JAX traces it, with its locations.

Usage (jax 0.10.2 wrote the checked-in file):

    python docs/examples/export_encoder.py docs/examples/encoder.mlir
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp

BATCH, LENGTH, WIDTH, HEADS, HIDDEN = 2, 16, 32, 4, 64


def layer_norm(x, scale, bias):
    """Normalize the last axis of `x` (float32[..., WIDTH])."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-6) * scale + bias


def attention(x, weights):
    """Attend over LENGTH with HEADS heads; float32[BATCH, LENGTH, WIDTH] in and out."""
    query, key, value = (
        (x @ weights[name]).reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS)
        for name in ("query", "key", "value")
    )
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / jnp.sqrt(WIDTH / HEADS)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value)
    return mixed.reshape(BATCH, LENGTH, WIDTH) @ weights["output"]


def encoder(x, weights):
    """Apply one pre-norm encoder block."""
    x = x + attention(layer_norm(x, weights["scale1"], weights["bias1"]), weights)
    hidden = jax.nn.gelu(layer_norm(x, weights["scale2"], weights["bias2"]) @ weights["up"])
    return x + hidden @ weights["down"]


def main() -> None:
    """Trace, lower and write the program."""
    # Locations name the file, not the directory of whoever ran this.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", r"^.*/")
    matrix = jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32)
    vector = jax.ShapeDtypeStruct((WIDTH,), jnp.float32)
    weights = dict.fromkeys(("query", "key", "value", "output"), matrix)
    weights |= dict.fromkeys(("scale1", "bias1", "scale2", "bias2"), vector)
    weights["up"] = jax.ShapeDtypeStruct((WIDTH, HIDDEN), jnp.float32)
    weights["down"] = jax.ShapeDtypeStruct((HIDDEN, WIDTH), jnp.float32)
    x = jax.ShapeDtypeStruct((BATCH, LENGTH, WIDTH), jnp.float32)
    text = jax.jit(encoder).lower(x, weights).as_text(debug_info=True)
    Path(sys.argv[1]).write_text(text)


if __name__ == "__main__":
    main()
