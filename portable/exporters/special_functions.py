"""Special functions where those of JAX are wrong for some arguments: on JAX arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["special_functions"]

_SHIFT = 9
# (2k)! / B_2k, as in PyTorch and in Cephes.
_BERNOULLI = (
    12.0,
    -720.0,
    30240.0,
    -1209600.0,
    47900160.0,
    -1.8924375803183791606e9,
    7.47242496e10,
    -2.950130727918164224e12,
    1.1646782814350067249e14,
    -4.5979787224074726105e15,
    1.8152105401943546773e17,
    -7.1661652561756670113e18,
)


def special_functions() -> dict[Any, Callable[..., Any]]:
    """Return the lowerings: the op -> a function of JAX arrays, with the arguments of the op."""
    import torch

    aten = torch.ops.aten
    return {
        aten.digamma.default: _digamma,
        aten.polygamma.default: _polygamma,
        aten.special_zeta.default: _zeta,
        aten.special_zeta.other_scalar: _zeta,
        aten.special_zeta.self_scalar: _zeta,
    }


def _digamma(x: Any) -> Any:
    import jax
    import jax.numpy as jnp

    (x,) = _floats(x)
    return jnp.where(x == 0, jnp.copysign(jnp.inf, -x), jax.lax.digamma(x))


def _polygamma(order: int, x: Any) -> Any:
    import jax.numpy as jnp

    if order == 0:
        return _digamma(x)
    (x,) = _floats(x)
    factorial = jnp.exp(math.lgamma(order + 1)) if order > _EXACT else math.factorial(order)
    return (-1) ** (order + 1) * jnp.asarray(factorial, x.dtype) * _zeta(order + 1, x)


_EXACT = 18  # the largest whose factorial 64 bits hold


def _zeta(s: Any, q: Any) -> Any:
    """Compute the zeta function of Hurwitz as PyTorch does, by the formula of Euler and Maclaurin.

    JAX adds ten terms, wherever it begins, which is too few below -1.
    """
    import jax
    import jax.numpy as jnp

    s, q = jnp.broadcast_arrays(*_floats(s, q))
    pole = (s == 1) | ((s > 1) & (q <= 0) & (q == jnp.floor(q)))
    undefined = (s < 1) | ((q < 0) & (s != jnp.floor(s)))
    at = jnp.where(pole | undefined | jnp.isnan(q), 1, q)
    total = at**-s
    for _ in range(_SHIFT):
        at = at + 1
        total = total + at**-s

    def step(values: Any) -> Any:
        at, total = values
        more = at <= _SHIFT
        return jnp.where(more, at + 1, at), total + jnp.where(more, (at + 1) ** -s, 0)

    at, total = jax.lax.while_loop(lambda values: (values[0] <= _SHIFT).any(), step, (at, total))
    power, rising = at**-s, jnp.ones_like(s)
    total = total + power * at / (s - 1) - power / 2
    for number, divisor in enumerate(_BERNOULLI):
        rising, power = rising * (s + 2 * number), power / at
        # What is left of a large s may be infinite, where nothing is left of the power.
        total = total + jnp.where(power == 0, 0, rising * power / divisor)
        rising, power = rising * (s + 2 * number + 1), power / at
    return jnp.where(pole, jnp.inf, jnp.where(undefined, jnp.nan, total))


def _floats(*values: Any) -> list[Any]:
    """Return arrays of the one floating type that PyTorch computes in."""
    import jax.numpy as jnp

    types = [value.dtype for value in values if hasattr(value, "dtype")]
    dtype = jnp.result_type(*types)
    if not jnp.issubdtype(dtype, jnp.floating):
        dtype = jnp.dtype(jnp.float32)
    return [jnp.asarray(value, dtype) for value in values]
