"""Where the ops are that keep a Consumer from compiling an artifact."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode import read
from portable.bytecode.operations import EXAMPLES
from portable.bytecode.text import location_text
from portable.prediction.form import key
from portable.prediction.forms import FORMS, Reading
from portable.prediction.signatures import signatures_by_name
from portable.prediction.subject import examine
from portable.releases.advisory import features_by_id
from portable.verdict import Basis

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from portable.artifact import Artifact
    from portable.bytecode.operations import OpSignature
    from portable.verdict import Verdict

__all__ = ["Blamed", "blamed", "blames"]


def blames(signature: str, why: str) -> str:
    """Return the line of a Verdict that blames an op signature."""
    return f"{signature}: {why}"


class Blamed(NamedTuple):
    """The ops that a Verdict blames.

    Args:
        ops: Their names, without versions.
        total: How many there are.
        places: Where the first three come from; several may come from one place.
    """

    ops: tuple[str, ...]
    total: int
    places: tuple[str, ...]

    @property
    def more(self) -> int:
        """How many have no place here."""
        return max(0, self.total - EXAMPLES)

    def record(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {"ops": [*self.ops], "total": self.total, "places": [*self.places]}


# How a line begins that is an Advisory's, behind the Version of a bundle.
_ADVISORY = re.compile(r"(?:^|: )([a-z0-9][a-z0-9-]*)(?=: | \()")
# What stands behind an op signature in a line that blames it, and behind a Version.
_SEPARATOR = blames("", "")


def _is_blamed(name: str, parts: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a line blames an op signature, by the lines that have each part of a line."""
    # The target of a custom call may have separators of its own.
    lines = min((parts.get(part, ()) for part in name.split(_SEPARATOR)), key=len)
    return any(f"{_SEPARATOR}{blames(name, '')}" in f"{_SEPARATOR}{text}" for text in lines)


def blamed(
    artifact: Artifact, verdicts: Iterable[Verdict], signatures: Collection[str] | None = None
) -> dict[str, Blamed]:
    """Find the ops that Verdicts blame.

    An Advisory says how ops are put together. Blamed for it are all that can be what it names: of
    several kinds that it needs, those that are the fewest, and of its types where it has some.

    Args:
        artifact: What was judged.
        verdicts: What came of it; only those that are predicted, and not compatible, blame.
        signatures: Its op signatures, as its `Subject` has them; None to examine it for them.

    Returns:
        The ops by what is blamed: an op signature or the id of an Advisory. One that no op shows is
        left out.
    """
    verdicts = [one for one in verdicts if one.basis is Basis.PREDICTED]
    said = {
        text
        for verdict in verdicts
        if not verdict.compatible
        for text in (verdict.reason, *(each.message for each in verdict.diagnostics))
    }
    asked = {one.what for verdict in verdicts for one in verdict.not_known}
    ids = {one for text in said | asked for one in _ADVISORY.findall(text)}
    needed = {one: needs for one in ids if (needs := _needs(one))}
    if signatures is None:
        signatures = examine(artifact).signatures or ()
    # In the Verdict on a bundle its Version comes first.
    parts: dict[str, list[str]] = {}
    for text in said:
        for part in {*text.split(_SEPARATOR)}:
            parts.setdefault(part, []).append(text)
    names = [name for name in signatures if _is_blamed(name, parts)]
    if not names and not needed:
        return {}  # without reading it again
    reading = Reading(read(artifact.data), artifact.data)
    named = signatures_by_name(reading) if names else {}
    found: dict[str, Collection[OpSignature]] = {
        name: named[name] for name in names if name in named
    }
    found |= {name: ops for name, of in needed.items() if (ops := _candidates(reading, of))}
    return _placed(reading, found)


def _needs(advisory: str) -> Sequence[frozenset[str]]:
    """Return the groups of names that an Advisory needs; none where there are no ops among them."""
    feature = features_by_id().get(advisory, "")
    needs = FORMS[feature].needs if feature in FORMS else (frozenset({feature}),)
    return needs if any(one.startswith("op:") for group in needs for one in group) else ()


def _candidates(reading: Reading, needs: Sequence[frozenset[str]]) -> Sequence[OpSignature]:
    """Return the op signatures of the ops that can be what an Advisory is about."""
    types = [{one for one in group if one.startswith("type:")} for group in needs]
    groups = [ops for group in needs if (ops := _ops_of(reading, group))]
    ops = min(groups, key=lambda one: _total(reading, one), default=())
    of_types = [one for one in ops if all(_has(reading, one, names) for names in types if names)]
    return of_types or ops


def _ops_of(reading: Reading, needed: Collection[str]) -> Sequence[OpSignature]:
    """Return the op signatures of the ops that are named, with their versions or without."""
    named = (
        op
        for op in reading.ops
        if key("op", op) in needed or key("op", op.rpartition("_v")[0]) in needed
    )
    return reading.of(*sorted(named))


def _has(reading: Reading, signature: OpSignature, types: Collection[str]) -> bool:
    """Return whether an operand or result has one of some element types."""
    held = (*signature.results, *(signature.operand_types or ()))
    return any(key("type", reading.element(one)) in types for one in held if one is not None)


def _total(reading: Reading, signatures: Iterable[OpSignature]) -> int:
    return sum(reading.signatures[one] for one in signatures)


def _placed(reading: Reading, found: Mapping[str, Collection[OpSignature]]) -> dict[str, Blamed]:
    """Return the ops of some op signatures with the places of the first ones."""
    places = reading.content.scan().locations({one for each in found.values() for one in each})
    placed = {}
    for name, signatures in found.items():
        first = sorted(place for one in signatures for place in places[one])[:EXAMPLES]
        texts = [location_text(reading.content.pool, location) for _, location in first]
        ops = {reading.kinds[one.name] or reading.names[one.name] for one in signatures}
        plain = sorted(op.rpartition(".")[2] for op in ops)
        placed[name] = Blamed(
            tuple(plain), _total(reading, signatures), tuple(dict.fromkeys(texts))
        )
    return placed
