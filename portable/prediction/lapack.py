"""Forms of calls of LAPACK's kernels, whose handlers in jaxlib take what they were written for."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from portable.bytecode.text import type_text
from portable.prediction.form import FormRule, ops

if TYPE_CHECKING:
    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading

__all__ = ["LAPACK"]

_CALL = "vhlo.custom_call_v1"
_CONFIGURATION = "mhlo.backend_config"
# The kernels of the typed interface, without the letter of their element type, and the attributes
# that their handlers decode: as jax 0.10.2 writes them, and as jaxlib 0.12.0.1 counts them.
_ATTRIBUTES = {
    **dict.fromkeys(("geqp3", "geqrf", "getrf", "gtsv", "orgqr", "ungqr"), frozenset[str]()),
    **dict.fromkeys(("hetrd", "potrf", "sytrd"), frozenset({"uplo"})),
    **dict.fromkeys(("gesdd", "gesvd"), frozenset({"mode"})),
    **dict.fromkeys(("heevd", "syevd"), frozenset({"mode", "uplo"})),
    "gees": frozenset({"mode", "sort"}),
    "geev": frozenset({"compute_left", "compute_right"}),
    "gehrd": frozenset({"high", "low"}),
    "trsm": frozenset({"diag", "side", "trans_x", "uplo"}),
}
_ELEMENTS = {"s": "f32", "d": "f64", "c": "complex<f32>", "z": "complex<f64>"}
_TARGET = re.compile(rf"lapack_([{''.join(_ELEMENTS)}])(\w+)_ffi")


def _called_otherwise(reading: Reading) -> bool:
    """Find a call of one with other attributes, of another type, or by the untyped interface."""
    pool = reading.content.pool
    given: dict[int | None, frozenset[str] | None] = {}
    # Any number of calls may have one target, and one type.
    kernel = functools.cache(_TARGET.fullmatch)
    text = functools.cache(functools.partial(type_text, pool))
    for signature in reading.of(_CALL):
        target = reading.value(signature, "call_target_name").get("value")
        match = kernel(target) if isinstance(target, str) else None
        if match is None or match[2] not in _ATTRIBUTES:
            continue
        element = pool.type(reading.result(signature)).fields.get("element")
        if not isinstance(element, int) or text(element) != _ELEMENTS[match[1]]:
            return True
        where = _configuration(reading, signature)
        if where not in given:  # any number of calls may have one
            given[where] = _names(reading, where)
        if given[where] != _ATTRIBUTES[match[2]]:
            return True
    return False


def _solves_with(operands: int) -> FormRule:
    """Find a call of a kernel that solves a triangular system, with so many operands.

    The third is a factor, which JAX handed over once.
    """

    def found(reading: Reading) -> bool:
        kernel = functools.cache(_TARGET.fullmatch)
        for visit in reading.walk.of([_CALL]):
            if len(visit.sources) == operands:
                target = reading.value(visit.operation, "call_target_name").get("value")
                match = kernel(target) if isinstance(target, str) else None
                if match is not None and match[2] == "trsm":
                    return True
        return False

    return FormRule(found, (ops(_CALL),))


def _configuration(reading: Reading, call: OpSignature) -> int | None:
    """Return the dictionary of what the handler is given, where jax writes it or MLIR keeps it."""
    if reading.case(call, "api_version") == "API_VERSION_TYPED_FFI":
        return reading.attribute(call, "backend_config")
    return reading.content.dictionary(call.attributes).get(_CONFIGURATION)


def _names(reading: Reading, dictionary: int | None) -> frozenset[str] | None:
    pool = reading.content.pool
    entries = None if dictionary is None else pool.attribute(dictionary).fields.get("entries")
    if not isinstance(entries, list):
        return None
    return frozenset(str(pool.attribute(key).fields.get("value")) for key, _ in entries)


LAPACK: dict[str, FormRule] = {
    "call of a LAPACK kernel with other attributes or types than it takes": FormRule(
        _called_otherwise, (ops(_CALL),)
    ),
    "call of the LAPACK kernel trsm with two operands": _solves_with(2),
    "call of the LAPACK kernel trsm with three operands": _solves_with(3),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
