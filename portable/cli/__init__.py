"""The command line. The only place that prints or exits.

One module per command: its docstring, `EXAMPLES` and `EXIT_CODES` are its help, `options(parser)`
declares what it takes, `run(chosen)` returns the exit code. Only the module of the command that
runs is imported. Options that several commands have are declared in `options.py`.
"""

from __future__ import annotations

import gc
import importlib
import signal
import sys
from typing import TYPE_CHECKING

from portable.cli import parser
from portable.cli.failing import as_error, ended_by
from portable.cli.output import begin, complain, drop_output, flush, hold_streams
from portable.cli.progress import running

if TYPE_CHECKING:
    from typing import Any

__all__ = ["COMMANDS", "load", "main"]

# What each command does, in the order a newcomer meets them.
COMMANDS = {
    "pin": "write an artifact that named consumers can read",
    "bundle": "write several Versions of a program under one name, for many consumers",
    "pick": "take the Version that named consumers read out of a bundle",
    "push": "send a bundle to a registry",
    "attest": "sign or verify a statement about which consumers read an artifact or bundle",
    "check": "check which consumers can read artifacts",
    "inspect": "show what a file is, claims and requires",
    "minimum": "show the minimum target of programs",
    "explain": "show what keeps programs from a target, and how to reach it",
    "gate": "check a tree of artifacts against the project's policy",
    "audit": "list every artifact of folders and buckets, and what it needs",
    "plan": "predict what breaks when other consumers read a fleet",
    "repin-all": "re-pin the artifacts of a fleet that consumers do not read",
    "matrix": "read or execute artifacts on real Releases",
    "export": "write an artifact of a PyTorch model or a JAX function",
    "verify-export": "compare an exported PyTorch model with PyTorch",
    "run": "execute a program in a child process",
    "verify": "compare what artifacts compute with what a program computes",
    "target": "show which Version to write for, and why",
    "serialize": "write a portable artifact",
    "deserialize": "print the StableHLO program inside an artifact",
    "versions": "list the StableHLO Versions",
    "releases": "list the Releases that ship a libStablehlo, compare two, or add new ones",
    "env": "list, make and remove the environments of real Releases",
    "reduce": "make a program as small as a command allows",
    "fuzz": "generate valid programs, or hunt with them for what Releases get wrong",
    "corpus": "verify and show the corpus of sealed artifacts",
    "schema": "print the JSON Schema of what a command prints",
    "completion": "print shell completion for bash or zsh",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: Without the program's name; by default those of the process.

    Returns:
        The exit code: 0 compatible or done, 1 incompatible, 2 could not check.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if arguments is None:
        # Most commands end before; what was read of an artifact is in cycles, and many may be read.
        gc.set_threshold(20_000, 2, 2)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
                signal.signal(number, _end)
        # Whoever ignores it, or was started so, does not know how its children end.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        hold_streams()
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL and arguments is None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = _dispatch(words)
        flush()
        return code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has closed it.
        drop_output()
        return 2
    except Exception as error:  # noqa: BLE001 - the last resort: no traceback for users, and never exit code 1
        if (ended := ended_by(error)) is not None:
            return ended
        complain(as_error(error), as_json=_wants_json(words))
        drop_output()
        return 2


def _end(number: int, _frame: object) -> None:
    """Clean up and exit with 128 + signal; a second signal ends the process at once."""
    signal.signal(number, signal.SIG_DFL)
    sys.exit(128 + number)


def _dispatch(words: list[str]) -> int:
    if words and words[0] in COMMANDS:
        module = load(words[0])
        chosen = parser.parse(words[0], module, words[1:])
        begin(everything=getattr(chosen, "all", True), quiet=chosen.quiet)
        with running(words[0]):
            return int(module.run(chosen))
    return parser.overview(words, COMMANDS)


def load(name: str) -> Any:
    """Return the module of a command."""
    return importlib.import_module(f"portable.cli.{name.replace('-', '_')}")


def _wants_json(words: list[str]) -> bool:
    # The parser may be what failed, so this looks at the words themselves.
    return "--format=json" in words or "--format json" in " ".join(words)
