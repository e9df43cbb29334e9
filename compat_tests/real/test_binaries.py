"""Runtimes read as files, against what the same libraries say when they are loaded."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compat_tests.helpers.eras import marked
from portable.bindings import Library
from portable.inspection import read_runtime
from portable.releases import Release, find_release, releases
from portable.runtime.environments import Environment

MEASURED = [marked([str(one)], one) for one in releases() if one.python and one.below is None]


def _agrees(path: Path, release: Release) -> None:
    found = read_runtime(path).bracket
    assert not found.unknown
    assert found.low <= release.current, found
    assert found.below is None or release.current < found.below, found


def test_the_installed_library_lies_in_its_bracket(library: Library) -> None:
    """What the installed bindings say is what their binary shows."""
    jaxlib = pytest.importorskip("jaxlib")
    found = read_runtime(Path(jaxlib.__file__).parent).bracket
    assert found.low <= library.current
    assert found.below is None or library.current < found.below


@pytest.mark.old_releases
@pytest.mark.parametrize("wanted", MEASURED, ids=str)
def test_a_release_lies_in_its_bracket(
    wanted: Release, release: Callable[[str], Environment]
) -> None:
    """Static and loaded agree, on every Release that was measured."""
    _agrees(release(str(wanted)).directory, find_release(str(wanted)))
