"""What is wide and what holds it, in every pair of the two: the work stays linear in the bytes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.generators.pairs import HOLDERS, WIDE, holding
from compat_tests.helpers.counting import calls
from portable.artifact import Artifact
from portable.bytecode import MalformedArtifact
from portable.inspection import inspect
from portable.prediction import examine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZES = (40, 120)
CALLS, GROWTH = 30, 1.2  # for each byte; of three times as many
WORK: dict[str, Callable[[bytes], object]] = {
    "inspect": lambda data: inspect(data).record(),
    "examine": lambda data: examine.__wrapped__(Artifact.from_bytes(data)),
}
_WAYS = [one for one in HOLDERS if " of " not in one]
_PROPERTIES = [one for one in HOLDERS if one not in _WAYS]
# One in so many is run: all of them take half an hour.
_STEP_OF_WAYS, _STEP_OF_PROPERTIES = 3, 131


def _pairs() -> Iterator[tuple[str, str]]:
    """Yield pairs, others for each wide thing; a function whose parts are odd is refused."""
    for at, wide in enumerate(WIDE):
        holders = _WAYS[at % _STEP_OF_WAYS :: _STEP_OF_WAYS]
        holders += _PROPERTIES[at * 7 % _STEP_OF_PROPERTIES :: _STEP_OF_PROPERTIES]
        yield from ((wide, holder) for holder in holders if not holder.endswith(" of func_v1"))


@pytest.mark.parametrize(("wide", "holder"), list(_pairs()))
def test_what_is_held_is_not_walked_through_for_each_that_holds_it(wide: str, holder: str) -> None:
    """Three times as many of what is three times as wide take three times the calls."""
    made = [holding(wide, holder, n) for n in SIZES]
    for work in WORK.values():
        # A first time may read tables, and compile patterns that `re` has forgotten.
        small, large = (
            min(calls(partial(work, data)) for _ in range(2)) / len(data) for data in made
        )
        assert large < CALLS
        assert large < GROWTH * small


@pytest.mark.parametrize("wide", WIDE)
def test_every_pair_can_be_read(wide: str) -> None:
    """What is refused at once would show nothing."""
    refused = [one for one in HOLDERS if inspect(holding(wide, one, 3)).damage]
    assert not refused


def test_a_function_of_odd_parts_is_refused() -> None:
    """It is one of the few pairs that are not run."""
    with pytest.raises(MalformedArtifact):
        WORK["examine"](holding("tuple", "sym_name of func_v1", 3))
