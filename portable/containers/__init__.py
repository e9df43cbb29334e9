"""What kind of file is this: an artifact, a container with one inside, or something else."""

from __future__ import annotations

from portable.containers.kind import Kind, kind_of_directory, kind_of_file

__all__ = ["Kind", "kind_of_directory", "kind_of_file"]
