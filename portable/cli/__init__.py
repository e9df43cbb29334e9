"""The command line. The only place that prints or exits.

One module per command: `SUMMARY`, `options(parser)` and `run(arguments) -> exit code`. Only the
module of the command that is asked for is imported.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import TYPE_CHECKING

from portable.cli import parser
from portable.cli.output import complain
from portable.errors import PortableError

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
    "releases": "list the Releases that ship a libStablehlo",
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
    try:
        return _dispatch(words)
    except PortableError as error:
        complain(error, as_json=_wants_json(words))
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has left; the interpreter must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 2
    except Exception:  # noqa: BLE001 - a defect of ours: 1, as Python ends, would say "incompatible"
        sys.excepthook(*sys.exc_info())
        return 2


def _dispatch(words: list[str]) -> int:
    if words and words[0] in COMMANDS:
        module = _command(words[0])
        code: int = module.run(parser.parse(words[0], module, words[1:]))
        sys.stdout.flush()
        return code
    return parser.overview(words, COMMANDS)


def _command(name: str) -> Any:
    return importlib.import_module(f"portable.cli.{name.replace('-', '_')}")


def _wants_json(words: list[str]) -> bool:
    # The parser may be what failed, so this looks at the words themselves.
    return "--format=json" in words or "--format json" in " ".join(words)
