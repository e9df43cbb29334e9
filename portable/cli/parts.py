"""What a command was given: one program, or every one in a container."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portable.cli.output import input_bytes
from portable.containers import open_path
from portable.containers.container import place
from portable.containers.opening import CONTAINERS
from portable.errors import PortableError

if TYPE_CHECKING:
    from portable.containers import Container, Entry

__all__ = ["ManyPrograms", "Part", "label_of", "only_part", "parts_of"]


class ManyPrograms(PortableError):
    """A container was given to a command that takes one program."""


class Part(NamedTuple):
    """One program that a command was given.

    Args:
        label: What to call it in messages.
        entry: Where it is.
    """

    label: str
    entry: Entry

    @property
    def name(self) -> str:
        """Its name in a container; empty when it is the file itself."""
        return self.entry.name

    @property
    def data(self) -> bytes:
        """The program as it is written, read each time."""
        return self.entry.data


def parts_of(path: str) -> tuple[Container | None, tuple[Part, ...]]:
    """Return the container that a path leads to, if it is one, and every program there.

    Args:
        path: A file, a directory, or `-` for standard input.

    Raises:
        PortableError: It cannot be read, or is a container that is damaged or empty.
    """
    label = label_of(path)
    found = open_path(input_bytes("-") if path == "-" else path)
    parts = tuple(Part(place(label, entry.name), entry) for entry in found.artifacts())
    return (found if found.kind in CONTAINERS else None), parts


def only_part(path: str) -> Part:
    """Return the one program that a path leads to.

    Args:
        path: A file, or `-` for standard input.

    Returns:
        The program.

    Raises:
        ManyPrograms: It is a container.
        PortableError: It cannot be read.
    """
    container, parts = parts_of(path)
    if container is not None:
        raise ManyPrograms(
            f"is a container ({container.kind}), not one program",
            where=label_of(path),
            hint="use inspect, minimum, explain, check or pin; "
            "portable.containers.open_container takes the artifacts out",
        )
    return parts[0]


def label_of(path: str) -> str:
    """Return what to call a path in messages."""
    return "<stdin>" if path == "-" else path
