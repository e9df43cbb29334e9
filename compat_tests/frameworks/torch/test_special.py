"""Special functions: on both sides of zero, at poles, and where they overflow."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from compat_tests.helpers.thorough import some
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

HUGE = 2.0**127
ENDS = torch.tensor([0.0, -0.0, 1.0, -1.0, HUGE, torch.inf, -torch.inf, torch.nan])
AT = torch.tensor([0.0, 0.3, 5.0, torch.inf])[:, None]
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
    f"{name} polynomials of one order": (
        functools.partial(getattr(torch.special, name), n=5),
        (AROUND,),
    )
    for name in (
        "chebyshev_polynomial_t",
        "chebyshev_polynomial_u",
        "hermite_polynomial_h",
        "hermite_polynomial_he",
        "laguerre_polynomial_l",
    )
}
FUNCTIONS |= {
    "spherical_bessel_j0": (torch.special.spherical_bessel_j0, (EVERYWHERE,)),
    **{
        f"{name} at its ends": (function, (ENDS,))
        for name, function in {
            "angle": torch.angle,
            "sgn": torch.sgn,
            "sign": torch.sign,
            "spherical_bessel_j0": torch.special.spherical_bessel_j0,
        }.items()
    },
    "gammainc at its ends": (torch.special.gammainc, (ENDS[(ENDS >= 0) & (ENDS != HUGE)], AT)),
    "gammaincc at its ends": (torch.special.gammaincc, (ENDS[(ENDS >= 0) & (ENDS != HUGE)], AT)),
    "modified_bessel_i1": (torch.special.modified_bessel_i1, (EVERYWHERE[EVERYWHERE < 99],)),
    "airy_ai": (torch.special.airy_ai, (EVERYWHERE[EVERYWHERE > -20],)),
    "erfcx": (torch.special.erfcx, (EVERYWHERE,)),
    "log_ndtr": (torch.special.log_ndtr, (EVERYWHERE,)),
    "scaled_modified_bessel_k0": (torch.special.scaled_modified_bessel_k0, (EVERYWHERE,)),
    "scaled_modified_bessel_k1": (torch.special.scaled_modified_bessel_k1, (EVERYWHERE,)),
    "scaled bessel in double": (torch.special.scaled_modified_bessel_k1, (EVERYWHERE.double(),)),
}


@pytest.mark.parametrize("name", some(FUNCTIONS, each=6))
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
