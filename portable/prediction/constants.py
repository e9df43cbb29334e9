"""Forms of what a compiler takes only where it is constant, and of constants that it does not take.

XLA folds what it can before it looks at what it supports: how an op is refused of a runtime's
values, and a type of a constant that is left, shows in where values come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.operations import IN_FUNCTION, like

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from portable.bytecode.operations import Operation, Source
    from portable.prediction.forms import Reading

__all__ = ["CONSTANTS", "RESHAPING"]

_CONSTANT, _RETURN = "vhlo.constant_v1", "vhlo.return_v1"
_SLICE = "vhlo.real_dynamic_slice_v1"
RESHAPING = frozenset({"vhlo.broadcast_in_dim_v1", "vhlo.reshape_v1"})
"""The ops that are a constant of another shape where their operand is a constant."""
# The ops of dynamic shapes that have a static twin, and which operands are its attributes.
_SIZED = {
    "vhlo.dynamic_conv_v1": slice(2, 3),
    "vhlo.dynamic_conv_v2": slice(2, 3),
    "vhlo.dynamic_gather_v1": slice(2, 3),
    "vhlo.dynamic_gather_v2": slice(2, 3),
    "vhlo.dynamic_pad_v1": slice(2, 5),
    _SLICE: slice(1, 4),
}
_FOUR_BITS = frozenset({"i4_v1", "ui4_v1"})


def _of(*elements: str) -> frozenset[str]:
    return frozenset(f"{element}_v1" for element in elements)


def _walk(
    reading: Reading,
) -> Iterator[tuple[str, Operation, tuple[Source | None, ...], Sequence[bool]]]:
    """Yield each op with its name, where its operands come from, and which ops are constants."""
    constant: list[bool] = []
    for operation, sources in reading.content.uses():
        name = reading.names[operation.name]
        known = name in RESHAPING and _is_constant(constant, sources[:1])
        constant.append(known or name == _CONSTANT)
        yield name, operation, sources, constant


def _is_constant(constant: Sequence[bool], sources: Sequence[Source | None]) -> bool:
    return all(source is not None and constant[source[0]] for source in sources)


def _sized_at_runtime(*ops: str) -> Callable[[Reading], bool | None]:
    """Find an op with a static twin that takes an argument in the place of an attribute.

    Perhaps what another op computes is folded to a constant, and perhaps nothing uses the op.
    """

    def found(reading: Reading) -> bool | None:
        perhaps = False
        for name, operation, sources, constant in _walk(reading) if reading.of(*ops) else ():
            of = sources[_SIZED[name]] if name in ops else ()
            if not _is_constant(constant, of):
                known = all(source is None or constant[source[0]] for source in of)
                if known and like(operation) in reading.used:
                    return True
                perhaps = True
        return None if perhaps else False

    return found


def _kept(elements: frozenset[str]) -> Callable[[Reading], bool | None]:
    """Find a constant of some element types that a function returns.

    Perhaps what another op computes of it is folded, and it is gone.
    """

    def found(reading: Reading) -> bool | None:
        if reading.types.isdisjoint(elements):
            return False
        ops: set[int] = set()
        perhaps = False
        for number, (name, operation, sources, _) in enumerate(_walk(reading)):
            if any(source is not None and source[0] in ops for source in sources):
                if name == _RETURN and operation.depth == IN_FUNCTION:
                    return True
                perhaps = True
            elif name == _CONSTANT and any(
                reading.element(n) in elements for n in operation.results
            ):
                ops.add(number)
        return None if perhaps else False

    return found


def _odd_fours(reading: Reading) -> bool | None:
    """Find an odd number of four-bit integers that a function takes or returns; perhaps others."""
    if reading.types.isdisjoint(_FOUR_BITS):
        return False
    pool = reading.content.pool

    def odd(types: Iterable[int]) -> bool:
        return any(reading.element(n) in _FOUR_BITS and (pool.count(n) or 0) % 2 for n in types)

    for index in reading.function_types:
        if any(odd(set(side)) for side in reading.sides(index)):
            return True
    inside = {number for signature in reading.signatures for number in signature.results}
    return None if odd(inside) else False


CONSTANTS: dict[str, Callable[[Reading], bool | None]] = {
    "dynamic_conv, dynamic_gather or dynamic_pad by what is not constant": _sized_at_runtime(
        *(op for op in _SIZED if op != _SLICE)
    ),
    "real_dynamic_slice by what is not constant": _sized_at_runtime(_SLICE),
    "composite with regions": lambda reading: any(
        signature.regions for signature in reading.of("vhlo.composite_v2")
    ),
    "constant of f6E2M3FN or f6E3M2FN": _kept(_of("f6E2M3FN", "f6E3M2FN")),
    "constant of f8E4M3FNUZ or f8E5M2FNUZ": _kept(_of("f8E4M3FNUZ", "f8E5M2FNUZ")),
    "constant of i4 or ui4": _kept(_FOUR_BITS),
    "odd number of i4 or ui4": _odd_fours,
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
