"""What a command was given: one program, or every one in a container."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.cli.output import input_bytes
from portable.containers import NotAContainer, open_container
from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.bytecode.header import Buffer
    from portable.containers import Container

__all__ = ["ManyPrograms", "Part", "label_of", "naming", "only_part", "parts_of"]


class ManyPrograms(PortableError):
    """A container was given to a command that takes one program."""


@dataclass(frozen=True, slots=True)
class Part:
    """One program that a command was given.

    Args:
        label: What to call it in messages.
        name: Its name in a container; empty when it is the file itself.
        data: The program as it is written; of a container a view into its file.
    """

    label: str
    name: str
    data: Buffer


def parts_of(path: str) -> tuple[Container | None, tuple[Part, ...]]:
    """Return the container that a path leads to, if it is one, and every program there.

    Args:
        path: A file, a directory, or `-` for standard input.

    Raises:
        PortableError: It cannot be read, or is a container that is damaged or empty.
    """
    label = label_of(path)
    source = input_bytes("-") if path == "-" else path
    try:
        container = open_container(source)
    except NotAContainer:
        if isinstance(source, str) and os.path.isdir(source):  # noqa: PTH112 - as in opening
            raise
        data = source if isinstance(source, bytes) else input_bytes(source)
        return None, (Part(label, "", data),)
    return container, tuple(
        Part(f"{label}: {entry.name}", entry.name, entry.data) for entry in container.artifacts()
    )


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
            f"is a container ({container.kind}), this takes one program",
            where=label_of(path),
            hint="inspect, minimum, explain, check and pin take containers; "
            "portable.containers.open_container takes the artifacts out",
        )
    return parts[0]


@contextlib.contextmanager
def naming(label: str) -> Iterator[None]:
    """Have errors about a program that was read from memory name where it came from.

    Args:
        label: What to call it.
    """
    try:
        yield
    except PortableError as error:
        inside = (error.where or "").removeprefix(label)
        # MLIR names a program that it was handed from memory "-".
        inside = inside.removeprefix('"-"')
        separator = "" if not inside or inside.startswith(":") else ": "
        error.where = f"{label}{separator}{inside}"
        raise


def label_of(path: str) -> str:
    """Return what to call a path in messages."""
    return "<stdin>" if path == "-" else path
