"""PyTorch models to portable artifacts: `export_torch`."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from portable.exporters.by_torchax import Lowerings
from portable.exporters.conventions import TorchConvention
from portable.exporters.exported import ExportedArtifact, wanted
from portable.exporters.frameworks import ExporterMissing, ExportFailed
from portable.exporters.traced import dimension_ranges, inspect_program, trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from portable.exporters.exported import Range
    from portable.exporters.lowered import Lowered
    from portable.pinning.options import PinOptions
    from portable.releases import Target
    from portable.version import Version

__all__ = ["BACKENDS", "export_torch", "find_backend"]


@dataclass(frozen=True, slots=True)
class Backend:
    """What turns a traced program into StableHLO.

    Args:
        home: The module with its `lower(traced, platform)`.
        packages: What must be installed.
        install: How.
    """

    home: str
    packages: tuple[str, ...]
    install: str


BACKENDS = {
    "torchax": Backend(
        "portable.exporters.by_torchax",
        ("torch", "torchax", "jax"),
        "pip install 'stablehlo-portable[torch]'",
    ),
    "torch_xla": Backend(
        "portable.exporters.by_torch_xla",
        ("torch", "torch_xla", "jaxlib"),
        "pip install torch==2.9.0 torch_xla==2.9.0 'stablehlo-portable[jaxlib]'",
    ),
    "torch_mlir": Backend(
        "portable.exporters.by_torch_mlir",
        ("torch", "torch_mlir"),
        "pip install 'stablehlo-portable[torch]' torch-mlir",
    ),
}
"""The backends of `export_torch` by name."""

DEFAULT = "torchax"
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


def export_torch(
    program: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    target: str | Version | Target | Sequence[str],
    dynamic_shapes: Any = None,
    backend: str = DEFAULT,
    platform: str = "cpu",
    lowerings: Mapping[Any, Callable[..., Any]] | None = None,
    random: bool = True,
    quantized_types: bool = False,
    **options: Unpack[PinOptions],
) -> ExportedArtifact:
    """Export a PyTorch model as an artifact for named consumers, with its weights beside it.

    `torch.export.export` traces the module, which is never changed. Dtypes are kept: int64 in
    PyTorch is int64 in the artifact. What StableHLO cannot express is refused by name. The new
    values of buffers and inputs that the model changes are results after its own.

    Args:
        program: A `torch.nn.Module`, in eval mode, or an `ExportedProgram`.
        args: Example inputs, as for `torch.export.export`; not for an `ExportedProgram`.
        kwargs: Example inputs by name.
        target: A Version, a Target, or anything `resolve_target` takes; several: the lowest wins.
        dynamic_shapes: Which dimensions stay dynamic, as for `torch.export.export`.
        backend: What lowers to StableHLO: `torchax`, `torch_xla` or `torch_mlir`.
        platform: What the program is lowered for, `cpu`, `cuda`, `rocm` or `tpu`; torchax alone
            requires it.
        lowerings: Ops, also custom ones -> functions of JAX arrays that compute them; for
            torchax alone.
        random: Whether the model may draw random numbers; they come from a seed, which `main`
            takes after the inputs. False refuses it.
        quantized_types: Write what PT2E quantized with StableHLO's quantized types, not as
            arithmetic; for torchax alone. Scales that are computed stay arithmetic.
        options: As for `portable.serialize`: `locations`, `expand`, `allow`, `allow_dialects`,
            `library`. Composites, which some functions lower to, need
            `allow=["composites-to-calls"]` below 0.19.0.

    Returns:
        The artifact, its weights, and what it takes and returns; it is called as the model is.

    Raises:
        ExporterMissing: The backend is not installed; says how to install it.
        ExportFailed: The model cannot be traced or lowered, or not without losing something.
        NotExpressible: It needs more than the target.
        PortableError: As `portable.serialize`.
    """
    wants = wanted(target)
    if platform not in PLATFORMS:  # JAX takes any name
        raise ExportFailed(f"no platform {platform!r}", hint=f"known are {', '.join(PLATFORMS)}")
    if (lowerings or quantized_types) and backend != DEFAULT:
        what = "takes no lowerings" if lowerings else "makes no quantized types"
        raise ExportFailed(f"the backend {backend} {what}", hint=f"use the backend {DEFAULT}")
    found = find_backend(backend)
    exported = trace(program, tuple(args), kwargs, dynamic_shapes)
    # torchax renames one of PyTorch's backends when it is imported: only after tracing.
    lower = importlib.import_module(found.home).lower
    chosen = (Lowerings(lowerings or {}, random, quantized_types),) if backend == DEFAULT else ()
    lowered: Lowered = lower(inspect_program(exported), platform, *chosen)
    made = lowered.pinned(wants, options)
    return dataclasses.replace(
        made, convention=TorchConvention.of_program(exported), ranges=_ranges(exported)
    )


def _ranges(program: Any) -> dict[str, Range]:
    """Return the sizes that a program was traced for, as PyTorch checks them.

    A least size of 2 is what PyTorch takes for every dimension that is not fixed, and not checked.
    """
    found = {}
    for symbol, low, most in dimension_ranges(program):
        least = low if low is not None and low > _LEAST else 0
        if least or most is not None:
            found[symbol] = (least, most)
    return found


_LEAST = 2


def find_backend(name: str = DEFAULT) -> Backend:
    """Return what lowers PyTorch's programs.

    Args:
        name: A key of `BACKENDS`.

    Returns:
        The backend; all that it needs is installed.

    Raises:
        ExporterMissing: It is not, or there is no such backend.
    """
    backend = BACKENDS.get(name)
    if backend is None:
        raise ExporterMissing(f"no backend {name!r}", hint=f"known are {', '.join(BACKENDS)}")
    missing = [p for p in backend.packages if importlib.util.find_spec(p) is None]
    if missing:
        raise ExporterMissing(
            f"the backend {name} needs {', '.join(missing)}", hint=f"install it: {backend.install}"
        )
    return backend
