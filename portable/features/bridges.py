"""How each Feature can be avoided: by upstream, by a rewrite of ours, or not at all."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from portable.bytecode.vhlo import lifetimes, minimum, ops
from portable.features.rules import rules
from portable.system.tables import read_table

__all__ = [
    "OTHER_DIALECTS",
    "SHARDY",
    "Bridge",
    "Bridges",
    "Default",
    "Near",
    "Terms",
    "bridges",
    "parse_bridges",
    "since",
]

OTHER_DIALECTS = "other_dialects"
"""The name under which ops outside StableHLO stand in the table."""
SHARDY = "sdy"
"""The dialect of those that has a bridge of its own."""


class Bridge(NamedTuple):
    """What becomes of one Feature below its first Version.

    Args:
        by: `serializer`, `expander`, `ours` or `none`.
        rewrites: The rewrites of ours that help, by name.
        workaround: What to do, or why nothing can be done.
    """

    by: str
    rewrites: tuple[str, ...]
    workaround: str


class Terms(NamedTuple):
    """What a user agrees to who allows a rewrite.

    Args:
        does: What it does.
        loses: What is lost, other than accuracy.
        bound: How far results may be apart.
        exact: Whether results have equal bits.
        helps: The op signatures that it replaces, of a rewrite for readers that do not compile
            them; none of one that reaches an older Version.
        ulps: How far each result may be apart, where that is a number.
        runs: Whether an Executor runs what it replaces, so that results can be compared.
    """

    does: str
    loses: str
    bound: str
    exact: bool
    helps: tuple[str, ...] = ()
    ulps: int | None = None
    runs: bool = True


class Default(NamedTuple):
    """What is rewritten by default, so that the target can read it.

    Args:
        does: What is done.
        bound: How far results may be apart.
        near: The same as numbers.
    """

    does: str
    bound: str
    near: Near


class Near(NamedTuple):
    """How far results may be apart.

    Args:
        ulps: Of real numbers.
        complex_ulps: Of complex numbers; or
        epsilons: where one part is small beside the other, so many epsilons of the type.
    """

    ulps: int = 0
    complex_ulps: int = 0
    epsilons: int = 0


class Bridges(NamedTuple):
    """The whole table.

    Args:
        features: By the name of the Feature.
        rewrites: By the name of the rewrite, in the order in which they are applied.
        defaults: By the name of the Feature, where the expander changes what is computed by.
        default_ulps: By `op type`, how far results of the default accuracy were measured to be
            from the correctly rounded ones, in ulps.
    """

    features: dict[str, Bridge]
    rewrites: dict[str, Terms]
    defaults: dict[str, Default]
    default_ulps: dict[str, int]


@cache
def bridges() -> Bridges:
    """Return the table, read once; `portable.features.validation` checks it in the tests."""
    return parse_bridges(read_table(__file__, "bridges.ini"))


def parse_bridges(table: dict[str, dict[str, str]]) -> Bridges:
    """Return the bridges of a table; they are not checked."""
    return Bridges(
        {name: _bridge(text) for name, text in table["features"].items()},
        {
            section.removeprefix("rewrite "): Terms(
                row["does"],
                row["loses"],
                row.get("bound", _EQUAL),
                "bound" not in row,
                tuple(filter(None, row.get("helps", "").split(", "))),
                None if row.keys() & {"bound", "ulps"} == {"bound"} else int(row.get("ulps", 0)),
                row.get("runs") != "no",
            )
            for section, row in table.items()
            if section.startswith("rewrite ")
        },
        {name: _default(text) for name, text in table["default rewrites"].items()},
        {
            f"{op} {part.split()[0]}": int(part.split()[1])
            for op, text in table["default ulps"].items()
            for part in text.split(", ")
        },
    )


_EQUAL = "equal bits"
_BOUND = "up to {} ulps apart, complex numbers up to {} ulps or {} epsilons"


def _bridge(text: str) -> Bridge:
    who, _, workaround = text.partition(" | ")
    by, *rewrites = who.split()
    return Bridge(by, tuple(rewrites), workaround)


def _default(text: str) -> Default:
    does, _, bound = text.partition(" | ")
    near = Near(*(int(word) for word in bound.split() if word.isdigit()))
    return Default(does, _BOUND.format(*near) if bound else _EQUAL, near)


@cache
def since() -> dict[str, str]:
    """Return every Feature that needs more than the minimum Version, with its first Version."""
    found = {name: op.lifetime.since for name, op in ops().items()}
    for kind in ("types", "attributes"):
        found |= {name: life.since for name, life in lifetimes(kind).items()}
    for constraints in rules().constraints.values():
        found |= {constraint.name: constraint.since for constraint in constraints}
    found |= {kind: version for kind, (version, _) in rules().locations.items()}
    found[OTHER_DIALECTS] = found[SHARDY] = rules().other_dialects[0]
    return {name: version for name, version in found.items() if version != minimum()}
