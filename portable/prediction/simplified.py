"""Forms that XLA replaces by what equals them among real numbers, and not as a type holds them.

Most show only for some values: an artifact perhaps has the form.
"""

from __future__ import annotations

import math
import operator
import struct
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from portable.bytecode.entries import Blob
from portable.bytecode.operations import like
from portable.prediction.computing import integers
from portable.prediction.form import FormRule, kinds, ops, types

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from portable.bytecode.operations import Head, OpSignature
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = [
    "FLOATS",
    "SIMPLIFIED",
    "Added",
    "ConstantNumbers",
    "Numbers",
    "added",
    "constant_added",
    "constant_factor",
    "decided_by_sign",
    "numbers_of",
]

_ABS, _ADD, _COMPARE, _CONSTANT = "vhlo.abs", "vhlo.add", "vhlo.compare", "vhlo.constant"
_CLAMP = "vhlo.clamp"
_DIVIDE, _EXPONENTIAL, _LOG = "vhlo.divide", "vhlo.exponential", "vhlo.log"
_MAXIMUM, _MINIMUM, _MULTIPLY = "vhlo.maximum", "vhlo.minimum", "vhlo.multiply"
_POWER, _REDUCE, _SORT = "vhlo.power", "vhlo.reduce", "vhlo.sort"
_SQRT, _SUBTRACT = "vhlo.sqrt", "vhlo.subtract"
_NEGATE, _SELECT = "vhlo.negate", "vhlo.select"
_CONVERT, _IOTA, _RESHAPE = "vhlo.convert", "vhlo.iota", "vhlo.reshape"
_DOT = "vhlo.dot_general_v1"
_SPREADING = kinds("broadcast broadcast_in_dim")
# What gives finite numbers where it takes some.
_KEEPING_FINITE = kinds(
    "abs broadcast broadcast_in_dim clamp concatenate maximum minimum negate reshape reverse select"
    " slice transpose"
)
_PERHAPS_PLAIN = _KEEPING_FINITE | {_CONSTANT, _CONVERT, _IOTA}
_PASSING_BOOLEANS = _SPREADING | {_CONVERT}
_BOOLEAN = "bool_v1"


class _Float(NamedTuple):
    """A floating-point type.

    Args:
        code: As `struct` names it, or an integer of its size.
        size: Its bytes.
        largest: The largest number whose reciprocal is a normal one.
        digits: The bits of a number without its sign and exponent, with the one not stored.
        exponent: Numbers are below two to this power.
    """

    code: str
    size: int
    largest: float
    digits: int
    exponent: int

    @property
    def least(self) -> float:
        """The least normal number."""
        return 2.0 ** (2 - self.exponent)

    @property
    def greatest(self) -> float:
        """The greatest finite number."""
        return (1 - 2.0**-self.digits) * 2.0 ** (self.exponent - 1) * 2


FLOATS = {
    "f64_v1": _Float("d", 8, 2.0**1022, 53, 1024),
    "f32_v1": _Float("f", 4, 2.0**126, 24, 128),
    "f16_v1": _Float("e", 2, math.inf, 11, 16),  # whose reciprocals are rounded, and not zero
    "bf16_v1": _Float("H", 2, 2.0**126, 8, 128),
}
"""The floating-point types whose constants are looked at."""
# bf16 is the upper half of an f32.
_HALF = 16
# A constant of more bytes is not looked into.
_MOST_BYTES = 4 << 20
# A constant from which one that is too large to be divided by may be computed.
_LARGE = 2.0**63
_SIGNED = frozenset(f"i{bits}_v1" for bits in (8, 16, 32, 64))
_SCALAR_BYTES = 8
# What is asked, and the operand that is less than zero if so, or if not.
_BELOW_ZERO = frozenset({("LT", 0), ("GE", 0), ("GT", 1), ("LE", 1)})
_POSITIVE = kinds("exponential logistic")
_GREATER = frozenset({"GE", "GT"})
_ORDERS = _GREATER | {"LE", "LT"}
# The same, of what is not less than zero. What is not is known of results of these, and of those
# that have the sign of all their operands.
_NOT_BELOW_ZERO = frozenset({("GE", 0), ("LE", 1)})
_NEVER_NEGATIVE = kinds("abs exponential iota")
_SAME_SIGN = kinds("broadcast_in_dim minimum reshape transpose")
# What has a sign, and what is decided by it.
_OF_A_SIGN = (
    _NEVER_NEGATIVE | _SAME_SIGN | kinds("compare constant maximum multiply negate power select")
)
_SIDES = (0, 1)
_RESHAPED = kinds("broadcast_in_dim reshape transpose")
# What is computed in its own type: an op of bf16 rounds its result by another.
_OWN = frozenset({"f16_v1", "f32_v1", "f64_v1"})
# Exponents for which XLA has another op than the power.
_PLAIN = frozenset({-1.0, -0.5, 0.5, 1.0, 2.0, 3.0})
# Exponents for which XLA multiplies or divides before it looks at the logarithm.
_MULTIPLIED = frozenset({-1.0, 1.0, 3.0})
# What may make NaN of numbers.
_REMAINDER = "vhlo.remainder"
_MAKING_NAN = kinds("divide log power remainder rsqrt sqrt")
_FLOATING = ("f", "bf")
_EXPONENTIALS = kinds("exponential exponential_minus_one logistic")
_CHOLESKY, _REDUCE_PRECISION = "vhlo.cholesky", "vhlo.reduce_precision_v1"
_LOGISTIC, _UP_TO_F32 = "vhlo.logistic", frozenset({"bf16_v1", "f16_v1", "f32_v1"})
# The element types whose exponentials of NaN are another number, or were once of one release.
_RAISED = {
    _EXPONENTIAL: _UP_TO_F32,
    "vhlo.exponential_minus_one": _UP_TO_F32,
    _LOGISTIC: frozenset({"bf16_v1"}),
}
# What IREE leaves to LLVM by way of an exponential, or of f16, of which it folds no constant.
_RAISED_BY_IREE = {
    **dict.fromkeys((_EXPONENTIAL, "vhlo.exponential_minus_one", _LOGISTIC), _UP_TO_F32),
    **dict.fromkeys(kinds("cosine sine tan"), frozenset({"f16_v1"})),
}
_RAISED_ONCE = dict.fromkeys(_EXPONENTIALS, frozenset({"f64_v1"}))
_BOUNDS = len(("min", "max"))
_FEWEST_DIMENSIONS = 7
_MOST_SORTED, _ALSO_SORTED = 16, 25
_FEW = 8


class ConstantNumbers(NamedTuple):
    """The numbers of a constant.

    Args:
        few: Each of them, where only a few are different.
        least: The least of them.
        largest: The largest of their magnitudes, without infinity.
        has_nan: Whether one of them is NaN.
        finite: Whether all of them are known, and finite.
        smallest: The least of their magnitudes, without zero.
        some_is_zero: Whether one of them may be zero.
    """

    few: frozenset[float] = frozenset()
    least: float = -math.inf
    largest: float = 0.0
    has_nan: bool = False
    finite: bool = False
    smallest: float = math.inf
    some_is_zero: bool = True

    @property
    def only(self) -> float | None:
        """The number that all of them are."""
        return next(iter(self.few)) if len(self.few) == 1 else None


_NOTHING = ConstantNumbers()
Numbers: TypeAlias = "Callable[[Head | OpSignature | None], ConstantNumbers]"


def numbers_of(reading: Reading) -> Numbers:
    """Return what tells the numbers of a constant; none of another type, or too many.

    Each is read once: any number of ops may take the same.

    Args:
        reading: An artifact's ops.
    """
    known: dict[int, ConstantNumbers] = {}

    def numbers(constant: Head | OpSignature | None) -> ConstantNumbers:
        index = None if constant is None else reading.attribute(constant, "value")
        if constant is None or index is None or not constant.results:
            return _NOTHING
        if index not in known:
            data = reading.content.pool.attribute(index).fields.get("data")
            kind = FLOATS.get(reading.element(constant.results[0]))
            known[index] = _read(reading, data, kind) if kind else _NOTHING
        return known[index]

    return numbers


def _read(reading: Reading, data: object, kind: _Float) -> ConstantNumbers:
    if not isinstance(data, Blob) or data.size > _MOST_BYTES or data.size % kind.size:
        return _NOTHING
    raw = bytes(reading.data[data.offset : data.offset + data.size])
    found = frozenset(struct.unpack(f"<{data.size // kind.size}{kind.code}", raw))
    if kind.code == "H":
        words = [bits << _HALF for bits in found]
        found = frozenset(struct.unpack(f"<{len(words)}f", struct.pack(f"<{len(words)}I", *words)))
    if not found:
        return _NOTHING
    numbers = [one for one in found if not math.isnan(one)]
    return ConstantNumbers(
        found if len(found) <= _FEW else frozenset(),
        min(numbers, default=-math.inf),
        max((abs(one) for one in numbers if math.isfinite(one)), default=0.0),
        len(numbers) != len(found),
        all(map(math.isfinite, found)),
        min((abs(one) for one in numbers if one), default=math.inf),
        0 in found,
    )


def _float(reading: Reading, visit: Visit) -> _Float | None:
    """Return the type of an op's first result, if it is one of those that are looked at."""
    results = visit.operation.results
    return FLOATS.get(reading.element(results[0])) if results else None


def _divides_by_a_large_constant(reading: Reading) -> bool | None:
    """Find a division by a constant whose reciprocal is too small for a normal number.

    XLA multiplies by the reciprocal, which is zero on a CPU. Perhaps what is computed from a large
    constant is such a one.
    """
    numbers, perhaps = reading.floats, False
    large: set[int] = set()
    for visit in reading.walk:
        kind = reading.kinds[visit.operation.name]
        if visit.number in reading.folded:
            above = {one[0] for one in visit.sources if one} & large
            if above or (kind == _CONSTANT and numbers(visit.operation).largest > _LARGE):
                large.add(visit.number)
        if kind == _DIVIDE and len(visit.sources) > 1 and visit.number not in reading.settled:
            type_, divisor = _float(reading, visit), visit.sources[1]
            if type_ is None or divisor is None or divisor[0] not in large:
                continue
            constant = visit.constant(divisor)
            if numbers(constant).largest > type_.largest:
                return True
            perhaps |= constant is None
    return None if perhaps else False


def _is_first(at: int) -> bool:
    return at == 0


class _Made(NamedTuple):
    """An op with what makes its operands.

    Args:
        visit: The op.
        kind: Its name without its version.
        by: What makes each operand; None where that is an op of another kind.
        kinds: Their names without their versions, or nothing.
    """

    visit: Visit
    kind: str
    by: Sequence[Visit | None]
    kinds: Sequence[str]


def _made(reading: Reading, of: frozenset[str], by: frozenset[str]) -> Iterator[_Made]:
    """Yield some ops, each with what makes its operands, if it is one of others."""
    kinds, walk = reading.kinds, reading.walk
    for visit in walk.of(of):
        names = [kinds[walk.head(one[0]).name] if one else "" for one in visit.sources]
        names = [one if one in by else "" for one in names]
        makers = [
            walk[one[0]] if one and name else None
            for one, name in zip(visit.sources, names, strict=True)
        ]
        yield _Made(visit, kinds[visit.operation.name], makers, names)


def _logs_of_powers(reading: Reading) -> bool | None:
    """Find perhaps a log of a power, for which XLA multiplies the exponent by a log of the base.

    That is of the number without its sign, where the log of a negative power is NaN, and of zero to
    the power of zero NaN, where the log of one is zero. Of a power that overflows it is a number.
    """
    numbers = reading.floats
    positive = {visit.number for visit in reading.walk.of(_POSITIVE)}
    for one in _made(reading, frozenset({_LOG}), frozenset({_POWER})):
        power = one.by[0] if one.by else None
        if power is None or len(power.sources) != 2 or _float(reading, power) is None:
            continue
        base, exponent = power.sources[0], numbers(power.constant(power.sources[1])).only
        if exponent in _MULTIPLIED:
            continue
        is_positive = (base and base[0] in positive) or numbers(power.constant(base)).least > 0
        if exponent is None or abs(exponent) > 1 or not (is_positive or exponent == 0):
            return None
    return False


def _is_square(reading: Reading, visit: Visit, numbers: Numbers) -> bool:
    """Say whether an op multiplies a number by itself, or raises it to the power of two."""
    kind, operands = reading.kinds[visit.operation.name], visit.operands
    if kind != _POWER:
        return kind == _MULTIPLY and len({*operands}) == 1
    exponent = visit.constant(visit.sources[1]) if len(visit.sources) == 2 else None
    return exponent is not None and 2 in {numbers(exponent).only, _scalar(reading, exponent)}


def constant_factor(visit: Visit, numbers: Numbers) -> float | None:
    """Return the number that an op multiplies with, if it is one number throughout."""
    for source in visit.sources[:2]:
        if source is not None and source[0] in visit.constants:
            found = numbers(visit.constants[source[0]]).only
            if found is not None:
                return found
    return None


def _scalar(reading: Reading, constant: Head) -> int | None:
    """Return the integer that a constant is throughout."""
    data = reading.value(constant, "value").get("data")
    if reading.element(constant.results[0]) not in _SIGNED:
        return None
    is_one = isinstance(data, Blob) and data.size <= _SCALAR_BYTES
    found = {*integers(reading, constant)} if is_one else ()
    return next(iter(found)) if len(found) == 1 else None


def _undoes_what_overflows(reading: Reading) -> bool | None:
    """Find perhaps a log of an exponential or a root of a square, which XLA both leaves out."""
    numbers = reading.floats
    of, by = frozenset({_LOG, _SQRT, _POWER}), frozenset({_EXPONENTIAL, _MULTIPLY, _POWER})
    for one in _made(reading, of, by):
        maker = one.by[0] if one.by else None
        if maker is None or _float(reading, maker) is None:
            continue
        if one.kind == _LOG:
            undone = one.kinds[0] == _EXPONENTIAL
        else:
            exponent = one.visit.constant(one.visit.sources[-1])
            is_root = one.kind == _SQRT or numbers(exponent).only == 1 / 2
            undone = is_root and _is_square(reading, maker, numbers)
        if undone:
            return None
    return False


def _merges_exponentials(reading: Reading) -> bool | None:
    """Find perhaps a product or quotient of exponentials, or a power of one.

    XLA takes one exponential of a sum, difference or product, where one of two would overflow.
    """
    of = frozenset({_MULTIPLY, _DIVIDE, _POWER})
    for one in _made(reading, of, frozenset({_EXPONENTIAL})):
        made = one.kinds[:1] if one.kind == _POWER else one.kinds
        if made and {*made} == {_EXPONENTIAL} and _float(reading, one.visit):
            return None
    return False


Added: TypeAlias = "dict[int, tuple[float, _Float]]"


def added(reading: Reading) -> Added:
    """Return what is added to floats, and their type, by the numbers of the ops that add a number.

    Args:
        reading: An artifact's ops.
    """
    return _one_throughout(reading, [_ADD, _SUBTRACT], constant_added)


def _one_throughout(
    reading: Reading, names: Sequence[str], constant: Callable[[Visit, str, Numbers], float | None]
) -> Added:
    """Return the one number that ops of floats compute with, where they do, and their type."""
    found = {}
    for visit in reading.walk.of(names):
        one = constant(visit, reading.kinds[visit.operation.name], reading.floats)
        if one is not None and (type_ := _float(reading, visit)):
            found[visit.number] = one, type_
    return found


def _adds_and_takes_away(reading: Reading) -> bool | None:
    """Find perhaps an addition of a constant and of one that cancels it.

    XLA adds the two constants: what they would have rounded is not.
    """
    for number, (one, type_) in reading.added.items():
        least = 2.0 ** (type_.digits // 2)
        for source in reading.walk[number].sources:
            if source is None or source[0] not in reading.added:
                continue
            before, _ = reading.added[source[0]]
            if abs(before) >= least and abs(before + one) < abs(before) / least:
                return None
    return False


def _leaves_the_range(reading: Reading) -> bool | None:
    """Find perhaps two constants one after another that XLA makes one which its type cannot hold.

    Added, or multiplied or divided with: the number that they meet may bring it back. Or two of
    which the second brings back what the first may take out of the range.
    """
    factors = _one_throughout(reading, [_MULTIPLY, _DIVIDE], _scaled)
    for constants, merge in ((reading.added, operator.add), (factors, operator.mul)):
        merged: dict[int, float] = {}
        for number, (one, type_) in constants.items():
            if not math.isfinite(one):
                continue
            sources = reading.walk[number].sources
            before = next((merged[at[0]] for at in sources if at and at[0] in merged), None)
            merged[number] = whole = one if before is None else merge(one, before)
            if before is None:
                continue
            if abs(whole) > type_.greatest:
                return None
            if merge is operator.mul and (
                abs(whole) < type_.least or _is_brought_back(abs(before), abs(whole), type_)
            ):
                return None
    return False


def _is_brought_back(before: float, whole: float, type_: _Float) -> bool:
    """Say whether a factor is beyond the root of the range, and both together are not."""
    most = 2.0 ** (type_.exponent // 2)
    return not 1 / most < before < most and 1 / most < whole < most


def _scaled(visit: Visit, kind: str, numbers: Numbers) -> float | None:
    """Return the number that an op multiplies with, if it is one number throughout and not zero."""
    if kind == _MULTIPLY:
        return constant_factor(visit, numbers) or None
    divisor = numbers(visit.constant(visit.sources[1])).only if len(visit.sources) > 1 else None
    return 1 / divisor if divisor and math.isfinite(divisor) else None


def constant_added(visit: Visit, kind: str, numbers: Numbers) -> float | None:
    """Return the number that an op adds, if it adds one number throughout."""
    for at, source in enumerate(visit.sources[:2]):
        if source is None or source[0] not in visit.constants or not (kind == _ADD or at == 1):
            continue
        found = numbers(visit.constants[source[0]]).only
        if found is not None:
            return found if kind == _ADD else -found
    return None


def _takes_squares_for_positive(reading: Reading) -> bool | None:
    """Find perhaps an abs of an integer's square, which is negative where it overflows."""
    numbers = reading.floats
    for one in _made(reading, frozenset({_ABS}), frozenset({_MULTIPLY, _POWER})):
        maker = one.by[0] if one.by else None
        if maker and _is_signed(reading, maker) and _is_square(reading, maker, numbers):
            return None
    return False


def _is_signed(reading: Reading, made: Visit) -> bool:
    """Say whether an op that gives something gives a signed integer."""
    return reading.element(made.operation.results[0]) in _SIGNED


def _compares_what_is_positive(reading: Reading) -> bool | None:
    """Find perhaps a compare with zero of an integer's square, or of its abs, which overflow."""
    numbers = reading.floats
    for one in _made(reading, frozenset({_COMPARE}), frozenset({_ABS, _MULTIPLY, _POWER})):
        asked = reading.case(one.visit.operation, "comparison_direction")
        for side, (maker, kind) in enumerate(zip(one.by, one.kinds, strict=True)):
            if maker is None or (asked, side) not in _BELOW_ZERO or len(one.by) != 2:
                continue
            zero = one.visit.constant(one.visit.sources[1 - side])
            if zero is None or _scalar(reading, zero) != 0 or not _is_signed(reading, maker):
                continue
            if kind == _ABS or _is_square(reading, maker, numbers):
                return None
    return False


def _compares_with_nan(reading: Reading) -> bool | None:
    """Find perhaps a maximum or minimum of constants, of which one is NaN."""
    numbers = reading.floats
    of, by = frozenset({_MAXIMUM, _MINIMUM}), _MAKING_NAN | {_CONSTANT}
    folded = reading.folded
    for one in _made(reading, of, by):
        if _float(reading, one.visit) is None or not all(
            source and source[0] in folded for source in one.visit.sources
        ):
            continue
        constants = [one.visit.constant(source) for source in one.visit.sources]
        has_nan = any(numbers(constant).has_nan for constant in constants)
        if has_nan or not _MAKING_NAN.isdisjoint(one.kinds):
            return None
    return False


def _raises_e_to_nan(
    raised: Mapping[str, frozenset[str]], unfolded: Collection[str] = ()
) -> Callable[[Reading], bool | None]:
    """Find perhaps an exponential of what is NaN whatever the arguments are.

    A constant itself is folded before; one that a barrier hides, or that is NaN only by what it is
    added to or multiplied with, is left to LLVM.

    Args:
        raised: The exponentials, each with the element types of its result.
        unfolded: Those of which constants are not folded.
    """

    def find(reading: Reading) -> bool | None:
        for visit in reading.walk.of(raised):
            kind = reading.kinds[visit.operation.name]
            element = _result(reading, visit)
            if element not in raised[kind]:
                continue
            if element not in unfolded and any(map(visit.constant, visit.sources)):
                continue
            if not reading.nan.isdisjoint(reading.flow.operands(visit)):
                return None
        return False

    return find


def _raises_e_to_a_cholesky(reading: Reading) -> bool | None:
    """Find perhaps an exponential of what is computed of a cholesky, of up to 32 bits.

    Of a matrix that is not positive definite XLA's is NaN, by a select of that constant.
    """
    made = {(visit.number, 0) for visit in reading.walk.of([_CHOLESKY])}
    reached = reading.flow.reached(made, lambda _: True, reading.kinds) if made else set()
    for visit in reading.walk.of(_EXPONENTIALS) if reached else ():
        if _result(reading, visit) in _UP_TO_F32 and not reached.isdisjoint(
            reading.flow.operands(visit)
        ):
            return None
    return False


def _keeps_no_bits(reading: Reading) -> bool | None:
    """Find perhaps a reduce_precision of NaN that leaves no bits of the mantissa."""
    used = (one for one in reading.of(_REDUCE_PRECISION) if like(one) in reading.used)
    bits = (reading.value(one, "mantissa_bits").get("value") for one in used)
    return None if any(one == 0 for one in bits) else False


def _result(reading: Reading, visit: Visit) -> str:
    """Return the element type of an op's first result."""
    results = visit.operation.results
    return reading.element(results[0]) if results else ""


def decided_by_sign(reading: Reading) -> frozenset[str]:
    """Return how comparisons of floats may be decided by their sign, which is not that of NaN.

    Args:
        reading: An artifact's ops.

    Returns:
        Keys of `_DECIDED`: both are looked for in one walk.
    """
    numbers = reading.floats
    positive: set[int] = set()
    negated: set[int] = set()
    found: set[str] = set()
    for visit in reading.walk.of(_OF_A_SIGN):
        kind = reading.kinds[visit.operation.name]
        of = [one is not None and one[0] in positive for one in visit.sources]
        if kind == _NEGATE and any(of):
            negated.add(visit.number)
        if kind == _COMPARE and len(of) == len(_SIDES):
            asked = reading.case(visit.operation, "comparison_direction")
            total = reading.case(visit.operation, "compare_type") == "TOTALORDER"
            for side in _SIDES if not total else ():
                source = visit.sources[side]
                below = source is not None and source[0] in negated
                if of[side] or below:
                    other = numbers(visit.constant(visit.sources[1 - side]))
                    asking = (asked, side, below, other)
                    found.update(how for how, decides in _DECIDED.items() if decides(*asking))
        elif (
            kind in _NEVER_NEGATIVE
            or (kind == _CONSTANT and numbers(visit.operation).least >= 0)
            or (kind == _MAXIMUM and any(of))
            or (kind in _SAME_SIGN and of and all(of))
            or (kind == _SELECT and all(of[1:]))
            or (kind == _POWER and of[:1] == [True])
            or (kind == _NEGATE and visit.first in negated)
            or (kind in (_MULTIPLY, _POWER) and _is_square(reading, visit, numbers))
        ) and _float(reading, visit):
            positive.add(visit.number)
    return frozenset(found)


def _perhaps_decided(how: str) -> Callable[[Reading], bool | None]:
    """Find perhaps a comparison that is decided in one of these ways."""
    return lambda reading: None if how in reading.signs else False


def _at_least_zero(asked: object, side: int, below: bool, other: ConstantNumbers) -> bool:
    """Say whether XLA takes it for true: it knows it of zero, and not of its negative."""
    return (asked, side) in _NOT_BELOW_ZERO and not below and str(other.only) == "0.0"


def _true_of_numbers(asked: object, side: int, below: bool, other: ConstantNumbers) -> bool:
    """Say whether a comparison by order with a constant may hold for every number of a sign."""
    above = (asked in _GREATER) is (side == 0)
    only = other.only
    if only is None or asked not in _ORDERS or above is below:
        return False
    return only >= 0 if below else only <= 0


# By what it is compared with: which operand has a sign, whether never a positive one, and numbers.
_ZERO, _ALWAYS = "with zero", "for every number"
_DECIDED: dict[str, Callable[[object, int, bool, ConstantNumbers], bool]] = {
    _ZERO: _at_least_zero,
    _ALWAYS: _true_of_numbers,
}


def _divides_quotients(reading: Reading) -> bool | None:
    """Find perhaps a quotient that is divided, or divided by, by what is no constant.

    XLA multiplies both divisors, or the dividend and the inner divisor, which overflows where two
    divisions do not. A constant divisor is multiplied with before.
    """
    numbers, settled, flow = reading.floats, reading.settled, reading.flow
    quotients: list[Value] = []
    divided: set[Value] = set()
    for visit in reading.walk.of([_DIVIDE]):
        if len(visit.sources) != len(_SIDES) or _result(reading, visit) not in _OWN:
            continue
        dividend, divisor = visit.sources
        is_one = abs(numbers(visit.constant(dividend)).only or 0) == 1
        if not is_one and not (divisor and divisor[0] in settled):
            divided.update(flow.operands(visit))
            quotients.append((visit.number, 0))
    if divided.isdisjoint(flow.reached(quotients, _is_first, _RESHAPED)):
        return False
    return None


def _divides_by(kind: str) -> Callable[[Reading], bool | None]:
    """Find perhaps a division by the result of some op.

    XLA multiplies by what it gives for the negative operand, which is no normal number where its
    result is great. One, divided so, is hardly another.
    """

    def find(reading: Reading) -> bool | None:
        numbers = reading.floats
        for one in _made(reading, frozenset({_DIVIDE}), frozenset({kind})):
            divisor = one.by[1] if len(one.by) == len(_SIDES) else None
            merges = {*one.kinds} == {_EXPONENTIAL}  # both are one, of a difference
            if divisor is None or merges or _result(reading, one.visit) not in _OWN:
                continue
            dividend = numbers(one.visit.constant(one.visit.sources[0])).only
            exponent = numbers(divisor.constant(divisor.sources[-1])).only
            if exponent not in _PLAIN and (dividend is None or abs(dividend) > 1):
                return None
        return False

    return find


def _on_floats(reading: Reading, of: frozenset[str]) -> Iterator[Visit]:
    """Yield some ops, where their result has floats."""
    for visit in reading.walk.of(of):
        results = visit.operation.results
        if results and reading.element(results[0]).startswith(_FLOATING):
            yield visit


def _may_lose_nan(reading: Reading) -> bool | None:
    """Find perhaps a maximum or minimum of floats of which the second may be NaN.

    Where XLA compiles them as one instruction of the processor, only a NaN in front is kept; a
    constant stands behind.
    """
    numbers = reading.floats
    for visit in _on_floats(reading, frozenset({_MAXIMUM, _MINIMUM})):
        constants = [one for source in visit.sources if (one := visit.constant(source))]
        if not constants or any(numbers(constant).has_nan for constant in constants):
            return None
    return False


def _may_lose_nan_behind_a_constant(reading: Reading) -> bool | None:
    """Find perhaps a maximum or minimum of a constant and of floats behind it that may be NaN.

    As `_may_lose_nan`, which finds constants that have a NaN, where no constant is put behind.
    """
    for visit in _on_floats(reading, frozenset({_MAXIMUM, _MINIMUM})):
        first, *others = [visit.constant(source) for source in visit.sources] or [None]
        if first and not all(others) and not reading.floats(first).has_nan:
            return None
    return False


def _clamps(reading: Reading) -> bool | None:
    """Find perhaps a clamp of floats of which one is NaN."""
    return None if any(_on_floats(reading, frozenset({_CLAMP}))) else False


def _clamps_from_several(reading: Reading) -> bool | None:
    """Find perhaps a clamp of floats other than from one constant number to constants.

    From that on XLA keeps NaN, as a maximum with a constant does.
    """
    numbers = reading.floats
    for visit in _on_floats(reading, frozenset({_CLAMP})):
        bounds = [numbers(one) for source in visit.sources[::2] if (one := visit.constant(source))]
        if len(bounds) < _BOUNDS or bounds[0].only is None or any(one.has_nan for one in bounds):
            return None
    return False


def _sums_products_of_many_dimensions(reading: Reading) -> bool | None:
    """Find perhaps a sum over products of f32 with seven dimensions or more.

    By its sizes the library that XLA calls for it ends by SIGSEGV.
    """
    depth = None  # of such a reduce, until the op that it reduces by
    for one in _made(reading, frozenset({_REDUCE, _ADD}), frozenset({_MULTIPLY})):
        if one.kind == _ADD:
            if depth is not None and one.visit.operation.depth > depth:
                return None
            depth = None
        elif one.by and (product := one.by[0]):
            type_ = next(iter(product.operation.results), None)
            many = len(reading.dimensions(type_) or ()) >= _FEWEST_DIMENSIONS
            different = len({*product.operands}) > 1
            is_f32 = type_ is not None and reading.element(type_) == "f32_v1"
            depth = one.visit.operation.depth if many and different and is_f32 else None
    return False


def _sorts_too_many(reading: Reading) -> bool | None:
    """Find a sort of more operands than XLA:CPU once had code for.

    Perhaps it is one where a result is not used: what is not compared either is removed.
    """
    sorts = [(visit.number, len(visit.operands)) for visit in reading.walk.of([_SORT])]
    counts = {number: count for number, count in sorts if count > _MOST_SORTED}
    used: dict[int, set[int]] = {number: set() for number in counts}
    for visit in reading.walk if used else ():
        for source in visit.sources:
            if source and source[0] in used:
                used[source[0]].add(source[1])
    found = [(len(used[number]), count) for number, count in counts.items()]
    if any(taken > _MOST_SORTED and count != _ALSO_SORTED for taken, count in found):
        return True
    return None if any((taken, count) != (_ALSO_SORTED,) * 2 for taken, count in found) else False


SIMPLIFIED: dict[str, FormRule] = {
    "divide by a constant whose reciprocal is not normal": FormRule(
        _divides_by_a_large_constant, (ops(_DIVIDE), ops(_CONSTANT)), across=True
    ),
    "log of a power": FormRule(_logs_of_powers, (ops(_LOG), ops(_POWER)), across=True),
    "log of an exponential or root of a square": FormRule(
        _undoes_what_overflows,
        (ops(_LOG, _SQRT, _POWER), ops(_EXPONENTIAL, _MULTIPLY, _POWER)),
        across=True,
    ),
    "product, quotient or power of exponentials": FormRule(
        _merges_exponentials, (ops(_EXPONENTIAL), ops(_MULTIPLY, _DIVIDE, _POWER)), across=True
    ),
    "addition of a constant and of one that cancels it": FormRule(
        _adds_and_takes_away, (ops(_CONSTANT), ops(_ADD, _SUBTRACT)), across=True
    ),
    "abs of the square of an integer": FormRule(
        _takes_squares_for_positive, (ops(_ABS), ops(_MULTIPLY, _POWER)), across=True
    ),
    "compare of the square or abs of an integer with zero": FormRule(
        _compares_what_is_positive, (ops(_COMPARE), ops(_ABS, _MULTIPLY, _POWER)), across=True
    ),
    "maximum or minimum of constants of which one is NaN": FormRule(
        _compares_with_nan, (ops(_MAXIMUM, _MINIMUM), ops(_CONSTANT)), across=True
    ),
    "exponential, exponential_minus_one or logistic of a cholesky": FormRule(
        _raises_e_to_a_cholesky, (ops(_CHOLESKY), ops(*_EXPONENTIALS)), across=True
    ),
    "reduce_precision to no bits of mantissa": FormRule(_keeps_no_bits, (ops(_REDUCE_PRECISION),)),
    "exponential of what is computed from NaN": FormRule(
        _raises_e_to_nan(_RAISED), (ops(*_RAISED), ops(_CONSTANT, _IOTA)), across=True
    ),
    "exponential, logistic, or sine of f16, of NaN": FormRule(
        _raises_e_to_nan(_RAISED_BY_IREE, {"f16_v1"}),
        (ops(*_RAISED_BY_IREE), ops(_CONSTANT, _IOTA)),
        across=True,
    ),
    "exponential of f64 that is computed from NaN": FormRule(
        _raises_e_to_nan(_RAISED_ONCE),
        (ops(*_RAISED_ONCE), types({"f64_v1"}), ops(_CONSTANT, _IOTA)),
    ),
    "compare of floats that are never negative with zero": FormRule(
        _perhaps_decided(_ZERO), (ops(_COMPARE), ops(_CONSTANT)), across=True
    ),
    "compare of floats that holds for every number of their sign": FormRule(
        _perhaps_decided(_ALWAYS), (ops(_COMPARE), ops(_CONSTANT)), across=True
    ),
    "two constants one after another that leave the range of their type as one": FormRule(
        _leaves_the_range, (ops(_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE), ops(_CONSTANT)), across=True
    ),
    "division of or by a quotient": FormRule(_divides_quotients, (ops(_DIVIDE),), across=True),
    "division by an exponential": FormRule(
        _divides_by(_EXPONENTIAL), (ops(_DIVIDE), ops(_EXPONENTIAL)), across=True
    ),
    "division by a power": FormRule(_divides_by(_POWER), (ops(_DIVIDE), ops(_POWER)), across=True),
    "maximum or minimum of floats of which the second may be NaN": FormRule(
        _may_lose_nan, (ops(_MAXIMUM, _MINIMUM),), across=True
    ),
    "maximum or minimum of a constant and of floats behind it that may be NaN": FormRule(
        _may_lose_nan_behind_a_constant, (ops(_MAXIMUM, _MINIMUM), ops(_CONSTANT)), across=True
    ),
    "clamp of floats": FormRule(_clamps, (ops(_CLAMP),)),
    "clamp of floats other than from one constant number to constants": FormRule(
        _clamps_from_several, (ops(_CLAMP),)
    ),
    "sum of products of seven dimensions or more": FormRule(
        _sums_products_of_many_dimensions, (ops(_REDUCE), ops(_MULTIPLY)), across=True
    ),
    "sort of more than 16 operands": FormRule(_sorts_too_many, (ops(_SORT),)),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
