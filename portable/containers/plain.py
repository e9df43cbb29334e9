"""A file that holds one program and nothing else: the container of itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from portable.containers.container import Entry, demanded, shown
from portable.containers.rewriting import Rewritable
from portable.containers.source import Edit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from portable.artifact import Artifact
    from portable.containers.container import Edits, Opener
    from portable.containers.kind import Kind
    from portable.containers.source import Source

__all__ = ["Plain"]


class Plain(Rewritable):
    """A file that is no container. As `Container` describes; its one Entry has no name."""

    versions: Mapping[str, str] = {}
    opener: Opener | None = None
    warnings: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def __init__(self, kind: Kind, source: Source) -> None:
        self.kind = kind
        self.path = source.path
        self._source = source

    __repr__ = shown

    def artifacts(self) -> tuple[Entry, ...]:
        """Return the file itself."""
        return (Entry("", self._source, 0, len(self._source)),)

    def widened(self) -> str:
        """Return that there is one form only."""
        return "it has no envelope"

    def edits(
        self,
        artifacts: Mapping[str, bytes | Artifact],
        *,
        texts: Mapping[str, str] = {},  # noqa: ARG002 - it keeps no text
        widen: bool = False,  # noqa: ARG002 - as `widened`
    ) -> Edits:
        """Return what writes another artifact, as `Container.edits`."""
        size = len(self._source)
        edits = [Edit(0, size, data) for data in demanded(self, artifacts).values()]
        return {"": partial(self._source.write, edits)}
