"""Print the shell completion of every command, for bash or zsh.

It is a static script: completing starts no process and imports nothing. It is made by shtab, an
extra: pip install 'stablehlo-portable[completion]'. Print it again after an update.
"""

from __future__ import annotations

import argparse
import importlib
from typing import TYPE_CHECKING

from portable.cli.options import COMPLETES
from portable.cli.output import write_text
from portable.errors import PortableError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["EXAMPLES", "EXIT_CODES", "ShtabMissing", "options", "run"]

EXAMPLES = """
portable completion bash > ~/.local/share/bash-completion/completions/portable
portable completion zsh > ~/.zfunc/_portable
"""
EXIT_CODES = {0: "printed", 2: "shtab is not installed, or bad usage"}


class ShtabMissing(PortableError):
    """shtab, which makes the script, is not installed."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("shell", choices=("bash", "zsh"), help="which shell")


def run(chosen: argparse.Namespace) -> int:
    """Print the script."""
    try:
        shtab = importlib.import_module("shtab")
    except ImportError:
        raise ShtabMissing(
            "shtab is not installed", hint="pip install 'stablehlo-portable[completion]'"
        ) from None
    write_text("-", shtab.complete(_everything(shtab), shell=chosen.shell) + "\n")
    return 0


def _everything(shtab: ModuleType) -> argparse.ArgumentParser:
    """Return one parser with all commands, as shtab takes it."""
    from portable.cli import COMMANDS, load, parser  # a cycle at import

    whole = argparse.ArgumentParser(prog="portable")
    whole.add_argument("--version", action="store_true", help="print the version and exit")
    commands = whole.add_subparsers()
    for name, what in COMMANDS.items():
        added = commands.add_parser(name, help=what)
        parser.declare(added, load(name))
        for action in added._actions:  # noqa: SLF001 - argparse has no public list
            kind = COMPLETES.get(str(action.metavar).partition(".")[0])
            if kind is not None:
                action.complete = getattr(shtab, kind.upper())  # type: ignore[attr-defined]  # shtab reads it
    return whole
