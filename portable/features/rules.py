"""The rules as data: which forms can be written in an older form, and what needs more."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from portable.system.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Condition",
    "Constraint",
    "Downgrade",
    "FeatureRules",
    "Removal",
    "parse_rules",
    "rules",
]


class Condition(NamedTuple):
    """A named test of an operation.

    Args:
        test: The name of the test.
        arguments: What it is about, for example the name of an attribute.
        failure: What to say when it does not hold.
    """

    test: str
    arguments: tuple[str, ...]
    failure: str


class Downgrade(NamedTuple):
    """An older form of an operation.

    Args:
        to: The older form.
        when: What has to hold; all of it.
    """

    to: str
    when: tuple[Condition, ...]


class Constraint(NamedTuple):
    """A use of an operation that needs more than the operation does.

    Args:
        name: The name of the Feature.
        since: The first Version that allows it, as text.
        when: What makes an operation such a use; all of it.
        ops: The operations that it applies to.
        reason: The reason to report.
        only_serializer: Whether older readers read such a use although it must not be written.
        until: The last of the oldest Versions, which read it too, as text; empty where none does.
    """

    name: str
    since: str
    when: tuple[Condition, ...]
    ops: frozenset[str]
    reason: str
    only_serializer: bool
    until: str


class Removal(NamedTuple):
    """A form that newer readers refuse.

    Args:
        last: The newest Version that was seen to read it, as text.
        refused: The oldest Version that was seen to refuse it, as text.
        reason: What happened.
    """

    last: str
    refused: str
    reason: str


class FeatureRules(NamedTuple):
    """All rules.

    Args:
        downgrades: By the newer form.
        constraints: By the operation.
        formats: The first Version with each bytecode format.
        locations: By the kind of location, the first Version as text and the reason.
        unchecked_inside: Types whose inner types StableHLO's serializer does not check.
        unchecked_together: Types of which it does not always check that they occur together.
        other_dialects: The first Version with operations of other dialects, and the reason.
        named: The first Version of ops of which no table knows more than the name.
        removed: By the operation.
    """

    downgrades: dict[str, Downgrade]
    constraints: dict[str, list[Constraint]]
    formats: dict[int, str]
    locations: dict[str, tuple[str, str]]
    unchecked_inside: frozenset[str]
    unchecked_together: frozenset[str]
    other_dialects: tuple[str, str]
    named: dict[str, str]
    removed: dict[str, Removal]


@cache
def rules() -> FeatureRules:
    """Return the rules, read once; `portable.features.validation` checks them in the tests."""
    return parse_rules(read_table(__file__, "rules.ini"))


def parse_rules(table: dict[str, dict[str, str]]) -> FeatureRules:
    """Return the rules of a table; they are not checked."""
    constraints: dict[str, list[Constraint]] = {}
    for name, row in _about("constraint", table):
        for op in row["ops"].split():
            constraints.setdefault(op, []).append(_constraint(name, row))
    return FeatureRules(
        downgrades={
            form: _downgrade(text, table["conditions"])
            for form, text in table["downgrades"].items()
        },
        constraints=constraints,
        formats={int(number): since for number, since in table["formats"].items()},
        locations={kind: (row["since"], row["reason"]) for kind, row in _about("location", table)},
        unchecked_inside=frozenset(table["types"]["unchecked_inside"].split()),
        unchecked_together=frozenset(table["types"]["unchecked_together"].split()),
        other_dialects=(table["other dialects"]["since"], table["other dialects"]["reason"]),
        named=table["named"],
        removed={name: _removal(row) for name, row in _about("removed", table)},
    )


def _about(what: str, table: dict[str, dict[str, str]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name and the rows of each section `[what NAME]`."""
    for section, row in table.items():
        kind, _, name = section.partition(" ")
        if kind == what:
            yield name, row


def _constraint(name: str, row: dict[str, str]) -> Constraint:
    return Constraint(
        name,
        row["since"],
        _conditions(row["when"], {}),
        frozenset(row["ops"].split()),
        row["reason"],
        "only_serializer" in row,
        row.get("until", ""),
    )


def _downgrade(text: str, failures: dict[str, str]) -> Downgrade:
    to, _, when = text.partition("|")
    return Downgrade(to.rstrip(), _conditions(when, failures))


def _conditions(text: str, failures: dict[str, str]) -> tuple[Condition, ...]:
    return tuple([_condition(one, failures) for one in text.split(",") if one.strip()])


def _condition(text: str, failures: dict[str, str]) -> Condition:
    test, *arguments = text.split()
    failure = failures.get(test, "").format(attribute=arguments[-1] if arguments else "")
    return Condition(test, tuple(arguments), failure)


def _removal(row: dict[str, str]) -> Removal:
    return Removal(row["last"], row["refused"], row["reason"])
