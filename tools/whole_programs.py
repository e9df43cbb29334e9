"""Whole programs, each small, as a framework would export them: lowered by JAX to StableHLO.

Each is written once for two array libraries: JAX traces it to get the program, and numpy, where it
has every function, computes what is expected of it. `tools/new_case.py` turns them into Cases.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["WHOLE_PROGRAMS", "WholeProgram"]

# numpy or jax.numpy: untyped modules with one interface.
ArrayModule = Any
Array = Any


@dataclass(frozen=True, slots=True)
class WholeProgram:
    """A program and its inputs.

    Args:
        name: The Case.
        function: Takes the array library, then the inputs.
        inputs: By argument name.
        numpy: Whether numpy can run it too.
        symbolic: Name of the first dimension of every input, if it is dynamic.
        tolerance: Relative tolerance.
    """

    name: str
    function: Callable[..., Any]
    inputs: Mapping[str, Array]
    numpy: bool = True
    symbolic: str = ""
    tolerance: float = 1e-4


def _random(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _softmax(xp: ArrayModule, x: Array) -> Array:
    shifted = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return shifted / xp.sum(shifted, axis=-1, keepdims=True)


def _attention(xp: ArrayModule, q: Array, k: Array, v: Array) -> Array:
    scores = xp.matmul(q, xp.swapaxes(k, -1, -2)) / np.float32(np.sqrt(q.shape[-1]))
    mask = xp.tril(xp.ones(scores.shape[-2:], dtype=bool))
    return xp.matmul(_softmax(xp, xp.where(mask, scores, np.float32(-1e9))), v)


def _sigmoid(xp: ArrayModule, x: Array) -> Array:
    return 1 / (1 + xp.exp(-x))


def _lstm_cell(xp: ArrayModule, w: Array, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
    i, f, g, o = xp.split(xp.matmul(xp.concatenate([x, h], axis=-1), w), 4, axis=-1)
    c = _sigmoid(xp, f) * c + _sigmoid(xp, i) * xp.tanh(g)
    return _sigmoid(xp, o) * xp.tanh(c), c


def _lstm(xp: ArrayModule, xs: Array, w: Array) -> Array:
    h = c = xp.zeros((xs.shape[1], w.shape[1] // 4), dtype=np.float32)
    for t in range(xs.shape[0]):
        h, c = _lstm_cell(xp, w, xs[t], h, c)
    return h


def _fft_filter(xp: ArrayModule, x: Array, gain: Array) -> Array:
    return xp.fft.irfft(xp.fft.rfft(x) * gain, n=x.shape[-1]).astype(np.float32)


def _top_k(xp: ArrayModule, x: Array) -> tuple[Array, Array]:
    order = xp.argsort(-x, axis=-1, stable=True)[..., :3].astype(np.int32)
    return xp.take_along_axis(x, order, axis=-1), order


def _householder_qr(xp: ArrayModule, a: Array) -> tuple[Array, Array]:
    rows = a.shape[0]
    q, r = xp.eye(rows, dtype=np.float32), a
    for j in range(a.shape[1]):
        x = r[:, j] * (np.arange(rows) >= j)
        unit = (np.arange(rows) == j).astype(np.float32)
        v = x + xp.sign(r[j, j]) * xp.sqrt(xp.sum(x * x)) * unit
        v = v / xp.sqrt(xp.sum(v * v))
        r = r - 2 * xp.outer(v, xp.matmul(v, r))
        q = q - 2 * xp.outer(xp.matmul(q, v), v)
    return q, r


def _embedding(xp: ArrayModule, table: Array, tokens: Array) -> Array:
    rows = xp.take(table, tokens, axis=0)
    mean = xp.mean(rows, axis=-1, keepdims=True)
    variance = xp.mean((rows - mean) ** 2, axis=-1, keepdims=True)
    return (rows - mean) / xp.sqrt(variance + np.float32(1e-5))


def _perceptron(xp: ArrayModule, x: Array, w: Array, b: Array) -> Array:
    return xp.maximum(xp.matmul(x, w) + b, np.float32(0))


def _dynamic_batch(xp: ArrayModule, x: Array) -> Array:
    weights = np.arange(12, dtype=np.float32).reshape(4, 3) / 10
    return xp.tanh(xp.matmul(x, weights))


def _int8_matmul(xp: ArrayModule, x: Array, w: Array, scale: Array) -> Array:
    quantized = xp.clip(xp.round(x / scale), -128, 127).astype(np.int8)
    product = xp.matmul(quantized.astype(np.int32), w.astype(np.int32))
    return product.astype(np.float32) * scale


def _training_step(xp: ArrayModule, w: Array, x: Array, y: Array) -> Array:
    # The gradient of mean((tanh(x w) - y)^2), by hand so that numpy can follow.
    p = xp.tanh(xp.matmul(x, w))
    gradient = xp.matmul(x.T, 2 * (p - y) * (1 - p * p)) / np.float32(p.size)
    return w - np.float32(0.1) * gradient


def _layer_stack(xp: ArrayModule, x: Array, w: Array) -> Array:
    for layer in range(w.shape[0]):
        x = x + xp.tanh(xp.matmul(x, w[layer]))
    return x


def _convnet(_: ArrayModule, x: Array, k: Array, w: Array) -> Array:
    import jax
    import jax.numpy as jnp

    layout = ("NHWC", "HWIO", "NHWC")
    y = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=layout)
    y = jax.lax.reduce_window(
        jnp.maximum(y, 0), -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"
    )
    return jnp.matmul(y.reshape(y.shape[0], -1), w)


def _scan(_: ArrayModule, xs: Array, w: Array) -> tuple[Array, Array]:
    import jax
    import jax.numpy as jnp

    def step(h: Array, x: Array) -> tuple[Array, Array]:
        h = jnp.tanh(jnp.matmul(h, w) + x)
        return h, h

    last, all_of_them = jax.lax.scan(step, jnp.zeros(w.shape[0], np.float32), xs)
    return last, all_of_them


def _random_bits(_: ArrayModule, key: Array) -> Array:
    import jax

    return jax.random.bits(jax.random.wrap_key_data(key), (4,), np.uint32)


def _gradient_step(_: ArrayModule, w: Array, x: Array, y: Array) -> tuple[Array, Array]:
    import jax
    import jax.numpy as jnp

    def loss(w: Array) -> Array:
        p = _softmax(jnp, jnp.maximum(jnp.matmul(x, w), 0))
        return -jnp.mean(jnp.log(jnp.sum(p * y, axis=-1)))

    value, gradient = jax.value_and_grad(loss)(w)
    return value, w - 0.1 * gradient


_r = functools.partial(_random)
_one_hot = np.eye(3, dtype=np.float32)[[0, 2, 1, 0]]

WHOLE_PROGRAMS = (
    WholeProgram(
        "whole_attention",
        _attention,
        {"q": _r(2, 4, 8), "k": _r(2, 4, 8, seed=1), "v": _r(2, 4, 8, seed=2)},
    ),
    WholeProgram(
        "whole_convnet",
        _convnet,
        {"x": _r(2, 6, 6, 3), "k": _r(3, 3, 3, 4, seed=1), "w": _r(36, 5, seed=2)},
        numpy=False,
    ),
    WholeProgram("whole_lstm", _lstm, {"xs": _r(3, 2, 4), "w": _r(9, 20, seed=1)}),
    WholeProgram("whole_scan", _scan, {"xs": _r(5, 4), "w": _r(4, 4, seed=1)}, numpy=False),
    WholeProgram("whole_fft_filter", _fft_filter, {"x": _r(2, 16), "gain": _r(9, seed=1)}),
    WholeProgram("whole_top_k", _top_k, {"x": _r(2, 7)}, tolerance=0.0),
    WholeProgram(
        "whole_random_bits",
        _random_bits,
        {"key": np.array([1, 2], np.uint32)},
        numpy=False,
        tolerance=0.0,
    ),
    WholeProgram("whole_householder_qr", _householder_qr, {"a": _r(4, 3)}),
    WholeProgram(
        "whole_embedding",
        _embedding,
        {"table": _r(6, 4), "tokens": np.array([[0, 5], [3, 3]], np.int32)},
    ),
    WholeProgram(
        "whole_perceptron", _perceptron, {"x": _r(2, 4), "w": _r(4, 3, seed=1), "b": _r(3, seed=2)}
    ),
    WholeProgram("whole_dynamic_batch", _dynamic_batch, {"x": _r(5, 4)}, symbolic="b"),
    WholeProgram(
        "whole_int8_quantized",
        _int8_matmul,
        {
            "x": _r(2, 4),
            "w": np.arange(-6, 6, dtype=np.int8).reshape(4, 3),
            "scale": np.float32(0.05),
        },
    ),
    WholeProgram(
        "whole_training_step",
        _training_step,
        {"w": _r(3, 2), "x": _r(4, 3, seed=1), "y": _r(4, 2, seed=2)},
    ),
    WholeProgram(
        "whole_gradient_step",
        _gradient_step,
        {"w": _r(5, 3), "x": _r(4, 5, seed=1), "y": _one_hot},
        numpy=False,
    ),
    WholeProgram("whole_residual_stack", _layer_stack, {"x": _r(2, 4), "w": _r(3, 4, 4, seed=1)}),
)
