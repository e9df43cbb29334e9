"""The command line as argparse reads it: options, help, and advice on mistakes."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from portable.cli.output import flush, say, write_text
from portable.cli.usage import BadUsage

if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["overview", "parse"]

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


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the layout of examples; asks the terminal for its width without importing shutil."""

    def __init__(self, prog: str) -> None:
        try:
            width = os.get_terminal_size().columns
        except OSError:
            width = 80
        super().__init__(prog, width=min(width, 100) - 2)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as everything else here does."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise BadUsage(message, hint=f"see '{self.prog} --help'")

    def _print_message(self, message: str, file: object = None) -> None:
        del file  # argparse takes standard error where there is no standard output
        write_text("-", message)
        flush()


def parse(command: str, module: Any, words: list[str]) -> argparse.Namespace:
    """Read the words of one command.

    Args:
        command: Its name.
        module: Its module.
        words: What follows the name.

    Returns:
        What was chosen. `--help` ends the process.

    Raises:
        BadUsage: The command does not take these words.
    """
    parser = _Parser(
        prog=f"portable {command}", description=module.__doc__, formatter_class=_Formatter
    )
    module.options(parser)
    return parser.parse_args(words)


def overview(words: list[str], commands: dict[str, str]) -> int:
    """Answer a command line that names no command.

    Args:
        words: The command line.
        commands: What each command does.

    Returns:
        The exit code.

    Raises:
        BadUsage: There is no such command.
    """
    width = max(map(len, commands))
    listing = "\n".join(f"  {name:<{width}}  {what}" for name, what in commands.items())
    parser = _Parser(
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

        say(f"portable {__version__}")
        return 0
    if chosen.command is None:
        parser.print_help()
        return 0 if not words else 2
    import difflib  # noqa: PLC0415 - only for a mistyped command

    near = difflib.get_close_matches(chosen.command, commands, 1)
    advice = f"did you mean {near[0]!r}?" if near else "see 'portable --help'"
    raise BadUsage(f"there is no command {chosen.command!r}", hint=advice)
