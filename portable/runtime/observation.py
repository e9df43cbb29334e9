"""One Artifact, one Consumer, up to a Stage: the observed Verdict."""

from __future__ import annotations

import base64
import importlib.metadata
import importlib.util
import sys
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.bindings import LibraryNotFound
from portable.system import children
from portable.system.arguments import demand_positive
from portable.system.worker import Driver, Worker
from portable.verdict import Stage

if TYPE_CHECKING:
    from portable.artifact import ArtifactLike
    from portable.verdict import Verdict

__all__ = ["observe"]

# The drivers of bindings that a Python environment can hold, and the package that shows them.
_INSTALLABLE = {Driver("jaxlib"): "jaxlib", Driver("torch-mlir"): "torch_mlir"}


def observe(artifact: ArtifactLike, *, timeout: float | None = None) -> Verdict:
    """Read an artifact with the installed libStablehlo, in a child process.

    Args:
        artifact: The artifact, its bytes or its path.
        timeout: Time limit in seconds; by default 60, and 1 more for each MiB.

    Returns:
        An observed Verdict at Stage `decode`: compatible, incompatible with the library's message,
        crashed with the signal, or timed out.

    Raises:
        LibraryNotFound: No libStablehlo is installed.
        NotAnArtifact: It is something else.
        MalformedArtifact: Its header is damaged.
        FileError: The path cannot be read.
        ValueError: The timeout is not above 0.
    """
    artifact = Artifact.of(artifact)
    limit = children.patience(len(artifact)) if timeout is None else timeout
    demand_positive("timeout", limit)
    family = _installed()
    consumer = f"{family} {importlib.metadata.version(str(family))}"
    with Worker(sys.executable, family, limit=limit) as worker:
        data = base64.b64encode(artifact.data).decode()
        return worker.ask({"kind": "read", "data": data}).verdict(consumer, Stage.DECODE)


def _installed() -> Driver:
    for family, package in _INSTALLABLE.items():
        if importlib.util.find_spec(package) is not None:
            return family
    raise LibraryNotFound(
        "--observe requires a libStablehlo, and none is installed",
        hint="install one: pip install 'stablehlo-portable[jaxlib]'",
    )
