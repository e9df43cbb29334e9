"""Products of numbers with booleans, of which compilers make one of the two and zero.

Zero times NaN or an infinity is NaN, and they select zero. Where the other operand is finite
whatever the arguments are, or an integer, that is the same. XLA makes a product of a quotient too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.operations import like
from portable.prediction.computing import WHOLE
from portable.prediction.flow import by_the_first
from portable.prediction.form import FormRule, kinds, ops, types
from portable.prediction.products import DOTS, left_and_contracted
from portable.prediction.simplified import FLOATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.bytecode.operations import OpSignature
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["MASKS"]

_CONVERT, _DIVIDE, _MULTIPLY = "vhlo.convert", "vhlo.divide", "vhlo.multiply"
_RESHAPE = "vhlo.reshape"
_DOT = "vhlo.dot_general_v1"
_SPREADING = kinds("broadcast broadcast_in_dim")
_BOOLEAN = "bool_v1"
# Where one of these stands before or after a conversion, that is not always in the product.
_MOVING = _SPREADING | kinds("concatenate pad reshape reverse slice transpose")


def _masks(reading: Reading) -> bool | None:
    """Find perhaps a product of numbers with booleans that were converted, and perhaps reshaped.

    Or a quotient of them, unless they are divided by an argument as it is given.
    """
    if (made := _of_booleans(reading)) is None:
        return False
    masks: list[Value] = []
    spread = set[int]()
    for visit in reading.walk.of([_CONVERT, _RESHAPE, *_SPREADING]):
        kind = reading.kinds[visit.operation.name]
        # What is broadcast first is broadcast last by XLA.
        if kind in _SPREADING or (kind == _RESHAPE and visit.first in spread):
            spread.add(visit.number)
        elif kind == _CONVERT and visit.first not in spread and made(visit):
            masks.append((visit.number, 0))
    reached = reading.flow.reached(masks, by_the_first, [_RESHAPE])
    return None if _multiplies(reading, reached) or _divides(reading, reached) else False


def _masks_widely(reading: Reading) -> bool | None:
    """Find perhaps a product with booleans as `_masks` does, also with integers made of them.

    And with what is broadcast.
    """
    if (made := _of_booleans(reading)) is None:
        return False
    masks = [(visit.number, 0) for visit in reading.walk.of([_CONVERT]) if made(visit)]
    reached = reading.flow.reached(masks, by_the_first, [_CONVERT, *_SPREADING])
    return None if _multiplies(reading, reached) else False


def _multiplies(reading: Reading, masks: set[Value]) -> bool:
    """Say whether a mask is multiplied with what may be NaN or infinite."""
    return bool(masks) and any(
        value in masks and reading.finite.at(other) == math.inf
        for _, values in _of_floats(reading, _MULTIPLY)
        for value, other in zip(values, reversed(values), strict=True)
    )


def _divides(reading: Reading, masks: set[Value]) -> bool:
    """Say whether a mask is divided by what is computed and may be NaN or zero.

    XLA multiplies with the reciprocal of what is constant or broadcast, of an exponential or root.
    """
    return bool(masks) and any(
        not masks.isdisjoint(values[:1])
        and not all(_divides_well(reading, visit, one) for one in values[1:])
        for visit, values in _of_floats(reading, _DIVIDE)
    )


def _divides_well(reading: Reading, visit: Visit, divisor: Value) -> bool:
    """Say whether a divisor stays one, as an argument of the program, or is a finite number."""
    number, at = divisor
    if at < 0:
        return number == reading.functions.main
    numbers = reading.floats(visit.constants.get(number))
    return numbers.finite and not numbers.some_is_zero


def _of_floats(reading: Reading, op: str) -> Iterator[tuple[Visit, list[Value]]]:
    """Yield the ops of a name that give numbers that are no integers, with what they take."""
    for visit in reading.walk.of([op]):
        results = visit.operation.results
        exact = bool(results) and reading.element(results[0]) in _EXACT
        if results and not exact and like(visit.operation) in reading.used:
            yield visit, reading.flow.operands(visit)


_EXACT = WHOLE | {_BOOLEAN}


def _of_booleans(reading: Reading) -> Callable[[Visit], bool] | None:
    """Return what says whether an op converts booleans, perhaps those of an argument.

    None if no op does.
    """
    converts = reading.of(f"{_CONVERT}_v1")
    typed = [(one, type_) for one in converts for type_ in (one.operand_types or ())[:1]]
    known = {like(one) for one, type_ in typed if type_ is not None and _is_boolean(reading, type_)}
    if not known:
        return None

    def made(visit: Visit) -> bool:
        if like(visit.operation) not in known or not visit.sources:
            return False
        source = visit.sources[0]
        return source is None or _is_boolean(reading, reading.walk.type(source))

    return made


def _is_boolean(reading: Reading, type_: int) -> bool:
    return reading.element(type_) == _BOOLEAN


def _multiplies_vectors(reading: Reading) -> bool | None:
    """Find perhaps a dot_general of two vectors, one of which is made of booleans."""
    made = _of_booleans(reading)
    masks = {visit.number for visit in reading.walk.of([_CONVERT]) if made(visit)} if made else ()
    vectors = {
        like(one)
        for one in reading.of(_DOT)
        if [len(reading.dimensions(type_) or ()) for type_ in one.operand_types or ()] == [1, 1]
    }
    for visit in reading.walk.of([_DOT]) if masks else ():
        taken = any(source and source[0] in masks for source in visit.sources)
        if taken and like(visit.operation) in vectors:
            return None
    return False


class _Sizes(NamedTuple):
    """How many elements a product has of each sort, and how many dimensions.

    Args:
        left: Those of the first operand alone; 0 if no dimension is.
        right: Those of the second.
        contracted: Those that are summed over.
        contracting: How many dimensions these are.
        batches: Those of the batching dimensions.
        batching: How many dimensions these are.
    """

    left: int
    right: int
    contracted: int
    contracting: int
    batches: int
    batching: int


def _sizes(reading: Reading, product: OpSignature) -> _Sizes | None:
    sides = [reading.dimensions(type_) for type_ in product.operand_types or ()]
    left, right = (*sides, None, None)[:2]
    if left is None or right is None:
        return None
    parts = [
        left_and_contracted(reading, product, side, shape)
        for side, shape in (("lhs", left), ("rhs", right))
    ]
    batching = reading.numbers(product, "lhs_batching_dimensions")
    contracting = reading.numbers(product, "lhs_contracting_dimensions")
    batches = math.prod(left[at] for at in batching if at < len(left))
    inside = len(contracting) + len(batching)
    alone, other = (
        free if len(shape) > inside else 0
        for (free, _), shape in zip(parts, (left, right), strict=True)
    )
    return _Sizes(alone, other, parts[0][1], len(contracting), batches, len(batching))


def _multiplies_by_batches(sizes: _Sizes) -> bool | None:
    """Say whether a product is of matrices and vectors, in batches of one dimension."""
    if sizes.batching != 1 or sizes.contracting != 1 or all((sizes.left, sizes.right)):
        return False
    return True if sizes.batches > 1 and sizes.contracted > 1 else None


def _multiplies_vector_by_matrix(sizes: _Sizes) -> bool:
    """Say whether a product is of a vector and a matrix, in this order."""
    return not (sizes.batching or sizes.left) and min(sizes.right, sizes.contracted) > 1


def _multiplies_converted(
    is_it: Callable[[_Sizes], bool | None],
) -> Callable[[Reading], bool | None]:
    """Find a product of some sizes of which one operand is booleans that were converted.

    Perhaps it is one where they were moved before or after that: IREE does not always compute the
    conversion in one with the product.
    """

    def find(reading: Reading) -> bool | None:
        if (made := _of_booleans(reading)) is None:
            return False
        perhaps = False
        masks: dict[int, bool] = {}  # whether they were moved, by the numbers of operations
        for visit in reading.walk.of([_CONVERT, *_MOVING]):
            first = visit.first
            if visit.name.startswith(_CONVERT):
                if made(visit):
                    before = None if first is None else reading.walk.head(first).name
                    masks[visit.number] = before is not None and reading.kinds[before] in _MOVING
            elif first in masks:
                masks[visit.number] = True
        known = {
            like(one): None if sizes is None else is_it(sizes)
            for one in reading.of(*DOTS)
            if like(one) in reading.used
            for sizes in [_sizes(reading, one)]
        }
        for visit in reading.walk.of(DOTS) if masks else ():
            moved = [masks[one[0]] for one in visit.sources if one and one[0] in masks]
            found = known.get(like(visit.operation), False)
            if moved and found is not False:
                if found and not all(moved):
                    return True
                perhaps = True
        return None if perhaps else False

    return find


_MASKED_DOT = (ops(*DOTS), ops(_CONVERT), types({_BOOLEAN}))
_NEEDED = (ops(_CONVERT), types({_BOOLEAN}), types(FLOATS))
MASKS: dict[str, FormRule] = {
    "product of floats with booleans": FormRule(
        _masks, (*_NEEDED, ops(_MULTIPLY, _DIVIDE)), across=True
    ),
    "product of floats with booleans, or with integers made of them": FormRule(
        _masks_widely, (*_NEEDED, ops(_MULTIPLY)), across=True
    ),
    "dot_general of two vectors of which one is made of booleans": FormRule(
        _multiplies_vectors, (ops(_DOT), ops(_CONVERT), types({_BOOLEAN}))
    ),
    "dot_general in batches with vectors of which one operand is made of booleans": FormRule(
        _multiplies_converted(_multiplies_by_batches), _MASKED_DOT, across=True
    ),
    "dot_general of a vector and a matrix of which one is made of booleans": FormRule(
        _multiplies_converted(_multiplies_vector_by_matrix), _MASKED_DOT
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
