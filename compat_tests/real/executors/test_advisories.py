"""Advisories of the Releases beside jaxlib, at the edges of the Releases they speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.advised import edges, ending, endings, shown
from compat_tests.helpers.eras import marked

if TYPE_CHECKING:
    from portable.releases.advisory import Advisory

ADVISORIES = [*shown("iree-base-compiler"), *shown("tensorflow"), *shown("torch-xla")]


@pytest.mark.parametrize(
    "advisory",
    [
        marked([one for side in edges(row) for one in side], row, to_execute=True)
        for row in ADVISORIES
    ],
    ids=lambda row: f"{row.distribution.replace('-', '_')}-{row.id}",
)
def test_the_corpus_finds_it_again(advisory: Advisory) -> None:
    """The Cases that an Advisory names end as it says on its Releases, and not beside them."""
    inside, outside = edges(advisory)
    for release in inside:
        assert endings(advisory, release) == {ending(advisory)}, release
    for release in outside:
        assert ending(advisory) not in endings(advisory, release), release
