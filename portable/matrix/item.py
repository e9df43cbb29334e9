"""Items: the artifacts of a matrix, with what is needed to execute them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.containers import NoArtifact, open_path
from portable.containers.container import place
from portable.errors import PortableError

if TYPE_CHECKING:
    from portable.version import Version

__all__ = ["Item", "NothingToTest", "TensorFile"]


class NothingToTest(PortableError):
    """A path holds no artifact and no Case."""


@dataclass(frozen=True, slots=True)
class TensorFile:
    """One array in a `.npy` file.

    Args:
        path: The file.
        dtype: The numpy or ml_dtypes name, which a `.npy` file alone does not always have.
    """

    path: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Item:
    """One artifact of a matrix.

    Args:
        name: Its name in reports: the Case with the artifact's file, or the path.
        path: The file, or the container.
        digest: The sha256 of its bytes.
        claimed: The Version in its header.
        inside: Its name inside of the container; empty for a file.
        producer: The Release that wrote it, as `jaxlib 0.4.13`; empty when unknown.
        producer_version: The StableHLO Version of that Release; None when unknown.
        case: The Case it belongs to; empty for a file.
        inputs: The arguments to execute it with; None when none are available.
        expected: What it should compute; empty when not given.
        relative: How far an output may be off, relative to the expected value.
        absolute: Or in itself.
        ulps: Or in ulps; any one of the three is enough.
        given: How to execute it, as options of `portable matrix`;
            a Case brings that itself.
        reference: The Release whose results are expected, as `jaxlib==0.12.0.1`; empty where
            they are known otherwise.
        unjudged: Why it is not executed, or not compared with anything; empty where it is.
    """

    name: str
    path: str
    digest: str
    claimed: Version | None
    inside: str = ""
    producer: str = ""
    producer_version: Version | None = None
    case: str = ""
    inputs: tuple[TensorFile, ...] | None = None
    expected: tuple[TensorFile, ...] = ()
    relative: float = 0.0
    absolute: float = 0.0
    ulps: int = 0
    given: tuple[str, ...] = ()
    reference: str = ""
    unjudged: str = field(default="", compare=False)  # no part of a kept Matrix: its Cells say it

    def __repr__(self) -> str:
        return f"<Item {self.name!r}>"

    @property
    def key(self) -> tuple[str, str]:
        """What makes it this artifact and no other: its name and its bytes."""
        return (self.name, self.digest)

    def artifact(self) -> Artifact:
        """Read the artifact.

        Raises:
            FileError: The file cannot be read.
            NoArtifact: It is no longer in the container.
        """
        for entry in open_path(self.path).artifacts():
            if entry.name == self.inside:
                return Artifact.from_bytes(entry.data, where=place(self.path, self.inside))
        raise NoArtifact(f"no artifact {self.inside!r} inside", where=self.path)
