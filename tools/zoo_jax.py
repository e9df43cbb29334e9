"""The zoo of JAX: small programs as their users write them, by what they are written with.

Each is exported with its inputs and compared with what the function itself computes. Built in code,
weights and inputs from a seed, from small configurations; nothing is downloaded.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax import lax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["PROGRAMS", "Program"]

KEY = jax.random.key(0)
IMAGES = (2, 8, 8, 3)


@dataclass(frozen=True, slots=True)
class Program:
    """One program of the zoo.

    Args:
        group: What it is written with.
        name: What it is.
        build: Makes the function and its inputs.
    """

    group: str
    name: str
    build: Callable[[], tuple[Any, tuple[Any, ...]]]


def _floats(*shape: int, low: float = -2.0, high: float = 2.0) -> Any:
    rng = np.random.default_rng(len(shape) + sum(shape))
    return jnp.asarray(rng.uniform(low, high, shape), jnp.float32)


def _integers(*shape: int, high: int = 10) -> Any:
    return jnp.asarray(np.random.default_rng(sum(shape)).integers(0, high, shape), jnp.int32)


def _symmetric(size: int) -> Any:
    x = _floats(size, size)
    return x @ x.T + size * jnp.eye(size)


X, Y, V = _floats(4, 6), _floats(6, 5), _floats(12)
POSITIVE, UNIT = _floats(4, 6, low=0.1), _floats(4, 6, low=-0.9, high=0.9)
ROWS = _integers(5, high=4)

NUMPY: dict[str, tuple[Any, ...]] = {
    "arithmetic": (lambda x: (x * 2 - 1) / (x**2 + 1) % 0.7 + x // 0.3, X),
    "exp_log": (lambda x: jnp.log1p(x) + jnp.exp2(x) + jnp.expm1(x) + jnp.cbrt(x), POSITIVE),
    "trigonometry": (lambda x: jnp.sin(x) + jnp.cos(x) + jnp.arctan2(x, x + 3) + jnp.sinc(x), X),
    "inverse_trigonometry": (lambda x: jnp.arcsin(x) + jnp.arccos(x) + jnp.arctanh(x), UNIT),
    "tan": (jnp.tan, UNIT),
    "rounding": (lambda x: (jnp.round(x, 1), jnp.floor(x), jnp.rint(x), jnp.trunc(x)), X),
    "bits": (lambda x: (x ^ 3) & ~x | (x << 2) >> 1, _integers(8)),
    "matmul": (jnp.matmul, X, Y),
    "einsum": (lambda x, y: jnp.einsum("bij,bjk->bik", x, y), _floats(2, 3, 4), _floats(2, 4, 5)),
    "tensordot": (lambda x, y: jnp.tensordot(x, y, axes=((1,), (0,))), X, Y),
    "kron_outer": (lambda x, y: (jnp.kron(x, y), jnp.outer(x, y)), _floats(3), _floats(4)),
    "reductions": (lambda x: (x.sum(0), x.max(1), x.prod(), x.var(1), jnp.ptp(x), x.argmin(1)), X),
    "cumulative": (lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), jnp.maximum.accumulate(x)), X),
    "sort": (lambda x: (jnp.sort(x), jnp.argsort(x, descending=True), jnp.median(x, 0)), X),
    "quantile": (lambda x: jnp.quantile(x, jnp.array([0.1, 0.5]), axis=1), X),
    "searchsorted": (lambda x, v: jnp.searchsorted(jnp.sort(x), v), V, _floats(5)),
    "histogram": (lambda x: jnp.histogram(x, bins=5, range=(-2, 2)), V),
    "unique_of_a_size": (lambda x: jnp.unique(x, size=6, fill_value=-1), _integers(12)),
    "nonzero_of_a_size": (lambda x: jnp.nonzero(x > 0, size=8, fill_value=0), V),
    "bincount": (lambda x: jnp.bincount(x, length=10), _integers(20)),
    "indexing": (lambda x, i: (x[i], x[:, ::-2], x[1:3, None, ...], x[i, 0]), X, ROWS),
    "updates": (lambda x, i: x.at[i].add(1.5).at[0, 1].set(7).at[:, 2].multiply(3), X, ROWS),
    "take_along_axis": (lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1), X),
    "where_select": (lambda x: jnp.select([x > 1, x < -1], [x, -x], jnp.where(x > 0, 1, 0)), X),
    "shapes": (lambda x: jnp.concatenate([x.T.reshape(4, 6), jnp.roll(x, 2, 1), jnp.flip(x)]), X),
    "padding": (lambda x: (jnp.pad(x, 2, mode="reflect"), jnp.pad(x, 1, mode="edge")), X),
    "tiles": (lambda x: (jnp.tile(x, (2, 1)), jnp.repeat(x, 2, 1), jnp.tril(x), jnp.diag(x[0])), X),
    "meshgrid": (lambda x: jnp.meshgrid(x, x + 1, indexing="ij"), _floats(3)),
    "interp": (lambda x, v: jnp.interp(v, jnp.sort(x), x), V, _floats(7)),
    "convolve": (lambda x, v: jnp.convolve(x, v, mode="same"), V, _floats(3)),
    "polynomials": (lambda c, x: (jnp.polyval(c, x), jnp.polyder(c)), _floats(4), V),
    "fft": (lambda x: (jnp.fft.fft(x), jnp.fft.irfft(jnp.fft.rfft(x), n=12)), V),
    "fft2": (lambda x: jnp.abs(jnp.fft.fft2(x)), X),
    "complex": (lambda x: (jnp.abs(x + 1j * x), jnp.angle(1j * x), jnp.conj(x - 2j)), X),
    "nan": (lambda x: (jnp.nanmean(jnp.where(x > 0, x, jnp.nan), 1), jnp.isfinite(x / 0)), X),
    "bfloat16": (lambda x: x.astype(jnp.bfloat16) * 3, X),
    "float16": (lambda x: x.astype(jnp.float16) @ x.T.astype(jnp.float16), X),
}

LINALG: dict[str, tuple[Any, ...]] = {
    "cholesky": (jnp.linalg.cholesky, _symmetric(4)),
    "qr": (lambda x: jnp.abs(jnp.linalg.qr(x)[1]), X),
    "svd": (lambda x: jnp.linalg.svd(x, compute_uv=False), X),
    "eigh": (lambda x: jnp.linalg.eigh(x)[0], _symmetric(4)),
    "solve": (jnp.linalg.solve, _symmetric(4), _floats(4, 2)),
    "inverse_and_determinant": (
        lambda x: (jnp.linalg.inv(x), jnp.linalg.slogdet(x)),
        _symmetric(4),
    ),
    "norms": (lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, 1), jnp.linalg.norm(x, axis=1)), X),
    "expm": (lambda x: jax.scipy.linalg.expm(x / 4), _floats(4, 4)),
    # By a loop that factors matrices.
    "polar": (lambda x: jax.scipy.linalg.polar(x)[0], _floats(4, 3)),
    "triangular_solve": (
        lambda a, b: jax.scipy.linalg.solve_triangular(jnp.tril(a), b, lower=True),
        _symmetric(4),
        _floats(4, 2),
    ),
}


def _fibonacci(n: Any) -> Any:
    return lax.while_loop(lambda c: c[0] > 0, lambda c: (c[0] - 1, c[2], c[1] + c[2]), (n, 0, 1))[1]


def _recurrence(w: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> tuple[Any, Any]:
        h = jnp.tanh(w @ h + x)
        return h, h.sum()

    return lax.scan(step, jnp.zeros(4), xs)


LAX: dict[str, tuple[Any, ...]] = {
    "cond": (lambda x: lax.cond(x.sum() > 0, jnp.sin, lambda y: -y, x), X),
    "switch": (lambda n, x: lax.switch(n, [jnp.sin, jnp.cos, jnp.exp], x), np.int32(2), X),
    "while_loop": (_fibonacci, np.int32(12)),
    "fori_loop": (lambda x: lax.fori_loop(0, 5, lambda i, y: y * 0.5 + i, x), X),
    "scan": (_recurrence, _floats(4, 4), _floats(7, 4)),
    "scan_backwards": (lambda x: lax.scan(lambda c, y: (c + y, c * y), 0.5, x, reverse=True), V),
    "map": (lambda x: lax.map(lambda r: jnp.sort(r).cumsum(), x), X),
    "associative_scan": (lambda x: lax.associative_scan(jnp.add, x, axis=1), X),
    "top_k": (lambda x: lax.top_k(x, 3), X),
    "sort_of_two": (lambda x: lax.sort((x, x * 2), num_keys=1), V),
    "dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i, 1), (2, 3)), X, np.int32(1)),
    "dynamic_update_slice": (
        lambda x, i: lax.dynamic_update_slice(x, jnp.ones((2, 2)), (i, i)),
        X,
        np.int32(2),
    ),
    "reduce_window": (
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
        _floats(*IMAGES),
    ),
    "convolution": (
        lambda x, w: lax.conv_general_dilated(
            x, w, (2, 1), "SAME", rhs_dilation=(1, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
        _floats(*IMAGES),
        _floats(3, 3, 3, 4),
    ),
    "grouped_convolution": (
        lambda x, w: lax.conv_general_dilated(
            x,
            w,
            (1, 1),
            "VALID",
            feature_group_count=3,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        ),
        _floats(*IMAGES),
        _floats(3, 3, 1, 6),
    ),
    "transposed_convolution": (
        lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"),
        _floats(*IMAGES),
        _floats(3, 3, 3, 4),
    ),
    "dot_general": (
        lambda x, y: lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,)))),
        _floats(2, 3, 4),
        _floats(2, 4, 5),
    ),
    "bitcast": (lambda x: lax.bitcast_convert_type(x, jnp.int32), X),
    "special_functions": (
        lambda x: (
            lax.lgamma(x),
            lax.digamma(x),
            lax.erf_inv(x / 3),
            jax.scipy.special.gammainc(x, x),
        ),
        POSITIVE,
    ),
    "bessel": (lambda x: (jax.scipy.special.i0e(x), jax.scipy.special.i1(x)), X),
    "normal_distribution": (jax.scipy.stats.norm.logpdf, X),
    "logsumexp": (lambda x: (jax.nn.logsumexp(x, axis=1), jax.nn.softmax(x), jax.nn.gelu(x)), X),
    "reduce_precision": (lambda x: lax.reduce_precision(x, 5, 3), X),
    "map_coordinates": (
        lambda x, v: jax.scipy.ndimage.map_coordinates(x, [v, v], order=1),
        X,
        _floats(5, low=0.0, high=3.0),
    ),
    "segment_sum": (lambda x, i: jax.ops.segment_sum(x, i, 4), _floats(5, 2), ROWS),
}


@jax.custom_vjp
def _clipped(x: Any) -> Any:
    return jnp.sin(x)


_clipped.defvjp(lambda x: (_clipped(x), x), lambda x, g: (jnp.clip(g * jnp.cos(x), -0.5, 0.5),))


@jax.custom_jvp
def _safe_sqrt(x: Any) -> Any:
    return jnp.sqrt(jnp.maximum(x, 0))


_safe_sqrt.defjvps(lambda t, y, _: t / jnp.maximum(2 * y, 1e-3))


def _loss(x: Any) -> Any:
    return (jnp.tanh(x) ** 2).sum()


TRANSFORMED: dict[str, tuple[Any, ...]] = {
    "grad": (jax.grad(_loss), X),
    "value_and_grad": (jax.value_and_grad(_loss), X),
    "jit_of_grad": (jax.jit(jax.grad(_loss)), X),
    "hessian": (jax.hessian(lambda x: (x**3).sum() + x.prod()), _floats(3)),
    "jacobians": (lambda x: (jax.jacfwd(jnp.sort)(x), jax.jacrev(jnp.cumsum)(x)), _floats(5)),
    "jvp": (lambda x, t: jax.jvp(jnp.exp, (x,), (t,)), X, X),
    "vmap": (jax.vmap(lambda x, w: w @ x, in_axes=(0, None)), X, _floats(3, 6)),
    "vmap_of_grad": (jax.vmap(jax.grad(_loss)), X),
    "checkpoint": (jax.grad(jax.checkpoint(_loss)), X),
    "custom_vjp": (jax.grad(lambda x: _clipped(x).sum()), X),
    "custom_jvp": (jax.grad(lambda x: _safe_sqrt(x).sum()), X),
    "static_argument": (jax.jit(lambda x, n: x.reshape(n, -1), static_argnums=1), X, 3),
    "a_word": (lambda x, how: getattr(jnp, how)(x), X, "cosh"),
    "attention": (
        jax.nn.dot_product_attention,
        _floats(2, 5, 2, 8),
        _floats(2, 5, 2, 8),
        _floats(2, 5, 2, 8),
    ),
    "normal": (lambda key: jax.random.normal(key, (3, 4)), KEY),
    "split_and_fold": (lambda key: jax.random.split(jax.random.fold_in(key, 3), 2), KEY),
    "categorical": (jax.random.categorical, KEY, X),
    "permutation": (lambda key: jax.random.permutation(key, 12), KEY),
    "normal_in_a_loop": (
        lambda key: lax.fori_loop(
            0, 3, lambda turn, x: x + jax.random.normal(jax.random.fold_in(key, turn), (3,)), V[:3]
        ),
        KEY,
    ),
    "gamma": (lambda key: jax.random.gamma(key, 2.0, (4,)), KEY),
    "bernoulli_of_an_old_key": (
        lambda key: jax.random.bernoulli(key, 0.3, (9,)),
        np.zeros(2, np.uint32),
    ),
}


class _Mlp(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.Dense(4)(nn.relu(nn.LayerNorm()(nn.Dense(16)(x))))


class _Cnn(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.BatchNorm(use_running_average=True)(nn.relu(nn.Conv(8, (3, 3))(x)))
        return nn.Dense(5)(nn.avg_pool(x, (2, 2), (2, 2)).mean((1, 2)))


class _Block(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x))
        return x + nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(32)(nn.RMSNorm()(x))))


class _Tokens(nn.Module):
    @nn.compact
    def __call__(self, tokens: Any) -> Any:
        table = nn.Embed(20, 8)
        mask = nn.make_causal_mask(tokens)
        x = table(tokens)
        return table.attend(x + nn.SelfAttention(num_heads=2)(x, mask=mask))


class _Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.Bidirectional(nn.RNN(nn.LSTMCell(6)), nn.RNN(nn.GRUCell(6)))(x)


def _linen(module: nn.Module, x: Any) -> tuple[Any, tuple[Any, ...]]:
    return module.bind(module.init(KEY, x)), (x,)


def _applied(module: nn.Module, x: Any) -> tuple[Any, tuple[Any, ...]]:
    return module.apply, (module.init(KEY, x), x)


LINEN: dict[str, Any] = {
    "mlp": lambda: _linen(_Mlp(), X),
    "mlp_applied": lambda: _applied(_Mlp(), X),
    "cnn": lambda: _linen(_Cnn(), _floats(*IMAGES)),
    "cnn_applied": lambda: _applied(_Cnn(), _floats(*IMAGES)),
    "transformer_block": lambda: _linen(_Block(), _floats(2, 5, 8)),
    "tokens": lambda: _linen(_Tokens(), _integers(2, 6, high=20)),
    "recurrent": lambda: _linen(_Recurrent(), _floats(2, 7, 3)),
    "group_norm": lambda: _linen(nn.GroupNorm(num_groups=2), _floats(2, 4, 8)),
}


class _Net(nnx.Module):
    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.conv, self.norm = nnx.Conv(3, 8, (3, 3), rngs=rngs), nnx.BatchNorm(8, rngs=rngs)
        self.drop, self.out = nnx.Dropout(0.5, rngs=rngs), nnx.Linear(8, 4, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.out(self.drop(nnx.relu(self.norm(self.conv(x)))).mean((1, 2)))


def _evaluated(module: Any, *args: Any) -> tuple[Any, tuple[Any, ...]]:
    module.eval()
    return module, args


NNX: dict[str, Any] = {
    "linear": lambda: (nnx.Linear(6, 3, rngs=nnx.Rngs(0)), (X,)),
    "net": lambda: _evaluated(_Net(), _floats(*IMAGES)),
    "attention": lambda: _evaluated(
        nnx.MultiHeadAttention(2, 8, decode=False, rngs=nnx.Rngs(0)), _floats(2, 5, 8)
    ),
    "sequential": lambda: (
        nnx.Sequential(
            nnx.Linear(6, 8, rngs=nnx.Rngs(0)), nnx.gelu, nnx.LayerNorm(8, rngs=nnx.Rngs(0))
        ),
        (X,),
    ),
    "embedding": lambda: (nnx.Embed(20, 4, rngs=nnx.Rngs(0)), (_integers(2, 3),)),
    "recurrent": lambda: (nnx.RNN(nnx.GRUCell(3, 5, rngs=nnx.Rngs(0))), (_floats(2, 4, 3),)),
    "lora": lambda: (nnx.LoRALinear(6, 3, lora_rank=2, rngs=nnx.Rngs(0)), (X,)),
    "jitted_with_the_module": lambda: (
        nnx.jit(lambda module, x: module(x)),
        (nnx.Linear(6, 3, rngs=nnx.Rngs(0)), X),
    ),
    "gradients": lambda: (
        nnx.jit(lambda module, x: nnx.grad(lambda m: m(x).sum())(module)),
        (nnx.Linear(6, 3, rngs=nnx.Rngs(0)), X),
    ),
}


class _Equinox(eqx.Module):
    conv: eqx.nn.Conv2d
    norm: eqx.nn.GroupNorm
    out: eqx.nn.Linear
    scale: float

    def __init__(self) -> None:
        self.conv = eqx.nn.Conv2d(3, 4, 3, key=KEY)
        self.norm, self.out = eqx.nn.GroupNorm(2, 4), eqx.nn.Linear(4, 2, key=KEY)
        self.scale = 0.5

    def __call__(self, x: Any) -> Any:
        return self.out(jax.nn.silu(self.norm(self.conv(x))).mean((1, 2))) * self.scale


def _mlp() -> Any:
    return eqx.nn.MLP(6, 3, 8, 2, key=KEY)


EQUINOX: dict[str, Any] = {
    "mlp": lambda: (_mlp(), (X[0],)),
    "mlp_jitted": lambda: (eqx.filter_jit(_mlp()), (X[0],)),
    "mlp_mapped": lambda: (jax.vmap(_mlp()), (X,)),
    "mlp_as_an_input": lambda: (lambda net, x: jax.vmap(net)(x), (_mlp(), X)),
    "gradients": lambda: (
        eqx.filter_jit(eqx.filter_grad(lambda net, x: jax.vmap(net)(x).sum())),
        (_mlp(), X),
    ),
    "convolutions": lambda: (_Equinox(), (_floats(3, 8, 8),)),
    "attention": lambda: (
        eqx.nn.MultiheadAttention(2, 8, key=KEY),
        (_floats(5, 8), _floats(5, 8), _floats(5, 8)),
    ),
    "cells": lambda: (eqx.nn.LSTMCell(3, 4, key=KEY), (_floats(3), (_floats(4), _floats(4)))),
    "embedding": lambda: (eqx.nn.Embedding(20, 4, key=KEY), (np.int32(7),)),
    "sequential": lambda: (
        eqx.nn.Sequential(
            [eqx.nn.Linear(6, 8, key=KEY), eqx.nn.Lambda(jax.nn.relu), eqx.nn.LayerNorm(8)]
        ),
        (X[0],),
    ),
    "dropout_with_a_key": lambda: (
        lambda layer, x, key: layer(x, key=key),
        (eqx.nn.Dropout(0.5), V, KEY),
    ),
}


def _haiku(make: Callable[[Any], Any], x: Any) -> tuple[Any, tuple[Any, ...]]:
    net: Any = hk.without_apply_rng(hk.transform(make))
    return net.apply, (net.init(KEY, x), x)


def _haiku_state(x: Any) -> tuple[Any, tuple[Any, ...]]:
    def net(x: Any) -> Any:
        return hk.BatchNorm(True, True, 0.9)(hk.Linear(4)(x), is_training=True)

    made: Any = hk.transform_with_state(net)
    params, state = made.init(KEY, x)
    return made.apply, (params, state, None, x)


def _haiku_dropout(x: Any) -> tuple[Any, tuple[Any, ...]]:
    net: Any = hk.transform(lambda x: hk.dropout(hk.next_rng_key(), 0.5, hk.Linear(3)(x)))
    return net.apply, (net.init(KEY, x), KEY, x)


HAIKU: dict[str, Any] = {
    "mlp": lambda: _haiku(lambda x: hk.nets.MLP([8, 3])(jnp.tanh(x)), X),
    "convolutions": lambda: _haiku(
        lambda x: hk.Linear(3)(hk.Flatten()(jax.nn.relu(hk.Conv2D(4, 3, stride=2)(x)))),
        _floats(*IMAGES),
    ),
    "recurrent": lambda: _haiku(
        lambda x: hk.dynamic_unroll(hk.LSTM(5), x, hk.LSTM(5).initial_state(2))[0], _floats(4, 2, 3)
    ),
    "attention": lambda: _haiku(
        lambda x: hk.MultiHeadAttention(2, 4, w_init=hk.initializers.VarianceScaling())(x, x, x),
        _floats(2, 5, 8),
    ),
    "batch_norm_in_training": lambda: _haiku_state(X),
    "dropout": lambda: _haiku_dropout(X),
}


def _trained(optimizer: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a step of training, with parameters, state and a batch."""
    params = {"w": jnp.asarray(_floats(6, 2)), "b": jnp.zeros(2)}

    def loss(params: Any, x: Any) -> Any:
        return (optax.huber_loss(x @ params["w"] + params["b"], jnp.ones(2))).mean()

    def step(params: Any, state: Any, x: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params, x)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return step, (params, optimizer.init(params), X)


OPTAX: dict[str, Any] = {
    name: functools.partial(_trained, optimizer)
    for name, optimizer in {
        "sgd_with_momentum": optax.sgd(0.1, momentum=0.9, nesterov=True),
        "adam": optax.adam(1e-3),
        "adamw_with_a_schedule": optax.adamw(optax.cosine_decay_schedule(1e-3, 100)),
        "clipped_rmsprop": optax.chain(optax.clip_by_global_norm(1.0), optax.rmsprop(1e-2)),
        "adafactor": optax.adafactor(1e-2),
        "lion": optax.lion(1e-3),
    }.items()
}


def _programs() -> Iterator[Program]:
    flat = {"jax.numpy": NUMPY, "linear algebra": LINALG, "jax.lax": LAX, "transforms": TRANSFORMED}
    for group, cases in flat.items():
        for name, (function, *args) in cases.items():
            yield Program(group, name, functools.partial(tuple, (function, tuple(args))))
    modules = {
        "flax linen": LINEN,
        "flax nnx": NNX,
        "equinox": EQUINOX,
        "haiku": HAIKU,
        "optax": OPTAX,
    }
    for group, builds in modules.items():
        for name, build in builds.items():
            yield Program(group, name, build)


PROGRAMS = tuple(_programs())
