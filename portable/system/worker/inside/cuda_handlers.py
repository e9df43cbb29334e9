"""The handlers of custom calls that a jaxlib and its plugin carry for CUDA: cuSOLVER, cuSPARSE.

Whoever imports jax has them registered, as on the CPU. A plugin on its own has none of them.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import Any

__all__ = ["carried", "register"]

_CARRIED = ("gpu_linalg", "gpu_prng", "gpu_rnn", "gpu_solver", "gpu_sparse", "gpu_triton")
_PLUGINS = ("jax_cuda13_plugin", "jax_cuda12_plugin")
_PLATFORM = "CUDA"


def carried() -> dict[str, tuple[Any, int]]:
    """Return the handlers that there are and their interface, by the targets of calls.

    Releases that register theirs where they are imported have none here.
    """
    found: dict[str, tuple[Any, int]] = {}
    if _extension() is None:  # as in almost every Release: nothing more is imported
        return found
    for name in _CARRIED:
        with contextlib.suppress(ImportError, AttributeError):
            listed = importlib.import_module(f"jaxlib.{name}").registrations()[_PLATFORM]
            found |= {target: (handler, interface) for target, handler, interface in listed}
    return found


def register(xla: Any, plugin: Any) -> None:
    """Register every handler there is.

    Args:
        xla: `jaxlib.xla_client`.
        plugin: The plugin, as its loading returned it.
    """
    extension = _extension()
    if extension is None:
        return
    into = functools.partial(extension.register_custom_call_target, plugin)
    xla.register_custom_call_handler(_PLATFORM, into)
    if hasattr(extension, "ffi_types"):
        kinds = functools.partial(extension.register_custom_type, plugin)
        xla.register_custom_type_handler(_PLATFORM, kinds)
        for name, kind in extension.ffi_types().items():
            xla.register_custom_type(name, kind, platform=_PLATFORM)
    # Those of the plugin itself are of callbacks into Python, which no artifact brings.
    own = extension.ffi_handlers() if hasattr(extension, "ffi_handlers") else {}
    typed = {target: (handler, 1) for target, handler in own.items()}
    for target, (handler, interface) in (carried() | typed).items():
        xla.register_custom_call_target(target, handler, platform=_PLATFORM, api_version=interface)


def _extension() -> Any:
    """Return what registers with a plugin; None where only the plugin is installed."""
    for name in _PLUGINS:
        with contextlib.suppress(ImportError):
            return importlib.import_module(f"{name}.cuda_plugin_extension")
    return None
