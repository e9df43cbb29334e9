"""A copy of a container with other artifacts inside, by what is different in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from portable.artifact import Artifact
    from portable.containers.container import Edits

__all__ = ["Rewritable"]


class Rewritable(ABC):
    """A container that says in `edits` what is different in a copy."""

    path: str

    @abstractmethod
    def edits(
        self,
        artifacts: Mapping[str, bytes | Artifact],
        *,
        texts: Mapping[str, str] = {},
        widen: bool = False,
    ) -> Edits:
        """Return what is different in a copy. As `Container.edits`."""

    def replace(
        self,
        artifacts: Mapping[str, bytes | Artifact],
        *,
        to: str | os.PathLike[str],
        texts: Mapping[str, str] = {},
        widen: bool = False,
    ) -> None:
        """Write a copy with other artifacts inside. As `Container.replace`."""
        # What only looks into containers writes none.
        from portable.containers.copying import write_beside
        from portable.containers.folder import copy_tree

        edits = self.edits(artifacts, texts=texts, widen=widen)
        if (write := edits.get("")) is not None:
            write_beside(self.path, to, write)
        else:
            copy_tree(self.path, to, edits)
