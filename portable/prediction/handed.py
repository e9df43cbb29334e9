"""What the arguments of functions are that are called once: XLA puts these into their callers.

A constant that a caller hands on is one to XLA where it is used.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from portable.prediction.unused import CALLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from portable.bytecode.operations import Operation, OpSignature, Source
    from portable.prediction.forms import Reading

__all__ = ["OF_CONSTANTS", "handed_on", "hands_constants"]

_FUNCTION = "vhlo.func"
OF_CONSTANTS = (
    "abs, cosine or sine of a constant of several complex numbers",
    "add of constants of booleans",
    "addition of a constant and of one that takes it away",
    "compare of constants of complex numbers by their order",
    "compare of floats that are never negative with zero",
    "compare of the square or abs of an integer with zero",
    "convert of a complex splat constant to a real type",
    "convert of constants to booleans that loses all but their last bit",
    "convolution of constants of integers that may overflow",
    "divide by a constant whose reciprocal is not normal",
    "division of constant integers by zero",
    "dynamic_slice or gather of one slice by unsigned constants in the upper half",
    "elementwise op of a gather of constants",
    "maximum or minimum of constants of which one is NaN",
    "pad or convolution of complex numbers by a constant",
    "sum over devices of a constant of booleans or complex numbers",
    "sum with zero where the sign of a zero matters",
    "two constants one after another that leave the range of their type as one",
)
"""The forms that are about constants, and pass by an argument."""


def hands_constants(reading: Reading) -> bool:
    """Say whether a function may be called with what is computed from constants alone."""
    return not CALLS.keys().isdisjoint(reading.kinds) and any(
        source and source[0] in reading.folded
        for visit in reading.walk.of(CALLS)
        for source in visit.sources
    )


def handed_on(
    reading: Reading, uses: Iterable[tuple[Operation, tuple[Source | None, ...]]]
) -> Iterator[tuple[Operation, tuple[Source | None, ...]]]:
    """Yield operations with their sources, those too that a caller hands on.

    They are those of a function that is called once, before it stands in the program, as JAX
    writes them: so that every source comes before what takes it.

    Args:
        reading: An artifact's ops.
        uses: The operations with what they use, as `Bytecode.uses` yields them.

    Yields:
        The same, with a source also where an operand is such an argument.
    """
    calls: Counter[object] = Counter()
    for signature, count in reading.signatures.items():
        if reading.kinds[signature.name] in CALLS:
            calls[_callee(reading, signature)] += count
    handed: dict[object, tuple[Source | None, ...]] = {}
    given: Sequence[Source | None] = ()
    inside = 0
    for operation, before in uses:
        sources = before
        kind = reading.kinds[operation.name]
        if kind == _FUNCTION:
            named = reading.value(operation, "sym_name").get("value")
            given = handed.get(named, ()) if calls[named] == 1 else ()
            inside = operation.depth + 1
        elif given and operation.depth == inside and None in sources:
            # The arguments of a function are counted first; a body in it may count its own.
            sources = tuple(
                given[operand] if source is None and operand < len(given) else source
                for operand, source in zip(operation.operands, sources, strict=True)
            )
        if kind in CALLS:
            handed[_callee(reading, operation)] = sources
        yield operation, sources


def _callee(reading: Reading, call: Operation | OpSignature) -> object:
    """Return the name of the function that an op runs."""
    return reading.value(call, CALLS[reading.kinds[call.name]]).get("value")
