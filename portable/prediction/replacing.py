"""Op signatures that a rewrite replaces, for Consumers that do not compile them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from portable.bytecode import read
from portable.features.bridges import bridges
from portable.prediction.forms import Reading
from portable.prediction.signatures import signatures_by_name

if TYPE_CHECKING:
    from portable.artifact import Artifact

__all__ = ["replaced", "replacing"]


def replacing(signature: str) -> tuple[str, ...]:
    """Return the rewrites that replace an op signature, by name.

    Args:
        signature: As capabilities name it, for example `custom_call mhlo.topk`.
    """
    return tuple(
        name
        for name, terms in bridges().rewrites.items()
        if any(fnmatchcase(signature, one) for one in terms.helps)
    )


def replaced(before: Artifact, after: Artifact) -> dict[str, int]:
    """Find which rewrites for such Consumers turned one artifact into another.

    Args:
        before: The one.
        after: The other.

    Returns:
        By the name of the rewrite, how many of the ops that it replaces only `before` has.
    """
    found: dict[str, int] = {}
    missing = _counts(before)
    for signature in missing.keys() - _counts(after).keys():
        for name in replacing(signature):
            found[name] = found.get(name, 0) + missing[signature]
    return found


def _counts(artifact: Artifact) -> dict[str, int]:
    reading = Reading(read(artifact.data), artifact.data)
    counts = reading.signatures
    named = signatures_by_name(reading)
    return {name: sum(counts[one] for one in ones) for name, ones in named.items()}
