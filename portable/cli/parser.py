"""The command line as argparse reads it: options, help, and advice on mistakes."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from portable.cli.options import add
from portable.cli.output import flush, say, write_text
from portable.cli.usage import BadUsage

if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["build", "declare", "overview", "parse"]

_EPILOG = """\
exit codes:
  0  compatible, or done
  1  incompatible
  2  not known, could not check, or bad usage

NO_COLOR=1 turns colours off; portable completion bash|zsh prints shell completion.

examples:
  portable pin model.mlir --for 'jaxlib>=0.5' 'tensorflow~=2.18' -o model.mlir.bc
  portable check model.mlir.bc --for 'jaxlib>=0.5'
  portable inspect model.mlir.bc --format json
"""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Fills paragraphs except those with indented lines, to the width of the terminal.

    Words with a hyphen stay whole, so that names can be copied.
    """

    def __init__(self, prog: str) -> None:
        try:
            width = os.get_terminal_size().columns
        except OSError:
            width = 80
        super().__init__(prog, width=min(width, 100) - 2)

    def _split_lines(self, text: str, width: int) -> list[str]:
        from textwrap import wrap  # only for help

        return wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from textwrap import fill  # only for help

        return "\n\n".join(
            part if "\n " in part else fill(part, width, initial_indent=indent)
            for part in text.split("\n\n")
        )


class _Parser(argparse.ArgumentParser):
    """Reports bad usage as an error like any other, in one line."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise BadUsage(message, hint=f"see '{self.prog} --help'")

    def _print_message(self, message: str, file: object = None) -> None:
        del file  # argparse takes standard error where there is no standard output
        write_text("-", message)
        flush()

    def read(self, words: list[str]) -> argparse.Namespace:
        """Read a command line; options may stand between an action and what it is done with."""
        if len(self._get_positional_actions()) > 1:
            return self.parse_intermixed_args(words)
        return self.parse_args(words)


def build(command: str, module: Any) -> _Parser:
    """Return the parser of one command.

    Args:
        command: Its name.
        module: Its module.
    """
    codes = "\n".join(f"  {code}  {meaning}" for code, meaning in module.EXIT_CODES.items())
    examples = module.EXAMPLES.strip().replace("\n", "\n  ")
    parser = _Parser(
        prog=f"portable {command}",
        description=module.__doc__,
        epilog=f"examples:\n  {examples}\n\nexit codes:\n{codes}\n",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    declare(parser, module)
    return parser


def declare(parser: argparse.ArgumentParser, module: Any) -> None:
    """Declare what a command takes.

    Args:
        parser: Where.
        module: Its module.
    """
    module.options(parser)
    add(parser, "--quiet")


def parse(command: str, module: Any, words: list[str]) -> argparse.Namespace:
    """Read the words of one command.

    Args:
        command: Its name.
        module: Its module.
        words: What follows the name.

    Returns:
        What was chosen. `--help` ends the process.

    Raises:
        BadUsage: The command does not take these words, or an option is the name of a file: `*`
            and tools that append the files of a change give names that somebody else has chosen.
    """
    end = words.index("--") if "--" in words else len(words)
    for word in words[:end]:
        if word.startswith("-") and word != "-" and os.path.lexists(word):
            raise BadUsage(
                f"{word!r:.200} is an option, and a file here",
                hint="write -- before names of files",
            )
    return build(command, module).read(words)


def overview(words: list[str], commands: dict[str, str]) -> int:
    """Handle a command line that names no command.

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
        description="Check, before you ship a StableHLO portable artifact, which shipped runtimes "
        "can read it.",
        usage="portable COMMAND ...",
        epilog=f"commands (see portable COMMAND --help):\n{listing}\n\n{_EPILOG}",
        formatter_class=_Formatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    chosen, _ = parser.parse_known_args(words)
    if chosen.version:
        from portable import __version__  # avoids a cycle at import

        say(f"portable {__version__}")
        return 0
    if chosen.command is None:
        parser.print_help()
        return 0 if not words else 2
    import difflib  # only for a mistyped command

    near = difflib.get_close_matches(chosen.command, commands, 1)
    advice = f"did you mean {near[0]!r}?" if near else "see 'portable --help'"
    raise BadUsage(f"unknown command {chosen.command!r}", hint=advice)
