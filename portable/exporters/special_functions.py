"""Special functions where those of JAX are wrong for some arguments: on JAX arrays."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

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


def _hermite(factor: int, x: Any, k: Any, one: Any, before: Any) -> Any:
    return factor * (x * one - k * before)


def _laguerre(x: Any, k: Any, one: Any, before: Any) -> Any:
    return ((2 * k + 1 - x) * one - k * before) / (k + 1)


def _legendre(x: Any, k: Any, one: Any, before: Any) -> Any:
    return ((2 * k + 1) * x * one - k * before) / (k + 1)


# Whether it is shifted to [0, 1]; the polynomial of order one; the next one from the last two.
_POLYNOMIALS: dict[str, tuple[bool, Callable[[Any], Any], Callable[..., Any]]] = {
    "chebyshev_polynomial_t": (False, lambda x: x, _doubled),
    "chebyshev_polynomial_u": (False, lambda x: 2 * x, _doubled),
    "chebyshev_polynomial_v": (False, lambda x: 2 * x - 1, _doubled),
    "chebyshev_polynomial_w": (False, lambda x: 2 * x + 1, _doubled),
    "hermite_polynomial_h": (False, lambda x: 2 * x, functools.partial(_hermite, 2)),
    "hermite_polynomial_he": (False, lambda x: x, functools.partial(_hermite, 1)),
    "laguerre_polynomial_l": (False, lambda x: 1 - x, _laguerre),
    "legendre_polynomial_p": (False, lambda x: x, _legendre),
    "shifted_chebyshev_polynomial_t": (True, lambda x: x, _doubled),
    "shifted_chebyshev_polynomial_u": (True, lambda x: 2 * x, _doubled),
    "shifted_chebyshev_polynomial_v": (True, lambda x: 2 * x - 1, _doubled),
    "shifted_chebyshev_polynomial_w": (True, lambda x: 2 * x + 1, _doubled),
}


def special_functions() -> dict[Any, Callable[..., Any]]:
    """Return the lowerings: the op -> a function of JAX arrays, with the arguments of the op."""
    import jax.scipy.special
    import torch

    aten = torch.ops.aten
    polynomials = {
        getattr(getattr(aten, f"special_{name}"), form): functools.partial(_polynomial, row)
        for name, row in _POLYNOMIALS.items()
        for form in ("default", "x_scalar", "n_scalar")
    }
    return {
        **polynomials,
        aten.angle.default: _angle,
        aten.igamma.default: functools.partial(_gamma_integral, 0),
        aten.igammac.default: functools.partial(_gamma_integral, 1),
        aten.sgn.default: _sign,
        aten.sign.default: _sign,
        aten.special_modified_bessel_i1.default: lambda x: jax.scipy.special.i1(_floats(x)[0]),
        aten.special_spherical_bessel_j0.default: _spherical,
        aten.special_airy_ai.default: _airy,
        aten.special_erfcx.default: _scaled_erfc,
        aten.special_scaled_modified_bessel_k0.default: functools.partial(_scaled_bessel, 0),
        aten.special_scaled_modified_bessel_k1.default: functools.partial(_scaled_bessel, 1),
        aten.digamma.default: _digamma,
        aten.polygamma.default: _polygamma,
        aten.special_zeta.default: _zeta,
        aten.special_zeta.other_scalar: _zeta,
        aten.special_zeta.self_scalar: _zeta,
    }


def _angle(x: Any) -> Any:
    """Return pi where a number is below zero, which -0.0 is not."""
    import jax.numpy as jnp

    if jnp.iscomplexobj(x):
        return jnp.angle(x)
    (x,) = _floats(x)
    return jnp.where(jnp.isnan(x), x, jnp.where(x < 0, jnp.pi, 0))


def _sign(x: Any) -> Any:
    """Return the sign; of NaN it is 0 in PyTorch."""
    import jax.numpy as jnp

    made = jnp.sign(x.astype(jnp.int8)).astype(bool) if x.dtype == jnp.bool_ else jnp.sign(x)
    return jnp.where(jnp.isnan(x), 0, made) if jnp.issubdtype(x.dtype, jnp.floating) else made


def _spherical(x: Any) -> Any:
    import jax.numpy as jnp

    (x,) = _floats(x)
    return jnp.where(jnp.isinf(x), 0, jnp.sinc(x / jnp.pi))


def _gamma_integral(above: int, a: Any, x: Any) -> Any:
    """Compute the incomplete gamma function; JAX has NaN where `a` is 0 or infinite."""
    import jax
    import jax.numpy as jnp

    a, x = jnp.broadcast_arrays(*_floats(a, x))
    made = (jax.lax.igammac if above else jax.lax.igamma)(a, x)
    made = jnp.where((a == 0) & (x > 0), 1 - above, made)
    least = jnp.isposinf(a) & (x >= 0)
    return jnp.where(least, jnp.where(jnp.isinf(x), jnp.nan, above), made)


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


# The trapezoidal rule for what is multiplied by exp(-s**2), from 0 on: exact to float64 where it
# has no pole nearer than about 1.4, since its error falls as exp(-2 pi distance / step).
_STEP = 0.25
_NODES = np.arange(27) * _STEP
_SHARES = np.exp(-(_NODES**2)) * np.where(_NODES == 0, _STEP / 2, _STEP)
_FAR = 2.0  # from where on the rule is used


def _integral(function: Callable[[Any], Any], at: Any) -> Any:
    """Integrate exp(-s**2) * function(s) over s from 0 on, for each element of `at`.

    Args:
        function: Of the nodes; they are the last axis, which `at` lacks.
        at: An array of the type of the result.
    """
    import jax.numpy as jnp

    real = at.real.dtype
    return (function(jnp.asarray(_NODES, real)) * jnp.asarray(_SHARES, real)).sum(-1)


def _scaled_erfc(x: Any) -> Any:
    """Compute exp(x**2) erfc(x), of which torchax makes NaN where one overflows."""
    import jax
    import jax.numpy as jnp

    (x,) = _floats(x)
    far = jnp.where(x > _FAR, x, _FAR)
    inverse = 1 / far[..., None]
    above = _integral(lambda s: 1 / (1 + (s * inverse) ** 2), far) * (2 / math.pi) / far
    near = jnp.exp(x * x) * jax.lax.erfc(x)
    return jnp.where(x > _FAR, above, near)


def _scaled_bessel(order: int, x: Any) -> Any:
    """Compute exp(x) K(x) of order 0 or 1; far from 0 by an integral over cosh, scaled by s."""
    import jax.numpy as jnp
    import torch
    from torchax.ops.ops_registry import all_aten_ops

    (x,) = _floats(x)
    near = all_aten_ops[getattr(torch.ops.aten, f"special_modified_bessel_k{order}")].func(x)
    far = jnp.where(x > _FAR, x, _FAR)
    inverse = 1 / far[..., None]

    def terms(s: Any) -> Any:
        square = s * s * inverse
        return (1 + square if order else 1) / jnp.sqrt(1 + square / 2)

    return jnp.where(x > _FAR, jnp.sqrt(2 / far) * _integral(terms, far), jnp.exp(x) * near)


def _airy(x: Any) -> Any:
    """Compute Ai: near 0 by its series, elsewhere by K of order 1/3, of -x at x exp(i pi / 3)."""
    import jax.numpy as jnp

    (x,) = _floats(x)
    complexes = jnp.result_type(x, jnp.complex64)
    turn = jnp.asarray(complex(0.5, math.sqrt(3) / 2), complexes)
    z = jnp.where(abs(x) > _FAR, abs(x), _FAR) * jnp.where(x < 0, turn, 1)
    zeta = z * jnp.sqrt(z) * (2 / 3)

    def terms(s: Any) -> Any:
        u = s / jnp.sqrt(2 * zeta[..., None])
        root = jnp.sqrt(1 + u * u)
        power = jnp.exp(jnp.log(u + root) * (2 / 3))
        return (power + 1 / power) / (2 * root)

    decay = jnp.exp(-zeta) * jnp.sqrt(z / 3) * jnp.sqrt(2 / zeta) / math.pi
    far = _integral(terms, zeta) * decay
    far = jnp.where(x < 0, 2 * (turn * far).real, far.real)
    at = jnp.where(abs(x) > _FAR, 0, x)
    cube = at**3
    even = one = jnp.ones_like(at)
    odd = other = at
    for k in range(0, 3 * _TERMS, 3):
        one, other = one * cube / ((k + 2) * (k + 3)), other * cube / ((k + 3) * (k + 4))
        even, odd = even + one, odd + other
    near = even * _AIRY[0] - odd * _AIRY[1]
    return jnp.where(jnp.isnan(x), x, jnp.where(abs(x) > _FAR, far, near))


_TERMS = 12  # of the series, up to _FAR
_AIRY = 3 ** (-2 / 3) / math.gamma(2 / 3), 3 ** (-1 / 3) / math.gamma(1 / 3)  # Ai(0), -Ai'(0)


def _floats(*values: Any) -> list[Any]:
    """Return arrays of the one floating type that PyTorch computes in, not a narrow one."""
    import jax.numpy as jnp

    types = [value.dtype for value in values if hasattr(value, "dtype")]
    dtype = jnp.result_type(*types)
    wide = jnp.issubdtype(dtype, jnp.floating) and dtype.itemsize >= _WIDE
    dtype = dtype if wide else jnp.dtype(jnp.float32)
    return [jnp.asarray(value, dtype) for value in values]
