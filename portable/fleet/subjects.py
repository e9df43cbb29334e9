"""What a prediction needs to know of an artifact, as one line of JSON, and back.

A plan asks again what an audit has read: millions of artifacts, but few different Subjects.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from portable.containers.container import Opener
from portable.errors import PortableError
from portable.features import Feature, FeatureKind
from portable.features.model import RemovedForm
from portable.prediction import Subject
from portable.system.documents import parse_json
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Mapping


class FleetError(PortableError):
    """A fleet file is something else or older than this release, or a library is missing."""


__all__ = ["read_subject", "write_subject"]

_OCCURS = (True, False, None)


def write_subject(subject: Subject) -> str:
    """Write a Subject; two that are predicted alike have the same text.

    Where in the program something is, and how often, is left out: no prediction asks for it.
    """
    opener = subject.opener
    return json.dumps(
        {
            "claimed": _text(subject.claimed),
            "format": subject.format,
            "required": _text(subject.required),
            "features": [[str(one.kind), one.name, str(one.version)] for one in subject.features],
            "removed": [
                [one.name, str(one.last), str(one.refused), one.reason] for one in subject.removed
            ],
            "forms": [
                sorted(name for name in subject.searched if subject.occurs(name) is one)
                for one in _OCCURS
            ],
            "present": sorted(subject.present),
            "kinds": sorted(subject.kinds),
            "custom_calls": sorted(subject.custom_calls),
            "signatures": None if subject.signatures is None else sorted(subject.signatures),
            "unknown": list(subject.unknown),
            "opener": opener
            and [opener.framework, opener.opens, opener.refuses, opener.form, opener.alone],
            "too_deep": subject.unreadable,
        }
    )


def read_subject(text: str) -> Subject:
    """Read what `write_subject` wrote.

    Raises:
        FleetError: It is something else.
    """
    try:
        return _subject(parse_json(text.encode()))
    except (
        ArithmeticError, AttributeError, LookupError, PortableError, TypeError, ValueError
    ) as error:  # fmt: skip
        raise FleetError(
            f"a subject is not what an audit writes: {error!r:.200}", hint="audit again"
        ) from None


def _subject(found: Mapping[str, Any]) -> Subject:
    signatures = found["signatures"]
    forms = dict(zip(_OCCURS, map(_words, found["forms"]), strict=True))
    return Subject(
        claimed=_version(found["claimed"]),
        format=int(found["format"]),
        required=_version(found["required"]),
        features=[
            Feature(FeatureKind(kind), name, Version.parse(version), 0, (), "")
            for kind, name, version in map(_words, found["features"])
        ],
        removed=[
            RemovedForm(name, Version.parse(last), Version.parse(refused), 0, (), reason)
            for name, last, refused, reason in map(_words, found["removed"])
        ],
        forms={
            name: occurs for occurs, names in forms.items() if occurs is not False for name in names
        },
        searched=frozenset(chain.from_iterable(forms.values())),
        unknown=tuple(_words(found["unknown"])),
        opener=_opener(found["opener"]),
        unreadable=str(found["too_deep"]),
        present=frozenset(_words(found["present"])),
        kinds=frozenset(_words(found["kinds"])),
        custom_calls=frozenset(_words(found["custom_calls"])),
        signatures=None if signatures is None else frozenset(_words(signatures)),
    )


def _words(found: object) -> list[str]:
    if isinstance(found, list) and all(isinstance(one, str) for one in found):
        return found
    raise TypeError(f"expected a list of strings, got {found!r:.80}")


def _opener(found: list[Any] | None) -> Opener | None:
    if not found:
        return None
    framework, opens, refuses, form = _words(found[:-1])
    return Opener(framework, opens, refuses, form, alone=bool(found[-1]))


def _text(version: Version | None) -> str | None:
    return str(version) if version else None


def _version(text: str | None) -> Version | None:
    return Version.parse(text) if text else None
