"""Scatters and gathers by the dimensions of their windows and indices: compilers take some."""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.form import GATHERS, SCATTERS, FormRule, ops
from portable.prediction.signatures import FLOATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading

__all__ = ["SCATTERED", "is_wide"]

_NONE = frozenset[int]()
_SELECTING = "vhlo.select_and_scatter_v1"
_SCATTERED = 3  # one operand, its indices and its updates


def _scatters(reading: Reading) -> Iterator[OpSignature]:
    """Yield the op signatures of scatters, without those that a compiler removes before."""
    return (one for one in reading.of(*SCATTERS) if like(one) in reading.used)


def is_wide(reading: Reading, scatter: OpSignature) -> bool:
    """Say whether windows have several elements in a dimension that indices choose in.

    Args:
        reading: An artifact's ops.
        scatter: The op.
    """
    updates = reading.dimensions((scatter.operand_types or (None,))[-1])
    numbers = functools.partial(reading.numbers, scatter)
    gone = {*numbers("inserted_window_dims"), *numbers("input_batching_dims")}
    chosen = numbers("scatter_dims_to_operand_dims")
    # Where a window dimension is in the updates, by how many dimensions before it have none.
    before = sorted(gone)
    places = (at - bisect_left(before, at) for at in chosen if at not in gone)
    inside = numbers("update_window_dims")
    found = (inside[place] for place in places if place < len(inside))
    return any(updates and at < len(updates) and updates[at] > 1 for at in found)


def _into_a_scalar(*, several: bool) -> Callable[[Reading], bool]:
    """Find a scatter into a scalar, of several updates or of any number."""

    def found(reading: Reading) -> bool:
        for signature in _scatters(reading):
            types = signature.operand_types or ()
            updates = types[len(types) // 2 + 1 :]
            if reading.dimensions(types[0] if types else None) != []:
                continue
            if not several or any(reading.dimensions(one) not in ([], [1]) for one in updates):
                return True
        return False

    return found


def _without_components(reading: Reading) -> bool:
    """Find a scatter whose indices have no components, so that all updates go to one place.

    Batching dimensions become components.
    """
    return not all(
        reading.numbers(one, "scatter_dims_to_operand_dims")
        or reading.numbers(one, "input_batching_dims")
        for one in _scatters(reading)
    )


def _scatters_to_one_place(reading: Reading) -> bool:
    """Find a scatter of several single elements by indices without components."""
    for one in _scatters(reading):
        updates = reading.dimensions((one.operand_types or (None,))[-1]) or ()
        inside = {*reading.numbers(one, "update_window_dims")}
        if reading.numbers(one, "scatter_dims_to_operand_dims"):
            continue
        if math.prod(updates) > 1 == math.prod([updates[at] for at in inside if at < len(updates)]):
            return True
    return False


def _scatters_behind(reading: Reading) -> bool | None:
    """Find a scatter by indices of several components, with a dimension before one of theirs.

    Perhaps one is such that has batching dimensions, which become components of the indices.
    """
    perhaps = False
    for one in _scatters(reading):
        chosen = {*reading.numbers(one, "scatter_dims_to_operand_dims")}
        batching = {*reading.numbers(one, "input_batching_dims")}
        dimensions = chosen | batching
        if len(dimensions) > 1 and dimensions != {*range(len(dimensions))}:
            if not batching:
                return True
            perhaps = True
    return None if perhaps else False


def _scatters_into_another(reading: Reading) -> bool:
    """Find a scatter by indices into one dimension, without batches, which is not the first."""
    for one in _scatters(reading):
        chosen = {*reading.numbers(one, "scatter_dims_to_operand_dims")}
        batching = reading.numbers(one, "input_batching_dims")
        if len(chosen) == 1 and chosen != {0} and not batching:
            return True
    return False


def _misfits(
    wrong: Callable[[AbstractSet[int], AbstractSet[int], int], AbstractSet[int]],
) -> FormRule:
    """Find a scatter with windows that lack, or have, a dimension that they should not.

    Perhaps it is none where the dimension has one element.

    Args:
        wrong: Returns such dimensions, of those that windows lack, those that indices choose in,
            and how many these are with the batching dimensions.
    """

    def found(reading: Reading) -> bool | None:
        perhaps = False
        for one in _scatters(reading):
            shape = reading.dimensions((one.operand_types or (None,))[0]) or ()
            chosen = {*reading.numbers(one, "scatter_dims_to_operand_dims")}
            count = len(chosen) + len(reading.numbers(one, "input_batching_dims"))
            misfits = wrong({*reading.numbers(one, "inserted_window_dims")}, chosen, count)
            sizes = {shape[at] for at in misfits if at < len(shape)}
            if sizes - {1}:
                return True
            perhaps |= bool(sizes)
        return None if perhaps else False

    return FormRule(found, (ops(*SCATTERS),))


def _scatters_over_the_edge(reading: Reading) -> bool | None:
    """Find perhaps a scatter of windows that begin inside and end outside of what they change.

    Only what is outside is to be left out; XLA leaves the whole window out. Constant indices are
    taken for right.
    """
    wide = {like(one) for one in reading.of(*SCATTERS) if is_wide(reading, one)}
    for visit in reading.walk.of(SCATTERS) if wide else ():
        if like(visit.operation) in wide and visit.sources:
            indices = visit.sources[len(visit.sources) // 2]
            if indices is None or indices[0] not in reading.settled:
                return None
    return False


def _scatters_parts(reading: Reading) -> bool | None:
    """Find a scatter of windows of several elements in a dimension that indices choose in.

    Or of less than all of another dimension. Perhaps it is none where there is only one window,
    which may become an update of a slice.
    """
    perhaps = False
    for one in _scatters(reading):
        types = one.operand_types or (None,)
        operand, updates = reading.dimensions(types[0]), reading.dimensions(types[-1])
        if operand is None or updates is None:
            continue
        numbers = functools.partial(reading.numbers, one)
        gone = {*numbers("inserted_window_dims"), *numbers("input_batching_dims")}
        chosen, inside = {*numbers("scatter_dims_to_operand_dims")}, numbers("update_window_dims")
        sizes = [updates[at] for at in inside if at < len(updates)]
        left = [at for at in range(len(operand)) if at not in gone]
        if any(
            size != (1 if at in chosen else operand[at])
            for at, size in zip(left, sizes, strict=False)
        ):
            if math.prod(updates[at] for at in {*range(len(updates))}.difference(inside)) != 1:
                return True
            perhaps = True
    return None if perhaps else False


def _gathers_behind_components(*, several: bool) -> Callable[[Reading], bool]:
    """Find a gather in batches whose indices have their components before their last dimension.

    Args:
        several: Whether the indices have several dimensions beside these and the batches.
    """

    def found(reading: Reading) -> bool:
        for one in reading.of(*GATHERS):
            indices = reading.dimensions((*(one.operand_types or ())[1:2], None)[0])
            at = reading.value(one, "index_vector_dim").get("value")
            batches = len(reading.numbers(one, "operand_batching_dims"))
            if not batches or indices is None or like(one) not in reading.used:
                continue
            others = len(indices) - 1 - batches
            if isinstance(at, int) and at < len(indices) - 1 and (others > 1) is several:
                return True
        return False

    return found


def _selects(*starts: str) -> Callable[[Reading], bool | None]:
    """Find perhaps a select_and_scatter that selects between others than different numbers.

    Args:
        starts: What the names of its element types begin with, any unless given.
    """

    def found(reading: Reading) -> bool | None:
        of = (one for one in reading.of(_SELECTING) if like(one) in reading.used)
        elements = (reading.element(type_) for one in of for type_ in one.results)
        return None if any(one.startswith(starts or "") for one in elements) else False

    return found


SCATTERED: dict[str, FormRule] = {
    "gather in batches by indices whose components are not their last dimension": FormRule(
        _gathers_behind_components(several=False), (ops(*GATHERS),)
    ),
    "gather in batches by many indices whose components are not their last dimension": FormRule(
        _gathers_behind_components(several=True), (ops(*GATHERS),)
    ),
    "scatter of several operands": FormRule(
        lambda reading: any(
            len(one.operand_types or ()) > _SCATTERED for one in _scatters(reading)
        ),
        (ops(*SCATTERS),),
    ),
    "scatter of windows that may be partly out of bounds": FormRule(
        _scatters_over_the_edge, (ops(*SCATTERS),)
    ),
    "scatter of windows that are part of a dimension": FormRule(_scatters_parts, (ops(*SCATTERS),)),
    "scatter by indices into several dimensions that are not the first ones": FormRule(
        _scatters_behind, (ops(*SCATTERS),)
    ),
    "scatter by indices into one dimension that is not the first": FormRule(
        _scatters_into_another, (ops(*SCATTERS),)
    ),
    "scatter of windows that lack a dimension in which no index chooses": _misfits(
        lambda lacking, chosen, _: lacking - chosen
    ),
    "scatter of windows with a dimension in which one of several components chooses": _misfits(
        lambda lacking, chosen, count: chosen - lacking if count > 1 else _NONE
    ),
    "scatter into a scalar": FormRule(_into_a_scalar(several=False), (ops(*SCATTERS),)),
    "scatter of several updates into a scalar": FormRule(
        _into_a_scalar(several=True), (ops(*SCATTERS),)
    ),
    "scatter of several single elements by indices without components": FormRule(
        _scatters_to_one_place, (ops(*SCATTERS),)
    ),
    "select_and_scatter of elements that may be equal": FormRule(_selects(), (ops(_SELECTING),)),
    "select_and_scatter of floats that may be NaN": FormRule(_selects(*FLOATS), (ops(_SELECTING),)),
    "scatter of indices without components": FormRule(_without_components, (ops(*SCATTERS),)),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
