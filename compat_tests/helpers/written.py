"""Artifacts with a few ops, written by hand: also such as no library of today writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from compat_tests.helpers.bytecode_writer import UNKNOWN_LOCATION, entry, operation, region, varint
from compat_tests.helpers.bytecode_writer import Artifact as Written
from portable.artifact import Artifact
from portable.bytecode.layouts import table
from portable.bytecode.vhlo import END
from portable.bytecode.vhlo import op as row_of
from portable.prediction import examine
from portable.prediction.forms import FORMS

__all__ = ["Part", "Program", "Step", "joined", "signed"]

_UNKNOWN = -(1 << 63)


def signed(*values: int) -> list[int]:
    """Return numbers as bytecode writes those with a sign."""
    return [(value << 1) ^ (value >> 63) for value in values]


@dataclass
class Program:
    """One op in a module, whose operands are the arguments of the module's block."""

    types: list[tuple[str, bytes]] = field(default_factory=list)
    attributes: list[tuple[str, bytes]] = field(
        default_factory=lambda: [("builtin", entry(UNKNOWN_LOCATION))]
    )
    strings: Sequence[str] = ()

    def scalar(self, name: str) -> int:
        """Return the number of a type that has no parts."""
        return self._type(entry(_code("types", name)))

    def tensor(self, element: int, *shape: int) -> int:
        """Return the number of a tensor type; -1 is a dynamic dimension."""
        sizes = signed(*(_UNKNOWN if size < 0 else size for size in shape))
        return self._type(entry(20, len(shape), *sizes, element))

    def unranked(self, element: int) -> int:
        """Return the number of a tensor type without a shape."""
        return self._type(entry(25, element))

    def quantized(self, storage: str = "i8_v1", scale: int = 1, expressed: str = "f32_v1") -> int:
        """Return the number of a quantized type."""
        parts = (self.scalar(storage), self.scalar(expressed), *signed(scale, 0, -8, 7))
        return self._type(entry(24, 1, *parts))

    def complex(self, part: int) -> int:
        """Return the number of a complex type."""
        return self._type(entry(_code("types", "complex_v1"), part))

    def _type(self, data: bytes) -> int:
        if ("vhlo", data) not in self.types:
            self.types.append(("vhlo", data))
        return self.types.index(("vhlo", data))

    def attribute(self, name: str, *numbers: int, data: bytes | None = None) -> int:
        """Return the number of a new attribute."""
        content = entry(_code("attributes", name), *numbers)
        content += b"" if data is None else varint(len(data)) + data
        self.attributes.append(("vhlo", content))
        return len(self.attributes) - 1

    def integers(self, *values: int) -> int:
        """Return the number of a list of i64."""
        type_ = self.tensor(self.scalar("i64_v1"), len(values))
        data = b"".join(value.to_bytes(8, "little", signed=True) for value in values)
        return self.attribute("tensor_v1", type_, data=data)

    def forms(
        self,
        op: str,
        operands: Sequence[int] = (),
        results: Sequence[int] = (),
        others: Sequence[tuple[str, Sequence[int]]] = (),
        attributes: Mapping[str, int] | None = None,
    ) -> dict[str, bool | None]:
        """Return the forms of a module that holds the op, and others without attributes.

        Attributes that are not given are locations, which no op has.
        """
        names = ["builtin.module", f"vhlo.{op}", *(f"vhlo.{name}" for name, _ in others)]
        entries = [
            [(attributes or {}).get(name, 0) if at == 0 else 0 for name in row_of(one).attributes]
            for at, one in enumerate((op, *(name for name, _ in others)))
        ]
        body = [operation(1, results=results, operands=range(len(operands)), properties=0)]
        body += [
            operation(2 + at, results=given, properties=1 + at)
            for at, (_, given) in enumerate(others)
        ]
        values = len(operands) + len(results) + sum(len(given) for _, given in others)
        top = operation(0, regions=[region(body, values, operands)], isolated=True)
        written = Written(
            names,
            self.attributes,
            self.types,
            [b"".join(map(varint, numbers)) for numbers in entries],
            [top],
            producer="StableHLO_v1.9.0",
        )
        return _forms(bytes(written))

    def constant(self, type_: int, data: bytes) -> Step:
        """Return an op that gives a constant."""
        return Step(
            "constant_v1", [], type_, {"value": self.attribute("tensor_v1", type_, data=data)}
        )

    def forms_of(self, arguments: Sequence[int], steps: Sequence[Step]) -> dict[str, bool | None]:
        """Return the forms of a module with ops one after the other."""
        return _forms(self.written(arguments, steps))

    def written(self, arguments: Sequence[int], steps: Sequence[Step]) -> bytes:
        """Return a module with ops one after the other.

        Values are numbered: first the arguments, then the results of each op.
        """
        applied = [name for step in steps if step.body for name in (step.body, END)]
        names = list(dict.fromkeys([*(step.op for step in steps), *applied]))
        entries = [
            [step.attributes.get(name, 0) for name in row_of(step.op).attributes] for step in steps
        ]
        values = len(arguments) + sum(len(step.results) for step in steps)
        body = [
            operation(
                1 + names.index(step.op),
                results=step.results,
                operands=step.operands,
                properties=at,
                regions=[_applying(names, step, values)] if step.body else (),
            )
            for at, step in enumerate(steps)
        ]
        top = operation(0, regions=[region(body, values, arguments)], isolated=True)
        made = Written(
            ["builtin.module", *(f"vhlo.{name}" for name in names)],
            self.attributes,
            self.types,
            [b"".join(map(varint, numbers)) for numbers in entries],
            [top],
            self.strings,
            producer="StableHLO_v1.9.0",
        )
        return bytes(made)


def _applying(names: Sequence[str], step: Step, values: int) -> bytes:
    """Return the region of an op: its arguments are numbered behind all other values."""
    both = [values, values + 1]
    made = operation(1 + names.index(step.body), results=[step.scalar], operands=both)
    last = operation(1 + names.index(END), operands=[values + 2])
    return region([made, last], 3, [step.scalar, step.scalar])


class Step(NamedTuple):
    """One op of several.

    Args:
        op: Its name, as `add_v1`.
        operands: The values that it takes.
        given: The type of its result, or those of its results.
        attributes: Its attributes by their numbers; a location where there is none.
        body: The op that it applies to two scalars, as `add_v1`.
        scalar: Their type, and that of what it gives.
    """

    op: str
    operands: Sequence[int]
    given: int | Sequence[int]
    attributes: Mapping[str, int] = {}
    body: str = ""
    scalar: int = 0

    @property
    def results(self) -> Sequence[int]:
        """The types of its results."""
        return [self.given] if isinstance(self.given, int) else self.given


Part: TypeAlias = tuple[Sequence[int], Sequence[Step]]
"""The types of arguments, and the ops behind them, as `Program.written` takes them."""


def joined(parts: Iterable[Part]) -> Part:
    """Return the ops of several programs of one `Program`, one behind the other."""
    known = [*parts]
    arguments = [one for given, _ in known for one in given]
    steps: list[Step] = []
    taken, values = 0, len(arguments)
    for given, inner in known:
        own, first = len(given), values
        for step in inner:
            numbers = [taken + at if at < own else first + at - own for at in step.operands]
            steps.append(step._replace(operands=numbers))
            values += len(step.results)
        taken += own
    return arguments, steps


def _code(kind: str, name: str) -> int:
    codes = {layout.name: code for code, layout in reversed(table("vhlo", kind).items())}
    return codes[name]


def _forms(data: bytes) -> dict[str, bool | None]:
    """Return for each form whether an artifact has it."""
    return dict.fromkeys(FORMS, False) | dict(examine(Artifact.from_bytes(data)).forms)
