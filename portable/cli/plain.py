"""The plainest command line, `portable COMMAND FILE`, read without argparse.

Importing argparse takes longer than inspecting a file. Options are declared once all the same: a
command declares them to an `ArgumentParser` or to what stands in for one here, and where there is
anything to parse, argparse parses it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Chosen", "plain"]

# What leaves the meaning of a position, or of an option that is not given, as it is.
_PLAIN = {"help", "metavar"}
_PLAIN_IN_OPTIONS = _PLAIN | {"choices", "nargs", "type"}


class Chosen:
    """What a command line asks for, as attributes: the `Namespace` of argparse."""

    def __init__(self, values: dict[str, object]) -> None:
        self.__dict__ = values


class _Declared:
    """Takes the declarations that an `ArgumentParser` takes.

    Attributes:
        positions: The names of the positional arguments.
        defaults: The value of each option that is not given.
        plain: Whether that is all there is to know.
    """

    def __init__(self) -> None:
        self.positions: list[str] = []
        self.defaults: dict[str, object] = {}
        self.plain = True

    def add_argument(
        self,
        *names: str,
        action: str = "store",
        default: object = None,
        dest: str | None = None,
        **others: object,
    ) -> None:
        """Note a positional argument, or the default of an option."""
        if names[0].startswith("-"):
            long = next((name for name in names if name.startswith("--")), names[0])
            name = dest or long.lstrip("-").replace("-", "_")
            self.defaults[name] = False if action == "store_true" else default
            # A default that is text goes through `type` as if it had been given.
            typed = "type" in others and isinstance(default, str)
            self.plain &= others.keys() <= _PLAIN_IN_OPTIONS and not typed
            self.plain &= action in {"store", "store_true", "append"}
        else:
            self.positions.append(names[0])
            self.plain &= others.keys() <= _PLAIN

    def add_argument_group(self, title: str) -> _Declared:
        """Take the options of a group that `--help` shows together."""
        del title
        return self

    def add_mutually_exclusive_group(self, *, required: bool = False) -> _Declared:
        """Take the options of a group of which one may be given."""
        self.plain &= not required
        return self


def plain(declare: Callable[[Any], None], words: list[str]) -> Chosen | None:
    """Read words that are the values of the positional arguments and nothing else.

    Args:
        declare: Declares the arguments of a command to an `ArgumentParser`.
        words: What follows the command.

    Returns:
        What argparse would return; None where there is anything to parse or to complain about.
    """
    if any(word.startswith("-") and word != "-" for word in words):
        return None
    declared = _Declared()
    declare(declared)
    if not declared.plain or len(words) != len(declared.positions):
        return None
    return Chosen(declared.defaults | dict(zip(declared.positions, words, strict=True)))
