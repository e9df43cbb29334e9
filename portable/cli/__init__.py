"""The command line. The only place that prints or exits.

One module per command: `SUMMARY`, `options(parser)` and `run(arguments) -> exit code`. Only the
module of the command that is asked for is imported.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys

from portable.cli.output import complain
from portable.errors import PortableError

TYPE_CHECKING = False
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
    "run": "execute a program in a child process",
    "verify": "say whether two artifacts compute the same",
    "target": "say which Version to write for, and why",
    "serialize": "write a portable artifact for one target",
    "deserialize": "print the StableHLO program inside an artifact",
    "versions": "list the StableHLO Versions",
    "releases": "list the Releases that ship a libStablehlo",
    "corpus": "verify and show the sealed evidence",
}

_EPILOG = """\
exit codes:
  0  compatible, or done
  1  incompatible
  2  could not check or do it, or bad usage

examples:
  portable pin model.mlir --for 'jaxlib>=0.5' 'tensorflow~=2.18' -o model.mlir.bc
  portable check model.mlir.bc --for 'jaxlib>=0.5'
  portable inspect model.mlir.bc --format json
"""


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


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the layout of examples; asks the terminal for its width without importing shutil."""

    def __init__(self, prog: str) -> None:
        try:
            width = os.get_terminal_size().columns
        except OSError:
            width = 80
        super().__init__(prog, width=min(width, 100) - 2)


def _dispatch(words: list[str]) -> int:
    if words and words[0] in COMMANDS:
        module = _command(words[0])
        parser = argparse.ArgumentParser(
            prog=f"portable {words[0]}",
            description=module.__doc__,
            formatter_class=_Formatter,
        )
        module.options(parser)
        code: int = module.run(parser.parse_args(words[1:]))
        sys.stdout.flush()
        return code
    return _overview(words)


def _command(name: str) -> Any:
    # What importlib.import_module does, without the 3 ms that importing importlib takes.
    full = f"portable.cli.{name.replace('-', '_')}"
    __import__(full)
    return sys.modules[full]


def _overview(words: list[str]) -> int:  # noqa: RET503 - parser.error does not return
    width = max(map(len, COMMANDS))
    listing = "\n".join(f"  {name:<{width}}  {what}" for name, what in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="portable",
        description="Tell, before you ship a StableHLO portable artifact, which shipped runtimes "
        "can read it.",
        usage="portable COMMAND ...",
        epilog=f"commands (portable COMMAND --help tells more):\n{listing}\n\n{_EPILOG}",
        formatter_class=_Formatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    chosen, _ = parser.parse_known_args(words)
    if chosen.version:
        from portable import __version__  # noqa: PLC0415 - avoids a cycle at import

        print(f"portable {__version__}")
        return 0
    if chosen.command is None:
        parser.print_help()
        return 0 if not words else 2
    import difflib  # noqa: PLC0415 - only for a mistyped command

    near = difflib.get_close_matches(chosen.command, COMMANDS, 1)
    advice = f"did you mean {near[0]!r}?" if near else "portable --help lists them"
    parser.error(f"there is no command {chosen.command!r}; {advice}")


def _wants_json(words: list[str]) -> bool:
    # The parser may be what failed, so this looks at the words themselves.
    return "--format=json" in words or "--format json" in " ".join(words)
