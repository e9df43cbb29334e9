"""ATen's random ops as functions of a seed, by StableHLO's `rng_bit_generator`.

Each op draws from a stream of its own: the seed is the key, and the number of the op begins the
counter. The numbers are not those of PyTorch for the same seed; their distribution is.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Stream", "random_ops"]

_BITS_OF_COUNTER = 40
# How many bits of a number between 0 and 1 a type holds.
_PRECISION = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


class Stream:
    """The random bits of one op.

    Args:
        seed: What `main` takes, an unsigned scalar of 64 bits.
        number: Which op it is.
    """

    def __init__(self, seed: Any, number: int) -> None:
        self._seed = seed
        self._number = number

    def bits(self, shape: Sequence[Any], width: int = 32) -> Any:
        """Return random unsigned integers; called once."""
        import jax
        import jax.numpy as jnp

        counter = jnp.uint64(self._number << _BITS_OF_COUNTER)
        key = jnp.stack([self._seed.astype(jnp.uint64), counter])
        _, drawn = jax.lax.rng_bit_generator(
            key,
            tuple(shape),
            dtype=f"uint{width}",
            algorithm=jax.lax.RandomAlgorithm.RNG_THREE_FRY,
        )
        return drawn

    def uniform(self, shape: Sequence[Any], dtype: Any) -> Any:
        """Return numbers from 0 up to 1, which is left out."""
        import jax
        import jax.numpy as jnp

        if jnp.issubdtype(dtype, jnp.complexfloating):
            return jax.lax.complex(*self.uniform((2, *shape), jnp.finfo(dtype).dtype))
        kept = _PRECISION[jnp.dtype(dtype).name]
        wide = "float64" if kept > _PRECISION["float32"] else "float32"
        width = 64 if wide == "float64" else 32
        whole = (self.bits(shape, width) >> (width - kept)).astype(wide)
        return (whole * 2.0**-kept).astype(dtype)

    def normal(self, shape: Sequence[Any], dtype: Any) -> Any:
        """Return numbers of the normal distribution, by the method of Box and Muller."""
        import jax
        import jax.numpy as jnp

        if jnp.issubdtype(dtype, jnp.complexfloating):  # both parts together vary by one
            parts = self.normal((2, *shape), jnp.finfo(dtype).dtype) * math.sqrt(0.5)
            return jax.lax.complex(*parts)
        wide = jnp.promote_types(dtype, jnp.float32)
        pairs = self.uniform((2, *shape), wide)
        radius = jnp.sqrt(-2.0 * jnp.log1p(-pairs[0]))
        return (radius * jnp.cos(2.0 * math.pi * pairs[1])).astype(dtype)

    def exponential(self, shape: Sequence[Any], dtype: Any) -> Any:
        """Return numbers of the exponential distribution, never zero."""
        import jax.numpy as jnp

        drawn = self.uniform(shape, dtype)
        return jnp.maximum(-jnp.log1p(-drawn), jnp.finfo(dtype).tiny)

    def key(self) -> Any:
        """Return a key for `jax.random`, for what is drawn by rejection."""
        import jax

        return jax.random.wrap_key_data(self.bits((2,)), impl="threefry2x32")

    def integers(self, low: Any, high: Any, shape: Sequence[Any], dtype: Any) -> Any:
        """Return integers from `low` up to `high`, which is left out."""
        import jax.numpy as jnp

        drawn = self.bits(shape, 64) % jnp.uint64(high - low)
        return (drawn.astype(jnp.int64) + low).astype(dtype)


@functools.cache
def random_ops() -> dict[Any, Callable[..., Any]]:
    """Return the lowerings.

    Returns:
        The op -> a function of a `Stream`, the result as PyTorch describes it, and the arguments.
    """
    import torch

    aten = torch.ops.aten
    table: dict[Any, Callable[..., Any]] = {
        aten.rand.default: _uniform,
        aten.rand_like.default: _uniform,
        aten.randn.default: _normal,
        aten.randn_like.default: _normal,
        aten.randint.default: lambda s, like, high, *_, **__: _integers(s, like, 0, high),
        aten.randint.low: lambda s, like, low, high, *_, **__: _integers(s, like, low, high),
        aten.randint_like.default: lambda s, like, _, high, **__: _integers(s, like, 0, high),
        aten.randint_like.low_dtype: lambda s, like, _, low, high, **__: _integers(
            s, like, low, high
        ),
        aten.randperm.default: _permutation,
        aten.bernoulli.default: _bernoulli,
        aten.bernoulli.p: lambda s, like, _, p, **__: _bernoulli(s, like, p),
        aten.uniform.default: _between,
        aten.normal_functional.default: _scaled,
        aten.normal.float_float: lambda s, like, mean, std, *_, **__: _scaled(
            s, like, None, mean, std
        ),
        aten.normal.Tensor_Tensor: lambda s, like, mean, std, **__: _scaled(
            s, like, None, mean, std
        ),
        aten.normal.Tensor_float: lambda s, like, mean, std=1.0, **__: _scaled(
            s, like, None, mean, std
        ),
        aten.normal.float_Tensor: lambda s, like, mean, std, **__: _scaled(
            s, like, None, mean, std
        ),
        aten.exponential.default: lambda s, like, _, rate=1.0, **__: (
            s.exponential(like.shape, like.dtype) / rate
        ),
        aten._standard_gamma.default: lambda s, _, shape, *__: _rejecting(s, "gamma", shape),
        aten.binomial.default: lambda s, _, count, p, *__: _rejecting(s, "binomial", count, p),
        aten.cauchy.default: lambda s, like, _, median=0.0, sigma=1.0, **__: (
            median + sigma * _tangent(s, like)
        ),
        aten.geometric.default: _geometric,
        aten.log_normal.default: lambda s, like, _, mean=1.0, std=2.0, **__: _exp(
            _scaled(s, like, None, mean, std)
        ),
        aten.multinomial.default: _multinomial,
        aten.native_dropout.default: _dropout,
        aten.poisson.default: lambda s, _, rate, *__: _rejecting(s, "poisson", rate),
    }
    return table


def _uniform(stream: Stream, like: Any, *_: Any, **__: Any) -> Any:
    return stream.uniform(like.shape, like.dtype)


def _normal(stream: Stream, like: Any, *_: Any, **__: Any) -> Any:
    return stream.normal(like.shape, like.dtype)


def _integers(stream: Stream, like: Any, low: Any, high: Any) -> Any:
    return stream.integers(low, high, like.shape, like.dtype)


def _between(
    stream: Stream, like: Any, _: Any, low: float = 0.0, high: float = 1.0, **__: Any
) -> Any:
    return stream.uniform(like.shape, like.dtype) * (high - low) + _both(low, like)


def _scaled(
    stream: Stream, like: Any, _: Any = None, mean: Any = 0.0, std: Any = 1.0, **__: Any
) -> Any:
    return stream.normal(like.shape, like.dtype) * std + _both(mean, like)


def _both(start: Any, like: Any) -> Any:
    """Return where both parts of complex numbers begin, as PyTorch has it, or real ones."""
    return start * (1 + 1j) if like.dtype.kind == "c" else start


def _bernoulli(stream: Stream, like: Any, p: Any, *_: Any, **__: Any) -> Any:
    return (stream.uniform(like.shape, "float32") < p).astype(like.dtype)


def _rejecting(stream: Stream, name: str, shape: Any, *more: Any) -> Any:
    """Draw from a distribution that JAX has, one number for each parameter."""
    import jax
    import jax.numpy as jnp

    draw, wide = getattr(jax.random, name), jnp.promote_types(shape.dtype, jnp.float32)
    given = [value.astype(wide) for value in (shape, *more)]
    return draw(stream.key(), *given, shape=shape.shape).astype(shape.dtype)


def _exp(x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.exp(x)


def _tangent(stream: Stream, like: Any) -> Any:
    import jax.numpy as jnp

    return jnp.tan(math.pi * (stream.uniform(like.shape, like.dtype) - 0.5))


def _geometric(stream: Stream, like: Any, _: Any, p: float, **__: Any) -> Any:
    """Count throws up to the first success."""
    import jax.numpy as jnp

    waited = stream.exponential(like.shape, "float64" if like.dtype == "float64" else "float32")
    return jnp.ceil(waited / -math.log1p(-p)).astype(like.dtype)


def _permutation(stream: Stream, like: Any, *_: Any, **__: Any) -> Any:
    import jax.numpy as jnp

    return jnp.argsort(stream.bits(like.shape, 64)).astype(like.dtype)


def _dropout(stream: Stream, like: Any, x: Any, p: float, train: bool | None = True) -> Any:
    import jax.numpy as jnp

    if not train:
        return x, jnp.ones(x.shape, bool)
    kept = stream.uniform(like[0].shape, "float32") >= p
    scale = 0.0 if p == 1 else 1.0 / (1.0 - p)
    return jnp.where(kept, x * jnp.asarray(scale, x.dtype), jnp.zeros((), x.dtype)), kept


def _multinomial(
    stream: Stream, like: Any, p: Any, count: int, replacement: bool = False, **_: Any
) -> Any:
    """Race exponential clocks: who is `p` times as fast comes first with probability `p`."""
    import jax
    import jax.numpy as jnp

    wide = p.astype(jnp.promote_types(p.dtype, jnp.float32))
    if replacement or count == 1:
        rate = jnp.expand_dims(wide, -2)
        shape = (*wide.shape[:-1], count, wide.shape[-1])
        order = jnp.argmax(rate / stream.exponential(shape, wide.dtype), -1)
        return order.astype(like.dtype)
    arrived = wide / stream.exponential(wide.shape, wide.dtype)
    order = jnp.argsort(-arrived, axis=-1)
    return jax.lax.slice_in_dim(order, 0, count, axis=-1).astype(like.dtype)
