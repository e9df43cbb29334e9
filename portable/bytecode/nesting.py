"""How deep the parts of a program nest, and how deep every Release is known to read.

MLIR reads and writes what nests by recursion: a few kilobytes of modules in modules, or of types in
types, overflow its stack. This is the one place that knows where; whatever hands bytes or text to
native code, or predicts what it makes of them, uses this module.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from portable.bytecode.entries import reference
from portable.errors import PortableError
from portable.system.tables import read_table

if TYPE_CHECKING:
    from portable.bytecode.content import Bytecode
    from portable.bytecode.entries import Pool

__all__ = ["TooDeep", "demand_shallow", "demand_shallow_text", "excess", "limit"]


class TooDeep(PortableError):
    """A program nests deeper than the known Releases survive."""


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
        raise TooDeep(found, where=where, hint="reduce the nesting")


def _depth(pool: Pool) -> int:
    """Return how many entries the longest chain of those that point to others has."""
    depths: dict[int, int] = {}
    opened: set[int] = set()
    stack = [
        reference(table.kind, at)
        for table in (pool.types, pool.attributes)
        for at in table.pointing()
    ]
    while stack:
        entry = stack[-1]
        if entry in depths:
            stack.pop()
            continue
        inner = pool.referred(entry).references
        missing = [one for one in inner if one not in depths]
        if missing:
            if entry in opened or not opened.isdisjoint(missing):
                raise pool.attributes.cursor.malformed("an entry contains itself")
            opened.add(entry)
            stack += missing
            continue
        depths[entry] = 1 + max(map(depths.__getitem__, inner)) if inner else 0
        opened.discard(entry)
        stack.pop()
    return max(depths.values(), default=0)


# What is no bracket although it looks so: strings, comments, arrows and comparisons.
_NO_BRACKETS = rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|->|[<>]='
_DEPTHS = {**dict.fromkeys(b"([{<", 1), **dict.fromkeys(b")]}>", -1)}
_OTHERS = bytes(byte for byte in range(256) if byte not in _DEPTHS)


def demand_shallow_text(text: str | bytes, where: str | None = None) -> None:
    """Refuse MLIR text that native code may not survive, by its brackets and aliases alone.

    Args:
        text: The program.
        where: What to call it.

    Raises:
        TooDeep: Brackets, or aliases of aliases, nest too deep.
    """
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    depth = max(_brackets(data), _aliases(data))
    if depth > limit("text"):
        raise TooDeep(
            f"brackets or aliases nested {depth} deep, Releases read {limit('text')}",
            where=where,
            hint="reduce the nesting",
        )


def _brackets(data: bytes) -> int:
    import re  # artifacts need none of it
    from itertools import accumulate

    if sum(data.count(opening) for opening in (b"(", b"[", b"{", b"<")) <= limit("text"):
        return 0  # too few to nest too deep
    brackets = re.sub(_NO_BRACKETS, b"", data).translate(None, _OTHERS)
    return max(accumulate(map(_DEPTHS.__getitem__, brackets)), default=0)


def _aliases(data: bytes) -> int:
    """Return how many aliases the longest chain has; each is defined on a line of its own."""
    import re

    if data.count(b"\n#") + data.count(b"\n!") <= limit("text"):
        return 0
    depths: dict[bytes, int] = {}
    for match in re.finditer(rb"^([#!][\w.$-]+)[ \t]*=([^\n]*)", data, re.MULTILINE):
        inner = re.findall(rb"[#!][\w.$-]+", match[2])
        depths[match[1]] = 1 + max((depths.get(alias, 0) for alias in inner), default=0)
    return max(depths.values(), default=0)
