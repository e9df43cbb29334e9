"""The plainest command lines are read without argparse, and as argparse reads them."""

import argparse
import subprocess
import sys

import pytest

from portable.cli import COMMANDS, _command
from portable.cli.plain import plain

WORDS = [[], ["a"], ["-"], [""], ["a", "b"], ["verify"], ["a b", "c", "d"]]
OPTIONS = [["--help"], ["a", "--ops"], ["a", "--format=json"], ["--", "a"], ["-5"], ["a", "-x"]]


def _parsed(command: str, words: list[str]) -> dict[str, object] | None:
    parser = argparse.ArgumentParser(exit_on_error=False)
    _command(command).options(parser)
    try:
        return vars(parser.parse_args(words))
    except (argparse.ArgumentError, SystemExit):
        return None


@pytest.mark.parametrize("words", WORDS, ids=str)
@pytest.mark.parametrize("command", COMMANDS)
def test_it_chooses_what_argparse_chooses(command: str, words: list[str]) -> None:
    """For every command: the same values for every name, or argparse is asked."""
    found = plain(_command(command).options, words)
    if found is not None:
        assert vars(found) == _parsed(command, words)


@pytest.mark.parametrize("words", OPTIONS, ids=str)
@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_left_to_argparse(command: str, words: list[str]) -> None:
    """Whatever begins with a dash, but for a dash alone."""
    assert plain(_command(command).options, words) is None


def test_a_file_to_inspect_is_plain() -> None:
    """The command that promises to start fast is one of those that need no argparse."""
    found = plain(_command("inspect").options, ["a.mlir.bc"])
    assert found is not None
    assert vars(found)["file"] == "a.mlir.bc"


def test_a_mistake_is_explained_in_one_line() -> None:
    """Too many words and too few are bad usage, and the line says what teaches more."""
    for words in (["inspect"], ["inspect", "a", "b"]):
        done = subprocess.run(
            [sys.executable, "-m", "portable", *words],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert done.stderr.startswith("portable: error: ")
        assert done.stderr.endswith("; portable inspect --help teaches it\n")
