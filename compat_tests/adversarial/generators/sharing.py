"""Artifacts of many operations that share what is as large as all of them, of every op of VHLO.

What is looked up for each operation, or for each form of one, must not be walked through again: a
shape, the numbers of dimensions in an attribute, a list, a dictionary, the type of a function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat_tests.adversarial.generators.amplification import _array, _artifact, _blob
from compat_tests.helpers.bytecode_writer import entry, operation
from portable.bytecode.vhlo import op
from portable.prediction.parts import property_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["sharing"]

_I64, _F32, _BF16, _COMPLEX, _I4 = (
    ("vhlo", entry(*of)) for of in ((14,), (4,), (2,), (1, 1), (10,))
)
_SCALARS = (_I64, _F32, _BF16, _COMPLEX, _I4)
_ELEMENTS = (1, 2, 3, 4)
# The smallest attribute of each kind, beside those that are wide; types by their numbers above.
_SMALL = {
    "integer_v1": ("vhlo", entry(9, 0, 2)),
    "bool_v1": ("vhlo", entry(2, 1)),
    "string_v1": ("vhlo", entry(14, 0)),
    "type_v1": ("vhlo", entry(17, 2)),
    "api_version_v1": ("vhlo", entry(5, 1)),
    "comparison_direction_v1": ("vhlo", entry(3, 0)),
    "comparison_type_v1": ("vhlo", entry(4, 0)),
    "fft_type_v1": ("vhlo", entry(7, 0)),
    "rng_algorithm_v1": ("vhlo", entry(12, 0)),
    "rng_distribution_v1": ("vhlo", entry(13, 0)),
    "transpose_v1": ("vhlo", entry(16, 0)),
    "float_v1": ("vhlo", entry(8, 1, 1)),
}
_ALGORITHM = frozenset({"lhs_precision_type", "rhs_precision_type", "accumulation_type"})


def sharing(name: str, n: int) -> bytes:
    """Return operations of one op on wide tensors, with the same wide attributes.

    Every second one has the type of its operands as its result, the others have results of their
    own.

    Args:
        name: The op, as `dot_general_v2`.
        n: How many there are, and how wide everything is.
    """
    types, wide, function = _types(n)
    narrow = len(types)
    types += [("vhlo", entry(20, 1, at << 1, 1)) for at in range(n)]
    number, attributes = _attributes(n, function)
    fields = op(name).attributes
    operations = [operation(1, results=[wide + at]) for at in range(len(_ELEMENTS))]
    for at in range(n):
        kind = at // 2 % len(_ELEMENTS)
        operations.append(
            operation(
                2,
                properties=1 if fields else None,
                operands=[kind] * 3,
                results=[narrow + at if at % 2 else wide + kind],
            )
        )
    return _artifact(
        operations,
        values=len(operations),
        names=("vhlo.create_token_v1", f"vhlo.{name}"),
        types=types,
        attributes=attributes,
        properties=[entry(*map(number, fields))] if fields else [],
        strings=["main"],
    )


def _types(n: int) -> tuple[list[tuple[str, bytes]], int, int]:
    """Return types, the number of the first tensor of many dimensions, and that of a function."""
    types = [*_SCALARS, ("vhlo", entry(20, 1, n << 1, 0))]
    wide = len(types)
    types += [("vhlo", entry(20, n, *[2 << 1] * n, element)) for element in _ELEMENTS]
    return [*types, ("vhlo", entry(8, n, *[wide] * n, 0))], wide, len(types)


def _attributes(n: int, function: int) -> tuple[Callable[[str], int], Sequence[tuple[str, bytes]]]:
    """Return which attribute each property is, and the attributes, as wide as can be."""
    data = b"".join(at.to_bytes(8, "little") for at in range(n))
    kinds = [*_SMALL, "tensor_v1", "array_v1", "dict_v1", "function", "dictionaries"]
    numbers = {kind: at for at, kind in enumerate(kinds, 1)}
    wide = (
        _blob("vhlo", 15, len(_SCALARS), data),
        _array(*[numbers["integer_v1"]] * n),
        ("vhlo", entry(6, n, *[numbers["string_v1"]] * (2 * n))),
        ("vhlo", entry(17, function)),
        _array(*[numbers["dict_v1"]] * n),
    )
    special = {
        "function_type": "function",
        "arg_attrs": "dictionaries",
        "res_attrs": "dictionaries",
    }
    special |= dict.fromkeys(_ALGORITHM, "type_v1")

    def number(field: str) -> int:
        found = property_kinds().get(field, frozenset())
        return numbers[special.get(field) or next((k for k in kinds if k in found), "array_v1")]

    return number, [*_SMALL.values(), *wide]
