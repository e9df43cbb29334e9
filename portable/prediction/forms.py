"""Forms that no single name shows: what refusals and Advisories name, found in the bytes.

What a table names in words that are not here cannot be found in the bytes, and is a warning.
"""

from __future__ import annotations

import functools
import struct
from array import array
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

from portable.bytecode.entries import ATTRIBUTES, TYPES, Blob
from portable.bytecode.layouts import BUILTIN, VHLO
from portable.bytecode.vhlo import enum_case
from portable.features.verifier import lacks_defaults
from portable.prediction import quantized
from portable.prediction.applied import APPLIED
from portable.prediction.bodies import BODIES
from portable.prediction.branches import BRANCHES
from portable.prediction.by_parts import BY_PARTS
from portable.prediction.canonical import Canonical, branch_ends, is_canonical
from portable.prediction.complexes import COMPLEXES
from portable.prediction.computing import (
    COMMUNICATING,
    COMPUTED,
    TWO_BITS,
    ends_of,
    first_of,
)
from portable.prediction.constants import CONSTANTS
from portable.prediction.convolved import CONVOLVED
from portable.prediction.corners import CORNERS
from portable.prediction.entry import ENTRY, aliased, dictionaries
from portable.prediction.few_bits import FEW_BITS
from portable.prediction.flow import Flow
from portable.prediction.folded import folded
from portable.prediction.form import (
    CONVOLUTIONS,
    DYNAMIC_CONVOLUTIONS,
    MOST_DIMENSIONS,
    MOST_NUMBERS,
    FormRule,
    FormSearch,
    attributes,
    key,
    kinds,
    ops,
    types,
)
from portable.prediction.functions import Functions
from portable.prediction.fused import FUSED
from portable.prediction.hoisted import HOISTED
from portable.prediction.indices import INDICES
from portable.prediction.lapack import LAPACK
from portable.prediction.layouts import LAYOUTS
from portable.prediction.looped import LOOPED
from portable.prediction.loops import LOOPS
from portable.prediction.magnitudes import Magnitudes
from portable.prediction.masks import MASKS
from portable.prediction.merged import MERGED
from portable.prediction.moved import MOVED
from portable.prediction.nans import nan_of
from portable.prediction.narrowed import NARROWED
from portable.prediction.parts import PARTS
from portable.prediction.plain import PLAIN, PlainOps
from portable.prediction.products import DOT, PRODUCTS, prescribes_algorithm
from portable.prediction.quantized import QUANTIZED
from portable.prediction.ranges import Bounds
from portable.prediction.returned import RETURNED
from portable.prediction.rounded import ROUNDED
from portable.prediction.scattered import SCATTERED
from portable.prediction.signatures import FLOATS
from portable.prediction.signs import SIGNS
from portable.prediction.simplified import (
    SIMPLIFIED,
    added,
    decided_by_sign,
    numbers_of,
)
from portable.prediction.specials import SPECIALS
from portable.prediction.summed import SUMMED
from portable.prediction.unneeded import UNNEEDED
from portable.prediction.unrounded import UNROUNDED
from portable.prediction.unsigned import UNSIGNED
from portable.prediction.unused import used
from portable.prediction.varying import Varying
from portable.prediction.verified import VERIFIED
from portable.prediction.walk import CONSTANT, MOST_KEPT, Walk
from portable.releases import advisories
from portable.releases.refusal import refusals
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from portable.bytecode import Bytecode, MalformedArtifact
    from portable.bytecode.encoding import Buffer
    from portable.bytecode.operations import Head, Operation, OpSignature
    from portable.bytecode.view import View
    from portable.prediction.flow import Value
    from portable.prediction.plain import Made
    from portable.prediction.simplified import Added, Numbers

__all__ = ["FORMS", "KINDS", "LOCATIONS", "Reading", "forms_in"]

KINDS = frozenset({"op", "type", "attribute", "location", "dialect"})
"""What `Reading.present` returns."""

_NAME = "location_"
LOCATIONS = ("call_site", "file_line_col", "file_line_col_range", "fused", "name")

_CONSTANT = CONSTANT.rpartition("_v")[0]
# By real/test_settled.py.
_SETTLING = kinds(
    "abs add broadcast_in_dim clamp complex convert cosine divide exponential imag log"
    " logistic maximum minimum multiply negate real remainder reshape round_nearest_afz"
    " round_nearest_even rsqrt sign sine slice sqrt subtract tanh"
)


# What is known of a `Reading` whatever its ops are, and what of one with the same ops elsewhere.
_OF_ANY_OP = frozenset({"attribute_names", "ends", "first", "floats"})
_OF_ANY_ORDER = _OF_ANY_OP | {"kinds", "occurring", "present"}


class Reading:
    """An artifact's ops and entries, by name.

    Args:
        content: The artifact, opened.
        data: Its bytes.

    Attributes:
        names: The names of ops, as `vhlo.tan_v1`, by their numbers.
        types: The names of types, as `i4_v1`: an op of others need not be looked for.
        unread: What was too long to be looked into, in words.
        reader: What reads the ops otherwise than they stand there; None for as they do.
    """

    def __init__(self, content: Bytecode, data: Buffer | View) -> None:
        self.content = content
        self.data = data
        pool = content.pool
        self.types = frozenset(pool.type_names())
        self.names = [str(name) for name in content.names]
        # To read the operations takes longest: once, also for the analysis of Features.
        self.signatures = content.scan(range(len(self.names))).signatures
        # Several entries of the table of names can be the same name.
        self._by_op: dict[str, list[OpSignature]] = {}
        for signature in self.signatures:
            self._by_op.setdefault(self.names[signature.name], []).append(signature)
        self.ops: frozenset[str] = frozenset(self._by_op)
        self._elements: dict[int, str] = {}
        self._numbers: dict[int, tuple[int, ...]] = {}
        self.unread: set[str] = set()
        self.reader: Canonical | PlainOps | None = None
        self._made: Mapping[int, Made] = {}

    def of(self, *ops: str) -> Sequence[OpSignature]:
        """Return the op signatures of some ops."""
        if len(ops) == 1:  # most forms are of one op, which most artifacts lack
            return self._by_op.get(ops[0], ())
        if self.ops.isdisjoint(ops):
            return ()
        return [signature for op in ops for signature in self._by_op.get(op, ())]

    @cached_property
    def kinds(self) -> list[str]:
        """The names of ops without their versions, as `vhlo.tan`, by their numbers."""
        return [name.rpartition("_v")[0] for name in self.names]

    @cached_property
    def communicating(self) -> list[tuple[str, str]]:
        """The collective ops, each without its version and with it."""
        pairs = ((name.rpartition("_v")[0], name) for name in self.ops)
        return [(kind, name) for kind, name in pairs if kind in COMMUNICATING]

    @cached_property
    def functions(self) -> Functions:
        """The functions, and what calls them."""
        return Functions(self)

    @cached_property
    def main(self) -> Head | None:
        """The function with which a program begins."""
        main = self.functions.main
        return None if main < 0 else self.walk.head(main)

    @cached_property
    def function_types(self) -> frozenset[int]:
        """The types of functions; any number of functions, and of attributes, may be of one."""
        types = {self.value(one, "function_type").get("value") for one in self.of("vhlo.func_v1")}
        if not all(isinstance(index, int) for index in types):
            raise self.malformed("the type of a function is none")
        return frozenset(index for index in types if isinstance(index, int))

    def sides(self, function: object) -> tuple[list[int], list[int]]:
        """Return the types that functions of a type take, and those that they return."""
        fields = self.content.pool.type(function).fields if isinstance(function, int) else {}
        inputs, outputs = fields.get("inputs"), fields.get("outputs")
        return (
            inputs if isinstance(inputs, list) else [],
            outputs if isinstance(outputs, list) else [],
        )

    @cached_property
    def sides_of_main(self) -> tuple[list[int], list[int]]:
        """The types that main takes, and those that it returns; none without a main."""
        if self.main is None:
            return [], []
        return self.sides(self.value(self.main, "function_type").get("value"))

    @cached_property
    def edges(self) -> frozenset[int]:
        """The types that functions take or return."""
        sides = (side for index in self.function_types for side in self.sides(index))
        return frozenset().union(*sides)

    @cached_property
    def used(self) -> frozenset[tuple[object, ...]]:
        """What the ops are like that a compiler does not remove before it compiles them."""
        return used(self)

    @cached_property
    def signs(self) -> frozenset[str]:
        """How comparisons of floats may be decided by their sign."""
        return decided_by_sign(self)

    @cached_property
    def is_large(self) -> bool:
        """Whether there are so many ops that values are not followed to find what is unused."""
        return sum(self.signatures.values()) > MOST_KEPT

    @cached_property
    def folded(self) -> frozenset[int]:
        """The operations that are computed from constants alone, by their numbers in `walk`.

        A compiler may compute them, when it likes.
        """
        return folded(self)

    @cached_property
    def settled(self) -> frozenset[int]:
        """Those of `folded` that XLA computes before it changes what takes them, by their numbers.

        They are constants and what simple ops make of them, in all 45 jaxlibs, TensorFlow 2.16 to
        2.21. Some multiply by reciprocals before they compute an `iota`, `pad` or `reduce`, and
        none computes what a barrier, a loop, `cholesky` or another device gives.
        """
        found: set[int] = set()
        for number in sorted(self.folded):
            kind = self.kinds[self.walk.head(number).name]
            if kind == _CONSTANT or (
                kind in _SETTLING
                and {one[0] if one else -1 for one in self.walk[number].sources} <= found
            ):
                found.add(number)
        return frozenset(found)

    @cached_property
    def ends(self) -> Callable[[Head], tuple[int, int]]:
        """Tells the least and the largest integer of a constant, and reads each once."""
        return ends_of(self)

    @cached_property
    def first(self) -> Callable[[Head], int | None]:
        """Tells the first integer of a constant, and reads each once."""
        return first_of(self)

    @cached_property
    def floats(self) -> Numbers:
        """Tells the floating-point numbers of a constant, and reads each once."""
        return numbers_of(self)

    @cached_property
    def added(self) -> Added:
        """What is added to floats, and their type, by the numbers of operations that do."""
        return added(self)

    @cached_property
    def magnitudes(self) -> Magnitudes:
        """How great the numbers are that ops give, without NaN."""
        return Magnitudes(self)

    @cached_property
    def ranges(self) -> Bounds:
        """Between which numbers the values are, whatever the arguments are."""
        return Bounds(self)

    @cached_property
    def varying(self) -> Varying:
        """The arguments with which values vary, so that nothing can fold them."""
        return Varying(self)

    @cached_property
    def finite(self) -> Magnitudes:
        """How great the numbers are that ops give, of those that are never NaN or infinite."""
        return Magnitudes(self, finite=True)

    @cached_property
    def nan(self) -> set[Value]:
        """The values that are NaN whatever the arguments are."""
        return nan_of(self)

    @cached_property
    def flow(self) -> Flow:
        """Where values go that functions and bodies hand on."""
        return Flow(self)

    @cached_property
    def walk(self) -> Walk:
        """The ops in their order, with what they use."""
        return Walk((self.reader or self.content).uses(), self.names)

    @cached_property
    def firsts(self) -> Sequence[int]:
        """For each operation of `walk`, once that is read, where the values of its region begin."""
        found = self.reader.firsts() if self.reader else self.content.first_values()
        return array("Q", found)

    @cached_property
    def whole(self) -> Reading:
        """The program as compilers make it first, see `canonical`; itself where it is so."""
        return self if is_canonical(self) else self.canonicalized()

    def canonicalized(self) -> Reading:
        """Return the program as `canonical` reads it, whether it is so or not."""
        return self._read_by(Canonical(self), _OF_ANY_ORDER)

    def made_plain(self, *, settled: bool = True) -> Reading | None:
        """Return the program as `plain` reads it; None where no op of it becomes another.

        Args:
            settled: See there.
        """
        plain = PlainOps(self, settled=settled)
        made = self._read_by(plain, _OF_ANY_OP)
        return made if made.adopts(plain) else None

    def adopts(self, plain: PlainOps) -> bool:
        """Read the ops as plain ones, and say whether any of them becomes one."""
        self.names, self._made = plain.names, plain.made
        self.walk = Walk(plain.uses(), self.names)
        self._numbers = self._numbers | plain.numbers
        self._by_op = self._by_op | {
            op: [*self.of(op), *more] for op, more in plain.signatures.items()
        }
        self.ops = frozenset(self._by_op)
        return bool(plain.signatures)

    def _read_by(self, reader: Canonical | PlainOps, kept: frozenset[str]) -> Reading:
        made = copy(self)
        for name in vars(self).keys() - kept:
            if isinstance(getattr(Reading, name, None), cached_property):
                delattr(made, name)
        made.reader = reader
        return made

    @cached_property
    def branch_ends(self) -> Mapping[int, Sequence[int]]:
        """By each conditional, the operations that end its branches, by their numbers in `walk`."""
        return branch_ends(self)

    @cached_property
    def argument_attributes(self) -> tuple[list[int], dict[int, dict[str, object]]]:
        """The dictionaries of the arguments of main, and what is read of each of them."""
        return dictionaries(self, "arg_attrs")

    @cached_property
    def aliased(self) -> dict[int, object]:
        """The arguments of main that are to become results, each with the number of its result."""
        return aliased(self)

    @cached_property
    def result_attributes(self) -> tuple[list[int], dict[int, dict[str, object]]]:
        """As `argument_attributes`, of its results."""
        return dictionaries(self, "res_attrs")

    @cached_property
    def present(self) -> frozenset[str]:
        """What occurs, as `kind:name`."""
        pool = self.content.pool
        found = {key("op", name) for name in self.ops}
        found |= {key("dialect", dialect.name) for dialect in self.content.dialects}
        found |= {key("type", name) for name in self.types}
        found |= {key("attribute", name) for name in self.attribute_names}
        found |= {f"location:{kind}" for kind in LOCATIONS if pool.attributes_named(_NAME + kind)}
        return frozenset(found)

    @cached_property
    def occurring(self) -> frozenset[str]:
        """What `FormRule.needs` names: what is present, and each op without its version too."""
        return self.present.union(key("op", name.rpartition("_v")[0]) for name in self.ops)

    @cached_property
    def attribute_names(self) -> dict[str, list[int]]:
        """The attributes of StableHLO, by what they are."""
        pool = self.content.pool
        found: dict[str, list[int]] = {}
        for dialect, group in pool.attributes.groups():
            # There are as many of MLIR's own as there are locations.
            for index in group if dialect != BUILTIN else ():
                found.setdefault(pool.outline(ATTRIBUTES, index).name, []).append(index)
        return found

    def typed(self, name: str) -> set[int]:
        """Return the types of all attributes of a kind each of which has one."""
        pool = self.content.pool
        found = self.attribute_names.get(name, ())
        return {~pool.outline(ATTRIBUTES, index).references[0] for index in found}

    def custom_calls(self) -> Iterator[str]:
        """Yield the targets of custom calls."""
        for op in (name for name in self.ops if name.startswith("vhlo.custom_call_")):
            for signature in self.of(op):
                value = self.value(signature, "call_target_name").get("value")
                yield value if isinstance(value, str) else "?"

    def malformed(self, what: str) -> MalformedArtifact:
        """Return the error for an op that is not what its name says; the caller raises it."""
        return self.content.pool.attributes.cursor.malformed(what)

    def attribute(self, signature: OpSignature | Head, name: str) -> int | None:
        """Return the number of an op's attribute, wherever its format keeps it."""
        if made := self._made.get(signature.attributes):
            given = made.attributes.get(name)
            return self.content.inherent(made.of, name) if given is None else given
        return self.content.inherent(signature, name)

    def result(self, signature: OpSignature | Head) -> int:
        """Return the type of the first result of an op that has to have one."""
        if not signature.results:
            raise self.malformed(f"{self.names[signature.name]} has no result")
        return signature.results[0]

    def dimensions(self, type_: int | None) -> Sequence[int] | None:
        """Return the shape of a ranked tensor type; None of one that is too long."""
        if type_ is None:
            return None
        shape = self.content.pool.type(type_).fields.get("shape")
        if not isinstance(shape, list):
            return None
        if len(shape) > MOST_DIMENSIONS:
            self.unread.add(f"tensor of more than {MOST_DIMENSIONS} dimensions")
            return None
        return shape

    def gives(self, op: OpSignature | Head, elements: Container[str]) -> bool:
        """Say whether a result of an op is a tensor of some element types."""
        return any(self.element(type_) in elements for type_ in op.results)

    def element(self, type_: int) -> str:
        """Return the name of the element type of a tensor type."""
        known = self._elements.get(type_)
        if known is None:
            inner = self.content.pool.type(type_).fields.get("element")
            known = self.content.pool.type(inner).name if isinstance(inner, int) else ""
            self._elements[type_] = known
        return known

    def part(self, type_: int) -> str:
        """Return the name of the element type of a tensor type: of complex numbers, of a part."""
        pool = self.content.pool
        inner = pool.type(type_).fields.get("element")
        if isinstance(inner, int) and pool.type(inner).name == "complex_v1":
            inner = pool.type(inner).fields.get("element")
        return pool.type(inner).name if isinstance(inner, int) else ""

    def value(self, signature: OpSignature | Head, attribute: str) -> Mapping[str, object]:
        """Return the fields of an op's attribute; none if it has no such."""
        index = self.attribute(signature, attribute)
        return {} if index is None else self.content.pool.attribute(index).fields

    def case(self, op: OpSignature | Head, attribute: str) -> str | None:
        """Return which case of its enum an op's attribute is, such as `LT`; None without one."""
        index = self.attribute(op, attribute)
        return None if index is None else self.case_at(index)

    def case_at(self, index: int) -> str | None:
        """Return which case of its enum an attribute is; None of another attribute."""
        entry = self.content.pool.attribute(index)
        return enum_case(entry.name, entry.fields.get("value"))

    def numbers(self, op: OpSignature | Head, attribute: str) -> tuple[int, ...]:
        """Return the elements of an op's attribute that is a tensor of i64, without their signs.

        They are none where there is no such attribute, or it is too long.
        """
        index = self.attribute(op, attribute)
        return () if index is None else self.numbers_at(index)

    def numbers_at(self, index: int) -> tuple[int, ...]:
        """Return what `numbers` does, of an attribute by its number."""
        if index not in self._numbers:
            self._numbers[index] = self._unpacked(index)
        return self._numbers[index]

    def _unpacked(self, index: int) -> tuple[int, ...]:
        data = self.content.pool.attribute(index).fields.get("data")
        count = data.size // 8 if isinstance(data, Blob) else 0
        if count > MOST_NUMBERS:
            self.unread.add(f"attribute of more than {MOST_NUMBERS} numbers of dimensions")
        if not isinstance(data, Blob) or not 0 < count <= MOST_NUMBERS:
            return ()
        raw = bytes(self.data[data.offset : data.offset + 8 * count])
        return struct.unpack(f"<{count}Q", raw)


# What holds something for each value, and is computed again on use.
_FOLLOWING = ("finite", "flow", "magnitudes", "ranges", "varying")
_ALL_SET, _PACKED = 0xFF, 8
_TF32_BYTES = 4
# The ops that have several booleans as an attribute, and its name.
_BOOLEANS = {"vhlo.constant_v1": "value", **dict.fromkeys(CONVOLUTIONS, "window_reversal")}


def _booleans(reading: Reading, op: str, attribute: str) -> Iterator[tuple[int | None, Blob]]:
    """Yield how many booleans an attribute of each of some ops has, and where they are."""
    for signature in reading.of(op):
        fields = reading.value(signature, attribute)
        type_, data = fields.get("type"), fields.get("data")
        if not isinstance(type_, int) or not isinstance(data, Blob):
            continue
        if reading.element(type_) == "bool_v1":
            yield reading.content.pool.count(type_), data


def _i1_splat_constant(reading: Reading) -> bool:
    """Find a boolean constant that is stored as one value, and that with all bits set."""
    # True is written with all bits set, by the newest libraries as 1 where it is alone; what
    # reads 255 out of the one reads 1 out of the other. Up to eight booleans fit one byte when they
    # are packed, so such a byte is ambiguous.
    return any(
        count is not None
        and (count == 1 or count > _PACKED)
        and data.size == 1
        and reading.data[data.offset] == _ALL_SET
        for count, data in _booleans(reading, "vhlo.constant_v1", "value")
    )


def _differing_booleans(*ops: str) -> Callable[[Reading], bool]:
    """Find booleans of some ops that differ: they are stored as bits, and not as one value."""

    def find(reading: Reading) -> bool:
        return any(
            data.size > 1
            or (count != 1 and data.size == 1 and reading.data[data.offset] not in {0, _ALL_SET})
            for op in ops
            for count, data in _booleans(reading, op, _BOOLEANS[op])
        )

    return find


def _module_attribute(reading: Reading) -> bool:
    """Find an attribute of a module that is neither its own nor a dialect's."""
    dictionaries = {signature.attributes for signature in reading.of("builtin.module")}
    own = {"sym_name", "sym_visibility"}
    return any(
        "." not in name and name not in own
        for dictionary in dictionaries
        for name in reading.content.dictionary(dictionary)
    )


def _argument_attribute(reading: Reading) -> bool:
    """Find an attribute of a function's argument or result that is no dialect's."""
    pool = reading.content.pool
    lists = {
        reading.attribute(signature, field)
        for signature in reading.of("vhlo.func_v1")
        for field in ("arg_attrs", "res_attrs")
    }
    dictionaries = {item for index in lists for item in _items(reading, index, "elements")}
    names = {pair[0] for index in dictionaries for pair in _items(reading, index, "entries")}
    return any("." not in str(pool.attribute(name).fields.get("value", ".")) for name in names)


def _items(reading: Reading, index: int | None, field: str) -> list[Any]:
    """Return what a list or a dictionary holds; nothing for any other attribute."""
    found = None if index is None else reading.content.pool.attribute(index).fields.get(field)
    return found if isinstance(found, list) else []


def _two_bit_integer(reading: Reading) -> bool:
    """Find an attribute that is one integer of two bits."""
    pool = reading.content.pool
    return any(pool.type(type_).name in TWO_BITS for type_ in reading.typed("integer_v1"))


def _tf32_splat(reading: Reading) -> bool:
    """Find several elements of tf32 that are stored as one value."""
    pool = reading.content.pool
    for index in reading.attribute_names.get("tensor_v1", ()):
        fields = pool.attribute(index).fields
        type_, data = fields.get("type"), fields.get("data")
        if not isinstance(type_, int) or reading.element(type_) != "tf31_v1":
            continue
        if isinstance(data, Blob) and data.size <= _TF32_BYTES and pool.count(type_) != 1:
            return True
    return False


def _dynamic_conv_padding(reading: Reading) -> bool:
    """Find a dynamic_conv whose padding, the third operand, is not of rank 2."""
    for signature in reading.of(*DYNAMIC_CONVOLUTIONS):
        padding = (signature.operand_types or ())[2:3]
        dimensions = reading.dimensions(padding[0]) if padding else None
        if dimensions is not None and len(dimensions) != 2:
            return True
    return False


def _different_operands(*convolutions: str) -> FormRule:
    """Find a convolution of operands of different types; of mixed f8 is a Feature of its own."""

    def find(reading: Reading) -> bool:
        found = (
            _compared(reading, (signature.operand_types or ())[:2])
            for signature in reading.of(*convolutions)
        )
        return any(len(names) > 1 and not all(n.startswith("f8") for n in names) for names in found)

    return FormRule(find, (ops(*convolutions),))


def _retypes(op: str) -> FormRule:
    """Find an op whose result has another element type than its first operand."""

    def find(reading: Reading) -> bool:
        return any(
            len(_compared(reading, [*(signature.operand_types or ())[:1], *signature.results])) > 1
            for signature in reading.of(op)
        )

    return FormRule(find, (ops(op),))


def _promotes(reading: Reading) -> bool:
    """Find a reduction or scatter that begins with, or takes in, values of another element type.

    The oldest verifiers take any float for any other.
    """
    for op, between in _REDUCING.items():
        for signature in reading.of(op):
            types = signature.operand_types or ()
            count = (len(types) - between) // 2
            for type_, other in zip(types[:count], types[count + between :], strict=False):
                if type_ is not None and other is not None and _differ(reading, type_, other):
                    return True
    return False


def _differ(reading: Reading, type_: int, other: int) -> bool:
    """Say whether two tensors have different element types, of which not both are floats."""
    names = {reading.element(type_), reading.element(other)}
    if all(name.startswith(FLOATS) for name in names):
        return False
    # The name of a complex or quantized type does not say of what it is.
    parted = names == {"complex_v1"} or quantized.is_quantized(names)
    elements = (reading.content.pool.type(one).fields.get("element") for one in (type_, other))
    return len(names) > 1 or (parted and len(set(elements)) > 1)


def _compared(reading: Reading, types: Iterable[int | None]) -> set[str]:
    """Return the names of element types that verifiers compare; quantized ones have other rules."""
    names = {reading.element(type_) for type_ in types if type_ is not None}
    return set() if quantized.is_quantized(names) else names


def _batching_dimensions(reading: Reading) -> bool:
    """Find a gather or scatter with batching dimensions."""
    for op, attribute in _BATCHING.items():
        for signature in reading.of(op):
            if reading.content.pool.count(reading.value(signature, attribute).get("type")):
                return True
    return False


def _mesh_symbol(reading: Reading) -> bool:
    """Find replica groups that name a mesh which the module around them does not define."""
    content = reading.content
    meshes = _named_meshes(reading)
    if not meshes:
        return False
    # A module is a table of symbols: of whatever stands directly in it. Each has its depth, what it
    # defines, and what is used in it.
    tables: list[tuple[int, set[str], set[str]]] = []
    in_dictionary: dict[int, set[str]] = {}  # any number of ops may share one
    for operation in content.operations():
        while tables and tables[-1][0] >= operation.depth:
            _, defined, used = tables.pop()
            if used - defined:
                return True
        if tables and operation.depth == tables[-1][0] + 1:
            tables[-1][1].update(_symbols(content, operation))
        if content.names[operation.name][:2] == (BUILTIN, "module"):
            tables.append((operation.depth, set(), set()))
        elif tables:
            numbers = content.property_attributes(operation.name, operation.properties).values()
            tables[-1][2].update(meshes[number] for number in numbers if number in meshes)
            if operation.attributes not in in_dictionary:
                held = content.dictionary(operation.attributes).values()
                named = {meshes[number] for number in held if number in meshes}
                in_dictionary[operation.attributes] = named
            tables[-1][2].update(in_dictionary[operation.attributes])
    return any(used - defined for _, defined, used in tables)


def _named_meshes(reading: Reading) -> dict[int, str]:
    """Return the replica groups that name a mesh, by number, with the name."""
    pool = reading.content.pool
    meshes: dict[int, str] = {}
    for index in reading.attribute_names.get(_MESH_AXES, ()):
        mesh = pool.attribute(index).fields.get("mesh")
        if not isinstance(mesh, int):
            continue
        named = pool.attribute(mesh)
        if isinstance(root := named.fields.get("root"), int):  # a symbol of MLIR's own
            named = pool.attribute(root)
        elif named.name != "string_v1":
            continue
        meshes[index] = str(named.fields.get("value"))
    return meshes


def _symbols(content: Bytecode, operation: Operation) -> Iterator[str]:
    """Yield the symbol that an op defines, and any other string of a dialect that is not known."""
    if operation.properties < 0:
        return
    numbers: Iterable[int]
    if content.names[operation.name].dialect in {BUILTIN, VHLO}:
        named = content.property_attributes(operation.name, operation.properties)
        numbers = [named[field] for field in ("sym_name",) if field in named]
    else:  # properties are numbers of attributes, and a name is a plain string
        numbers = content.property_bytes(operation.properties).rest()
    for number in numbers:
        if number < len(content.pool.attributes):
            value = content.pool.attribute(number).fields.get("value")
            if isinstance(value, str):
                yield value


def _converts_unusual(reading: Reading) -> bool | None:
    """Find a convert to one of some element types; perhaps there is one from them."""
    found = any(
        reading.element(type_) in _UNUSUAL
        for signature in reading.of("vhlo.convert_v1")
        for type_ in signature.results
    )
    return found or None


def _nine_operations(reading: Reading) -> bool:
    """Find a dot_general with the algorithm bf16_x9."""
    for signature in reading.of(DOT):
        index = reading.attribute(signature, "num_primitive_operations")
        entry = None if index is None else reading.content.pool.attribute(index)
        if entry and entry.name == "integer_v1" and entry.fields.get("value") == 9:
            return True
    return False


def _contradicts(op: str, to_host: int) -> FormRule:
    """Find a send or recv whose channel type is another than whether it is with the host."""

    def find(reading: Reading) -> bool:
        for signature in reading.of(op):
            is_host = bool(reading.value(signature, "is_host_transfer").get("value"))
            if reading.value(signature, "channel_type").get("value") != (
                to_host if is_host else _DEVICE_TO_DEVICE
            ):
                return True
        return False

    return FormRule(find, (ops(op),))


def _sdy_sharding(reading: Reading) -> bool:
    """Find a sharding of Shardy that hangs on an op, argument or result of StableHLO."""
    pool = reading.content.pool
    dictionaries = {signature.attributes for signature in reading.signatures}
    names = {name for index in dictionaries for name in reading.content.dictionary(index)}
    # Of arguments and results the names are attributes themselves.
    names |= {
        str(pool.attribute(index).fields.get("value"))
        for index in reading.attribute_names.get("string_v1", ())
    }
    return any(name.startswith("sdy.") for name in names)


def _future_result(reading: Reading) -> bool:
    """Find a custom call that returns a future."""
    pool = reading.content.pool
    return any(
        pool.outline(TYPES, type_).name == "future_v1"
        for signature in reading.of("vhlo.custom_call_v1")
        for type_ in signature.results
    )


_MESH_AXES = "replica_group_mesh_axes_v1"
_UNUSUAL = frozenset({"f8E8M0FNU_v1", "f4E2M1FN_v1"})
# Channel types, by their numbers in XLA.
_DEVICE_TO_DEVICE, _DEVICE_TO_HOST, _HOST_TO_DEVICE = 1, 2, 3
_RETYPED = ("vhlo.dynamic_reshape_v1", "vhlo.dynamic_broadcast_in_dim_v1")
# Reductions and scatters: how many operands stand between what they reduce and what that begins
# with or takes in.
_REDUCING = {
    "vhlo.reduce_v1": 0,
    "vhlo.reduce_window_v1": 0,
    "vhlo.scatter_v1": 1,
    "vhlo.scatter_v2": 1,
    "vhlo.select_and_scatter_v1": 1,
}
_BATCHING = {
    "vhlo.gather_v2": "operand_batching_dims",
    "vhlo.dynamic_gather_v2": "operand_batching_dims",
    "vhlo.scatter_v2": "input_batching_dims",
}
_CONVOLUTION = "vhlo.convolution_v1"
FORMS: dict[str, FormRule] = {
    "i1 splat constant of 1 or more than 8 elements": FormRule(
        _i1_splat_constant, (ops("vhlo.constant_v1"), types({"bool_v1"}))
    ),
    "attribute of builtin.module without the prefix of a dialect": FormRule(_module_attribute),
    "attribute of an argument or result without the prefix of a dialect": FormRule(
        _argument_attribute
    ),
    "attribute that is one integer of i2 or ui2": FormRule(
        _two_bit_integer, (attributes("integer_v1"), types(TWO_BITS))
    ),
    "tensor of tf32 that is stored as one value": FormRule(
        _tf32_splat, (attributes("tensor_v1"), types({"tf31_v1"}))
    ),
    "dynamic_conv with padding that is not of rank 2": FormRule(
        _dynamic_conv_padding, (ops(*DYNAMIC_CONVOLUTIONS),)
    ),
    "convolution of operands of different types": _different_operands(_CONVOLUTION),
    "dynamic_conv of operands of different types": _different_operands(*DYNAMIC_CONVOLUTIONS),
    "dynamic_reshape to another element type": _retypes(_RETYPED[0]),
    "dynamic_broadcast_in_dim to another element type": _retypes(_RETYPED[1]),
    "reduction or scatter of values of another element type, not both floats": FormRule(
        _promotes, (ops(*_REDUCING),)
    ),
    "dynamic_conv with padding that is not of integers": FormRule(
        lambda reading: any(
            not reading.element(padding).startswith(("i", "ui"))
            for signature in reading.of(*DYNAMIC_CONVOLUTIONS)
            for padding in (signature.operand_types or ())[2:3]
            if padding is not None
        ),
        (ops(*DYNAMIC_CONVOLUTIONS),),
    ),
    "i1 values that differ in a constant or window_reversal": FormRule(
        _differing_booleans(*_BOOLEANS), (ops(*_BOOLEANS), types({"bool_v1"}))
    ),
    "window_reversal that is not the same in all dimensions": FormRule(
        _differing_booleans(*CONVOLUTIONS), (ops(*CONVOLUTIONS),)
    ),
    "add of booleans": FormRule(
        lambda reading: any(
            reading.element(type_) == "bool_v1"
            for signature in reading.of("vhlo.add_v1")
            for type_ in signature.results
        ),
        (ops("vhlo.add_v1"), types({"bool_v1"})),
    ),
    "batching dimensions of gather or scatter": FormRule(_batching_dimensions, (ops(*_BATCHING),)),
    "replica groups of a mesh symbol that the module does not define": FormRule(
        _mesh_symbol, (attributes(_MESH_AXES),)
    ),
    "all_reduce of several operands": FormRule(
        lambda reading: any(one.operands > 1 for one in reading.of("vhlo.all_reduce_v2")),
        (ops("vhlo.all_reduce_v2"),),
    ),
    "dot_general with an algorithm of nine operations": FormRule(_nine_operations, (ops(DOT),)),
    "dot_general with an algorithm": FormRule(
        lambda reading: any(prescribes_algorithm(reading, one) for one in reading.of(DOT)),
        (ops(DOT),),
    ),
    "convert of f8E8M0FNU or f4E2M1FN": FormRule(
        _converts_unusual, (ops("vhlo.convert_v1"), types(_UNUSUAL))
    ),
    "sharding of sdy on an op, argument or result of StableHLO": FormRule(
        _sdy_sharding, (frozenset({"dialect:sdy"}),)
    ),
    "custom_call that returns a future": FormRule(
        _future_result, (ops("vhlo.custom_call_v1"), types({"future_v1"}))
    ),
    "bytecode format 6": FormRule(lambda reading: reading.content.header.format == 6),
    "target 0.15.0 or later": FormRule(lambda reading: reading.content.header.format == 6),
    "function without arg_attrs, res_attrs or sym_visibility": FormRule(
        lambda reading: any(
            lacks_defaults(reading.content, one) for one in reading.of("vhlo.func_v1")
        )
    ),
    "send with a channel type that its is_host_transfer contradicts": _contradicts(
        "vhlo.send_v1", _DEVICE_TO_HOST
    ),
    "recv with a channel type that its is_host_transfer contradicts": _contradicts(
        "vhlo.recv_v1", _HOST_TO_DEVICE
    ),
    **QUANTIZED,
    **APPLIED,
    **BODIES,
    **BRANCHES,
    **COMPLEXES,
    **COMPUTED,
    **CONSTANTS,
    **CONVOLVED,
    **CORNERS,
    **SCATTERED,
    **ENTRY,
    **FEW_BITS,
    **FUSED,
    **HOISTED,
    **LAPACK,
    **MASKS,
    **MERGED,
    **PARTS,
    **PRODUCTS,
    **LOOPED,
    **LOOPS,
    **INDICES,
    **LAYOUTS,
    **MOVED,
    **NARROWED,
    **RETURNED,
    **SIMPLIFIED,
    **BY_PARTS,
    **ROUNDED,
    **SIGNS,
    **SPECIALS,
    **SUMMED,
    **UNNEEDED,
    **UNROUNDED,
    **UNSIGNED,
    **VERIFIED,
}
"""Forms as refusals.toml and advisories.toml name them, each with how to find it."""


@functools.cache
def _search() -> FormSearch:
    return FormSearch(FORMS)


@functools.cache
def _search_across() -> FormSearch:
    return FormSearch({name: rule for name, rule in FORMS.items() if rule.across})


@functools.cache
def _search_plain() -> FormSearch:
    """Return what looks for forms that matter behind reading: what is read is what stands there."""
    read = {one.feature for one in advisories() if one.stage < Stage.COMPILE}
    read |= {one.form for one in refusals()}
    return FormSearch({name: rule for name, rule in FORMS.items() if name not in read})


def forms_in(reading: Reading) -> dict[str, bool | None]:
    """Find which forms occur.

    Args:
        reading: An artifact's ops and entries.

    Returns:
        True for each form that occurs, None for each that perhaps does.

    Raises:
        MalformedArtifact: The bytes do not make sense.
    """
    found = _search().forms_in(reading)
    if (whole := reading.whole) is not reading:
        # Perhaps: some compilers change each function before they put them together. Nothing
        # becomes right by it, for the same reason.
        _add(found, _search_across(), reading, whole)
    if not PLAIN.isdisjoint(reading.ops) and (plain := whole.made_plain()):
        _add(found, _search_plain(), whole, plain.whole)
    return found


def _add(
    found: dict[str, bool | None], search: FormSearch, before: Reading, reading: Reading
) -> None:
    """Add the forms that were not found before and occur in another reading: as perhaps."""
    # What follows the values of both need not be there at once.
    for name in _FOLLOWING:
        vars(before).pop(name, None)
    found.update(dict.fromkeys(search.forms_in(reading, FORMS.keys() - found.keys())))
