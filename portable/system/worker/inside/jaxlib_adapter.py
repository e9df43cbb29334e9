"""jaxlib 0.4.13 and later."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import cpu_handlers, cuda_handlers
from .bindings import Bindings, ModuleEra, TextEra
from .engines import Engines

if TYPE_CHECKING:
    from collections.abc import Callable

    from .answer import Payload
    from .engines import Engine

__all__ = ["load"]

# Where a registry with every dialect that jaxlib knows is filled: newest first.
REGISTRIES = (
    "jaxlib.mlir._mlir_libs._jax_mlir_ext",
    "jaxlib.mlir._mlir_libs.register_jax_dialects",
)
# Dialects that are not in that registry in some releases.
DIALECTS = ("chlo", "stablehlo", "sdy")


def load(library: str, limit: float) -> Bindings:
    """Import the bindings.

    Returns:
        The adapter. Its probe names the era of each API that has no promise of stability.
    """
    del library, limit
    stablehlo = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
    name = _serialize_era(stablehlo)

    def facts() -> Payload:
        evaluates = _eval_module(stablehlo, name)
        carried = {"cpu": cpu_handlers.carried(), "cuda": cuda_handlers.carried()}
        handlers = {platform: sorted(targets) for platform, targets in carried.items()}
        eras = {"serialize_api": name, "eval_module": evaluates, "exec_era": _exec_era()}
        return {**eras, "handlers": handlers}

    era = ERAS[name](stablehlo)
    return Bindings(stablehlo, era, facts, _engines(stablehlo, era))


def _engines(stablehlo: Any, era: TextEra | ModuleEra) -> Engines:
    def pjrt(platform: str) -> Engine:
        made: Engine = importlib.import_module(".pjrt", __package__).Pjrt(era.read, platform)
        return made

    def interpreter(_platform: str) -> Engine:
        ir = importlib.import_module("jaxlib.mlir.ir")
        home = importlib.import_module(".interpreter", __package__)
        made: Engine = home.Interpreter(ir, era, stablehlo.eval_module)
        return made

    if isinstance(era, TextEra):
        # It would take a Module, and building one aborts these releases.
        return Engines({"pjrt": pjrt})
    return Engines({"pjrt": pjrt, "interpreter": interpreter})


def _text_era(stablehlo: Any) -> TextEra:
    return TextEra(stablehlo)


def _module_era(stablehlo: Any) -> ModuleEra:
    ir = importlib.import_module("jaxlib.mlir.ir")
    passes = importlib.import_module("jaxlib.mlir.passmanager")
    stablehlo.register_stablehlo_passes()
    return ModuleEra(ir, stablehlo, passes, _register)


ERAS: dict[str, Callable[[Any], TextEra | ModuleEra]] = {
    "S1": _text_era,
    "S2": _module_era,
    "S3": _module_era,
    "S4": _module_era,
}


def _serialize_era(stablehlo: Any) -> str:
    if not hasattr(stablehlo, "serialize_portable_artifact_str"):
        return "S1"
    if "artifact: bytes" not in (stablehlo.deserialize_portable_artifact.__doc__ or ""):
        return "S2"
    newest = "allow_other_dialects" in (stablehlo.serialize_portable_artifact.__doc__ or "")
    return "S4" if newest else "S3"


def _eval_module(stablehlo: Any, era: str) -> str:
    if not hasattr(stablehlo, "eval_module"):
        return "no"
    # It takes a Module, and building one by hand aborts these releases.
    return "broken" if era == "S1" else "yes"


def _exec_era() -> str:
    """Return which private way to compile and to make buffers there is; empty without numpy."""
    try:
        client = importlib.import_module("jaxlib.xla_client").Client
    except ImportError:
        return ""
    if not hasattr(client, "compile_and_load"):
        return "E1"
    return "E2" if hasattr(client, "buffer_from_pyval") else "E3"


def _register(context: Any) -> None:
    ir = importlib.import_module("jaxlib.mlir.ir")
    for name in REGISTRIES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        registry = ir.DialectRegistry()
        module.register_dialects(registry)
        context.append_dialect_registry(registry)
        break
    for dialect in DIALECTS:
        try:
            importlib.import_module(f"jaxlib.mlir.dialects.{dialect}").register_dialect(context)
        except (ImportError, AttributeError):
            continue
