"""Between which numbers the values of a program are whatever the arguments are.

Indices are mostly computed from counts and sizes: what an iota has, scaled, rounded, clamped, and
counted from the end where it is below zero. Of floats it is known where they are never NaN.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, TypeAlias

from portable.bytecode.layouts import VHLO, widths
from portable.prediction.canonical import counted_to
from portable.prediction.computing import WHOLE
from portable.prediction.estimates import EACH, Estimates
from portable.prediction.form import kinds, taken, takes_its_opposite
from portable.prediction.simplified import FLOATS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from portable.bytecode.operations import Head
    from portable.prediction.flow import Value
    from portable.prediction.walk import Visit

    Ends: TypeAlias = tuple[float, float]

__all__ = ["ANY", "Bounds"]

ANY = (-math.inf, math.inf)
"""The ends of a value of which nothing is known; of a float it may be NaN."""

_COMPARE, _CONSTANT, _CONVERT = "vhlo.compare", "vhlo.constant", "vhlo.convert"
_IOTAS, _SIZE = kinds("dynamic_iota iota"), "vhlo.get_dimension_size"
_ADD, _SELECT, _WHILE = "vhlo.add", "vhlo.select", "vhlo.while"
# What gives numbers of its first operand, and of any.
_TAKING = kinds("dynamic_slice gather torch_index_select")
_PASSING = kinds("broadcast broadcast_in_dim concatenate pad reshape reverse slice transpose")
_BOOLEAN = "bool_v1"
_CLAMPED = len(("min", "operand", "max"))
_SIDES = ("lhs", "rhs")
_TRUE, _FALSE = (1, 1), (0, 0)
_ZERO: Ends = (0, 0)
_ONE: Ends = (1, 1)
_ONES: Ends = (-1, -1)  # all bits, of a type that has a sign
# What gives zero of one value taken twice, and what knows a value beside what it is not.
_AND = "vhlo.and"
_CANCELLING, _DENYING = kinds("subtract xor"), kinds("and or xor")
_WHERE_SAME = frozenset({"EQ", "GE", "LE"})
# Which comparisons say yes where the first operand is always less, and greater.
_WHERE_LESS, _WHERE_GREATER = frozenset({"NE", "LE", "LT"}), frozenset({"NE", "GE", "GT"})


class Bounds(Estimates["Ends"]):
    """The least and the greatest number that values may be.

    Args:
        reading: An artifact's ops.
    """

    @property
    def computed(self) -> frozenset[str]:
        """The ops of whose results something may be known."""
        return _COMPUTED

    def at(self, value: Value) -> Ends:
        """Return the ends of a value; those of its type where nothing else is known."""
        known = self._known.get(value)
        if known is not None:
            return known
        type_ = self._reading.flow.type(value)
        return ANY if type_ is None else _whole_type(self._reading.element(type_))

    def _joined(self, ones: Sequence[Ends]) -> Ends | None:
        joined = _join(ones)
        return None if math.inf in joined else joined

    def _given(self, visit: Visit) -> Sequence[Ends | None]:
        kind, results = self._reading.kinds[visit.operation.name], visit.operation.results
        if kind in EACH:
            return [*map(_known, self.of(visit)[: len(results)])]
        if kind == _WHILE:
            return self._counts(visit)
        if not results or results[1:]:
            return []
        element = self._reading.element(results[0])
        if visit.number in visit.constants:
            ends = self._constant(visit.constants[visit.number], element)
        elif kind in _IOTAS:
            ends = (0, self._counted(visit))
        elif kind == _CONVERT:
            ends = self._converted(visit, element)
        elif kind == _COMPARE:
            ends = self._compared(visit)
        elif kind == _SIZE:
            ends = self._size(visit, element)
        elif kind == _SELECT:
            ends = self._selected(visit, element)
        else:
            ends = self._cancelled(visit, element) or _computed(kind, self.of(visit), element)
        return [_held(ends, element)]

    def _counts(self, loop: Visit) -> Sequence[Ends | None]:
        """Return what a loop gives that counts: one number, if its type has it."""
        at, last = counted_to(self._reading, loop) or (-1, 0)
        return [
            _held((last, last), self._reading.element(type_)) if at == place else None
            for place, type_ in enumerate(loop.operation.results)
        ]

    def _cancelled(self, visit: Visit, element: str) -> Ends | None:
        """Return what an op gives of any value taken twice, or beside what it is not."""
        kind = self._reading.kinds[visit.operation.name]
        whole = element in WHOLE or element == _BOOLEAN
        if kind in _CANCELLING and whole and len({*visit.operands}) < len(visit.operands):
            return _ZERO
        if kind in _DENYING and whole and takes_its_opposite(self._reading, visit):
            return _ZERO if kind == _AND else _all_bits(element)
        return None

    def _constant(self, constant: Head, element: str) -> Ends:
        if element not in FLOATS:
            return self._reading.ends(constant) if element in WHOLE | {_BOOLEAN} else ANY
        numbers = self._reading.floats(constant)
        return (numbers.least, numbers.largest) if numbers.finite else ANY

    def _counted(self, iota: Visit) -> float:
        """Return the greatest number that an iota gives."""
        shape = self._reading.dimensions(iota.operation.results[0])
        at = self._reading.value(iota.operation, "iota_dimension").get("value")
        if shape is None or not isinstance(at, int) or not 0 <= at < len(shape) or shape[at] < 0:
            return math.inf
        return max(shape[at] - 1, 0)

    def _size(self, asks: Visit, element: str) -> Ends:
        """Return the size of a dimension, where the type says it."""
        flow = self._reading.flow
        shape = [
            size
            for operand in flow.operands(asks)[:1]
            for size in self._reading.dimensions(flow.type(operand)) or ()
        ]
        at = self._reading.value(asks.operation, "dimension").get("value")
        if not isinstance(at, int) or not 0 <= at < len(shape) or shape[at] < 0:
            return 0, _whole_type(element)[1]
        return shape[at], shape[at]

    def _converted(self, visit: Visit, element: str) -> Ends:
        taken = self.of(visit)
        if len(taken) != 1 or math.inf in taken[0] or element == _BOOLEAN:
            return ANY
        least, most = taken[0]
        return (math.trunc(least), math.trunc(most)) if element in WHOLE else (least, most)

    def _compared(self, visit: Visit) -> Ends:
        """Return what a comparison says where the ends of both operands decide it."""
        asked = self._reading.case(visit.operation, "comparison_direction")
        taken = self.of(visit)
        if asked is None or len(taken) != len(_SIDES):
            return ANY
        if len({*visit.operands}) == 1 and self._is_ordered(visit):
            return _TRUE if asked in _WHERE_SAME else _FALSE
        (low, high), (other_low, other_high) = taken
        if high < other_low:
            return _TRUE if asked in _WHERE_LESS else _FALSE
        if low > other_high:
            return _TRUE if asked in _WHERE_GREATER else _FALSE
        if (asked == "GE" and low >= other_high) or (asked == "LE" and high <= other_low):
            return _TRUE
        if (asked == "GT" and high <= other_low) or (asked == "LT" and low >= other_high):
            return _FALSE
        return ANY

    def _is_ordered(self, visit: Visit) -> bool:
        """Say whether a comparison is of what equals itself: of floats in their total order."""
        total = self._reading.case(visit.operation, "compare_type") == "TOTALORDER"
        types = {*taken(self._reading, visit)}
        return types <= WHOLE | {_BOOLEAN} or (total and types <= FLOATS.keys())

    def _selected(self, visit: Visit, element: str) -> Ends:
        taken = self.of(visit)
        if len(taken) != len(("pred", "on_true", "on_false")):
            return ANY
        truth, where_true, where_false = taken
        if truth[0] == truth[1]:
            return where_true if truth[0] else where_false
        counted = self._counted_from_the_end(visit) if element in WHOLE else None
        return counted or _join([where_true, where_false])

    def _counted_from_the_end(self, visit: Visit) -> Ends | None:
        """Return what `select(x < 0, x + n, x)` gives; None of another selection."""
        walk, flow, reading = self._reading.walk, self._reading.flow, self._reading
        (truth, _), (where_true, _), x = flow.operands(visit)
        asked, added = walk[truth], walk[where_true]
        names = [reading.kinds[one.operation.name] for one in (asked, added)]
        if names != [_COMPARE, _ADD]:
            return None
        compared, terms = flow.operands(asked), flow.operands(added)
        if not len(compared) == len(terms) == len(_SIDES):
            return None
        direction = reading.case(asked.operation, "comparison_direction")
        if (
            direction != "LT"
            or x != compared[0]
            or x not in terms
            or self.at(compared[1]) != (0, 0)
        ):
            return None
        length = self.at(terms[1 - terms.index(x)])
        (least, most), (shortest, longest) = self.at(x), length
        return _join([(least + shortest, longest - 1), (0, max(most, 0))])


def _join(ones: Sequence[Ends]) -> Ends:
    return min((least for least, _ in ones), default=-math.inf), max(
        (most for _, most in ones), default=math.inf
    )


def _known(ends: Ends) -> Ends | None:
    return None if ends == ANY else ends


def _whole_type(element: str) -> Ends:
    """Return the ends of a type of integers, or of booleans."""
    if element == _BOOLEAN:
        return 0, 1
    if element not in WHOLE:
        return ANY
    is_signed = element.startswith("i")
    most = (1 << widths(VHLO)[element] - is_signed) - 1
    return (-most - 1) * is_signed, most


def _held(ends: Ends, element: str) -> Ends | None:
    """Return the ends as a type has them; None where it may have other numbers.

    A float is rounded: to the next one in either direction, because a compiler may round less.
    """
    least, most = ends
    if element in FLOATS:
        kind = FLOATS[element]
        near = 2.0 ** (2 - kind.digits)
        least, most = least - abs(least) * near, most + abs(most) * near
        return (least, most) if -kind.greatest <= least <= most <= kind.greatest else None
    lowest, highest = _whole_type(element)
    return ends if -math.inf < lowest <= least <= most <= highest else None


def _computed(kind: str, taken: Sequence[Ends], element: str) -> Ends:
    """Return the ends of what an op gives, before they are rounded or cut."""
    if not taken or ANY in taken:
        return ANY
    if kind in _PASSING:
        return _join(taken)
    if kind in _TAKING:
        return taken[0]
    compute = _COMPUTING.get((kind, len(taken)))
    return ANY if compute is None else compute(*taken, element)


def _by_ends(function: Callable[..., float]) -> Callable[..., Ends]:
    """Have ends computed by an op that rises in each operand."""

    def ends(*taken: Ends | str) -> Ends:
        least, most = zip(*taken[:-1], strict=True)  # the last is the element type
        return function(*least), function(*most)

    return ends


def _negated(x: Ends, _: str) -> Ends:
    return -x[1], -x[0]


def _magnitude(x: Ends, _: str) -> Ends:
    sizes = [*map(abs, x)]
    return 0 if x[0] <= 0 <= x[1] else min(sizes), max(sizes)


def _difference(x: Ends, y: Ends, _: str) -> Ends:
    return x[0] - y[1], x[1] - y[0]


def _corners(function: Callable[[float, float], float], x: Ends, y: Ends) -> Ends:
    found = [function(one, other) for one in x for other in y]
    return min(found), max(found)


def _product(x: Ends, y: Ends, _: str) -> Ends:
    return _corners(operator.mul, x, y)


def _quotient(x: Ends, y: Ends, element: str) -> Ends:
    if y[0] <= 0 <= y[1]:
        return ANY
    return _corners(_divided if element in WHOLE else operator.truediv, x, y)


def _divided(x: float, y: float) -> float:
    """Return a quotient of integers, rounded to zero."""
    size = abs(x) // abs(y)
    return size if (x < 0) == (y < 0) else -size


def _remainder(x: Ends, y: Ends, element: str) -> Ends:
    """Return what a remainder of integers, which has the sign of x, is by what is above zero.

    Of zero it is zero by any number: by zero it is what is divided.
    """
    if element in WHOLE and x == _ZERO:
        return x
    if element not in WHOLE or y[0] <= 0:
        return ANY
    most = y[1] - 1
    return max(min(x[0], 0), -most), min(max(x[1], 0), most)


def _bits_of_both(x: Ends, y: Ends, _: str) -> Ends:
    """Return what `and` gives: no more than an operand that is not negative."""
    most = [one[1] for one in (x, y) if one[0] >= 0]
    return (0, min(most)) if most else ANY


def _bits_of_either(x: Ends, y: Ends, element: str) -> Ends:
    if element == _BOOLEAN:
        return max(x[0], y[0]), max(x[1], y[1])
    ones = _all_bits(element)
    return ones if ones in (x, y) else ANY


def _all_bits(element: str) -> Ends:
    """Return what an integer or a boolean is of which all bits are set."""
    return _ONES if element.startswith("i") else _whole_type(element)[1:] * 2


def _inverted(x: Ends, element: str) -> Ends:
    if element not in WHOLE | {_BOOLEAN}:
        return ANY
    both = sum(_whole_type(element))  # of a number and its complement
    return both - x[1], both - x[0]


def _power(x: Ends, y: Ends, element: str) -> Ends:
    """Return what a power of one is, and one by zero, of integers."""
    return _ONE if element in WHOLE and (x == _ONE or y == _ZERO) else ANY


def _shifted(_: Ends, y: Ends, element: str) -> Ends:
    """Return what is left of bits that are all shifted out: zero."""
    if element not in WHOLE:
        return ANY
    return _ZERO if y[0] >= widths(VHLO)[element] or y[1] < 0 else ANY


def _counted_bits(_: Ends, element: str) -> Ends:
    """Return how many bits of an integer may be counted: from none to all of its type."""
    return (0, widths(VHLO)[element]) if element in WHOLE else ANY


def _rounded(x: Ends, _: str) -> Ends:
    return math.floor(x[0]), math.ceil(x[1])


def _clamp(least: float, one: float, most: float) -> float:
    return min(max(one, least), most)


def _sign(x: float) -> float:
    return (x > 0) - (x < 0)


_COMPUTING: dict[tuple[str, int], Callable[..., Ends]] = {
    (f"vhlo.{name}", count): compute
    for name, count, compute in (
        ("abs", 1, _magnitude),
        ("add", 2, _by_ends(operator.add)),
        ("and", 2, _bits_of_both),
        ("ceil", 1, _by_ends(math.ceil)),
        ("clamp", _CLAMPED, _by_ends(_clamp)),
        ("count_leading_zeros", 1, _counted_bits),
        ("divide", 2, _quotient),
        ("floor", 1, _by_ends(math.floor)),
        ("maximum", 2, _by_ends(max)),
        ("minimum", 2, _by_ends(min)),
        ("multiply", 2, _product),
        ("negate", 1, _negated),
        ("not", 1, _inverted),
        ("or", 2, _bits_of_either),
        ("popcnt", 1, _counted_bits),
        ("power", 2, _power),
        ("remainder", 2, _remainder),
        ("round_nearest_afz", 1, _rounded),
        ("round_nearest_even", 1, _rounded),
        ("shift_left", 2, _shifted),
        ("shift_right_logical", 2, _shifted),
        ("sign", 1, _by_ends(_sign)),
        ("subtract", 2, _difference),
    )
}
_COMPUTED = (
    _PASSING
    | _TAKING
    | _CANCELLING
    | _DENYING
    | EACH
    | _IOTAS
    | {_COMPARE, _CONSTANT, _CONVERT, _SELECT, _SIZE, _WHILE}
    | {kind for kind, _ in _COMPUTING}
)
