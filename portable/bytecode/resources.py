"""Resources: data that attributes refer to by a key, as far as a reader looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.encoding import Cursor
from portable.bytecode.layouts import BUILTIN, VHLO
from portable.bytecode.tables import Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from portable.bytecode.tables import Dialect, Strings

__all__ = ["read_resources"]

_BLOB = 0


def read_resources(
    sections: Mapping[Section, Cursor], dialects: Sequence[Dialect], strings: Strings
) -> int:
    """Read what resources there are, but not their data.

    Args:
        sections: The sections of the artifact.
        dialects: Its dialects.
        strings: Its strings.

    Returns:
        How many resources attributes can refer to.

    Raises:
        MalformedArtifact: The sections do not hold what they announce, or one is missing.
    """
    heads, data = (sections.get(section) for section in (Section.RESOURCE_OFFSET, Section.RESOURCE))
    if heads is None or data is None:
        if heads is not data:
            raise (heads or data or sections[Section.IR]).malformed(
                "one of the two sections of resources is missing"
            )
        return 0
    heads, data = heads.copy(), data.copy()
    for _ in range(heads.count()):
        heads.index(len(strings), "string")  # who is to read them, which no reader here is
        _group(heads, data, strings, "")
    found = 0
    while not heads.done():
        dialect = dialects[heads.index(len(dialects), "dialect")].name
        if dialect == VHLO:
            raise heads.malformed("VHLO has no resources")
        found += _group(heads, data, strings, dialect)
    return found


def _group(heads: Cursor, data: Cursor, strings: Strings, dialect: str) -> int:
    """Read the resources of one owner; return how many there are."""
    count = heads.count()
    for _ in range(count):
        heads.index(len(strings), "string")
        size, kind = heads.varint(), heads.byte()
        start, stop = data.skip(size)
        if dialect == BUILTIN and size:
            _blob(Cursor(data.data, start, stop, data.origin), kind)
    return count


def _blob(cursor: Cursor, kind: int) -> None:
    """Refuse what is no aligned data: MLIR's own resources are nothing else."""
    if kind != _BLOB:
        raise cursor.malformed(f"a resource of kind {kind}, not {_BLOB}")
    alignment, size = cursor.varint(), cursor.varint()
    cursor.align(alignment)
    cursor.skip(size)
    if not cursor.done():
        raise cursor.malformed("a resource is longer than its data")
