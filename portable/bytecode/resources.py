"""The resources of an artifact: named blobs outside of the program."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.bytecode.encoding import Cursor
    from portable.bytecode.tables import Dialect, Strings

__all__ = ["Resource", "read_resources"]


class _Kind(IntEnum):
    """How the value of a resource is written."""

    BLOB = 0
    BOOL = 1
    STRING = 2


class Resource(NamedTuple):
    """A named value outside of the program.

    Args:
        owner: Whose it is: a dialect, or a name that readers know.
        name: Its key.
        size: The size of its value in bytes.
    """

    owner: str
    name: str
    size: int


def read_resources(
    section: Cursor | None,
    offsets: Cursor | None,
    strings: Strings,
    dialects: Sequence[Dialect],
) -> tuple[Resource, ...]:
    """Read the names and sizes of the resources.

    Args:
        section: The values.
        offsets: The names and the sizes.
        strings: The strings of the artifact.
        dialects: The dialects of the artifact.

    Returns:
        The resources; the values stay where they are.

    Raises:
        MalformedArtifact: The names or sizes do not make sense.
    """
    if section is None or offsets is None:
        return ()
    at = section.position
    found: list[Resource] = []
    externals = offsets.count()
    group = 0
    while not offsets.done():
        key = offsets.varint()
        if group < externals:
            owner = strings[key]
        elif key < len(dialects):
            owner = dialects[key].name
        else:
            raise offsets.malformed(f"there is no dialect {key}")
        group += 1
        for _ in range(offsets.count()):
            name, size, kind = strings[offsets.varint()], offsets.varint(), offsets.byte()
            if size > section.end - at or kind > _Kind.STRING:
                raise offsets.malformed("a resource does not fit its section")
            found.append(Resource(owner, name, size))
            at += size
    return tuple(found)
