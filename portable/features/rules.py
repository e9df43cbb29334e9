"""The rules as data: which forms can be written in an older form, and what needs more."""

from __future__ import annotations

import json
import os
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:
    from portable.record import NamedTuple

__all__ = ["Condition", "Constraint", "Downgrade", "Removal", "Rules", "rules"]


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
        when: What makes an operation such a use.
        ops: The operations that it concerns.
        reason: What to tell.
        only_serializer: Whether older readers read such a use although nobody may write it.
    """

    name: str
    since: str
    when: Condition
    ops: frozenset[str]
    reason: str
    only_serializer: bool


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


class Rules(NamedTuple):
    """All rules.

    Args:
        downgrades: By the newer form.
        constraints: By the operation.
        formats: The first Version with each bytecode format.
        locations: By the kind of location, the first Version as text and the reason.
        unchecked_inside: Types whose inner types StableHLO's serializer does not check.
        other_dialects: The first Version with operations of other dialects, and the reason.
        removed: By the operation.
        removed_unranked: Operations whose unranked form was removed, and when.
        unranked: The type that makes a form unranked.
        remedies: By the name of a Feature, what could be done about it.
    """

    downgrades: dict[str, Downgrade]
    constraints: dict[str, list[Constraint]]
    formats: dict[int, str]
    locations: dict[str, tuple[str, str]]
    unchecked_inside: frozenset[str]
    other_dialects: tuple[str, str]
    removed: dict[str, Removal]
    removed_unranked: tuple[frozenset[str], Removal]
    unranked: str
    remedies: dict[str, str]


@cache
def rules() -> Rules:
    """Return the rules, read once."""
    path = os.path.join(os.path.dirname(__file__), "data", "rules.json")  # noqa: PTH118, PTH120 - cold path
    with open(path, encoding="utf-8") as stream:  # noqa: PTH123 - cold path
        document = json.load(stream)
    constraints: dict[str, list[Constraint]] = {}
    for constraint in _constraints(document):
        for op in constraint.ops:
            constraints.setdefault(op, []).append(constraint)
    unranked = document["removed_unranked"]
    return Rules(
        downgrades={
            form: Downgrade(
                row["to"], tuple(_condition(text, document["conditions"]) for text in row["when"])
            )
            for form, row in document["downgrades"].items()
        },
        constraints=constraints,
        formats={int(number): since for number, since in document["formats"].items()},
        locations={
            kind: (row["since"], row["reason"]) for kind, row in document["locations"].items()
        },
        unchecked_inside=frozenset(document["unchecked_inside"]),
        other_dialects=(document["other_dialects"]["since"], document["other_dialects"]["reason"]),
        removed={name: _removal(row) for name, row in document["removed"].items()},
        removed_unranked=(frozenset(unranked["ops"]), _removal(unranked)),
        unranked=unranked["type"],
        remedies=document["remedies"],
    )


def _constraints(document: dict[str, Any]) -> list[Constraint]:
    return [
        Constraint(
            name,
            row["since"],
            _condition(row["when"], {}),
            frozenset(row["ops"]),
            row["reason"],
            row.get("only_serializer", False),
        )
        for name, row in document["constraints"].items()
    ]


def _condition(text: str, failures: dict[str, str]) -> Condition:
    test, *arguments = text.split()
    failure = failures.get(test, "").format(attribute=arguments[-1] if arguments else "")
    return Condition(test, tuple(arguments), failure)


def _removal(row: dict[str, str]) -> Removal:
    return Removal(row["last"], row["refused"], row["reason"])
