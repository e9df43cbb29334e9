"""Numbers that are made narrower: rounded as numpy rounds them, or not predicted to be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.eras import versions
from compat_tests.helpers.rounding import check_rounding
from portable.runtime.executors import find_executor

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

# The last before and the first after are beside those that keep more digits than they should.
_KEEPING = {"0.4.24", "0.4.30", "0.4.31"}


@pytest.mark.parametrize("version", versions("0.4.13", "0.4.23", *sorted(_KEEPING), "0.4.33"))
def test_it_is_predicted_whether_numbers_are_rounded(
    version: str, release: Callable[[str], Environment]
) -> None:
    """What is only returned is rounded everywhere; what is widened again, not in some Releases."""
    name = f"jaxlib {version}"
    with find_executor("pjrt", release(name)) as executor:
        check_rounding(executor, name, rounds=version not in _KEEPING)
