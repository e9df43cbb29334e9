"""What the documents promise exists."""

import importlib
import re
from pathlib import Path

import pytest

import portable
from portable.cli import COMMANDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_ci_runs_the_readmes_test_command() -> None:
    """Exactly: what CI runs is what a newcomer is told to run."""
    commands = re.findall(r"```bash\n(.*?)\n```", README, re.DOTALL)
    assert len(commands) == 2
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    assert script[-1] == commands[1]


def test_the_readmes_commands_and_calls_exist() -> None:
    """Every `portable X` is a command, every `portable.x` a public name or a module."""
    for command in re.findall(r"`portable ([a-z]+)", README):
        assert command in COMMANDS, command
    for dotted in re.findall(r"`portable\.([a-z_.]+)", README):
        name, _, inner = dotted.partition(".")
        home = getattr(portable, name, None) or importlib.import_module(f"portable.{name}")
        assert not inner or hasattr(home, inner), dotted


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    """Relative links of the documents name files that are there."""
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text()):
        assert (path.parent / target).exists(), target
