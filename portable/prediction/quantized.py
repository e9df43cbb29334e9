"""Forms of quantized types, which verifiers took and refused differently over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from portable.bytecode.entries import TYPES
from portable.bytecode.operations import like
from portable.prediction.computing import COMMUNICATING, KEPT_UNUSED
from portable.prediction.form import FormRule, ops, taken, types, weaken
from portable.prediction.parts import QUANTIZED_TYPES, STORED_FLOATS, storages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading

__all__ = ["QUANTIZED", "is_quantized"]

_WHERE = types(QUANTIZED_TYPES)


def _vhlo(names: str) -> tuple[str, ...]:
    return tuple(f"vhlo.{name}" for name in names.split())


# Ops whose operands and results are of one type; the predicate of a select is none of them.
_ELEMENTWISE = _vhlo(
    "abs_v1 add_v1 atan2_v1 divide_v1 maximum_v1 minimum_v1 multiply_v1 negate_v1 power_v1"
    " remainder_v1 reshape_v1 select_v1 sign_v1 subtract_v1 tanh_v1 tanh_v2"
)
_SINCE_0_14 = _vhlo(
    "abs_v1 atan2_v1 cbrt_v1 cbrt_v2 cosine_v1 cosine_v2 divide_v1 exponential_minus_one_v1"
    " exponential_minus_one_v2 exponential_v1 exponential_v2 log_plus_one_v1 log_plus_one_v2 log_v1"
    " log_v2 logistic_v1 logistic_v2 negate_v1 power_v1 remainder_v1 rsqrt_v1 rsqrt_v2 sign_v1"
    " sine_v1 sine_v2 sqrt_v1 sqrt_v2 subtract_v1 tanh_v1 tanh_v2"
)
_ROUNDED = _vhlo("ceil_v1 floor_v1")
# Ops that StableHLO took quantized before MHLO did, to which jaxlib converts what nothing uses too.
_NOT_OF_MHLO = _vhlo(
    "batch_norm_grad_v1 batch_norm_inference_v1 batch_norm_training_v1 cholesky_v1 iota_v1"
    " is_finite_v1 reduce_precision_v1 round_nearest_afz_v1 round_nearest_even_v1"
)
_SINCE_0_19 = (*_ROUNDED, *_NOT_OF_MHLO)
_TANS = _vhlo("tan_v1 tan_v2")
_BITCAST_CONVERT, _CLAMP, _CONVERT, _RESHAPE = _vhlo(
    "bitcast_convert_v1 clamp_v1 convert_v1 reshape_v1"
)
_DYNAMIC_RESHAPE, _CONVOLUTION = _vhlo("dynamic_reshape_v1 convolution_v1")
_DOTS, _DYNAMIC_CONVS = (
    _vhlo("dot_general_v1 dot_general_v2"),
    _vhlo("dynamic_conv_v1 dynamic_conv_v2"),
)
_DOT, _ADD = _vhlo("dot_v1 add_v1")
# Of some numbers these give none, and no integer is that.
_NOT_A_NUMBER = _vhlo(
    "divide_v1 log_plus_one_v1 log_plus_one_v2 log_v1 log_v2 power_v1 remainder_v1 rsqrt_v1"
    " rsqrt_v2 sqrt_v1 sqrt_v2"
)
_CALLING = _vhlo("call_v1 composite_v1 composite_v2")
_QUANTIZE, _DEQUANTIZE = _vhlo("uniform_quantize_v1 uniform_dequantize_v1")
_BELOW_A_BYTE = frozenset(f"{sign}{bits}_v1" for sign in ("i", "ui") for bits in (2, 4))
_ABOVE_A_BYTE = frozenset(f"{sign}{bits}_v1" for sign in ("i", "ui") for bits in (16, 32))
_OF_32_BITS = frozenset({"i32_v1", "ui32_v1"})
# The bit of a quantized type's flags that says that its storage is signed.
_SIGNED = 1
# What verifiers of ops do not see the types of.
_FUNCTIONS = frozenset({"builtin.module", *_vhlo("call_v1 func_v1 return_v1")})


def is_quantized(names: frozenset[str] | set[str]) -> bool:
    """Say whether any of some types is quantized."""
    return not QUANTIZED_TYPES.isdisjoint(names)


def _elements(reading: Reading, signature: OpSignature) -> list[int]:
    """Return the element types of the operands and results, where they are known."""
    types = (*(signature.operand_types or ()), *signature.results)
    found = (reading.content.pool.type(t).fields.get("element") for t in types if t is not None)
    return [element for element in found if isinstance(element, int)]


def _name(reading: Reading, element: int) -> str:
    return reading.content.pool.outline(TYPES, element).name


def _of(reading: Reading, sought: tuple[str, ...]) -> Iterator[tuple[str, list[int], set[bool]]]:
    """Yield each signature of some ops: its element types, and which of the two kinds they are."""
    for op in sought:
        for signature in reading.of(op):
            elements = _elements(reading, signature)
            yield op, elements, {_name(reading, e) in QUANTIZED_TYPES for e in elements}


def _mixed(reading: Reading) -> bool:
    """Find an elementwise op or a reshape of quantized and other types."""
    for op, elements, _ in _of(reading, _ELEMENTWISE):
        kinds = [_name(reading, e) in QUANTIZED_TYPES for e in elements]
        if len(set(kinds[1:] if op == "vhlo.select_v1" else kinds)) > 1:
            return True
    return False


def _has(reading: Reading, *sought: str) -> bool:
    """Find an op of a quantized type."""
    return any(True in kinds for _, _, kinds in _of(reading, sought))


def _any(*sought: str) -> FormRule:
    return FormRule(lambda reading: _has(reading, *sought), (_WHERE, ops(*sought)))


def _varies(reading: Reading, *sought: str) -> bool:
    """Find an op of several types, all of them quantized."""
    return any(
        kinds == {True} and len(set(elements)) > 1 for _, elements, kinds in _of(reading, sought)
    )


def _differs(*sought: str) -> FormRule:
    return FormRule(lambda reading: _varies(reading, *sought), (_WHERE, ops(*sought)))


def _product(*products: str) -> FormRule:
    """Find a product that neither is quantized throughout, in one storage, nor hybrid.

    What is quantized expresses one type everywhere, which whatever is not quantized has.
    """

    def find(reading: Reading) -> bool:
        for _, found, _ in _of(reading, products):
            # A dynamic_conv has its padding as a third operand.
            elements = [*found[:2], *found[-1:]]
            names = [_name(reading, e) in QUANTIZED_TYPES for e in elements]
            if True not in names:
                continue
            storages = {_part(reading, e, "storage") for e in elements[:2]}
            whole = names == [True, True, True] and len(storages) == 1
            one = len({_expressed(reading, e) for e in elements}) == 1
            if not one or not (whole or names == [False, True, False]):
                return True
        return False

    return FormRule(find, (_WHERE, ops(*products)))


def _in_integers(reading: Reading) -> bool:
    """Find a product of two quantized operands, or an add of several quantized types."""
    products = _of(reading, (*_DOTS, _DOT, _CONVOLUTION, *_DYNAMIC_CONVS))
    return _varies(reading, _ADD) or any(
        all(_name(reading, element) in QUANTIZED_TYPES for element in elements[:2])
        for _, elements, _ in products
    )


def _part(reading: Reading, element: int, field: str) -> object:
    return reading.content.pool.type(element).fields.get(field)


def _expressed(reading: Reading, element: int) -> object:
    """Return the type that a quantized type stands for; another one is its own."""
    quantized = _name(reading, element) in QUANTIZED_TYPES
    return _part(reading, element, "expressed") if quantized else element


def _reshapes(reading: Reading) -> bool:
    """Find a dynamic_reshape between quantized types that differ; its shape is an operand too."""
    for _, elements, _ in _of(reading, (_DYNAMIC_RESHAPE,)):
        ends = {*elements[:1], *elements[-1:]}
        if len(ends) > 1 and all(_name(reading, e) in QUANTIZED_TYPES for e in ends):
            return True
    return False


def _requantizes(reading: Reading) -> bool:
    """Find a uniform_quantize to a type that expresses another one than its operand."""
    found = (elements for _, elements, _ in _of(reading, (_QUANTIZE,)))
    return any(len({_expressed(reading, e) for e in elements}) > 1 for elements in found)


def _late(reading: Reading) -> bool:
    """Find what the verifiers of early 2023 did not take quantized, or f16 and f64 quantized."""
    if _has(reading, *_SINCE_0_14):
        return True
    reshaped = _of(reading, (_RESHAPE,))
    if any(True in kinds and len(set(elements)) > 1 for _, elements, kinds in reshaped):
        return True
    narrow = {"f16_v1", "f64_v1"}
    quantizes = (_elements(reading, signature)[:1] for signature in reading.of(_QUANTIZE))
    dequantizes = (_elements(reading, signature)[-1:] for signature in reading.of(_DEQUANTIZE))
    return any(
        _name(reading, element) in narrow
        for elements in (*quantizes, *dequantizes)
        for element in elements
    )


def _pads_more_than_bytes(reading: Reading) -> bool:
    """Find a convolution that pads quantized numbers which are stored in more than a byte."""
    for signature in reading.of(_CONVOLUTION):
        stored = (_part(reading, element, "storage") for element in _elements(reading, signature))
        names = {_name(reading, one) for one in stored if isinstance(one, int)}
        if not _ABOVE_A_BYTE.isdisjoint(names) and any(reading.numbers(signature, "padding")):
            return True
    return False


def _stored_without_a_sign(reading: Reading) -> bool:
    """Find storage without a sign, as the integer that it is written as has one."""
    pool = reading.content.pool
    flags = (pool.type(index).fields.get("flags") for index in pool.types_named(*QUANTIZED_TYPES))
    return any(isinstance(one, int) and not one & _SIGNED for one in flags)


def _quantizes_nan(reading: Reading) -> bool:
    """Find an op that gives no number of some, or a uniform_quantize of floats that may be NaN."""
    return _has(reading, *_NOT_A_NUMBER) or any(
        max(reading.finite.of(visit), default=math.inf) == math.inf
        for visit in reading.walk.of([_QUANTIZE])
        if any(type_ not in QUANTIZED_TYPES for type_ in taken(reading, visit))
    )


def _stored_in_floats(reading: Reading) -> bool:
    """Find any op in a program that has a quantized type stored in floats."""
    return not reading.ops <= _FUNCTIONS and not STORED_FLOATS.isdisjoint(storages(reading))


def _is_compiled(reading: Reading) -> bool | None:
    """Find a quantized type that a function takes or returns, or of an op that is not removed.

    Perhaps that of other ops that communicate: jaxlib keeps those from 0.8.1 on.
    """
    if any(reading.element(one) in QUANTIZED_TYPES for one in reading.edges):
        return True
    kept = frozenset(reading.of(*KEPT_UNUSED))
    perhaps = False
    for signature in reading.signatures:
        if reading.gives(signature, QUANTIZED_TYPES):
            if signature in kept or like(signature) in reading.used:
                return True
            perhaps |= reading.kinds[signature.name] in COMMUNICATING
    return None if perhaps else False


QUANTIZED: dict[str, FormRule] = {
    "quantized type that is not removed": FormRule(_is_compiled, (_WHERE,)),
    "quantized type": FormRule(lambda _: True, (_WHERE,)),
    "quantized type that is stored in less than a byte": weaken(
        FormRule(lambda reading: not _BELOW_A_BYTE.isdisjoint(storages(reading)), (_WHERE,))
    ),
    "quantized type that is stored without a sign": weaken(
        FormRule(_stored_without_a_sign, (_WHERE,))
    ),
    "quantized type that is stored in 32 bits": weaken(
        FormRule(lambda reading: not _OF_32_BITS.isdisjoint(storages(reading)), (_WHERE,))
    ),
    "product of two quantized types, or add of several": weaken(
        FormRule(_in_integers, (_WHERE, ops(*_DOTS, _DOT, _CONVOLUTION, *_DYNAMIC_CONVS, _ADD)))
    ),
    "quantized result that may be no number": weaken(
        FormRule(_quantizes_nan, (_WHERE, ops(*_NOT_A_NUMBER, _QUANTIZE)))
    ),
    "convolution that pads a quantized type that is stored in more than a byte": weaken(
        FormRule(_pads_more_than_bytes, (_WHERE, ops(_CONVOLUTION)))
    ),
    "ceil or floor of a quantized type": _any(*_ROUNDED),
    "call or composite of a quantized type": _any(*_CALLING),
    "op of a quantized type that MHLO does not have": _any(*_NOT_OF_MHLO, *_TANS),
    "elementwise op or reshape of quantized and other types": FormRule(
        _mixed, (_WHERE, ops(*_ELEMENTWISE))
    ),
    "convert of a quantized type": _any(_CONVERT),
    "reshape to other quantization parameters": _differs(_RESHAPE),
    "dynamic_reshape to other quantization parameters": FormRule(
        _reshapes, (_WHERE, ops(_DYNAMIC_RESHAPE))
    ),
    "dot_general of quantized types in other ways than all or the right operand": _product(*_DOTS),
    "convolution of quantized types in other ways than all or the right operand": _product(
        _CONVOLUTION
    ),
    "dynamic_conv of quantized types in other ways than all or the right operand": _product(
        *_DYNAMIC_CONVS
    ),
    "uniform_quantize to a type that expresses another one": FormRule(
        _requantizes, (_WHERE, ops(_QUANTIZE))
    ),
    "quantized operand of an op that took none before 0.14, or f16 or f64 quantized": FormRule(
        _late, (_WHERE,)
    ),
    "bitcast_convert between a quantized and another type": FormRule(
        lambda reading: any(
            kinds == {True, False} for _, _, kinds in _of(reading, (_BITCAST_CONVERT,))
        ),
        (_WHERE, ops(_BITCAST_CONVERT)),
    ),
    "quantized operand of an op that took none before 0.19": FormRule(
        lambda reading: _has(reading, *_SINCE_0_19) or _varies(reading, _CLAMP), (_WHERE,)
    ),
    "op beside a quantized type that is stored in f4E2M1FN, f8E4M3FN or f8E5M2": FormRule(
        _stored_in_floats, (_WHERE, types(STORED_FLOATS))
    ),
}
"""Forms as refusals.toml names them, each with how to find it; see `forms`."""
