"""Which arguments IREE up to 3.8 folds away, against what it did with 961 programs of one op."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.folding import FOLDED, FOLDING_RELEASE, programs
from portable import bindings
from portable.artifact import Artifact
from portable.prediction import examine
from portable.releases import find_release
from portable.version import Version
from tools.capabilities import executed

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.executors import Executor

_FORM = "argument from which nothing is computed"
_VERSION = Version.parse("1.0.0")
_PARTS = 8
_KEPT = "remainder i32 0 x"
"""Which IREE does not fold, and does of unsigned integers."""


def _artifact(text: str) -> Artifact:
    library = bindings.find("jaxlib")
    return Artifact.from_bytes(library.serialize(library.parse(text, library.context()), _VERSION))


@pytest.mark.parametrize("part", range(_PARTS))
def test_what_may_be_folded_away_is_doubted(part: int) -> None:
    """Perhaps it is, of each that was folded, and of one other."""
    some = dict([*programs()][part::_PARTS])
    doubted = {name for name, text in some.items() if _FORM in examine(_artifact(text)).forms}
    assert doubted - {_KEPT} == FOLDED & some.keys()


@pytest.mark.more_releases
@pytest.mark.parametrize("part", range(_PARTS))
def test_the_table_is_what_iree_folds(part: int, open_executor: Callable[..., Executor]) -> None:
    """Each program is called with three numbers, and ends the process or gives as many."""
    release = find_release(FOLDING_RELEASE)
    executor = open_executor("iree", FOLDING_RELEASE)
    some = dict([*programs()][part::_PARTS])
    ended = {name: executed(executor, _artifact(text), release) for name, text in some.items()}
    crashed = {name for name, one in ended.items() if one and one["ended"] == "x"}
    assert crashed == FOLDED & some.keys()
