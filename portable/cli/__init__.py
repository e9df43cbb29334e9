"""The command line. The only place that prints or exits.

One module per command: `SUMMARY`, `options(parser)` and `run(arguments) -> exit code`. Only the
module of the command that is asked for is imported.
"""

from __future__ import annotations

import gc
import importlib
import signal
import sys
from typing import TYPE_CHECKING

from portable.cli import parser
from portable.cli.failing import as_error
from portable.cli.output import begin, complain, drop_output, flush, hold_streams

if TYPE_CHECKING:
    from typing import Any

__all__ = ["main"]

# What each command does, in the order a newcomer meets them.
COMMANDS = {
    "pin": "write an artifact that named consumers can read",
    "check": "say whether consumers read an artifact",
    "inspect": "say what a file is, claims and needs",
    "minimum": "say how low a program could be pinned",
    "explain": "say what stands between a program and a target",
    "gate": "check a tree of artifacts against the project's policy",
    "matrix": "have real Releases read or execute artifacts",
    "export": "write an artifact of a PyTorch model or a JAX function",
    "verify-export": "say whether an exported PyTorch model computes what PyTorch does",
    "run": "execute a program in a child process",
    "verify": "say whether two artifacts compute the same",
    "target": "say which Version to write for, and why",
    "serialize": "write a portable artifact for one target",
    "deserialize": "print the StableHLO program inside an artifact",
    "versions": "list the StableHLO Versions",
    "releases": "list the Releases that ship a libStablehlo, or compare two",
    "env": "list, make and clear the environments of real Releases",
    "corpus": "verify and show the sealed evidence",
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
        # A command lives for milliseconds; what runs long runs in a child process.
        gc.disable()
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _end)
        hold_streams()
    try:
        code = _dispatch(words)
        flush()
        return code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has left: there is nobody to tell.
        drop_output()
        return 2
    except Exception as error:  # noqa: BLE001 - the last resort: a traceback is no answer, nor is 1
        complain(as_error(error), as_json=_wants_json(words))
        drop_output()
        return 2


def _end(number: int, _frame: object) -> None:
    """Clean up and end, as the shell says it of a signal; the next one ends at once."""
    signal.signal(number, signal.SIG_DFL)
    sys.exit(128 + number)


def _dispatch(words: list[str]) -> int:
    if words and words[0] in COMMANDS:
        module = _command(words[0])
        chosen = parser.parse(words[0], module, words[1:])
        begin(everything=getattr(chosen, "all", True))
        return int(module.run(chosen))
    return parser.overview(words, COMMANDS)


def _command(name: str) -> Any:
    return importlib.import_module(f"portable.cli.{name.replace('-', '_')}")


def _wants_json(words: list[str]) -> bool:
    # The parser may be what failed, so this looks at the words themselves.
    return "--format=json" in words or "--format json" in " ".join(words)
