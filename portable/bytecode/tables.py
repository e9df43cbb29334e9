"""The tables of an artifact: sections, strings, dialects and the names of operations."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.encoding import Cursor, brief, offsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.bytecode.encoding import Buffer

__all__ = [
    "Dialect",
    "Format",
    "OperationName",
    "Section",
    "Strings",
    "read_dialects",
    "read_names",
    "read_sections",
]


class Section(IntEnum):
    """The sections of MLIR bytecode, by their ids."""

    STRING = 0
    DIALECT = 1
    ATTRIBUTE_TYPE = 2
    ATTRIBUTE_TYPE_OFFSET = 3
    IR = 4
    RESOURCE = 5
    RESOURCE_OFFSET = 6
    DIALECT_VERSIONS = 7
    PROPERTIES = 8


class Format(IntEnum):
    """The versions of the MLIR bytecode format, by what they introduced."""

    DIALECT_VERSIONING = 1
    LAZY_LOADING = 2
    USE_LIST_ORDERS = 3
    ELIDED_ARGUMENT_LOCATIONS = 4
    NATIVE_PROPERTIES = 5
    ODS_PROPERTIES = 6


_SECTIONS = tuple(Section)
# No Release knows ten dialects or a thousand operations; what an unknown one is called costs time
# and memory that the few bytes of its name do not account for.
_MOST_DIALECTS = 1000
_MOST_NAMES = 4096
NEWEST_FORMAT = Format.ODS_PROPERTIES
_REQUIRED = (
    Section.STRING,
    Section.DIALECT,
    Section.ATTRIBUTE_TYPE,
    Section.ATTRIBUTE_TYPE_OFFSET,
    Section.IR,
)
_ALSO_PROPERTIES = (*_REQUIRED, Section.PROPERTIES)


class Dialect(NamedTuple):
    """A dialect that the artifact uses.

    Args:
        name: Its namespace.
        version: Its own version, as the dialect wrote it; None if it wrote none.
    """

    name: str
    version: bytes | None


class OperationName(NamedTuple):
    """The name of an operation.

    Args:
        dialect: The namespace.
        name: The name within the namespace.
        registered: Whether the producer knew the operation; not recorded before format 5.
    """

    dialect: str
    name: str
    registered: bool

    def __str__(self) -> str:
        return f"{brief(self.dialect)}.{brief(self.name)}"


def read_sections(data: Buffer, start: int, format_: int) -> dict[Section, Cursor]:
    """Find the sections of an artifact.

    Args:
        data: The artifact.
        start: The length of its header.
        format_: The version of the bytecode format.

    Returns:
        A cursor over the content of each.

    Raises:
        MalformedArtifact: A section is unknown, repeated, missing, or does not fit.
    """
    cursor = Cursor(data, start, len(data))
    sections: dict[Section, Cursor] = {}
    while not cursor.done():
        number, content = cursor.section()
        if number > Section.PROPERTIES:
            raise cursor.malformed(f"there is no section {number}")
        section = _SECTIONS[number]
        if section in sections:
            raise cursor.malformed(f"a second section {section.name}")
        sections[section] = content
    for section in _REQUIRED if format_ < Format.NATIVE_PROPERTIES else _ALSO_PROPERTIES:
        if section not in sections:
            raise cursor.malformed(f"section {section.name} is missing")
    return sections


class Strings:
    """The strings of an artifact, decoded one by one on first use."""

    __slots__ = ("_cursor", "_decoded", "_starts")

    def __init__(self, cursor: Cursor) -> None:
        # Each string is decoded once, however many indices point to it: no small file grows large.
        self._decoded: dict[int, str] = {}
        lengths = cursor.varints(cursor.count())
        lengths.reverse()  # they are stored last to first
        self._cursor = cursor
        self._starts = offsets(cursor.position, lengths)
        if self._starts[-1] != cursor.end:
            raise cursor.malformed("the strings do not fill their section")
        if lengths and not min(lengths):
            raise cursor.malformed("unterminated string")

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, index: int) -> str:
        text = self._decoded.get(index)
        if text is not None:
            return text
        if not 0 <= index < len(self):
            raise self._cursor.malformed(f"string {index} is out of range; there are {len(self)}")
        start, stop = self._starts[index], self._starts[index + 1] - 1
        text = bytes(self._cursor.data[start:stop]).decode("utf-8", "backslashreplace")
        self._decoded[index] = text
        return text

    def size(self, index: int) -> int:
        """Return how many bytes a string has."""
        return self._starts[index + 1] - self._starts[index] - 1


def read_dialects(cursor: Cursor, strings: Strings, number: int) -> list[Dialect]:
    """Read the dialects.

    Args:
        cursor: The content of the dialect section; it goes to where the names of operations are.
        strings: The strings of the artifact.
        number: The version of the bytecode format.

    Returns:
        The dialects, as the rest of the artifact counts them.

    Raises:
        MalformedArtifact: The section does not hold what it announces, or too many.
    """
    count = _most(cursor, "dialects", cursor.count(), _MOST_DIALECTS)
    return [_dialect(cursor, strings, number) for _ in range(count)]


def read_names(
    cursor: Cursor, dialects: Sequence[Dialect], strings: Strings, number: int
) -> list[OperationName]:
    """Read the names of the operations.

    Args:
        cursor: The rest of the dialect section.
        dialects: The dialects of the artifact.
        strings: The strings of the artifact.
        number: The version of the bytecode format.

    Returns:
        The names, as the rest of the artifact counts them.

    Raises:
        MalformedArtifact: The section does not hold what it announces, or too many.
    """
    if number >= Format.ELIDED_ARGUMENT_LOCATIONS:
        # Readers make room for so many, and do not compare it with how many there are.
        _most(cursor, "operation names", cursor.varint(), _MOST_NAMES)
    names: list[OperationName] = []
    # A name takes one byte and may be there any number of times: each is made once.
    known: dict[tuple[str, int, bool], OperationName] = {}
    while not cursor.done():
        dialect = dialects[cursor.index(len(dialects), "dialect")].name
        count = cursor.count()
        _most(cursor, "operation names", len(names) + count, _MOST_NAMES)
        for _ in range(count):
            registered = True
            if number >= Format.NATIVE_PROPERTIES:
                at, registered = cursor.flagged()
            else:
                at = cursor.varint()
            key = dialect, at, registered
            if key not in known:
                known[key] = OperationName(dialect, strings[at], registered)
            names.append(known[key])
    return names


def _most(cursor: Cursor, what: str, count: int, most: int) -> int:
    if count > most:
        raise cursor.malformed(f"{count:,} {what}; at most {most:,} are read")
    return count


def _dialect(cursor: Cursor, strings: Strings, format_: int) -> Dialect:
    if format_ < Format.DIALECT_VERSIONING:
        return Dialect(strings[cursor.varint()], None)
    at, versioned = cursor.flagged()
    name = strings[at]
    if not versioned:
        return Dialect(name, None)
    number, content = cursor.section()
    if number != Section.DIALECT_VERSIONS:
        raise cursor.malformed(f"the version of a dialect in section {number}")
    return Dialect(name, bytes(content.data[content.position : content.end]))
