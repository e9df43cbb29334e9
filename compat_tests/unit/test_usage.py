"""What a command line cannot mean ends with 2 and one line, before anything runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from portable.cli import main

if TYPE_CHECKING:
    from pathlib import Path

SENSELESS = {
    "check F --for jaxlib==0.10.2 --timeout -1": "--timeout: '-1' is not a number above 0",
    "pin F --target 1.0.0 --verify --ulps -2 -o F.new": "'-2' is not a whole number from 0 on",
    "run F --random=-1": "'-1' is not a whole number from 0 on",
    "run F --random 0 --memory nan": "'nan' is not a number above 0",
    "verify F --against F --seeds 0": "'0' is not a whole number from 1 on",
    "verify F --against F --rtol inf": "'inf' is not a number from 0 on",
    "matrix F --for jaxlib --timeout 0": "'0' is not a number above 0",
    "matrix F --for jaxlib --rtol=-1": "'-1' is not a number from 0 on",
    "matrix F --for jaxlib --random 0": "inputs require --stage execute",
    "matrix F --for jaxlib --expected F": "add --inputs FILE.npz or --random 0",
    "matrix --for jaxlib --merge F": "run first with --format json",
    "env clear --unused-for=-1": "'-1' is not a number from 0 on",
    "env frob": "invalid choice: 'frob'",
    "inspcet F": "did you mean 'inspect'?",
}


@pytest.mark.parametrize("line", SENSELESS)
def test_what_makes_no_sense_is_refused(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names what is wrong; nothing is printed and nothing written."""
    given = tmp_path / "given"
    given.write_bytes(b"")
    words = [word.replace("F", str(given)) if word[0] == "F" else word for word in line.split()]
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert SENSELESS[line] in err
    assert list(tmp_path.iterdir()) == [given]


def test_machines_are_told_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Bad usage is a record like any other error."""
    assert main(["env", "frob", "--format", "json"]) == 2
    assert json.loads(capsys.readouterr().err)["error"] == "BadUsage"


def test_a_defect_of_ours_is_not_an_incompatibility(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An exception that nobody foresaw ends with 2, and its traceback can be reported."""

    def fail(_: object) -> int:
        raise ZeroDivisionError("unforeseen")

    monkeypatch.setattr("portable.cli.versions.run", fail)
    assert main(["versions"]) == 2
    assert "ZeroDivisionError: unforeseen" in capsys.readouterr().err
