"""Whether what the tables of Releases name is something that predictions find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode import vhlo
from portable.prediction.forms import FORMS, LOCATIONS
from portable.releases import TableError, advisories, releases
from portable.releases.advisory import PRODUCER
from portable.releases.assumption import assumptions
from portable.releases.capability import Ability, capabilities_of
from portable.releases.refusal import refusals
from portable.releases.release import demand_published, demand_reachable
from portable.releases.table import demand_once, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.releases.advisory import Advisory

__all__ = ["demand_resolved"]

_KINDS: dict[str, Callable[[str], bool]] = {
    "op": lambda name: name == "builtin.module" or vhlo.has_op(name.removeprefix("vhlo.")),
    "type": lambda name: f"{name}_v1" in vhlo.lifetimes("types"),
    "attribute": lambda name: name in vhlo.lifetimes("attributes"),
    "location": lambda name: name in LOCATIONS,
    "dialect": bool,
    "custom_call": bool,
}

# What a row may say, for those tables whose rows are not checked where they are read.
_FORM = "id op form since reason source date"
_KEYS = {
    ("advisories", "advisory"): "id distribution specifier feature effect stage reproducer "
    "reproduced reason link date source decides",
    ("aliases", "alias"): "name distribution source versions",
    ("assumptions", "assumption"): "name says features tried",
    ("promises", "promise"): "promiser since backward forward source note",
    ("published", "published"): "distribution versions date",
    ("published", "without_library"): "distribution versions reason date",
    ("refusals", "dialect"): "name distribution specifier form source date",
    ("refusals", "late"): f"{_FORM} refused",
    ("refusals", "refusal"): f"{_FORM} last",
    ("tried", "tried"): "distribution specifier feature tried",
    ("versions", "version"): "version date seen tag tag_date feature bytecode_format source note",
}


def demand_resolved() -> None:
    """Check the tables that ship; the tests do, commands would pay for it each time.

    Raises:
        TableError: A row names no known Release, or a Feature or form that nothing finds, so it
            would never match.
    """
    for (table, kind), keys in _KEYS.items():
        for row in rows(table, kind):
            row.demand_known(keys.split())
    tried = rows("tried", "tried")
    for row in (*rows("advisories", "advisory"), *rows("refusals", "dialect"), *tried):
        demand_reachable(row)
    demand_once((row, (row.text("distribution"), row.text("feature"))) for row in tried)
    named = [(row.text("feature"), row.where) for row in tried]
    for one in assumptions():
        named += [(feature, f"assumptions.toml: {one.name}") for feature in one.features]
    for feature, where in named:
        _demand_feature(feature, where)
    demand_once((row, row.text("distribution")) for row in rows("published", "published"))
    for row in rows("published", "published"):
        demand_published(row)
    for advisory in advisories():
        if not advisory.feature.endswith(PRODUCER):
            _demand_feature(advisory.feature, f"advisories.toml: {advisory.id}")
        _demand_undecided(advisory)
    demand_once(
        (row, row.text("id")) for kind in ("refusal", "late") for row in rows("refusals", kind)
    )
    for refusal in refusals():
        _demand_form(refusal.op, refusal.form, refusal.id)


def _demand_undecided(advisory: Advisory) -> None:
    """Check that what an Advisory decides is what the table of capabilities leaves open."""
    applying = [one for one in releases(advisory.distribution) if advisory.applies_to(one)]
    for signature in advisory.decides:
        if all(capabilities_of(one).support(signature) is not Ability.MIXED for one in applying):
            where = f"advisories.toml: {advisory.id}"
            raise TableError(f"decides {signature!r}, of which not some programs fail", where=where)


def _demand_feature(feature: str, where: str) -> None:
    kind, _, name = feature.partition(":")
    if feature not in FORMS and not (kind in _KINDS and _KINDS[kind](name)):
        raise _unresolved("feature", feature, where)


def _demand_form(op: str, form: str, name: str) -> None:
    where = f"refusals.toml: {name}"
    _demand_feature(f"op:{op}", where)
    if form not in FORMS:
        raise _unresolved("form", form, where)


def _unresolved(key: str, value: str, where: str) -> TableError:
    return TableError(
        f"{key} {value!r} is neither a form of portable.prediction.forms nor kind:name of VHLO",
        where=where,
    )
