"""Special functions: on both sides of zero, at poles, and where they overflow."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from compat_tests.helpers.torch_calls import Calls
from portable.exporters import export_torch
from portable.runtime.executors import Executor

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")

EVERYWHERE = torch.cat(
    [torch.linspace(-29.7, 29.6, 193), torch.tensor([0.0, -0.0, -1.0, -12.0, 1e-3, 1e4])]
)

FUNCTIONS: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...]]] = {
    f"polygamma of order {n}": (functools.partial(torch.polygamma, n), (EVERYWHERE,))
    for n in (0, 2, 3, 4, 7)
}
FUNCTIONS |= {
    # At negative integers PyTorch has a large number, which depends on how it rounds pi.
    "polygamma of order 1": (
        functools.partial(torch.polygamma, 1),
        (EVERYWHERE[(EVERYWHERE >= 0) | (EVERYWHERE.frac() != 0)],),
    ),
    "polygamma of integers": (functools.partial(torch.polygamma, 2), (torch.arange(-3, 9),)),
    "digamma": (torch.digamma, (EVERYWHERE,)),
    "zeta": (torch.special.zeta, (torch.tensor([0.5, 1, 1.5, 2, 7, 40])[:, None], EVERYWHERE)),
    "zeta of a number": (lambda q: torch.special.zeta(3, q), (EVERYWHERE,)),
    "zeta at a number": (lambda s: torch.special.zeta(s, 0.3), (EVERYWHERE,)),
}

AROUND = torch.cat([torch.linspace(-1.3, 1.3, 27), torch.tensor([-1.0, 1.0, 0.0])])
ORDERS = torch.tensor([-1, 0, 1, 2, 3, 5, 6, 9])[:, None]
FUNCTIONS |= {
    f"{name} polynomials": (getattr(torch.special, name), (AROUND, ORDERS))
    for name in (
        *(f"{kind}chebyshev_polynomial_{n}" for kind in ("", "shifted_") for n in "tuvw"),
        "hermite_polynomial_h",
        "hermite_polynomial_he",
        "laguerre_polynomial_l",
        "legendre_polynomial_p",
    )
}
FUNCTIONS |= {
    "spherical_bessel_j0": (torch.special.spherical_bessel_j0, (EVERYWHERE,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_pytorch_s(name: str, executor: Executor) -> None:
    """Element by element, also where others are much larger."""
    function, given = FUNCTIONS[name]
    made = export_torch(Calls(function), given, target="0.9.0", allow=["exact"])
    got, wanted = made(*given, executor=executor), function(*given)
    assert got.dtype == wanted.dtype
    exact = function(*(x.double() for x in given))
    near = torch.maximum(1e-5 * exact.abs() + 1e-6, 2 * (wanted - exact).abs())
    same = (got == wanted) | (got.isnan() & wanted.isnan())
    assert (same | (exact.isfinite() & ((got - exact).abs() <= near))).all()
