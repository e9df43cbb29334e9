"""Which tests need Releases that not every run fetches: each takes 0.4 GB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from portable.releases import find_release
from portable.runtime.environments import Recipe
from tools.consumer import ERAS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from _pytest.mark import ParameterSet

__all__ = ["SMALL", "marked", "versions"]

# These take 0.3 GB together.
SMALL = ("tensorflow 2.16.2", "tensorflow 2.19.1", "xla-cpu-pjrt 0.0.1")


def versions(*jaxlibs: str) -> list[ParameterSet]:
    """Return versions of jaxlib to test with, those that not every run has with the mark."""
    return [marked([f"jaxlib {version}"], version) for version in jaxlibs]


def marked(releases: Iterable[str], *values: object, to_execute: bool = False) -> ParameterSet:
    """Return one set of parameters, with the mark where it needs more Releases.

    Args:
        releases: The Releases that the test with these parameters needs.
        values: The parameters.
        to_execute: Whether they are to execute: of some is read with a small part of the wheel.
    """
    marks: Sequence[pytest.MarkDecorator] = ()
    needs = {Recipe.of(find_release(one), to_execute=to_execute).name for one in releases}
    if not needs <= {Recipe.of(find_release(one)).name for one in (*ERAS, *SMALL)}:
        marks = [pytest.mark.more_releases]
    return pytest.param(*values, marks=marks)
