"""Special functions where those of JAX are wrong for some arguments: on JAX arrays."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["special_functions"]

_SHIFT = 9
_WIDE = 4  # bytes
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


def _doubled(x: Any, _: Any, one: Any, before: Any) -> Any:
    return 2 * x * one - before


def _legendre(x: Any, k: Any, one: Any, before: Any) -> Any:
    return ((2 * k + 1) * x * one - k * before) / (k + 1)


# Whether it is shifted to [0, 1]; the polynomial of order one; the next one from the last two.
_POLYNOMIALS: dict[str, tuple[bool, Callable[[Any], Any], Callable[..., Any]]] = {
    "chebyshev_polynomial_v": (False, lambda x: 2 * x - 1, _doubled),
    "chebyshev_polynomial_w": (False, lambda x: 2 * x + 1, _doubled),
    "legendre_polynomial_p": (False, lambda x: x, _legendre),
    "shifted_chebyshev_polynomial_t": (True, lambda x: x, _doubled),
    "shifted_chebyshev_polynomial_u": (True, lambda x: 2 * x, _doubled),
    "shifted_chebyshev_polynomial_v": (True, lambda x: 2 * x - 1, _doubled),
    "shifted_chebyshev_polynomial_w": (True, lambda x: 2 * x + 1, _doubled),
}


def special_functions() -> dict[Any, Callable[..., Any]]:
    """Return the lowerings: the op -> a function of JAX arrays, with the arguments of the op."""
    import jax.numpy as jnp
    import torch

    aten = torch.ops.aten
    polynomials = {
        getattr(getattr(aten, f"special_{name}"), form): functools.partial(_polynomial, row)
        for name, row in _POLYNOMIALS.items()
        for form in ("default", "x_scalar", "n_scalar")
    }
    return {
        **polynomials,
        aten.special_spherical_bessel_j0.default: lambda x: jnp.sinc(_floats(x)[0] / jnp.pi),
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


def _polynomial(
    row: tuple[bool, Callable[[Any], Any], Callable[..., Any]], x: Any, order: Any
) -> Any:
    """Compute a polynomial of each order by its recurrence; below order zero it is zero."""
    import jax
    import jax.numpy as jnp

    shifted, first, following = row
    x, order = jnp.broadcast_arrays(*_floats(x, order))
    order = jnp.trunc(order)
    x = 2 * x - 1 if shifted else x

    def step(values: Any) -> Any:
        k, one, before = values
        more = k < order
        made = jnp.where(more, following(x, k, one, before), one)
        return k + 1, made, jnp.where(more, one, before)

    start = jnp.ones((), x.dtype), first(x), jnp.ones_like(x)
    _, made, _ = jax.lax.while_loop(lambda values: (values[0] < order).any(), step, start)
    return jnp.where(order < 0, 0, jnp.where(order == 0, 1, made))


def _floats(*values: Any) -> list[Any]:
    """Return arrays of the one floating type that PyTorch computes in, not a narrow one."""
    import jax.numpy as jnp

    types = [value.dtype for value in values if hasattr(value, "dtype")]
    dtype = jnp.result_type(*types)
    wide = jnp.issubdtype(dtype, jnp.floating) and dtype.itemsize >= _WIDE
    dtype = dtype if wide else jnp.dtype(jnp.float32)
    return [jnp.asarray(value, dtype) for value in values]
