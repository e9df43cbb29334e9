"""Make a program as small as possible while a command succeeds on it.

The command is run by a shell for each smaller program, several at a time: {} in it stands for the
program and {inputs} for its inputs. It must exit with 0 on the program itself, always; '! ' before
a command reverses that. Ops, results, regions, calls, attributes, sizes and element types are
removed or simplified as long as the command succeeds. The smallest program so far is in --output at
any time, also after an interruption; inputs are beside it, as .npz.
"""

from __future__ import annotations

import shlex
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from portable.cli.options import add
from portable.cli.output import demand_apart, note, print_json, say
from portable.cli.parts import ManyPrograms, parts_of
from portable.cli.progress import waiting
from portable.cli.usage import BadUsage, demand_name
from portable.fuzz.reduction import Candidate, ConditionNeverHolds, reduce
from portable.pinning.locations import naming
from portable.runtime.executors.signature import ordered
from portable.runtime.executors.tensors import load_arrays, stored_arrays
from portable.system import children, scratch
from portable.system.files import write_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable reduce model.mlir --check "grep -q while {}" -o small.mlir
portable reduce model.mlir --check "! portable run {} --random 0 --on 'jaxlib 0.4.33'" -o small.mlir
portable reduce m.mlir -o s --check "portable verify {} --against {} --reference iree | grep wrong"
"""
EXIT_CODES = {0: "reduced", 2: "the command does not succeed on the program, or bad usage"}

_LIMIT_S = 60.0
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "program",
        metavar="PROGRAM",
        help="StableHLO as MLIR text, MLIR bytecode, a portable artifact, or a container of one",
    )
    parser.add_argument(
        "--check",
        required=True,
        metavar="COMMAND",
        help="the command that must succeed, run by /bin/sh",
    )
    add(parser, "--jobs", default_help="cores")
    add(parser, "--inputs")
    add(parser, "--timeout", default=_LIMIT_S, default_help="%(default)g")
    add(parser, "--output", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Reduce one program."""
    demand_name(chosen.output)
    if chosen.output is None:
        raise BadUsage("missing --output", hint="name a file: -o small.mlir")
    if not chosen.check.strip():
        raise BadUsage("--check must be a non-empty command", hint="an empty one always succeeds")
    demand_apart(chosen.output, chosen.program, chosen.inputs)
    if chosen.inputs:
        beside = _inputs_of(Path(chosen.output))
        if beside == Path(chosen.output):
            raise BadUsage("is where the inputs are written", where=str(beside), hint="-o S.mlir")
        demand_apart(str(beside), chosen.program, chosen.inputs)
    inputs = ordered(load_arrays(chosen.inputs)) if chosen.inputs else None
    program = _program(chosen.program)

    def keep(candidate: Candidate) -> None:
        _write_whole(candidate, Path(chosen.output))
        note(f"{candidate.ops} ops")

    ended = ""

    def succeeds(candidate: Candidate) -> bool:
        nonlocal ended
        ended = _ended(candidate, chosen.check, chosen.timeout)
        return not ended

    with waiting(f"reducing {chosen.program}"), naming(chosen.program):
        try:
            found = reduce(program, succeeds, inputs=inputs, workers=chosen.jobs or 0, keep=keep)
        except ConditionNeverHolds as error:
            raise ConditionNeverHolds(f"{error.what}: {ended}", hint=error.hint) from None
    _write_whole(found.smallest, Path(chosen.output))
    if chosen.format == "json":
        fields = {"ops": found.smallest.ops, "ops_before": found.ops, "tried": found.tried}
        print_json({"program": chosen.output, **fields})
    else:
        say(
            f"{chosen.output}: {found.smallest.ops} of {found.ops} ops are left, "
            f"{found.tried} programs tried"
        )
    return 0


def _program(path: str) -> bytes:
    """Return the program of a file, or of a container that has one."""
    _, parts = parts_of(path)
    if len(parts) > 1:
        raise ManyPrograms(
            f"has {len(parts)} programs, not one", where=path, hint="portable inspect lists them"
        )
    return parts[0].data


def _write(candidate: Candidate, path: Path) -> None:
    write_file(path, candidate.text.encode())
    if candidate.inputs is not None:
        write_file(_inputs_of(path), stored_arrays(candidate.inputs))


def _write_whole(candidate: Candidate, path: Path) -> None:
    """Write both files, also where a signal ends the command after them."""
    with _signals_after():
        _write(candidate, path)


@contextmanager
def _signals_after() -> Iterator[None]:
    """Let signals that end the command wait for the end of the block."""
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in _ENDING}
    handled = {one: handler for one, handler in before.items() if callable(handler)}
    for number in handled:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        for first in came[:1]:
            signal.raise_signal(first)


def _inputs_of(program: Path) -> Path:
    return program.with_suffix(".npz")


def _ended(candidate: Candidate, check: str, limit: float) -> str:
    """Run the command; return how it ended, nothing where it succeeded."""
    with scratch.folder() as folder:
        path = Path(folder, "program.mlir")
        _write(candidate, path)
        command = check.replace("{}", shlex.quote(str(path)))
        command = command.replace("{inputs}", shlex.quote(str(_inputs_of(path))))
        action = ("program", "/bin/sh", "-c", command)
        try:
            done = children.run(action, timeout=limit, folder=str(Path.cwd()))
        except children.ChildHung:
            return f"it was stopped after {limit:g} s (--timeout)"
    return f"it exited with {done.returncode}" if done.returncode else ""
