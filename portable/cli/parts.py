"""What a command was given: one program, or every one in a container."""

from __future__ import annotations

import os

from portable.cli.output import input_bytes
from portable.containers import NotAContainer, open_container

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass

    from portable.bytecode.header import Buffer
    from portable.containers import Container
else:
    from portable.record import dataclass

__all__ = ["Part", "label_of", "parts_of"]


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


def label_of(path: str) -> str:
    """Return what to call a path in messages."""
    return "<stdin>" if path == "-" else path
