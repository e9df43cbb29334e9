"""The ranked tensors and the lists of integers of an artifact, each looked at once.

Any number of ops can have the same type or attribute: what is longer than those of programs is not
looked into.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from portable.bytecode.entries import ATTRIBUTES, TYPES, Blob
from portable.bytecode.layouts import BUILTIN, VHLO, widths
from portable.prediction.form import signed
from portable.prediction.parts import QUANTIZED_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading

__all__ = [
    "BOOL",
    "DYNAMIC",
    "I64",
    "INDEX",
    "RankedTensor",
    "Rule",
    "TensorTypes",
    "TypedOp",
    "chosen",
    "fit",
    "same",
]

DYNAMIC = -(1 << 63)
"""A dimension that is not known before the program runs."""
BOOL, I64, INDEX = "bool_v1", "i64_v1", "index_v1"
"""Names of element types."""

_MOST_DIMENSIONS, _MOST_NUMBERS = 16, 32
# In place of more numbers than there are dimensions, and of what are no such numbers: no rule
# allows them.
_TOO_MANY = (-1,) * (_MOST_NUMBERS + 1)
_COMPLEX, _TENSOR = "complex_v1", "tensor_v1"
_COMPLEXES = ("complex f32_v1", "complex f64_v1")
_SCALARS = frozenset(widths(VHLO)) - {"none_v1"}
# Types of MLIR's own that may be tensors, and types that are none; of others it is not known.
_SHAPED = ("tensor", "unranked_tensor")
_NO_TENSORS = _SCALARS | {
    "token_v1",
    "tuple_v1",
    "func_v1",
    "witness_v1",
    "future_v1",
    "buffer_v1",
    _COMPLEX,
}


class RankedTensor(NamedTuple):
    """A ranked tensor type.

    Args:
        shape: Its dimensions.
        element: The name of its element type; `complex f32_v1` of complex numbers.
        is_bounded: Whether its dimensions have bounds.
    """

    shape: tuple[int, ...]
    element: str
    is_bounded: bool = False

    def like(self, other: RankedTensor) -> bool:
        """Whether it can have the shape of another."""
        return self.shape == other.shape or fit(self.shape, other.shape)

    def of(self, other: RankedTensor) -> bool:
        """Whether it has the elements of another, as far as is looked into."""
        return self.element == other.element or self.is_quantized or other.is_quantized

    @property
    def is_quantized(self) -> bool:
        """Whether its elements are quantized."""
        return self.element in QUANTIZED_TYPES

    @property
    def is_plain(self) -> bool:
        """Whether its shape and the name of its element type are all that it has."""
        return not (self.is_quantized or self.is_bounded)

    @property
    def kind(self) -> str:
        """What its elements are: `bool`, `integer`, `index`, `float` or `complex`."""
        if self.element == BOOL:
            return "bool"
        if self.element.startswith("complex"):
            return "complex"
        if self.element == INDEX:
            return "index"
        return "integer" if self.element.startswith(("i", "ui")) else "float"


def same(one: int, other: int) -> bool:
    """Whether two dimensions can be the same."""
    return one == other or DYNAMIC in {one, other}


def fit(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two shapes can be the same."""
    return len(one) == len(other) and all(map(same, one, other))


def chosen(numbers: Sequence[int], count: int) -> bool:
    """Whether numbers are some of the dimensions of so many, each once."""
    return len({*numbers}) == len(numbers) and all(0 <= one < count for one in numbers)


class TypedOp(NamedTuple):
    """An op whose operands and results are ranked tensors."""

    types: TensorTypes
    signature: OpSignature
    operands: Sequence[RankedTensor]
    results: Sequence[RankedTensor]

    @property
    def operand(self) -> tuple[int, ...]:
        """The shape of the first operand."""
        return self.operands[0].shape

    @property
    def rank(self) -> int:
        """How many dimensions the first operand has."""
        return len(self.operands[0].shape)

    @property
    def result(self) -> tuple[int, ...]:
        """The shape of the first result."""
        return self.results[0].shape

    def numbers(self, *fields: str) -> list[tuple[int, ...]]:
        """Return attributes that are lists of integers.

        Raises:
            _Unclear: One of them is too long, or something else.
        """
        reading, found = self.types.reading, []
        for field in fields:
            numbers = self.types.numbers(reading.attribute(self.signature, field))
            if numbers is None:
                raise _Unclear
            found.append(numbers)
        return found

    def integer(self, field: str) -> int:
        """Return an attribute that is one integer.

        Raises:
            _Unclear: It is something else.
        """
        value = self.types.reading.value(self.signature, field).get("value")
        if not isinstance(value, int):
            raise _Unclear
        return value


class _Unclear(Exception):
    """What a rule depends on is not looked into."""


Rule: TypeAlias = "Callable[[TypedOp], bool]"
"""Whether an op is right, as far as the rule knows."""


class TensorTypes:
    """The ranked tensors and the lists of integers of an artifact.

    Args:
        reading: The artifact's ops.
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._tensors: dict[int, RankedTensor | bool] = {}
        self._numbers: dict[int, tuple[int, ...] | None] = {}
        self._identities: dict[int, object] = {}

    def tensor(self, type_: int | None) -> RankedTensor | bool:
        """Return a ranked tensor type; False of what is none, True where that is not known."""
        if type_ is None:
            return True
        found = self._tensors.get(type_)
        if found is None:
            found = self._tensors[type_] = self._tensor(type_)
        return found

    def _tensor(self, type_: int) -> RankedTensor | bool:
        pool = self.reading.content.pool
        outline = pool.outline(TYPES, type_)
        if outline.dialect == BUILTIN:
            return outline.name in _SHAPED
        if outline.dialect != VHLO or outline.name != _TENSOR:
            return outline.dialect != VHLO or outline.name not in _NO_TENSORS
        fields = pool.type(type_).fields
        shape, element = fields["shape"], fields["element"]
        if not isinstance(shape, list) or not isinstance(element, int):
            return True
        held = pool.outline(TYPES, element)
        if held.dialect != VHLO or len(shape) > _MOST_DIMENSIONS:
            return True
        name = held.name
        if name == _COMPLEX:
            part = pool.type(element).fields["element"]
            name = f"complex {pool.outline(TYPES, part).name}" if isinstance(part, int) else ""
            if name not in _COMPLEXES:
                return False
        elif name not in _SCALARS and name not in QUANTIZED_TYPES:
            return False
        return RankedTensor(tuple(shape), name, "encoding" in fields)

    def numbers(self, index: int | None) -> tuple[int, ...] | None:
        """Return the integers of an attribute; None of something else."""
        if index is None:
            return None
        if index not in self._numbers:
            self._numbers[index] = self._integers(index)
        return self._numbers[index]

    def _integers(self, index: int) -> tuple[int, ...] | None:
        reading, pool = self.reading, self.reading.content.pool
        if index < 0:  # of an op that was made plain
            return tuple(map(signed, reading.numbers_at(index)))
        outline = pool.outline(ATTRIBUTES, index)
        if outline.dialect != VHLO or outline.name != _TENSOR:
            return None
        fields = pool.attribute(index).fields
        type_, data = fields["type"], fields["data"]
        held = self.tensor(type_ if isinstance(type_, int) else None)
        count = pool.count(type_)
        if held is True or count is None or not isinstance(data, Blob):
            return None
        if held is False or held.element != I64 or count > _MOST_NUMBERS or DYNAMIC in held.shape:
            return _TOO_MANY
        stored = data.size // 8
        if stored not in {1, count}:
            return None
        raw = bytes(reading.data[data.offset : data.offset + 8 * stored])
        found = struct.unpack(f"<{stored}q", raw)
        return found if stored == count else found * count

    def identity(self, type_: int | None) -> object:
        """Return what two equal types have in common: entries of the table can be equal."""
        if type_ is None:
            return None
        if type_ not in self._identities:
            tensor, types = self.tensor(type_), self.reading.content.pool.types
            cursor = types.open(type_)
            plain = isinstance(tensor, RankedTensor) and tensor.is_plain
            written = types.dialect(type_), bytes(cursor.data[cursor.position : cursor.end])
            self._identities[type_] = tensor if plain else written
        return self._identities[type_]
