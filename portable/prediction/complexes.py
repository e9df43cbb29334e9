"""Complex numbers that IREE computes with part by part, or as words of 128 bits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from portable.bytecode.entries import Blob
from portable.bytecode.operations import IN_FUNCTION, like
from portable.prediction.computing import complex_splat
from portable.prediction.form import FormRule, adds_some, kinds, ops, types, weaken
from portable.prediction.products import CONTRACTING

if TYPE_CHECKING:
    from portable.bytecode.operations import Source
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["COMPLEXES"]

_COMPLEX, _F64, _WORD = "complex_v1", "f64_v1", 2 * 8  # bytes
_HAS_COMPLEX = types({_COMPLEX})
_CONSTANT, _IOTA = "vhlo.constant_v1", "vhlo.iota_v1"
_DIVIDE, _TRANSFORM = "vhlo.divide_v1", "vhlo.fft_v1"
_PAD, _DYNAMIC_PAD = "vhlo.pad_v1", "vhlo.dynamic_pad_v1"
_CONCATENATE, _REDUCE = "vhlo.concatenate_v1", "vhlo.reduce_v1"
_RETURN = "vhlo.return"
# What becomes a selection between elements of it.
_SELECTING = kinds("atan2 clamp maximum minimum power select")
# One of these alone it computes itself; what is made of it perhaps not.
_PARTS = frozenset({"vhlo.imag_v1", "vhlo.real_v1"})
_MULTIPLY = "vhlo.multiply_v1"
_MULTIPLYING = frozenset({_MULTIPLY, *CONTRACTING})
_SPLITTING = _PARTS.union(
    _MULTIPLYING,
    {_DIVIDE, _TRANSFORM, "vhlo.abs_v1"},
    {"vhlo.cosine_v1", "vhlo.cosine_v2", "vhlo.sine_v1", "vhlo.sine_v2"},
)
_TO_REAL, _OF_COMPLEX = "IRFFT", frozenset({"FFT", "IFFT"})
_TWO = 2
# Transforms of fewer than that, and those to real numbers of so many.
_LOOKED_UP, _LOOKED_UP_TO_REAL = 8, 4


def _constants_of_complex_f64(reading: Reading) -> bool:
    """Find a constant of complex numbers of two f64 that is not one value throughout."""
    for signature in reading.of(_CONSTANT):
        data = reading.value(signature, "value").get("data")
        several = isinstance(data, Blob) and data.size > _WORD
        if several and _is_wide(reading, reading.result(signature)):
            return True
    return False


def _is_wide(reading: Reading, type_: int) -> bool:
    return reading.element(type_) == _COMPLEX and reading.part(type_) == _F64


def _pads_complex_f64(reading: Reading) -> bool | None:
    """Find complex<f64> that are padded by more than nothing; perhaps by what is no attribute."""
    perhaps = False
    for signature in reading.of(_PAD, _DYNAMIC_PAD):
        if not _is_wide(reading, reading.result(signature)) or like(signature) not in reading.used:
            continue
        if adds_some(reading, signature):
            return True
        perhaps |= reading.names[signature.name] == _DYNAMIC_PAD
    return None if perhaps else False


def _splits_a_constant(reading: Reading) -> bool | None:
    """Find an op of real and imaginary parts of a complex constant of several values.

    Perhaps of what is folded to one, or one in a body, and a product of two such. A part that is
    returned and that nothing else takes is right.
    """
    several: dict[tuple[int, int], bool] = {}
    perhaps, taken = False, _taken(reading)
    for visit in reading.walk.of(_SPLITTING):
        source, operation = _taken_apart(reading, visit), visit.operation
        if source is None or reading.element(reading.walk.type(source)) != _COMPLEX:
            continue
        constant = None if visit.name in _MULTIPLYING else visit.constant(source)
        if constant is None:
            perhaps |= source[0] in reading.folded
            continue
        key = constant.properties, constant.attributes
        if key not in several:
            several[key] = not complex_splat(reading, constant)
        if several[key] and operation.depth == IN_FUNCTION and visit.name not in _PARTS:
            return True
        perhaps |= several[key] and (visit.name not in _PARTS or visit.number in taken)
    return None if perhaps else False


def _taken(reading: Reading) -> set[int]:
    """Return the operations of which another takes a result than what ends main."""
    walk, main = reading.walk, reading.functions.main
    return {
        source[0]
        for visit in walk
        if walk.around[visit.number] != main or reading.kinds[visit.operation.name] != _RETURN
        for source in visit.sources
        if source
    }


def _taken_apart(reading: Reading, visit: Visit) -> Source | None:
    """Return the operand of an op of which IREE computes with the parts one by one."""
    sources = (*visit.sources[:2], None, None)[:2]
    computed = all(source is not None and source[0] in reading.folded for source in sources)
    if visit.name in _MULTIPLYING:
        # By a constant as it is given it multiplies itself.
        makers = {reading.walk[source[0]].name for source in sources if source}
        given = visit.name == _MULTIPLY and _CONSTANT in makers
        return sources[0] if computed and not given else None
    if visit.name == _DIVIDE:
        made = [source for source in sources if visit.constant(source) is None]
        return made[0] if computed and made else None
    if visit.name == _TRANSFORM and _is_looked_up(reading, visit, sources[0]):
        return None
    return sources[0]


def _is_looked_up(reading: Reading, transform: Visit, source: Source | None) -> bool:
    """Say whether IREE multiplies a transform by a matrix, which is a constant as it is given."""
    lengths = reading.numbers(transform.operation, "fft_length")
    shape = reading.dimensions(reading.walk.type(source)) if source else None
    rows = (shape or ())[: -len(lengths) or None]
    if reading.case(transform.operation, "fft_type") == _TO_REAL:
        return math.prod(rows) == 1 and [*lengths] == [_LOOKED_UP_TO_REAL]
    # Dimensions of one element it takes away, before.
    return max(lengths, default=_LOOKED_UP) < _LOOKED_UP and 1 not in rows


def _transforms_to_one(reading: Reading) -> bool:
    """Find a transform to real numbers of which there is one, of one dimension."""
    return any(
        reading.case(one, "fft_type") == _TO_REAL and reading.dimensions(reading.result(one)) == [1]
        for one in reading.of(_TRANSFORM)
        if like(one) in reading.used
    )


def _joins_ones(reading: Reading) -> bool:
    """Find a concatenate of single complex numbers of which one is a computed constant."""
    for visit in reading.walk.of({_CONCATENATE}):
        for source in filter(None, visit.sources):
            type_ = reading.walk.type(source)
            computed = source[0] in reading.folded and reading.walk[source[0]].name != _CONSTANT
            single = math.prod(reading.dimensions(type_) or (0,)) == 1
            if computed and single and reading.element(type_) == _COMPLEX:
                return True
    return False


def _selects_one(reading: Reading) -> bool | None:
    """Find an op that selects between complex numbers, of which one is a constant of one number.

    Perhaps it is a computed one.
    """
    perhaps = False
    for visit in reading.walk.of(_SELECTING):
        results = visit.operation.results
        if not results or reading.element(results[0]) != _COMPLEX:
            continue
        if like(visit.operation) not in reading.used or visit.number in reading.folded:
            continue
        for source in filter(None, visit.sources):
            constant = visit.constant(source)
            if constant is not None and complex_splat(reading, constant):
                return True
            perhaps |= constant is None and source[0] in reading.folded
    return None if perhaps else False


def _reduces_several(reading: Reading) -> bool:
    """Find a reduce of several complex numbers to one each."""
    return any(
        sum(reading.element(type_) == _COMPLEX for type_ in one.results) > 1
        and all(reading.dimensions(type_) == [] for type_ in one.results)
        for one in reading.of(_REDUCE)
        if like(one) in reading.used
    )


def _transforms_two_constants(reading: Reading) -> bool | None:
    """Find perhaps a transform over two complex numbers in a program that is given nothing."""
    if reading.main is None or reading.sides_of_main[0]:
        return False
    transforms = [
        one for one in reading.of(_TRANSFORM) if reading.case(one, "fft_type") in _OF_COMPLEX
    ]
    return None if any(_TWO in reading.numbers(one, "fft_length") for one in transforms) else False


COMPLEXES: dict[str, FormRule] = {
    "reduce of several complex numbers to scalars": FormRule(
        _reduces_several, (_HAS_COMPLEX, ops(_REDUCE))
    ),
    "constant of several complex<f64>": FormRule(
        _constants_of_complex_f64, (_HAS_COMPLEX, ops(_CONSTANT))
    ),
    "selection between complex numbers of which one is a constant": FormRule(
        _selects_one, (_HAS_COMPLEX, ops(*_SELECTING)), across=True
    ),
    "pad of complex<f64> that adds some": FormRule(
        _pads_complex_f64, (_HAS_COMPLEX, ops(_PAD, _DYNAMIC_PAD))
    ),
    "fft to one real number of one dimension": FormRule(
        _transforms_to_one, (_HAS_COMPLEX, ops(_TRANSFORM))
    ),
    "concatenate of a computed constant of one complex number": weaken(
        FormRule(_joins_ones, (_HAS_COMPLEX, ops(_CONSTANT, _IOTA), ops(_CONCATENATE)), across=True)
    ),
    "fft over two numbers in a program without arguments": FormRule(
        _transforms_two_constants, (ops(_TRANSFORM),)
    ),
    "abs, cosine, sine, fft, quotient, product, part of several constant complex numbers": FormRule(
        _splits_a_constant,
        (_HAS_COMPLEX, ops(_CONSTANT, _IOTA), ops(*_SPLITTING)),
        across=True,
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
