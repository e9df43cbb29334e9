"""What the commands that execute share: the program, the Executor, the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.artifact import Artifact, NotAnArtifact
from portable.bytecode import MAGIC
from portable.cli.making import tell_line
from portable.cli.parts import only_part
from portable.cli.usage import limit
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

__all__ = ["executor_options", "given_inputs", "load_program", "open_chosen"]

_LIMIT_S = 600.0


def executor_options(parser: argparse.ArgumentParser) -> None:
    """Add what says on what to execute, and on which inputs."""
    parser.add_argument(
        "--executor",
        choices=sorted(EXECUTORS),
        default="pjrt",
        help="what executes (default: %(default)s)",
    )
    parser.add_argument(
        "--on",
        metavar="RELEASE",
        help="execute on this Release, as 'jaxlib 0.4.33', in an environment of its own that is "
        "made if it is missing (default: what is installed)",
    )
    parser.add_argument(
        "--platform",
        default="cpu",
        help="what pjrt runs on: cpu, cuda, tpu, or the path of a PJRT plugin (default: cpu)",
    )
    parser.add_argument("--inputs", metavar="X.npz", help="the inputs: arrays named 0, 1, ...")
    parser.add_argument(
        "--timeout",
        type=limit,
        default=_LIMIT_S,
        metavar="SECONDS",
        help="limit for each compilation and execution (default: %(default)g)",
    )
    parser.add_argument(
        "--memory",
        type=limit,
        metavar="GIB",
        help="limit for the process that executes (default: three quarters of the machine's)",
    )


def open_chosen(chosen: argparse.Namespace) -> Executor:
    """Open the Executor that was chosen."""
    release = find_release(chosen.on) if chosen.on else None
    check_executor(chosen.executor, chosen.platform, release)
    environment = None
    if release is not None:
        environment = Environments(progress=tell_line).get(release, to_execute=True)
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
        signature(artifact)  # reads all of it: what is wrong with the file is told with its name
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
