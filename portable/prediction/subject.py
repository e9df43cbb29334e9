"""What a prediction looks at: one artifact, read once, whatever the number of Consumers."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from portable.bytecode import read
from portable.bytecode.entries import ATTRIBUTES, Blob
from portable.features import analyze

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from portable.artifact import Artifact
    from portable.bytecode import Bytecode
    from portable.bytecode.scan import Shape
    from portable.features import Feature, RemovedForm
    from portable.version import Version

__all__ = ["RANGE", "Subject", "examine"]

RANGE = "location_file_line_col_range"
"""The location that readers before StableHLO 1.8.5 do not know."""

# What libStablehlo itself writes; everything else is outside the promise.
_NATIVE = frozenset({"builtin", "vhlo", "func", "stablehlo"})
_LOCATIONS = frozenset(
    {
        "location_call_site",
        "location_file_line_col",
        "location_fused",
        "location_name",
        RANGE,
    }
)


@dataclass(frozen=True, slots=True)
class Subject:
    """One artifact, as far as a prediction and a policy look into it.

    Args:
        claimed: The Version in the header, if it names one.
        format: The version of the bytecode format.
        required: The Version a reader must have; None when nothing is known to force one.
        features: What forces it.
        dialects: The dialects that occur.
        ops: The ops that occur, by full name.
        removed: Forms that newer readers do not know any more.
        forms: For each form that can be found in the bytes, whether it occurs.
        unknown: What the tables do not know, which may be newer than them.
        custom_calls: The targets of custom calls.
        locations: The kinds of source locations.
    """

    claimed: Version | None
    format: int
    required: Version | None
    features: Sequence[Feature] = ()
    dialects: frozenset[str] = frozenset()
    ops: frozenset[str] = frozenset()
    removed: Sequence[RemovedForm] = ()
    forms: Mapping[str, bool] = field(default_factory=dict)
    unknown: Sequence[str] = ()
    custom_calls: frozenset[str] = frozenset()
    locations: frozenset[str] = frozenset()

    @classmethod
    def claim(cls, version: Version | None, format_: int) -> Subject:
        """Return what a header alone says, taken at its word."""
        return cls(version, format_, version)

    @property
    def foreign(self) -> frozenset[str]:
        """The dialects outside StableHLO."""
        return self.dialects - _NATIVE


# Forms are found once for each artifact and looked up once for each Consumer.
@functools.lru_cache(maxsize=1)
def examine(artifact: Artifact) -> Subject:
    """Read what predictions and policies need to know of an artifact.

    Args:
        artifact: The artifact.

    Returns:
        What is in it.

    Raises:
        MalformedArtifact: Its bytes do not make sense.
    """
    content = read(artifact.data)
    analysis = analyze(content)
    reading = _Reading(content)
    return Subject(
        claimed=artifact.version,
        format=artifact.header.format,
        required=analysis.required.version,
        features=analysis.required.features,
        dialects=frozenset(dialect.name for dialect in content.dialects),
        ops=frozenset(reading.ops),
        removed=analysis.removed,
        forms={name: found(reading) for name, found in _FORMS.items()},
        unknown=tuple(str(one) for one in analysis.unknown),
        custom_calls=frozenset(reading.custom_calls()),
        locations=reading.locations(),
    )


class _Reading:
    """An artifact's ops and entries, by name."""

    def __init__(self, content: Bytecode) -> None:
        self.content = content
        self.names = {str(name): index for index, name in enumerate(content.names)}
        typed = [self.names[op] for op in _TYPED if op in self.names]
        self.shapes = content.scan(typed).shapes
        used = {shape.name for shape in self.shapes}
        self.ops = {name for name, index in self.names.items() if index in used}

    def of(self, op: str) -> Iterator[Shape]:
        """Yield the Shapes of one op."""
        index = self.names.get(op, -1)
        return (shape for shape in self.shapes if shape.name == index)

    def locations(self) -> frozenset[str]:
        """Return the kinds of source locations."""
        pool, entries = self.content.pool, self.content.pool.attributes
        names = {
            pool.references(ATTRIBUTES, index)[0]
            for dialect, group in entries.groups()
            if dialect == "builtin"
            for index in group
        }
        return _LOCATIONS & names

    def custom_calls(self) -> Iterator[str]:
        """Yield the targets of custom calls."""
        pool = self.content.pool
        for op in (name for name in self.ops if name.startswith("vhlo.custom_call_")):
            for shape in self.of(op):
                target = self.attributes(shape).get("call_target_name")
                value = None if target is None else pool.attribute(target).fields.get("value")
                yield value if isinstance(value, str) else "?"

    def attributes(self, shape: Shape) -> dict[str, int]:
        """Return the attributes of an op, wherever its format keeps them."""
        content = self.content
        found = content.dictionary(shape.attributes)
        return found | content.property_attributes(shape.name, shape.properties)

    def dimensions(self, type_: int | None) -> Sequence[int] | None:
        """Return the shape of a ranked tensor type."""
        if type_ is None:
            return None
        shape = self.content.pool.type(type_).fields.get("shape")
        return shape if isinstance(shape, list) else None


def _i1_splat_constant(reading: _Reading) -> bool:
    """Find a boolean constant with one value for one or more than eight elements."""
    pool = reading.content.pool
    for shape in reading.of("vhlo.constant_v1"):
        value = reading.attributes(shape).get("value")
        if value is None:
            continue
        fields = pool.attribute(value).fields
        type_, data = fields.get("type"), fields.get("data")
        if not isinstance(type_, int) or not isinstance(data, Blob):
            continue
        dimensions, element = reading.dimensions(type_), pool.type(type_).fields.get("element")
        if dimensions is None or not isinstance(element, int):
            continue
        count = prod(dimensions)
        if pool.type(element).name == "bool_v1" and data.size == 1 and (count == 1 or count > 8):
            return True
    return False


def _dynamic_conv_padding(reading: _Reading) -> bool:
    """Find a dynamic_conv whose padding, the third operand, is not of rank 2."""
    for shape in (*reading.of(_DYNAMIC_CONV[0]), *reading.of(_DYNAMIC_CONV[1])):
        padding = (shape.operand_types or ())[2:3]
        dimensions = reading.dimensions(padding[0]) if padding else None
        if dimensions is not None and len(dimensions) != 2:
            return True
    return False


_DYNAMIC_CONV = ("vhlo.dynamic_conv_v1", "vhlo.dynamic_conv_v2")
# The ops whose operand types some form depends on.
_TYPED = _DYNAMIC_CONV
# Forms as refusals.toml and advisories.toml name them. What those tables name and this one does
# not cannot be found in the bytes, and is a warning.
_FORMS: dict[str, Callable[[_Reading], bool]] = {
    "i1 splat constant": _i1_splat_constant,
    "dynamic_conv with padding that is not of rank 2": _dynamic_conv_padding,
}
