"""A program with each op of dynamic shapes, of an older name, or in a map, as what it becomes.

A plain op: compilers make the one the other, as soon as its sizes are known, before they change
anything else. What depends on how a plain op is changed later depends on the other one too.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from portable.bytecode.operations import Operation, OpSignature
from portable.prediction.computing import integers
from portable.prediction.form import AMOUNTS, ELEMENTWISE, MOST_NUMBERS, repeated
from portable.prediction.tensors import DYNAMIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from portable.bytecode.operations import Head, Source
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["PLAIN", "TWINS", "Made", "PlainOps", "elements"]


_Dimensions: TypeAlias = "Sequence[tuple[int, ...]]"
_Follow: TypeAlias = "Callable[[Reading, Head, _Dimensions], _Dimensions]"


class Twin(NamedTuple):
    """The plain op that another becomes.

    Args:
        name: What it is called.
        takes: How many operands it has: the others are constants.
        numbers: The attributes that these become; none where the type of the result says it all.
        follow: Finds these attributes where they follow from the op and the shapes of its operands
            and its result; nothing where it becomes more than that op.
    """

    name: str
    takes: int
    numbers: Sequence[str] = ()
    follow: _Follow | None = None


def _dot(_reading: Reading, _operation: Head, shapes: _Dimensions) -> _Dimensions:
    left, right, _ = shapes
    return [(), (), (len(left) - 1,), (0,)] if left and right else []


def _einsum(reading: Reading, operation: Head, shapes: _Dimensions) -> _Dimensions:
    config = reading.value(operation, "einsum_config").get("value")
    found = _PRODUCT.fullmatch(config) if isinstance(config, str) else None
    if found is None:
        return []
    left, right, result = found.groups()
    shared = [one for one in left if one in right]
    batch = [one for one in shared if one in result]
    summed = [one for one in shared if one not in result]
    rest = [one for side in (left, right) for one in side if one not in shared]
    ranks = [len(set(side)) for side in found.groups()]
    if [*result] != batch + rest or ranks != [*map(len, shapes)]:
        return []
    return [tuple(map(side.index, some)) for some in (batch, summed) for side in (left, right)]


def _broadcast(_reading: Reading, _operation: Head, shapes: _Dimensions) -> _Dimensions:
    operand, result = shapes
    added = len(result) - len(operand)
    return [tuple(range(added, len(result)))] if added >= 0 else []


_PRODUCT = re.compile(r"([a-zA-Z]{1,16}),([a-zA-Z]{1,16})->([a-zA-Z]{0,32})")
_MULTIPLIED = (
    *("lhs_batching_dimensions", "rhs_batching_dimensions"),
    *("lhs_contracting_dimensions", "rhs_contracting_dimensions"),
)
TWINS: Mapping[str, Twin] = {
    "vhlo.broadcast_v1": Twin("vhlo.broadcast_in_dim_v1", 1, ["broadcast_dimensions"], _broadcast),
    "vhlo.dot_v1": Twin("vhlo.dot_general_v1", 2, _MULTIPLIED, _dot),
    "vhlo.einsum_v1": Twin("vhlo.dot_general_v1", 2, _MULTIPLIED, _einsum),
    "vhlo.dynamic_broadcast_in_dim_v1": Twin("vhlo.broadcast_in_dim_v1", 1),
    "vhlo.dynamic_conv_v1": Twin("vhlo.convolution_v1", 2, ["padding"]),
    "vhlo.dynamic_conv_v2": Twin("vhlo.convolution_v1", 2, ["padding"]),
    "vhlo.dynamic_gather_v1": Twin("vhlo.gather_v1", 2, ["slice_sizes"]),
    "vhlo.dynamic_gather_v2": Twin("vhlo.gather_v2", 2, ["slice_sizes"]),
    "vhlo.dynamic_iota_v1": Twin("vhlo.iota_v1", 0),
    "vhlo.dynamic_pad_v1": Twin("vhlo.pad_v1", 2, AMOUNTS),
    "vhlo.dynamic_reshape_v1": Twin("vhlo.reshape_v1", 1),
    "vhlo.real_dynamic_slice_v1": Twin(
        "vhlo.slice_v1", 1, ["start_indices", "limit_indices", "strides"]
    ),
}
_MAP, _RETURN = "vhlo.map_v1", "vhlo.return_v1"
PLAIN = TWINS.keys() | {_MAP}
"""The ops that may become others."""
# The ops of a body of one, and what ends it.
_MAPPED = 2
# What stands where the body of a map was.
_NOTHING = ""
# The first dictionary, and attribute, that is none of the artifact's: -1 stands for none.
_FIRST = -2
_UNSIGNED = (1 << 64) - 1


class Made(NamedTuple):
    """What a plain op has that the other one lacks, and that one.

    Args:
        of: The other op.
        attributes: By their names, each by a number that no attribute of the artifact has.
    """

    of: Head
    attributes: Mapping[str, int]


class _Mapped(NamedTuple):
    """What a map applies.

    Args:
        body: The op.
        takes: Which of the operands of the map it takes.
    """

    body: Visit
    takes: Sequence[int]


class PlainOps:
    """Reads a program as if each op that becomes a plain one, as far as sizes are known, were that.

    Args:
        reading: An artifact's ops.
        settled: Whether the sizes of results have to be known, as of static ops.

    Attributes:
        names: The names of ops: those of the artifact, and behind them those of plain ops.
        made: What the plain ops have, by the dictionary of attributes that they say is theirs.
        numbers: The elements of attributes that dynamic ops lack, as `Reading.numbers` gives them.
        signatures: Those of the plain ops, by their names.

    The last three are there once the operations are read.
    """

    def __init__(self, reading: Reading, *, settled: bool = True) -> None:
        self._reading, self._settled = reading, settled
        made = dict.fromkeys(TWINS[op].name for op in reading.ops if op in TWINS)
        self.names = [*reading.names, *made, _NOTHING]
        self._named = {name: at for at, name in enumerate(self.names)}
        self._known: dict[tuple[object, ...], int | None] = {}
        self.made: dict[int, Made] = {}
        self.numbers: dict[int, tuple[int, ...]] = {}
        self.signatures: dict[str, dict[OpSignature, None]] = {}

    def uses(self) -> Iterator[tuple[Operation, tuple[Source | None, ...]]]:
        """Yield the operations, as `Bytecode.uses` does."""
        end = 0
        for visit in self._reading.walk:
            name, attributes, properties, results, regions, isolated, depth = visit.operation
            operands, sources = visit.operands, visit.sources
            if visit.number < end:
                name, attributes, properties, results = self._named[_NOTHING], -1, -1, ()
                operands, sources = (), ()
            elif visit.name == _MAP and (inner := self._mapped(visit)):
                end = visit.number + _MAPPED + 1
                name, attributes, properties, *_ = inner.body.operation
                operands = tuple(operands[at] for at in inner.takes)
                sources = tuple(sources[at] for at in inner.takes)
                regions = 0
            twin = TWINS.get(visit.name)
            made = self._twin(twin, visit) if twin else None
            if twin and made is not None:
                name, attributes = self._named[twin.name], made
                operands, sources = operands[: twin.takes], sources[: twin.takes]
            operation = Operation(
                name, -1, attributes, properties, results, operands, regions, isolated, depth, -1
            )
            yield operation, sources

    def firsts(self) -> Sequence[int]:
        """Return, for each operation that was read, where the values of its region begin."""
        return self._reading.firsts

    def _mapped(self, visit: Visit) -> _Mapped | None:
        """Return the op by element that a map is; None where its body is another."""
        reading, walk = self._reading, self._reading.walk
        inside = [*islice(walk.below(visit.number), _MAPPED)]
        if [one.name for one in inside[1:]] != [_RETURN]:
            return None
        body, ends = inside
        if reading.kinds[body.operation.name] not in ELEMENTWISE:
            return None
        first, taken = reading.firsts[body.number], reading.flow.operands(visit)
        takes = [operand - first for operand in body.operands]
        alone = not any(body.sources) and all(0 <= at < len(taken) for at in takes)
        if not alone or ends.sources != ((body.number, 0),):
            return None
        types = tuple(reading.flow.type(taken[at]) for at in takes)
        name, attributes, properties, *_ = body.operation
        results = visit.operation.results
        signature = OpSignature(name, attributes, properties, results, len(takes), 0, types)
        # Any number of maps may be the same.
        self.signatures.setdefault(body.name, {})[signature] = None
        return _Mapped(body, takes)

    def _twin(self, twin: Twin, visit: Visit) -> int | None:
        """Return which of `made` is the plain op; None where it stays as it is."""
        reading, operation = self._reading, visit.operation
        shape = reading.dimensions(operation.results[0]) if operation.results else None
        if shape is None or (self._settled and DYNAMIC in shape):
            return None
        given = [
            (visit.constant(source), None if source is None else reading.walk.type(source))
            for source in visit.sources[twin.takes :][: len(twin.numbers)]
        ]
        flow = reading.flow
        types = tuple(map(flow.type, flow.operands(visit)[: twin.takes]))
        if len(types) < twin.takes:  # damaged
            return None
        # Any number of ops may be the same.
        key = operation, types, *given
        if key not in self._known:
            numbers = (
                _followed(reading, twin.follow, operation, types)
                if twin.follow
                else [found for one in given if (found := elements(reading, *one))]
            )
            fits = len(numbers) == len(twin.numbers)
            self._known[key] = self._make(twin, operation, types, numbers) if fits else None
        return self._known[key]

    def _make(
        self,
        twin: Twin,
        operation: Head,
        types: tuple[int | None, ...],
        numbers: Sequence[tuple[int, ...]],
    ) -> int:
        made = _FIRST - len(self.made)
        given = {name: _FIRST - len(self.numbers) - at for at, name in enumerate(twin.numbers)}
        self.numbers.update(zip(given.values(), numbers, strict=True))
        self.made[made] = Made(operation, given)
        name, properties, results = self._named[twin.name], operation.properties, operation.results
        signature = OpSignature(name, made, properties, results, twin.takes, 0, types)
        self.signatures.setdefault(twin.name, {})[signature] = None
        return made


def _followed(
    reading: Reading, follow: _Follow, operation: Head, types: Iterable[int | None]
) -> _Dimensions:
    shapes = [reading.dimensions(type_) for type_ in (*types, operation.results[0])]
    known = [tuple(one) for one in shapes if one is not None]
    return follow(reading, operation, known) if len(known) == len(shapes) else ()


def elements(reading: Reading, constant: Head | None, type_: int | None) -> tuple[int, ...]:
    """Return the integers of a constant, without their signs.

    Args:
        reading: An artifact's ops.
        constant: The constant that an operand is; None where it is none.
        type_: Of which type that is.

    Returns:
        Nothing where it is no constant, or has too many.
    """
    count = reading.content.pool.count(type_)
    if constant is None or count is None or not 0 <= count <= MOST_NUMBERS:  # damaged: negative
        return ()
    found = [one & _UNSIGNED for one in islice(integers(reading, constant), count)]
    return tuple(repeated(found, count)) if found else ()
