"""Commands that are shown to be pasted into a shell: a name in them is one word, and no option."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from compat_tests.adversarial.generators.injection import HOSTILE
from portable.cli import audit, explain, plan
from portable.system.wording import path_word

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = {
    **{kind: text.replace("\0", "") for kind, text in HOSTILE.items()},
    "command": "a; echo $(id) `id` | tee x & y > z",
    "option": "--output=x",
    "short option": "-o",
    "quotes": "a'b\"c\\d'",
    "globs": "~/*?[a-z]{1,2}!x #y",
    "spaces": "  a  b  ",
    "empty": "",
}


@pytest.mark.parametrize("kind", NAMES)
def test_a_shell_takes_a_path_for_one_word(kind: str) -> None:
    """As it is, whatever is in it."""
    code = f"printf '%s|' begin {path_word(NAMES[kind])} end"
    done = subprocess.run(["bash", "-c", code], capture_output=True, check=True)
    name = NAMES[kind]
    shown = f"./{name}" if name.startswith("-") else name
    assert done.stdout.decode() == f"begin|{shown}|end|"


def _explained(path: str) -> None:
    found: Any = SimpleNamespace(reachable=True, target="1.0.0")
    explain._print_commands(path, found)


def _audited(path: str) -> None:
    found: Any = SimpleNamespace(kinds=[], artifacts=1, objects=2, unchanged=0, damaged=1)
    audit._say(found, path)


def _planned(path: str) -> None:
    print(f"pin again: {plan._command(path, [], ['jaxlib>=0.5'])}")


@pytest.mark.parametrize("show", [_explained, _audited, _planned])
@pytest.mark.parametrize("kind", ["command", "option", "short option", "quotes", "globs"])
def test_what_is_shown_is_such_a_command(
    kind: str, show: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of explain, audit and plan."""
    show(NAMES[kind])
    command = capsys.readouterr().out.splitlines()[-1].partition(": ")[2]
    assert command.startswith("portable ")
    assert f" {path_word(NAMES[kind])} " in command
