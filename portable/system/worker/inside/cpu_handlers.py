"""The handlers of custom calls that a jaxlib carries for the CPU: LAPACK, FFTs, sparse products.

Whoever imports jax has them registered. A program that calls what is not registered is refused;
the oldest releases compile it and crash when they execute it.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from .answer import Unavailable

__all__ = ["carried", "initialize", "register"]

_LAPACK = "jaxlib.cpu._lapack"
# Each where the release has it.
_CARRIED = (_LAPACK, "jaxlib.cpu._ducc_fft", "jaxlib.cpu._sparse")
# How the targets of the typed interface end; the older one is the default.
_TYPED = "_ffi"
# What calls of LAPACK begin with; BLAS is in there too.
_NEEDS_SCIPY = (b"lapack_", b"blas_")


def carried() -> dict[str, Any]:
    """Return the handlers that there are, by the targets of calls."""
    found: dict[str, Any] = {}
    for name in _CARRIED:
        with contextlib.suppress(ImportError):
            found |= importlib.import_module(name).registrations()
    return found


def register(xla: Any) -> None:
    """Register every handler there is.

    Args:
        xla: `jaxlib.xla_client`.
    """
    for target, handler in carried().items():
        interface = {"api_version": 1} if target.endswith(_TYPED) else {}
        xla.register_custom_call_target(target, handler, platform="cpu", **interface)


def initialize(program: bytes) -> None:
    """Find the kernels behind the handlers, which are scipy's, if a program may call them.

    Args:
        program: An artifact, MLIR bytecode or text: the targets stand in all of them.

    Raises:
        Unavailable: It may, and there is no scipy beside this jaxlib.
    """
    if not any(prefix in program for prefix in _NEEDS_SCIPY):
        return
    try:
        importlib.import_module(_LAPACK).initialize()
    except ImportError as missing:
        raise Unavailable(
            f"the LAPACK of jaxlib is scipy's: {missing}", "install scipy beside this jaxlib"
        ) from None
