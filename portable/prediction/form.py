"""A form: how it is found in the bytes, and what an artifact has to have for it to be there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from portable.bytecode.operations import Head, OpSignature
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = [
    "AMOUNTS",
    "CONVOLUTIONS",
    "DYNAMIC_CONVOLUTIONS",
    "DYNAMIC_GATHERS",
    "ELEMENTWISE",
    "GATHERS",
    "MOST_DIMENSIONS",
    "MOST_NUMBERS",
    "NEGATIVE",
    "SCATTERS",
    "SIXTEEN_BITS",
    "FormRule",
    "FormSearch",
    "adds_some",
    "attributes",
    "key",
    "kinds",
    "ops",
    "repeated",
    "signed",
    "taken",
    "takes_its_opposite",
    "types",
    "weaken",
]

_NOT = "vhlo.not_"
# The versions of an op.
GATHERS = ("vhlo.gather_v1", "vhlo.gather_v2")
DYNAMIC_GATHERS = ("vhlo.dynamic_gather_v1", "vhlo.dynamic_gather_v2")
SCATTERS = ("vhlo.scatter_v1", "vhlo.scatter_v2")
DYNAMIC_CONVOLUTIONS = ("vhlo.dynamic_conv_v1", "vhlo.dynamic_conv_v2")
CONVOLUTIONS = ("vhlo.convolution_v1", *DYNAMIC_CONVOLUTIONS)

AMOUNTS = ("edge_padding_low", "edge_padding_high", "interior_padding")
"""The attributes of a pad that say by how many elements, of which a negative one takes away."""
SIXTEEN_BITS = frozenset({"bf16_v1", "f16_v1"})
"""The element types that are floats of two bytes."""
MOST_DIMENSIONS = 256
"""Any number of ops may be on one tensor, by one attribute: what is longer is not looked into."""
MOST_NUMBERS = 2 * MOST_DIMENSIONS
"""As `MOST_DIMENSIONS`, of an attribute with numbers of dimensions: it may have two for each."""
NEGATIVE = 1 << 63
"""From where on a number of `Reading.numbers`, which has no sign, stands for a negative one."""


class FormRule(NamedTuple):
    """A form that no single name shows.

    Args:
        find: Says whether it occurs; None for perhaps.
        needs: Groups of names, as `op:vhlo.tan_v1`: it is looked for only where one of each group
            occurs. Most artifacts lack what most forms are of.
        across: Whether what it is about may stand in several functions, or around ops that change
            nothing: it is looked for, too, in the program as `canonical` reads it. One that follows
            values through what hands them on needs no more.
    """

    find: Callable[[Reading], bool | None]
    needs: tuple[frozenset[str], ...] = ()
    across: bool = False


def weaken(form: FormRule) -> FormRule:
    """Weaken a form: what it finds is necessary and not sufficient.

    Args:
        form: How that is found.
    """
    return form._replace(find=lambda reading: False if form.find(reading) is False else None)


class FormSearch:
    """Looks for forms, in each artifact only for those of which it has what they need.

    Args:
        rules: The forms by name.
    """

    def __init__(self, rules: Mapping[str, FormRule]) -> None:
        self._names = [*rules]
        self._rules = [*rules.values()]
        # By each name of the first group that they need; by "" those that need nothing.
        self._needing: dict[str, list[int]] = {}
        for number, rule in enumerate(self._rules):
            for needed in rule.needs[0] if rule.needs else ("",):
                self._needing.setdefault(needed, []).append(number)

    def forms_in(
        self, reading: Reading, among: Container[str] | None = None
    ) -> dict[str, bool | None]:
        """Find which forms occur.

        Args:
            reading: An artifact's ops and entries.
            among: Those that are looked for; None for all.

        Returns:
            True for each form that occurs, None for each that perhaps does.

        Raises:
            MalformedArtifact: The bytes do not make sense.
        """
        occurring, needing = reading.occurring, self._needing
        possible = {number for one in ("", *occurring) for number in needing.get(one, ())}
        found: dict[str, bool | None] = {}
        for number in sorted(possible):  # what is wrong first in the order of the table is said
            name, rule = self._names[number], self._rules[number]
            if among is not None and name not in among:
                continue
            if any(map(occurring.isdisjoint, rule.needs[1:])):
                continue
            if (occurs := rule.find(reading)) is not False:
                found[name] = occurs
        return found


def key(kind: str, name: str) -> str:
    """Return how what occurs is named: without the version that every type has.

    Args:
        kind: As in `KINDS` of `portable.prediction.forms`.
        name: The name in the tables of VHLO.
    """
    return f"{kind}:{name.removesuffix('_v1') if kind == 'type' else name}"


def kinds(names: str) -> frozenset[str]:
    """Return the names of ops without their versions, as `vhlo.tan`.

    Args:
        names: What they are called, with spaces between them.
    """
    return frozenset(f"vhlo.{name}" for name in names.split())


ELEMENTWISE = kinds(
    "abs add and atan2 cbrt ceil clamp compare complex convert cosine count_leading_zeros divide"
    " exponential exponential_minus_one floor imag is_finite log log_plus_one logistic maximum"
    " minimum multiply negate not or popcnt power real reduce_precision remainder round_nearest_afz"
    " round_nearest_even rsqrt select shift_left shift_right_arithmetic shift_right_logical sign"
    " sine sqrt subtract tan tanh xor"
)
"""Ops that compute each element of the result from those in its place."""


def ops(*names: str) -> frozenset[str]:
    """Return a need of one of some ops, each with its version or, for all of them, without."""
    return frozenset(key("op", name) for name in names)


def types(names: Iterable[str]) -> frozenset[str]:
    """Return a need of one of some types, as `i4_v1`."""
    return frozenset(key("type", name) for name in names)


def attributes(*names: str) -> frozenset[str]:
    """Return a need of one of some kinds of attributes, as `tensor_v1`."""
    return frozenset(key("attribute", name) for name in names)


def repeated(values: Sequence[int], count: int, usual: int = 1) -> Sequence[int]:
    """Return as many of the numbers of an op's attribute as it stands for.

    Args:
        values: What is stored: one alone stands for all of them.
        count: How many there are.
        usual: What they are where nothing is stored.
    """
    return values if len(values) == count else (*(values or (usual,)),)[:1] * count


def adds_some(reading: Reading, pad: Head | OpSignature) -> bool:
    """Say whether a pad adds elements, at an end or between those that there are."""
    amounts = (signed(n) for name in AMOUNTS for n in reading.numbers(pad, name))
    return any(amount > 0 for amount in amounts)


def taken(reading: Reading, visit: Visit) -> Iterator[str]:
    """Yield the element types of what an op takes, where they are known."""
    types_ = map(reading.flow.type, reading.flow.operands(visit))
    return (reading.element(type_) for type_ in types_ if type_ is not None)


def takes_its_opposite(reading: Reading, visit: Visit) -> bool:
    """Say whether an op has two operands, of which one is what the other is not.

    Args:
        reading: An artifact's ops.
        visit: The op.
    """
    sources = visit.sources if len(visit.operands) == 2 else ()
    made = [None if one is None else reading.walk[one[0]] for one in sources]
    return any(
        one is not None and one.name.startswith(_NOT) and other in one.operands
        for one, other in zip(made, reversed(visit.operands), strict=False)
    )


def signed(number: int) -> int:
    """Return a number of `Reading.numbers` with its sign."""
    return number - NEGATIVE * 2 if number >= NEGATIVE else number
