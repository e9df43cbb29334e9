"""Which bindings are installed, and what a context of each needs."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from portable.bindings.diagnostics import LOCK
from portable.bindings.library import Library
from portable.errors import PortableError
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.bindings.library import Context

__all__ = ["LibraryNotFound", "find", "library_of"]


class LibraryNotFound(PortableError):
    """No bindings with libStablehlo are installed, or not the ones that were requested."""


@dataclass(frozen=True, slots=True)
class _Bindings:
    """Where one distribution keeps its bindings, and what a context of theirs needs."""

    distribution: str
    package: str
    stablehlo: str
    register: Callable[[Any, Context], None]
    refine: Callable[[bytes], bytes] | None = None


def _register_jaxlib(ir: Any, context: Context) -> None:
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, mhlo, sdy

    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    chlo.register_dialect(context)
    mhlo.register_mhlo_dialect(context)
    sdy.register_dialect(context)


def _register_nothing(_ir: Any, _context: Context) -> None:
    """Do nothing: these bindings register their dialects in every new context."""


def _refine_jaxlib(program: bytes) -> bytes:
    """Refine shapes by XLA's extension of upstream's passes, which has no name in a pipeline."""
    from jaxlib._jax import mlir

    return bytes(mlir.refine_polymorphic_shapes(program))


_BINDINGS = (
    _Bindings(
        "jaxlib",
        "jaxlib.mlir",
        "jaxlib.mlir.dialects.stablehlo",
        _register_jaxlib,
        _refine_jaxlib,
    ),
    _Bindings("torch-mlir", "torch_mlir", "torch_mlir._mlir_libs._stablehlo", _register_nothing),
    _Bindings("mlir", "mlir", "mlir.dialects.stablehlo", _register_nothing),
)


def find(distribution: str | None = None) -> Library:
    """Open the installed libStablehlo.

    Args:
        distribution: `jaxlib`, `torch-mlir` or `mlir`; by default the first that is installed.

    Returns:
        The library.

    Raises:
        LibraryNotFound: It is not installed, or its bindings are older than what `portable` drives.
    """
    candidates = [row for row in _BINDINGS if distribution in {None, row.distribution}]
    for row in candidates:
        if importlib.util.find_spec(row.package.partition(".")[0]) is not None:
            library = _open(row)
            if library is not None:
                return library
    wanted = " or ".join(row.distribution for row in candidates) or repr(distribution)
    raise LibraryNotFound(
        f"no libStablehlo is installed ({wanted})",
        hint="install one: pip install 'stablehlo-portable[jaxlib]'",
    )


def library_of(value: object) -> Library | None:
    """Return the Library whose bindings made `value`; None when it is foreign to all of them."""
    home = type(value).__module__
    for row in _BINDINGS:
        if home.startswith(row.package + "."):
            return _open(row)
    return None


_OPENED: dict[str, Library] = {}


def _open(row: _Bindings) -> Library | None:
    with LOCK:
        if row.distribution in _OPENED:
            return _OPENED[row.distribution]
        try:
            ir = importlib.import_module(f"{row.package}.ir")
            passes = importlib.import_module(f"{row.package}.passmanager")
            stablehlo = importlib.import_module(row.stablehlo)
        except ImportError:
            return None  # a namesake, or a build without StableHLO
        release = _release(row.distribution)
        if not hasattr(stablehlo, "register_stablehlo_passes") or not hasattr(ir, "WalkResult"):
            raise LibraryNotFound(
                f"{row.distribution} {release} has bindings too old to drive",
                hint="pip install --upgrade 'stablehlo-portable[jaxlib]'",
            )
        stablehlo.register_stablehlo_passes()
        library = Library(
            row.distribution,
            release,
            Version.parse(stablehlo.get_current_version()),
            Version.parse(stablehlo.get_minimum_version()),
            ir,
            passes,
            stablehlo,
            row.register,
            find,
            row.refine,
        )
        _OPENED[row.distribution] = library
        return library


def _release(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""
