"""Files and directories that carry artifacts inside: recognize them, open them, write copies.

    from portable.containers import open_container

    container = open_container("model.exported")
    for entry in container.artifacts():
        print(entry.name, len(entry.data), entry.versions)
    container.replace({"primal": artifact}, to="model-1.9.exported")

No framework, no flatbuffers, no protobuf: the bytes are walked here, every length is checked, and
nothing is ever unpickled. Damage is a `MalformedContainer` with the byte at which it was found.
Adding a kind is a module with `open_container` and its row in `kind.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.containers.kind import Kind, kind_of_directory, kind_of_file
from portable.system.lazy import lazy

if TYPE_CHECKING:
    from portable.containers.container import Container as Container
    from portable.containers.container import Entry as Entry
    from portable.containers.container import MalformedContainer as MalformedContainer
    from portable.containers.container import NoArtifact as NoArtifact
    from portable.containers.container import NotAContainer as NotAContainer
    from portable.containers.container import TooLarge as TooLarge
    from portable.containers.container import UnknownEntry as UnknownEntry
    from portable.containers.opening import artifacts_in as artifacts_in
    from portable.containers.opening import open_container as open_container
    from portable.containers.opening import open_path as open_path

_HOME = {
    "Container": "portable.containers.container",
    "Entry": "portable.containers.container",
    "MalformedContainer": "portable.containers.container",
    "NoArtifact": "portable.containers.container",
    "NotAContainer": "portable.containers.container",
    "TooLarge": "portable.containers.container",
    "UnknownEntry": "portable.containers.container",
    "artifacts_in": "portable.containers.opening",
    "open_container": "portable.containers.opening",
    "open_path": "portable.containers.opening",
}

__all__ = ["Kind", "kind_of_directory", "kind_of_file"]
__all__ += list(_HOME)

if not TYPE_CHECKING:  # or every misspelt name would be an object
    __getattr__, __dir__ = lazy(__name__, _HOME)
