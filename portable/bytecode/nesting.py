"""How deep the parts of a program nest, and how deep every Release is known to read.

MLIR reads and writes what nests by recursion: a few kilobytes of modules in modules, or of types in types, overflow
its stack. This is the one place that knows where; whatever hands bytes or text to native code, or predicts
what native code makes of them, asks here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from portable.bytecode.entries import ATTRIBUTES, TYPES
from portable.errors import PortableError
from portable.tables import read_table

if TYPE_CHECKING:
    from portable.bytecode.content import Bytecode
    from portable.bytecode.entries import Pool

__all__ = ["TooDeep", "demand_shallow", "excess", "limit"]


class TooDeep(PortableError):
    """A program nests deeper than every known Release survives."""


@cache
def limit(what: str) -> int:
    """Return how deep a part may nest.

    Args:
        what: `regions`, `entries` or `text`.
    """
    return int(read_table(__file__, "nesting.ini")[what]["most"])


def excess(content: Bytecode) -> str:
    """Say what in an artifact nests too deep; empty if nothing does.

    Args:
        content: The artifact.

    Raises:
        MalformedArtifact: Something in it does not make sense, or contains itself.
    """
    for what, depth in (("regions", content.deepest), ("entries", _depth(content.pool))):
        if depth > limit(what):
            shown = "types or attributes" if what == "entries" else what
            return f"{shown} nested {depth} deep; Releases are known to read {limit(what)}"
    return ""


def demand_shallow(content: Bytecode, where: str | None = None) -> None:
    """Refuse an artifact that native code may not survive.

    Args:
        content: The artifact.
        where: What to call it.

    Raises:
        TooDeep: Something nests too deep.
        MalformedArtifact: Something does not make sense.
    """
    found = excess(content)
    if found:
        raise TooDeep(found, where=where, hint="it cannot be handed to any library: write it flatter")


def _depth(pool: Pool) -> int:
    """Return how many entries the longest chain has, or at most so many if that is not too deep."""
    nesting = {_key(table.kind, at) for table in (pool.types, pool.attributes) for at in table.pointing()}
    if len(nesting) <= limit("entries"):
        return len(nesting)  # a chain has no more links than there are
    depths: dict[int, int] = {}
    opened: dict[int, list[int]] = {}
    for first in nesting:
        stack = [first]
        while stack:
            entry = stack[-1]
            if entry in depths:
                stack.pop()
                continue
            inner = opened.pop(entry, None)
            if inner is None:
                inner = [one for one in _inner(pool, entry) if one in nesting]
                missing = [one for one in inner if one not in depths]
                if missing:
                    if entry in missing or not opened.keys().isdisjoint(missing):
                        raise pool.attributes.cursor.malformed("an entry contains itself")
                    opened[entry] = inner
                    stack += missing
                    continue
            depths[entry] = 1 + max((depths[one] for one in inner), default=0)
            stack.pop()
    return max(depths.values())


def _key(kind: str, index: int) -> int:
    """Number the entries of both tables: attributes from 0 up, types from -1 down."""
    return index if kind == ATTRIBUTES else -1 - index


def _inner(pool: Pool, key: int) -> list[int]:
    """Return the entries that one points to."""
    outline = pool.outline(ATTRIBUTES, key) if key >= 0 else pool.outline(TYPES, -1 - key)
    return [_key(*reference) for reference in outline.references]
