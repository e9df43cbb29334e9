"""Where the ops are that keep a Consumer from compiling an artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode import read
from portable.bytecode.text import location_text
from portable.prediction.forms import Reading
from portable.prediction.signatures import signatures_by_name
from portable.prediction.subject import examine
from portable.verdict import Basis

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from portable.artifact import Artifact
    from portable.verdict import Verdict

__all__ = ["blamed", "blames"]


def blames(signature: str, why: str) -> str:
    """Return the line of a Verdict that blames an op signature."""
    return f"{signature}: {why}"


# What stands behind an op signature in a line that blames it, and behind a Version.
_SEPARATOR = blames("", "")


def _is_blamed(name: str, parts: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a line blames an op signature, by the lines that have each part of a line."""
    # The target of a custom call may have separators of its own.
    lines = min((parts.get(part, ()) for part in name.split(_SEPARATOR)), key=len)
    return any(f"{_SEPARATOR}{blames(name, '')}" in f"{_SEPARATOR}{text}" for text in lines)


def blamed(
    artifact: Artifact, verdicts: Iterable[Verdict], signatures: Collection[str] | None = None
) -> dict[str, tuple[str, ...]]:
    """Find the op signatures that Verdicts blame.

    Args:
        artifact: What was judged.
        verdicts: What came of it; only those that are predicted, and not compatible, blame.
        signatures: Its op signatures, as its `Subject` has them; None to examine it for them.

    Returns:
        The blamed op signatures, each with the places of its first ops.
    """
    said = {
        text
        for verdict in verdicts
        if verdict.basis is Basis.PREDICTED and not verdict.compatible
        for text in (verdict.reason, *(each.message for each in verdict.diagnostics))
    }
    if signatures is None:
        signatures = examine(artifact).signatures or ()
    # In the Verdict on a bundle its Version comes first.
    parts: dict[str, list[str]] = {}
    for text in said:
        for part in {*text.split(_SEPARATOR)}:
            parts.setdefault(part, []).append(text)
    names = [name for name in signatures if _is_blamed(name, parts)]
    if not names:
        return {}  # without reading it again
    content = read(artifact.data)
    named = signatures_by_name(Reading(content, artifact.data))
    found = {name: named[name] for name in names if name in named}
    places = content.scan().locations({one for each in found.values() for one in each})
    return {
        name: tuple(
            location_text(content.pool, location)
            for _, location in sorted(place for one in signatures for place in places[one])
        )
        for name, signatures in found.items()
    }
