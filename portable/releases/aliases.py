"""Names that people say for a consumer whose StableHLO is in another distribution."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.releases.release import normalize_name
from portable.releases.specifier import Specifier
from portable.releases.table import demand_once, rows

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Alias", "find_alias"]


@dataclass(frozen=True, slots=True)
class Alias:
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


def find_alias(name: str) -> Alias | None:
    """Return the alias of a name; None when it is none."""
    return _aliases().get(normalize_name(name))


@functools.cache
def _aliases() -> dict[str, Alias]:
    table = rows("aliases", "alias")
    demand_once((row, row.text("name")) for row in table)
    found = {}
    for row in table:
        pairs = [one.partition(" ") for one in row.maybe_texts("versions")]
        found[normalize_name(row.text("name"))] = Alias(
            normalize_name(row.text("name")),
            normalize_name(row.text("distribution")),
            {number: Specifier.parse(text) for number, _, text in pairs},
            row.text("source"),
        )
    return found
