"""What the commands that execute programs share: the program, the Executor, the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.artifact import Artifact, NotAnArtifact
from portable.bytecode import MAGIC
from portable.cli.making import tell_line
from portable.cli.options import EXECUTION, add
from portable.cli.parts import only_part
from portable.pinning import pipeline as pin
from portable.pinning.locations import naming
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.runtime.executors import EXECUTORS, check_executor, find_executor
from portable.runtime.executors.signature import check_inputs, ordered, signature
from portable.runtime.executors.tensors import load_arrays

if TYPE_CHECKING:
    import argparse

    from portable.runtime.executors import Executor
    from portable.runtime.executors.signature import Signature
    from portable.runtime.executors.tensors import Array

__all__ = ["execution_options", "given_inputs", "load_program", "open_chosen"]

_LIMIT_S = 600.0


def execution_options(parser: argparse.ArgumentParser) -> None:
    """Add what says where a program is executed, and on which inputs."""
    add(parser, "--executor", choices=sorted(EXECUTORS))
    add(parser, *EXECUTION)
    add(parser, "--timeout", default=_LIMIT_S, default_help="%(default)g")


def open_chosen(chosen: argparse.Namespace) -> Executor:
    """Open the Executor that was chosen."""
    release = find_release(chosen.on) if chosen.on else None
    check_executor(chosen.executor, chosen.platform, release)
    environment = None
    if release is not None:
        environments = Environments(progress=tell_line, require_hashes=chosen.require_hashes)
        environment = environments.get(release, to_execute=True)
    memory = None if chosen.memory is None else int(chosen.memory * 2**30)
    return find_executor(
        chosen.executor,
        environment,
        limit=chosen.timeout,
        memory=memory,
        platform=chosen.platform,
    )


def load_program(path: str, chosen: argparse.Namespace) -> Artifact:
    """Read an artifact, or serialize a program in a child process.

    Args:
        path: The file; `-` is standard input.
        chosen: With `on`: a program is written for the Version of that Release.

    Returns:
        The artifact.
    """
    part = only_part(path)
    with naming(part.label):
        artifact = _artifact(part.data, chosen)
        signature(artifact)  # reads all of it: errors in the file are reported with its name
    return artifact


def _artifact(data: bytes, chosen: argparse.Namespace) -> Artifact:
    if data.startswith(MAGIC):
        try:
            return Artifact.from_bytes(data)
        except NotAnArtifact:
            pass  # plain MLIR bytecode is serialized like text
    # A Release that is newer than the installed library gets what the library can write.
    target = ["current", str(find_release(chosen.on).target)] if chosen.on else "current"
    return pin.serialize(data, target)


def given_inputs(chosen: argparse.Namespace, wanted: Signature) -> list[Array] | None:
    """Load the inputs that were given, if any were and they are what a program takes."""
    if not chosen.inputs:
        return None
    found = load_arrays(chosen.inputs, lambda named: check_inputs(ordered(named), wanted))
    return check_inputs(ordered(found), wanted)
