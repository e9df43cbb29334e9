"""Names that people say for a consumer whose StableHLO is in another distribution."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from portable.releases.release import normalize_name
from portable.releases.specifier import Specifier
from portable.releases.table import Row, demand_once, rows

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Alias", "find_alias"]


class Alias(NamedTuple):
    """Another name.

    Args:
        name: The name, normalised.
        distribution: Where its StableHLO is.
        versions: By each version of the name, which Releases of the distribution it runs with;
            empty where each comes with the one of its own number.
        source: Where that stands.
    """

    name: str
    distribution: str
    versions: Mapping[str, Specifier]
    source: str


@functools.cache
def find_alias(name: str) -> Alias | None:
    """Return the alias of a name; None when it is none."""
    row = _rows().get(normalize_name(name))
    if row is None:
        return None
    pairs = [one.partition(" ") for one in row.maybe_texts("versions")]
    return Alias(
        normalize_name(row.text("name")),
        normalize_name(row.text("distribution")),
        {number: Specifier.parse(text) for number, _, text in pairs},
        row.text("source"),
    )


@functools.cache
def _rows() -> dict[str, Row]:
    table = rows("aliases", "alias")
    demand_once((row, row.word("name")) for row in table)
    return {normalize_name(row.word("name")): row for row in table}
