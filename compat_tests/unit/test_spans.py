"""Releases are named one by one, or as a span where no other was published between them."""

from __future__ import annotations

import itertools

import pytest
from packaging.version import Version as PackageVersion

from portable.releases import published_releases, spans


@pytest.mark.parametrize("distribution", ["jaxlib", "tensorflow", "iree-base-compiler"])
def test_a_span_holds_what_was_named_and_nothing_else(distribution: str) -> None:
    """Of every run of Releases, and with any one left out, no other lies in what is named."""
    known = published_releases(distribution)
    for first, last in itertools.combinations(range(0, len(known), 3), 2):
        for without in (None, (first + last) // 2):
            chosen = [known[at] for at in range(first, last + 1) if at != without]
            held = set()
            for text in spans(map(str, chosen)):
                start, _, end = text.removeprefix(f"{distribution} ").partition(" to ")
                low, high = PackageVersion(start), PackageVersion(end or start)
                held |= {one for one in known if low <= PackageVersion(one.version) <= high}
            assert held == {*chosen}


def test_what_is_in_no_table_is_in_no_span() -> None:
    """A Release of another distribution, or a library, stays as it is named."""
    names = ["jaxlib 0.9.0", "jaxlib 0.9.0.1", "tensorflow 2.20.0", "libx.so", "libx.so", "x 1"]
    assert spans(names) == ["jaxlib 0.9.0 to 0.9.0.1", *names[2:]]
    assert spans([]) == []
    assert spans(["jaxlib 0.9.1", "jaxlib 0.9.0"]) == ["jaxlib 0.9.1", "jaxlib 0.9.0"]
