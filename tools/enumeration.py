"""Enumerate the StableHLO language as an installed library offers it, and compare what it writes.

The programs of `tools/families` show what is known; this finds what is not. It takes one program
for every form of every op and varies it by what the *library* says that there is: every element
type that its bindings have, the same for all operands and results and different ones, every value
of every enum (its parser lists them), every optional attribute present and absent, every small
integer, every field of a dot algorithm. What the library's verifier accepts is serialized at every
target; the profile of a program shows at which targets that succeeds.

    python -m tools enumeration                  compare the profiles with the tables
    python -m tools enumeration --write FILE     write the profiles
    python -m tools enumeration --against FILE   compare with the profiles of another library

`--part I/N` takes one of N parts of the programs, `--only OP` those of one op. What differs and is
not listed in `compat_tests/data/enumerated.toml` is printed, and the exit code is 1. Everything
takes most of an hour; `compat_tests/real/test_enumeration.py` holds a sample.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from portable.bytecode import read
from portable.features import Strictness, analyze
from tools.full_scan import Scanner
from tools.programs import load_programs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["Enumeration", "Found", "element_types", "enum_values", "forms", "part"]

_PREFIX = "stablehlo."
_CONSTANT = "stablehlo.constant"
_QUANTIZED = (
    *(f"!quant.uniform<{s}:f32, 5.0e-1>" for s in ("i4", "u4", "i8", "u8", "i16", "i32")),
    *(f"!quant.uniform<i8:{expressed}, 5.0e-1>" for expressed in ("f16", "bf16", "f64")),
    *(f"!quant.uniform<{s}:f32, 5.0e-1>" for s in ("f8E4M3FN", "f8E5M2")),
    "!quant.uniform<i8:f32:0, {5.0e-1, 2.5e-1}>",
)
_INTEGERS = tuple(f"{sign}{width}" for sign in ("i", "ui") for width in (1, 2, 4, 8, 16, 32, 64))
# Types that are no tensors of a static shape.
_WHOLE = (
    "!stablehlo.token",
    "!stablehlo.future<tensor<2xf32>>",
    "tuple<tensor<2xf32>>",
    "memref<2xf32>",
    "tensor<*xf32>",
    "tensor<?xf32, #stablehlo.bounds<4>>",
    "f32",
    "none",
)
_ZEROS = ("0.0", "0", "(0.0, 0.0)", "(0, 0)", "false")
_SMALL = range(6)
_COLOURED = 5
_PAIRS = 400
_COMBINED = "findings"
_LISTED = Path(__file__).parent.parent / "compat_tests" / "data" / "enumerated.toml"


def forms(library: Path) -> frozenset[str]:
    """Return the names of VHLO's ops, types and attributes that stand in a library's binaries.

    Args:
        library: The folder of the library, for example `site-packages/jaxlib`.
    """
    pattern = re.compile(rb"vhlo\.([A-Za-z0-9_]+_v[0-9]+)(?![A-Za-z0-9_])")
    return frozenset(
        name.decode()
        for path in sorted(library.rglob("*.so"))
        for name in pattern.findall(path.read_bytes())
    )


def enum_values(scanner: Scanner, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the values of every enum attribute of VHLO: the parser lists them when it refuses one.

    Args:
        scanner: The library.
        names: The attributes to try, for example those that `forms` found.
    """
    listed = re.compile(r"to be one of: ([\w, ]+)")
    found = {}
    for name in sorted(names):
        match = listed.search(scanner.refusal(f"#vhlo<{name} UNHEARD_OF>"))
        if match:
            found[name] = tuple(match[1].split(", "))
    return found


def element_types(ir: Any) -> tuple[str, ...]:
    """Return every element type that the bindings have, as MLIR text."""
    kinds: list[Any] = [kind for kind in vars(ir).values() if isinstance(kind, type)]
    floats = [
        str(kind.get())
        for kind in kinds
        if issubclass(kind, ir.FloatType) and kind is not ir.FloatType
    ]
    complexes = tuple(f"complex<{name}>" for name in floats)
    return (*_INTEGERS, *sorted(floats), *complexes, *_QUANTIZED, "index")


@dataclass(frozen=True, slots=True)
class Found:
    """One program that the library's verifier accepts.

    Args:
        name: The op, the program that was varied, and how.
        profile: One character for each target, 1 where the program is written.
        newest: The artifact at the newest target that it is written at; None if there is none.
    """

    name: str
    profile: str
    newest: bytes | None


class Form(NamedTuple):
    """What an op has, without its types and the values of its attributes."""

    op: str
    operands: int
    results: int
    blocks: tuple[int, ...]
    attributes: tuple[str, ...]

    @classmethod
    def of(cls, operation: Any) -> Form:
        """Return the form of an op."""
        return cls(
            operation.name,
            len(operation.operands),
            len(operation.results),
            tuple(len(region.blocks) for region in operation.regions),
            tuple(sorted(_named(operation))),
        )


class Enumeration:
    """The programs of one library.

    Args:
        scanner: The library.
        part: Which of how many parts of the programs to take, from 1 on.
        only: Take those of one op.
    """

    def __init__(self, scanner: Scanner, *, part: tuple[int, int] = (1, 1), only: str = "") -> None:
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import stablehlo

        self.ir: Any = ir
        self._stablehlo: Any = stablehlo
        self._scanner = scanner
        self._part = part
        self._only = only
        self._location = ir.Location.unknown(scanner.context)
        with self._location:
            self.elements = self._types(element_types(ir))
            self.whole = self._types(_WHOLE)
        package = Path(ir.__file__).parent.parent
        values = enum_values(scanner, forms(package))
        self.enums = {name.removesuffix("_v1"): names for name, names in values.items()}

    def __iter__(self) -> Iterator[Found]:
        """Yield every program that is accepted, with its profile."""
        return itertools.starmap(self._written, self._accepted())

    def lowest(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name of every program, and its artifact at the first target that writes it."""
        for name, module in self._accepted():
            artifacts = (self._serialized(module, target) for target in self._scanner.targets)
            artifact = next(filter(None, artifacts), None)
            if artifact is not None:
                yield name, artifact

    def _accepted(self) -> Iterator[tuple[str, Any]]:
        """Yield every program that is accepted: one module, changed in place for the next."""
        part, parts = self._part
        turn = itertools.cycle(range(1, parts + 1))
        with self._location:
            for template in self._templates():
                for variation in template.variations():
                    if next(turn) == part and template.valid():
                        yield f"{template.name}: {variation}", template.module

    def _types(self, texts: Iterable[str]) -> dict[str, Any]:
        return {
            text: kind for text in texts if (kind := self.parsed(self.ir.Type, text)) is not None
        }

    def parsed(self, kind: Any, text: str) -> Any:
        """Parse a type or an attribute; None if it is none."""
        try:
            return kind.parse(text, self._scanner.context)
        except (self.ir.MLIRError, TypeError):  # the bindings have no class for complex constants
            return None

    @cached_property
    def tensors(self) -> dict[str, Any]:
        """The element types that a tensor of StableHLO may have: those that can be reshaped."""
        name, text, at, _ = next(p for p in self._programs if p[-1].op == "stablehlo.reshape")
        template = _Template(self, name, self._scanner.parse(text), at, mixes=False)
        same = template.variations()
        next(same)
        taken = [n for n, _ in zip(self.elements, same, strict=False) if template.valid()]
        return {element: self.elements[element] for element in taken}

    @cached_property
    def _programs(self) -> list[tuple[str, str, int, Form]]:
        """Every op in every program: the program's name and text, where the op is, its form."""
        found = []
        # Last those of several ops, where one that is varied alone seldom fits the others.
        for program in sorted(load_programs(), key=lambda one: one.family == _COMBINED):
            try:
                module = self._scanner.parse(program.text)
            except self._scanner.parse_error:  # newer than the library
                continue
            for at, op in enumerate(_operations(module)):
                if op.name.startswith(_PREFIX):
                    found.append((program.name, program.text, at, Form.of(op)))
        return found

    @cached_property
    def values(self) -> dict[tuple[str, str], list[str]]:
        """The values that attributes have in all programs, by op and attribute."""
        found: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for _, text, at, form in self._programs:
            if form.op == _CONSTANT:  # its value goes with its type
                continue
            module = self._scanner.parse(text)
            subject = _operations(module)[at]
            for name in form.attributes:
                found[form.op, name][str(subject.attributes[name])] = None
        return {key: list(texts) for key, texts in found.items()}

    @property
    def ops(self) -> frozenset[str]:
        """The ops that are varied."""
        return frozenset(form.op for *_, form in self._programs)

    def _templates(self) -> Iterator[_Template]:
        """Yield one program for every form of every op."""
        seen: set[Form] = set()
        for name, text, at, form in self._programs:
            op = form.op.removeprefix(_PREFIX)
            bare = form._replace(attributes=())
            if form not in seen and self._only in {"", op}:
                module = self._scanner.sourceless(self._scanner.parse(text))
                # Other attributes do not let an op have other types.
                mixes = bare not in seen
                seen |= {form, bare}
                yield _Template(self, f"{op} of {name}", module, at, mixes=mixes)

    def _written(self, name: str, module: Any) -> Found:
        artifacts = [self._serialized(module, target) for target in self._scanner.targets]
        profile = "".join("0" if artifact is None else "1" for artifact in artifacts)
        return Found(name, profile, next(filter(None, reversed(artifacts)), None))

    def _serialized(self, module: Any, target: str) -> bytes | None:
        copy = self.ir.Module.create()
        for operation in module.body.operations:
            copy.body.append(operation.operation.clone())
        try:
            return bytes(self._stablehlo.serialize_portable_artifact(copy, target, False))
        except ValueError:
            return None

    @cached_property
    def optional(self) -> dict[str, tuple[str, ...]]:
        """The attributes of each op that the bindings let be deleted, by op."""
        from jaxlib.mlir.dialects import _stablehlo_ops_gen

        kinds: list[Any] = [
            kind
            for kind in vars(_stablehlo_ops_gen).values()
            if isinstance(kind, type) and issubclass(kind, self.ir.OpView)
        ]
        return {
            kind.OPERATION_NAME: tuple(
                name
                for name, value in vars(kind).items()
                if isinstance(value, property) and value.fdel is not None
            )
            for kind in kinds
        }


def _operations(module: Any) -> list[Any]:
    """Return the ops of `main` that are varied."""
    for function in module.body.operations:
        operation = function.operation
        named = operation.name == "func.func" and operation.attributes["sym_name"].value == "main"
        if named and operation.regions[0].blocks:
            return [op.operation for op in operation.regions[0].blocks[0].operations]
    return []


def _named(operation: Any) -> list[str]:
    """Return the names of an op's attributes; older bindings iterate over named attributes."""
    return [item if isinstance(item, str) else item.name for item in operation.attributes]


class _Template:
    """A program of which one op is varied in place.

    Args:
        enumeration: What there is to vary by.
        name: What the program shows.
        module: The program; owned by this.
        at: The number of the op among those of `main`.
        mixes: Whether to vary two types at a time.
    """

    def __init__(
        self, enumeration: Enumeration, name: str, module: Any, at: int, *, mixes: bool
    ) -> None:
        self._mixes = mixes
        self.name = name
        self.module = module
        self._all = enumeration
        self._ir = enumeration.ir
        self._main = next(
            f.operation
            for f in module.body.operations
            if f.operation.name == "func.func"
            and f.operation.attributes["sym_name"].value == "main"
        )
        self._op = _operations(module)[at]
        # Values whose type is varied together: each operand, each result, each region.
        values = [[value] for value in self._op.operands if self._is_argument(value)]
        values += [[value] for value in self._op.results]
        values += [_inside(region) for region in self._op.regions]
        self._slots = [_Slot(self._ir, each) for each in values if each]

    def valid(self) -> bool:
        """Have the library verify the program as it is now."""
        block = self._main.regions[0].blocks[0]
        last = block.operations[len(block.operations) - 1].operation
        kind = self._ir.FunctionType.get(
            [argument.type for argument in block.arguments], [value.type for value in last.operands]
        )
        self._main.attributes["function_type"] = self._ir.TypeAttr.get(kind)
        try:
            return bool(self.module.operation.verify())
        except self._ir.MLIRError:
            return False

    def variations(self) -> Iterator[str]:
        """Vary the program in place; yield what it is now, and restore it in the end."""
        yield "as it is"
        yield from self._same()
        if self._mixes:
            yield from self._typed()
        yield from self._attributed()

    def _is_argument(self, value: Any) -> bool:
        return isinstance(value.owner, self._ir.Block)

    def _typed(self) -> Iterator[str]:
        """Vary the types: two, two and one as it was, and types that are no tensors."""
        count = len(self._slots)
        elements = self._all.tensors.items()
        for (one, first), (other, second) in itertools.permutations(elements, 2):
            for colours in _colourings(count):
                kept = [colour == _KEPT for colour in colours]
                for slot, colour, keeps in zip(self._slots, colours, kept, strict=True):
                    if not keeps:
                        slot.set_element(second if colour else first)
                self._retype_value()
                yield "".join(_LETTERS[colour] for colour in colours) + f" {one} {other}"
                self._restore_types()
        for name, kind in self._all.whole.items():
            for at, slot in enumerate(self._slots):
                slot.set_type(kind)
                yield f"slot {at} {name}"
                slot.restore()

    def _same(self) -> Iterator[str]:
        for name, kind in self._all.elements.items():
            for slot in self._slots:
                slot.set_element(kind)
            self._retype_value()
            yield f"all {name}"
            self._restore_types()

    def _restore_types(self) -> None:
        for slot in self._slots:
            slot.restore()
        self._retype_value()

    def _retype_value(self) -> None:
        """Give a constant a value of its type."""
        if self._op.name == _CONSTANT:
            kind = self._op.results[0].type
            values = (self._all.parsed(self._ir.Attribute, f"dense<{z}> : {kind}") for z in _ZEROS)
            value = next((each for each in values if each is not None), None)
            if value is not None:
                self._op.attributes["value"] = value

    def _attributed(self) -> Iterator[str]:
        """Vary one attribute with all types, and every two of them."""
        op = self._op.name
        names = sorted({*_named(self._op), *self._all.optional.get(op, ())})
        if op == _CONSTANT:
            return
        choices = {name: list(self._choices(name)) for name in names}
        yield from self._one_changed(choices)
        for (one, firsts), (other, seconds) in itertools.combinations(choices.items(), 2):
            if len(firsts) * len(seconds) <= _PAIRS:
                yield from self._two_changed(one, firsts, other, seconds)

    def _one_changed(self, choices: Mapping[str, Sequence[str | None]]) -> Iterator[str]:
        for name, texts in choices.items():
            for text in texts:
                with _Changed(self, name, text) as is_changed:
                    if is_changed:
                        yield f"{name} = {text}"
                        if text and _ENUM.search(text):
                            for variation in self._same():
                                yield f"{name} = {text}, {variation}"

    def _two_changed(
        self, one: str, firsts: Sequence[str | None], other: str, seconds: Sequence[str | None]
    ) -> Iterator[str]:
        for first, second in itertools.product(firsts, seconds):
            with _Changed(self, one, first) as is_one, _Changed(self, other, second) as is_other:
                if is_one and is_other:
                    yield f"{one} = {first}, {other} = {second}"

    def _choices(self, name: str) -> Iterator[str | None]:
        """Yield other texts of an attribute; None is to leave it out."""
        present = name in self._op.attributes
        text = str(self._op.attributes[name]) if present else ""
        if present:
            yield None
        seen = {text}
        known = self._all.values.get((self._op.name, name), [])
        for other in (
            *known,
            *itertools.chain(*map(self._varied, {text: 0, **dict.fromkeys(known)})),
        ):
            if other not in seen:
                seen.add(other)
                yield other

    def _varied(self, text: str) -> Iterator[str]:
        """Yield an attribute's text with one part replaced, and a dot algorithm in all its ways."""
        for match in _PART.finditer(text):
            for part in self._parts(match[0], match["enum"]):
                yield text[: match.start()] + part + text[match.end() :]
        if text.startswith("#stablehlo.dot_algorithm"):
            yield from self._algorithms()

    def _parts(self, part: str, enum: str | None) -> Iterable[str]:
        if enum:
            return (
                part.replace(part.split()[1], f"{value}>")
                for value in self._all.enums.get(enum, ())
            )
        if part in {"true", "false"}:
            return ("true", "false")
        return map(str, _SMALL)

    def _algorithms(self) -> Iterator[str]:
        floats = [name for name in self._all.elements if name[0] in "bft" and "<" not in name]
        for left, right, sum_ in itertools.product(floats, floats, floats):
            counts = _COUNTS if left == right else [(1, 1, 1)]
            for one, other, operations in counts:
                for imprecise in ("false", "true"):
                    yield (
                        f"#stablehlo.dot_algorithm<lhs_precision_type = {left}, "
                        f"rhs_precision_type = {right}, accumulation_type = {sum_}, "
                        f"lhs_component_count = {one}, rhs_component_count = {other}, "
                        f"num_primitive_operations = {operations}, "
                        f"allow_imprecise_accumulation = {imprecise}>"
                    )

    @property
    def op(self) -> Any:
        """The op that is varied."""
        return self._op

    def attribute(self, text: str) -> Any:
        """Parse an attribute; None if it is none."""
        return self._all.parsed(self._ir.Attribute, text)


class _Changed:
    """An attribute that is changed for a while, if that is possible."""

    def __init__(self, template: _Template, name: str, text: str | None) -> None:
        self._attributes = template.op.attributes
        self._name = name
        present = name in self._attributes
        self._before = self._attributes[name] if present else None
        self._text = text
        self._after = None if text is None else template.attribute(text)

    def __enter__(self) -> bool:
        if self._after is not None:
            self._attributes[self._name] = self._after
        elif self._text is None and self._before is not None:
            del self._attributes[self._name]
        else:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            self._attributes[self._name] = self._before
        elif self._name in self._attributes:
            del self._attributes[self._name]


class _Slot:
    """Values whose types are varied together."""

    def __init__(self, ir: Any, values: Sequence[Any]) -> None:
        self._ir = ir
        self._values = [(value, value.type) for value in values]
        self._element = _element(values[0].type)

    def set_element(self, element: Any) -> None:
        """Give all tensors that have the element type of the first another one."""
        for value, kind in self._values:
            if _element(kind) == self._element:
                value.set_type(_with_element(self._ir, kind, element))

    def set_type(self, kind: Any) -> None:
        """Give all values another type altogether."""
        for value, _ in self._values:
            value.set_type(kind)

    def restore(self) -> None:
        """Give all values their own type back."""
        for value, kind in self._values:
            value.set_type(kind)


def _element(kind: Any) -> Any:
    return kind.element_type if hasattr(kind, "element_type") else None


def _with_element(ir: Any, kind: Any, element: Any) -> Any:
    if isinstance(kind, ir.RankedTensorType):
        return ir.RankedTensorType.get(kind.shape, element, kind.encoding)
    return kind


def _inside(region: Any) -> list[Any]:
    """Return the arguments of a region and the results of its ops."""
    return [
        value
        for block in region.blocks
        for value in (
            *block.arguments,
            *(result for op in block.operations for result in op.operation.results),
        )
    ]


_KEPT = 2
_LETTERS = "ab-"
_ENUM = re.compile(r"#stablehlo<(?P<enum>\w+) (?P<value>\w+)>")
# Parts of attributes that are varied: values of enums, integers that have a name or stand alone.
_PART = re.compile(_ENUM.pattern + r"|^\d+(?= : i)|(?<== )\d+\b|\btrue\b|\bfalse\b")
_COUNTS = [*itertools.product(range(1, 4), range(1, 4), range(1, 11))]


def _colourings(count: int) -> Iterator[tuple[int, ...]]:
    """Yield which slots have the first type, which the second, and which one keeps its own."""
    if count > _COLOURED:
        # Too many for all: one of them is different, or all from one on.
        yield from (tuple(int(at == one) for at in range(count)) for one in range(count))
        yield from (tuple(int(at >= one) for at in range(count)) for one in range(2, count - 1))
        return
    for kept in (None, *range(count)):
        free = count - (kept is not None)
        for others in itertools.product((0, 1), repeat=free - 1) if free else ():
            if any(others):
                colours = [0, *others]
                if kept is not None:
                    colours.insert(kept, _KEPT)
                yield tuple(colours)


@dataclass(frozen=True, slots=True)
class Surprise:
    """Programs of one op about which the tables and the library do not agree.

    Args:
        op: The op.
        predicted: The minimum target by the tables.
        written: The targets at which the library writes it.
        names: The programs.
    """

    op: str
    predicted: str
    written: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        shown = "; ".join(self.names[:_SHOWN])
        return (
            f"{self.op}: {len(self.names)} programs, predicted {self.predicted}, written at "
            f"{self.written or 'no target'}: {shown}"
        )


_SHOWN = 4


def spans(profile: str, targets: Sequence[str]) -> str:
    """Write the targets of a profile as spans, for example `0.9.0-0.19.0 1.20.0-1.22.0`."""
    found = []
    for mark, group in itertools.groupby(zip(profile, targets, strict=True), lambda pair: pair[0]):
        members = [target for _, target in group]
        if mark == "1":
            found.append(f"{members[0]}-{members[-1]}")
    return " ".join(found)


def surprises(programs: Iterable[Found], targets: Sequence[str]) -> list[Surprise]:
    """Compare what is written with what the tables of `features/` say.

    Args:
        programs: The programs of a library.
        targets: The targets that it writes.

    Returns:
        Where they do not agree and that is not listed, by op, prediction and profile.
    """
    rows = tomllib.loads(_LISTED.read_text("utf-8"))["listed"]
    listed = {(row["op"], row["predicted"], row["written"]) for row in rows}
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for found in programs:
        if found.newest is None:
            predicted = "no target"
            expected = ""
        else:
            analysis = analyze(read(found.newest), strictness=Strictness.UPSTREAM)
            predicted = str(analysis.minimum.version)
            expected = f"{predicted}-{targets[-1]}"
        written = spans(found.profile, targets)
        if written != expected:
            op = found.name.partition(" ")[0]
            groups[op, predicted, written].append(found.name)
    return [
        Surprise(*key, tuple(names)) for key, names in sorted(groups.items()) if key not in listed
    ]


def part(text: str) -> tuple[int, int]:
    """Read which of how many parts: `I/N`."""
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if not found or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N with I from 1 to N")
    return int(found[1]), int(found[2])


def main() -> int:
    """Enumerate and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--part", type=part, default=(1, 1), metavar="I/N")
    parser.add_argument("--only", default="", metavar="OP")
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--against", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    scanner = Scanner()
    enumeration = Enumeration(scanner, part=arguments.part, only=arguments.only)
    programs = list(enumeration)
    profiles = {found.name: spans(found.profile, scanner.targets) for found in programs}
    if arguments.write:
        arguments.write.write_text(json.dumps(profiles, indent=0), "utf-8")
    told = [str(surprise) for surprise in surprises(programs, scanner.targets)]
    if arguments.against:
        other = json.loads(arguments.against.read_text("utf-8"))
        told += list(differences(other, profiles))
    for line in told:
        print(line)
    return int(bool(told))


def differences(older: Mapping[str, str], newer: Mapping[str, str]) -> Iterator[str]:
    """Yield what one library accepts or writes and the other does not, by op and targets.

    Args:
        older: The profiles of the older library, as spans.
        newer: The profiles of the newer one.
    """
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name in sorted({*older, *newer}):
        before, after = older.get(name, "refused"), newer.get(name, "refused")
        # The newer one writes for Versions that the older one does not have.
        if before.rpartition("-")[0] != after.rpartition("-")[0]:
            groups[name.partition(" ")[0], before, after].append(name)
    for (op, before, after), names in groups.items():
        yield f"{op}: {len(names)} programs, {before} before, {after} now: {names[0]}"


if __name__ == "__main__":
    sys.exit(main())
