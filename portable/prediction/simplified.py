"""Forms that XLA replaces by what equals them among real numbers, and not as a type holds them.

Most show only for some values: an artifact perhaps has the form.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from portable.bytecode.entries import Blob
from portable.prediction.computing import integers
from portable.prediction.form import FormRule, kinds, ops

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from portable.bytecode.operations import Operation
    from portable.prediction.forms import Reading, Visit

__all__ = ["SIMPLIFIED"]

_ABS, _ADD, _COMPARE, _CONSTANT = "vhlo.abs", "vhlo.add", "vhlo.compare", "vhlo.constant"
_CLAMP = "vhlo.clamp"
_DIVIDE, _EXPONENTIAL, _LOG = "vhlo.divide", "vhlo.exponential", "vhlo.log"
_MAXIMUM, _MINIMUM, _MULTIPLY = "vhlo.maximum", "vhlo.minimum", "vhlo.multiply"
_POWER, _REDUCE, _SORT = "vhlo.power", "vhlo.reduce", "vhlo.sort"
_SQRT, _SUBTRACT = "vhlo.sqrt", "vhlo.subtract"
_BARRIER = "vhlo.optimization_barrier"


class _Float(NamedTuple):
    """A floating-point type.

    Args:
        code: As `struct` names it, or an integer of its size.
        size: Its bytes.
        largest: The largest number whose reciprocal is a normal one.
        digits: The bits of a number without its sign and exponent, with the one not stored.
    """

    code: str
    size: int
    largest: float
    digits: int


_FLOATS = {
    "f64_v1": _Float("d", 8, 2.0**1022, 53),
    "f32_v1": _Float("f", 4, 2.0**126, 24),
    "f16_v1": _Float("e", 2, math.inf, 11),  # whose reciprocals are rounded, and not zero
    "bf16_v1": _Float("H", 2, 2.0**126, 8),
}
# bf16 is the upper half of an f32.
_HALF = 16
# A constant of more bytes is not looked into.
_MOST_BYTES = 4 << 20
# A constant from which one that is too large to be divided by may be computed.
_LARGE = 2.0**63
_SIGNED = frozenset(f"i{bits}_v1" for bits in (8, 16, 32, 64))
_SCALAR_BYTES = 8
# What is asked, as VHLO numbers it, and the operand that is less than zero if so, or if not.
_BELOW_ZERO = frozenset({(5, 0), (2, 0), (3, 1), (4, 1)})
_POSITIVE = kinds("exponential logistic")
# Exponents for which XLA multiplies or divides before it looks at the logarithm.
_MULTIPLIED = frozenset({-1.0, 1.0, 3.0})
# What makes the numbers that are none out of others.
_MAKING_NONE = kinds("divide log power remainder rsqrt sqrt")
_FLOATING = ("f", "bf")
# What has NaN throughout where one operand does, and XLA, or LLVM, knows it of a constant.
_KEEPING_NONE = kinds(
    "abs add broadcast_in_dim convert divide maximum minimum multiply negate optimization_barrier"
    " reshape sqrt subtract transpose"
)
_EXPONENTIALS = kinds("exponential exponential_minus_one logistic")
_FEWEST_DIMENSIONS = 7
_MOST_SORTED, _ALSO_SORTED = 16, 25
_FEW = 8


class _Numbers(NamedTuple):
    """The numbers of a constant.

    Args:
        few: Each of them, where only a few are different.
        least: The least of them.
        largest: The largest of their magnitudes, without infinity.
        some_is_none: Whether one of them is no number.
    """

    few: frozenset[float] = frozenset()
    least: float = -math.inf
    largest: float = 0.0
    some_is_none: bool = False

    @property
    def only(self) -> float | None:
        """The number that all of them are."""
        return next(iter(self.few)) if len(self.few) == 1 else None


_NOTHING = _Numbers()
_Reader: TypeAlias = "Callable[[Operation | None], _Numbers]"


def _numbers(reading: Reading) -> _Reader:
    """Return what tells the numbers of a constant; none of another type, or too many.

    Each is read once: any number of ops may take the same.
    """
    known: dict[int, _Numbers] = {}

    def numbers(constant: Operation | None) -> _Numbers:
        index = None if constant is None else reading.attribute(constant, "value")
        if constant is None or index is None or not constant.results:
            return _NOTHING
        if index not in known:
            data = reading.content.pool.attribute(index).fields.get("data")
            kind = _FLOATS.get(reading.element(constant.results[0]))
            known[index] = _read(reading, data, kind) if kind else _NOTHING
        return known[index]

    return numbers


def _read(reading: Reading, data: object, kind: _Float) -> _Numbers:
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
    return _Numbers(
        found if len(found) <= _FEW else frozenset(),
        min(numbers, default=-math.inf),
        max((abs(one) for one in numbers if math.isfinite(one)), default=0.0),
        len(numbers) != len(found),
    )


def _float(reading: Reading, visit: Visit) -> _Float | None:
    """Return the type of an op's first result, if it is one of those that are looked at."""
    results = visit.operation.results
    return _FLOATS.get(reading.element(results[0])) if results else None


def _divides_by_a_large_constant(reading: Reading) -> bool | None:
    """Find a division by a constant whose reciprocal is too small for a normal number.

    XLA multiplies by the reciprocal, which is zero on a CPU. Perhaps what is computed from a large
    constant is such a one.
    """
    numbers, perhaps = _numbers(reading), False
    large: set[int] = set()
    for number, visit in enumerate(reading.walk()):
        kind = reading.kinds[visit.operation.name]
        if number in reading.folded and kind != _BARRIER:
            above = any(one and one[0] in large for one in visit.sources)
            if above or (kind == _CONSTANT and numbers(visit.operation).largest > _LARGE):
                large.add(number)
        elif kind == _DIVIDE and len(visit.sources) > 1:
            type_, divisor = _float(reading, visit), visit.sources[1]
            if type_ is None or divisor is None or divisor[0] not in large:
                continue
            constant = visit.constant(divisor)
            if numbers(constant).largest > type_.largest:
                return True
            perhaps |= constant is None
    return None if perhaps else False


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
    known: dict[int, Visit] = {}
    for number, visit in enumerate(reading.walk()):
        kind = reading.kinds[visit.operation.name]
        if kind in of:
            makers = [known.get(one[0]) if one else None for one in visit.sources]
            names = [reading.kinds[one.operation.name] if one else "" for one in makers]
            yield _Made(visit, kind, makers, names)
        if kind in by:
            known[number] = visit


def _logs_of_powers(reading: Reading) -> bool | None:
    """Find perhaps a log of a power, for which XLA multiplies the exponent by a log of the base.

    That is of the number without its sign, where the log of a negative power is NaN, and of zero to
    the power of zero NaN, where the log of one is zero.
    """
    numbers = _numbers(reading)
    positive: set[int] = set()
    for number, visit in enumerate(reading.walk()):
        if reading.kinds[visit.operation.name] in _POSITIVE:
            positive.add(number)
    for one in _made(reading, frozenset({_LOG}), frozenset({_POWER})):
        power = one.by[0] if one.by else None
        if power is None or len(power.sources) != 2 or _float(reading, power) is None:
            continue
        base, exponent = power.sources[0], numbers(power.constant(power.sources[1])).only
        if exponent is not None and (exponent in _MULTIPLIED or exponent % 2 == 0):
            continue
        if not (base and base[0] in positive) and numbers(power.constant(base)).least <= 0:
            return None
    return False


def _is_square(reading: Reading, visit: Visit, numbers: _Reader) -> bool:
    """Say whether an op multiplies a number by itself, or raises it to the power of two."""
    kind, operands = reading.kinds[visit.operation.name], visit.operation.operands
    if kind != _POWER:
        return kind == _MULTIPLY and len({*operands}) == 1
    exponent = visit.constant(visit.sources[1]) if len(visit.sources) == 2 else None
    return exponent is not None and 2 in {numbers(exponent).only, _scalar(reading, exponent)}


def _scalar(reading: Reading, constant: Operation) -> int | None:
    """Return the integer that a constant is throughout."""
    data = reading.value(constant, "value").get("data")
    if reading.element(constant.results[0]) not in _SIGNED:
        return None
    is_one = isinstance(data, Blob) and data.size <= _SCALAR_BYTES
    found = {*integers(reading, constant)} if is_one else ()
    return next(iter(found)) if len(found) == 1 else None


def _undoes_what_overflows(reading: Reading) -> bool | None:
    """Find perhaps a log of an exponential or a root of a square, which XLA both leaves out."""
    numbers = _numbers(reading)
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


def _adds_and_takes_away(reading: Reading) -> bool | None:
    """Find perhaps an addition of a constant and of one that takes it away again.

    XLA adds the two constants: what they would have rounded is not.
    """
    numbers, both = _numbers(reading), frozenset({_ADD, _SUBTRACT})
    for one in _made(reading, both, both):
        type_ = _float(reading, one.visit)
        added = _added(one.visit, one.kind, numbers) if type_ else None
        if type_ is None or added is None:
            continue
        for maker, kind in zip(one.by, one.kinds, strict=True):
            before = None if maker is None else _added(maker, kind, numbers)
            if before is None or abs(before) < 2.0 ** (type_.digits // 2):
                continue
            if abs(before + added) < abs(before) / 2.0 ** (type_.digits // 2):
                return None
    return False


def _added(visit: Visit, kind: str, numbers: _Reader) -> float | None:
    """Return the number that an op adds, if it adds one number throughout."""
    for at, source in enumerate(visit.sources[:2]):
        found = numbers(visit.constant(source)).only
        if found is not None and (kind == _ADD or at == 1):
            return found if kind == _ADD else -found
    return None


def _takes_squares_for_positive(reading: Reading) -> bool | None:
    """Find perhaps an abs of an integer's square, which is negative where it overflows."""
    numbers = _numbers(reading)
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
    numbers = _numbers(reading)
    for one in _made(reading, frozenset({_COMPARE}), frozenset({_ABS, _MULTIPLY, _POWER})):
        asked = reading.value(one.visit.operation, "comparison_direction").get("value")
        for side, (maker, kind) in enumerate(zip(one.by, one.kinds, strict=True)):
            if maker is None or (asked, side) not in _BELOW_ZERO or len(one.by) != 2:
                continue
            zero = one.visit.constant(one.visit.sources[1 - side])
            if zero is None or _scalar(reading, zero) != 0 or not _is_signed(reading, maker):
                continue
            if kind == _ABS or _is_square(reading, maker, numbers):
                return None
    return False


def _compares_with_none(reading: Reading) -> bool | None:
    """Find perhaps a maximum or minimum of constants, of which one is no number."""
    numbers = _numbers(reading)
    of, by = frozenset({_MAXIMUM, _MINIMUM}), _MAKING_NONE | {_CONSTANT}
    folded = reading.folded
    for one in _made(reading, of, by):
        if _float(reading, one.visit) is None or not all(
            source and source[0] in folded for source in one.visit.sources
        ):
            continue
        constants = [one.visit.constant(source) for source in one.visit.sources]
        some_is_none = any(numbers(constant).some_is_none for constant in constants)
        if some_is_none or not _MAKING_NONE.isdisjoint(one.kinds):
            return None
    return False


def _raises_e_to_none(reading: Reading) -> bool | None:
    """Find perhaps an exponential of what is NaN whatever the arguments are.

    A constant itself is folded before; one that a barrier hides, or that is NaN only by what it is
    added to or multiplied with, is left to LLVM.
    """
    numbers, folded = _numbers(reading), reading.folded
    none: set[int] = set()
    for number, visit in enumerate(reading.walk()):
        kind = reading.kinds[visit.operation.name]
        if kind not in _KEEPING_NONE and kind not in _EXPONENTIALS and kind not in _MAKING_NONE:
            continue
        makers = [source[0] for source in visit.sources if source]
        if kind in _EXPONENTIALS:
            if not none.isdisjoint(makers) and _float(reading, visit) is not None:
                return None
            continue
        constants = [visit.constant(source) for source in visit.sources]
        # Of constants that are all positive none of these is NaN.
        positive = all(numbers(one).least > 0 for one in constants)
        made = bool(makers) and folded.issuperset(makers) and not positive
        if (made and kind in _MAKING_NONE) or (
            kind in _KEEPING_NONE
            and (not none.isdisjoint(makers) or any(numbers(one).some_is_none for one in constants))
        ):
            none.add(number)
    return False


def _on_floats(reading: Reading, of: frozenset[str]) -> Iterator[Visit]:
    """Yield some ops, where their result has floats."""
    for visit in reading.walk():
        results = visit.operation.results if reading.kinds[visit.operation.name] in of else ()
        if results and reading.element(results[0]).startswith(_FLOATING):
            yield visit


def _may_lose_none(reading: Reading) -> bool | None:
    """Find perhaps a maximum or minimum of floats of which the second may be NaN.

    Where XLA compiles them as one instruction of the processor, only a NaN in front is kept; a
    constant stands behind.
    """
    numbers = _numbers(reading)
    for visit in _on_floats(reading, frozenset({_MAXIMUM, _MINIMUM})):
        constants = [one for source in visit.sources if (one := visit.constant(source))]
        if not constants or any(numbers(constant).some_is_none for constant in constants):
            return None
    return False


def _clamps(reading: Reading) -> bool | None:
    """Find perhaps a clamp of floats of which one is NaN."""
    return None if any(_on_floats(reading, frozenset({_CLAMP}))) else False


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
            different = len({*product.operation.operands}) > 1
            is_f32 = type_ is not None and reading.element(type_) == "f32_v1"
            depth = one.visit.operation.depth if many and different and is_f32 else None
    return False


def _sorts_too_many(reading: Reading) -> bool | None:
    """Find a sort of more operands than XLA:CPU once had code for.

    Perhaps it is one where a result is not used: what is not compared either is removed.
    """
    used: dict[int, set[int]] = {}
    counts: dict[int, int] = {}
    for number, visit in enumerate(reading.walk()):
        for source in visit.sources if used else ():
            if source and source[0] in used:
                used[source[0]].add(source[1])
        count = len(visit.operation.operands)
        if reading.kinds[visit.operation.name] == _SORT and count > _MOST_SORTED:
            used[number], counts[number] = set(), count
    found = [(len(used[number]), count) for number, count in counts.items()]
    if any(taken > _MOST_SORTED and count != _ALSO_SORTED for taken, count in found):
        return True
    return None if any((taken, count) != (_ALSO_SORTED,) * 2 for taken, count in found) else False


SIMPLIFIED: dict[str, FormRule] = {
    "divide by a constant whose reciprocal is not normal": FormRule(
        _divides_by_a_large_constant, (ops(_DIVIDE), ops(_CONSTANT))
    ),
    "log of a power": FormRule(_logs_of_powers, (ops(_LOG), ops(_POWER))),
    "log of an exponential or root of a square": FormRule(
        _undoes_what_overflows, (ops(_LOG, _SQRT, _POWER), ops(_EXPONENTIAL, _MULTIPLY, _POWER))
    ),
    "product, quotient or power of exponentials": FormRule(
        _merges_exponentials, (ops(_EXPONENTIAL), ops(_MULTIPLY, _DIVIDE, _POWER))
    ),
    "addition of a constant and of one that takes it away": FormRule(
        _adds_and_takes_away, (ops(_CONSTANT), ops(_ADD, _SUBTRACT))
    ),
    "abs of the square of an integer": FormRule(
        _takes_squares_for_positive, (ops(_ABS), ops(_MULTIPLY, _POWER))
    ),
    "compare of the square or abs of an integer with zero": FormRule(
        _compares_what_is_positive, (ops(_COMPARE), ops(_ABS, _MULTIPLY, _POWER))
    ),
    "maximum or minimum of constants of which one is NaN": FormRule(
        _compares_with_none, (ops(_MAXIMUM, _MINIMUM), ops(_CONSTANT))
    ),
    "exponential of what is computed from NaN": FormRule(
        _raises_e_to_none, (ops(*_EXPONENTIALS), ops(_CONSTANT))
    ),
    "maximum or minimum of floats of which the second may be NaN": FormRule(
        _may_lose_none, (ops(_MAXIMUM, _MINIMUM),)
    ),
    "clamp of floats": FormRule(_clamps, (ops(_CLAMP),)),
    "sum of products of seven dimensions or more": FormRule(
        _sums_products_of_many_dimensions, (ops(_REDUCE), ops(_MULTIPLY))
    ),
    "sort of more than 16 operands": FormRule(_sorts_too_many, (ops(_SORT),)),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
