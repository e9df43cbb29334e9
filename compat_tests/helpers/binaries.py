"""Shared libraries with the names that those of a Version hold."""

from __future__ import annotations

from portable.inspection.brackets import markers
from portable.version import Version

__all__ = ["ELF", "library", "names_of"]

ELF = b"\x7fELF\x02\x01\x01" + bytes(57)


def names_of(version: str) -> list[str]:
    """Return the names that a library of a Version holds."""
    at = Version.parse(version)
    return [
        one.name
        for one in markers().values()
        if one.since <= at and not (one.removed and Version.parse(one.removed.refused) <= at)
    ]


def library(*names: str) -> bytes:
    """Return a shared library with these names in it."""
    return ELF + b"\0" + b"\0".join(name.encode() for name in names) + b"\0"
