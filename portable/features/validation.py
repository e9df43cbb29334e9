"""Checks the rules and bridges against VHLO: a mistake is an error that names the row."""

from __future__ import annotations

import inspect
from itertools import pairwise
from typing import TYPE_CHECKING

from portable.bytecode.vhlo import current, enums, has_op, lifetimes, minimum, op
from portable.features.conditions import TESTS
from portable.features.verifier import USUAL
from portable.system.tables import InvalidTable
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from portable.features.bridges import Bridges
    from portable.features.rules import Condition, FeatureRules

__all__ = ["check_bridges", "check_rules", "check_verifier"]

_BY = ("serializer", "expander", "ours", "none")


def check_rules(rules: FeatureRules) -> None:
    """Check that every name in the rules is known and that every row can apply.

    Args:
        rules: The rules.

    Raises:
        InvalidTable: A row does not hold.
    """
    for form, downgrade in rules.downgrades.items():
        where = f"[downgrades] {form}"
        _demand(has_op(form) and has_op(downgrade.to), where, "names an op that is not in VHLO")
        _demand(op(downgrade.to).lifetime.until is not None, where, f"{downgrade.to} has not ended")
        for condition in downgrade.when:
            _check_condition(where, condition, form)
    for name, constraints in rules.constraints.items():
        for constraint in constraints:
            where = f"[constraint {constraint.name}]"
            _demand(has_op(name), where, f"{name} is no op of VHLO")
            _demand(_later(constraint.since), where, "can never apply: nothing is older")
            until = constraint.until or "0.0.0"
            before = Version.parse(until) < Version.parse(constraint.since)
            _demand(before, where, f"until {until} is not before {constraint.since}")
            _demand(bool(constraint.when), where, "has no condition")
            for condition in constraint.when:
                _check_condition(where, condition, name)
    _check_formats(rules.formats)
    for kind, (since, _) in rules.locations.items():
        _demand(_later(since), f"[location {kind}]", "can never apply: nothing is older")
    for name in rules.unchecked_inside | rules.unchecked_together:
        _demand(name in lifetimes("types"), "[types]", f"{name} is no type of VHLO")
    for name, since in rules.named.items():
        newer = not has_op(name) and Version.parse(since) > Version.parse(current())
        _demand(newer, f"[named] {name}", f"is in VHLO, or {since} is no newer than its table")
    for name, removal in rules.removed.items():
        where = f"[removed {name}]"
        _demand(not has_op(name), where, "is an op of VHLO, and not removed")
        in_order = Version.parse(removal.last) < Version.parse(removal.refused)
        _demand(in_order, where, "is refused before it is read for the last time")


def check_bridges(bridges: Bridges, since: dict[str, str]) -> None:
    """Check that there is a bridge for every Feature, and none for anything else.

    Args:
        bridges: The bridges.
        since: Every Feature.

    Raises:
        InvalidTable: A row does not hold.
    """
    for name in sorted(set(bridges.features) ^ set(since)):
        what = "is no Feature" if name in bridges.features else "missing"
        raise InvalidTable("bridges.ini", f"[features] {name}", what)
    for name, bridge in bridges.features.items():
        where = f"[features] {name}"
        _demand(bridge.by in _BY, where, f"{bridge.by!r} is not one of {', '.join(_BY)}", _BRIDGES)
        for rewrite in bridge.rewrites:
            _demand(rewrite in bridges.rewrites, where, f"unknown rewrite {rewrite}", _BRIDGES)
    used = {rewrite for bridge in bridges.features.values() for rewrite in bridge.rewrites}
    for rewrite, terms in bridges.rewrites.items():
        helps = rewrite in used or bool(terms.helps)
        _demand(helps, f"[rewrite {rewrite}]", "helps no Feature and no op", _BRIDGES)


def check_verifier(table: Mapping[str, Mapping[str, str]]) -> None:
    """Check that every row of what the verifier demands is about ops of VHLO, and needed.

    Args:
        table: As `verifier.ini` has it.

    Raises:
        InvalidTable: A row does not hold.
    """
    known = {*USUAL, "visibility"}
    _demand(set(table) == known, f"[{']['.join(table)}]", "are not its sections", _VERIFIER)
    for section, usual in USUAL.items():
        names: set[str] = set()
        for count, row in table[section].items():
            where = f"[{section}] {count}"
            counts = count == "*" or (count.isdecimal() and int(count) != usual)
            _demand(counts, where, "is no number, or what ops have anyway", _VERIFIER)
            for name in row.split():
                _demand(has_op(name), where, f"{name} is no op of VHLO", _VERIFIER)
                _demand(name not in names, where, f"has {name} again", _VERIFIER)
                names.add(name)


_RULES, _BRIDGES, _VERIFIER = "rules.ini", "bridges.ini", "verifier.ini"


def _check_condition(where: str, condition: Condition, form: str) -> None:
    test = TESTS.get(condition.test)
    if test is None:
        raise InvalidTable(_RULES, where, f"no test is called {condition.test}")
    parameters = list(inspect.signature(test).parameters.values())[1:]
    variadic = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    enough = len(condition.arguments) >= len(parameters)
    _demand(
        enough and (variadic or len(condition.arguments) == len(parameters)),
        where,
        f"{condition.test} takes {len(parameters)} arguments",
    )
    padded = [*parameters, *parameters[-1:] * len(condition.arguments)]
    for parameter, argument in zip(padded, condition.arguments, strict=False):
        _check_argument(where, parameter.name, argument, form)


def _check_argument(where: str, parameter: str, argument: str, form: str) -> None:
    """Check what an argument of a test names, by what the test calls it."""
    known = {
        "name": lambda: argument in op(form).attributes,
        "names": lambda: argument in op(form).attributes,
        "type_": lambda: argument in lifetimes("types"),
        "attribute": lambda: argument in lifetimes("attributes"),
        "prefix": lambda: any(name.startswith(argument) for name in lifetimes("types")),
        "case": lambda: any(argument in values for values in enums().values()),
        "bound": argument.isdecimal,
    }[parameter]
    _demand(known(), where, f"{argument} is no {parameter.strip('_')} that {form} could have")


def _check_formats(formats: dict[int, str]) -> None:
    for at, number in enumerate(formats):
        _demand(number == at, f"[formats] {number}", f"is in the place of {at}")
    for (_, earlier), (number, later) in pairwise(formats.items()):
        in_order = Version.parse(earlier) <= Version.parse(later)
        _demand(in_order, f"[formats] {number}", "is older than the one before")


def _later(since: str) -> bool:
    return Version.parse(since) > Version.parse(minimum())


def _demand(holds: bool, where: str, what: str, table: str = _RULES) -> None:
    if not holds:
        raise InvalidTable(table, where, what)
