"""Programs with dynamic dimensions, fixed to given shapes for compilers without dynamism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable import bindings
from portable.pinning import pipeline as pin
from portable.pinning.program import apart, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.artifact import Artifact

__all__ = ["specialize"]

# Refining never follows composites: they become calls.
_ARGUMENTS = (
    "builtin.module(func.func(stablehlo-legalize-composite-to-call),"
    "stablehlo-refine-arguments{{types={types}}})"
)
# jax.export puts these in for dimensions that its callers get wrong; with the shapes given, they
# have been checked against the signature.
_ASSERTION = "shape_assertion"


@apart
def specialize(artifact: Artifact, types: Sequence[str]) -> Artifact:
    """Fix the dynamic dimensions of a program.

    Args:
        artifact: The program.
        types: The type of each argument of `main`, for example `tensor<4x3xf32>`.

    Returns:
        The same program for these shapes only, at the installed library's current Version.

    Raises:
        LibraryError: The types do not fit the program.
        PortableError: As `portable.serialize`.
    """
    library, module = load(artifact, bindings.find())
    library.run(module, _ARGUMENTS.format(types=",".join(types)))
    module = library.refine(module)
    library.erase_calls(module, _ASSERTION)
    return pin.serialize(module, "current")
