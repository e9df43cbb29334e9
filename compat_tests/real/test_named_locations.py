"""Locations in a program that was given as a file have the file's name, wherever they are told."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import portable
from portable.cli import main
from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_MAIN = "func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {\n"
_ACCURATE = (
    "stablehlo.cosine %a {result_accuracy = #stablehlo.result_accuracy<mode = "
    "#stablehlo.result_accuracy_mode<HIGHEST>>}"
)
# What is wrong with the program, by what its second line says.
LINES = {
    "unparsable": "stablehlo.tan %b",
    "invalid": '"stablehlo.add"(%a)',
    "foreign": "math.sin %a",
    "too new": _ACCURATE,
    "not serializable": "stablehlo.custom_call @f(%a) {backend_config = {dims = array<i32: 1>}, "
    "api_version = 4 : i32}",
    "tan": "stablehlo.tan %a",
}
_FUNCTIONS = {"invalid", "not serializable"}
COMMANDS = {
    "pin": ("--target", "0.9.0", "-o", "OUT"),
    "serialize": ("--target", "0.9.0", "-o", "OUT"),
    "explain": ("--target", "0.9.0"),
    "minimum": (),
    "run": ("--random", "0", "--timeout", "60"),
}
_UNNAMED = re.compile(r'"-"|\\"-\\"|(?<![\w.])-:\d')


def _write(folder: Path, what: str) -> Path:
    path = folder / "given.mlir"
    types = "(tensor<3xf32>) -> tensor<3xf32>" if what in _FUNCTIONS else "tensor<3xf32>"
    path.write_text(f"{_MAIN}  %r = {LINES[what]} : {types}\n  return %r : tensor<3xf32>\n}}\n")
    return path


@pytest.mark.parametrize(
    ("command", "form"),
    [(command, "text") for command in COMMANDS]
    + [(command, "json") for command in COMMANDS if command != "serialize"],
)
@pytest.mark.parametrize("what", LINES)
def test_a_command_names_the_file(
    what: str, command: str, form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Errors, tables and records of every command say `given.mlir:2:N`, notes too."""
    path = _write(tmp_path, what)
    words = [word.replace("OUT", str(tmp_path / "out")) for word in COMMANDS[command]]
    code = main([command, str(path), *words, *(["--format", "json"] if form == "json" else [])])
    told = "".join(capfd.readouterr())
    assert not _UNNAMED.search(told)
    if code:
        assert f"{path}:2:" in told


@pytest.mark.parametrize("what", [what for what in LINES if what != "tan"])
@pytest.mark.parametrize(
    "call",
    [
        lambda path: portable.serialize(path, "0.9.0"),
        lambda path: portable.pin(path, "0.9.0"),
        portable.minimum,
        lambda path: portable.explain(path, "0.9.0"),
    ],
    ids=["serialize", "pin", "minimum", "explain"],
)
@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "Path"])
def test_a_call_names_the_file(
    call: Callable[[object], object], what: str, kind: Callable[[Path], object], tmp_path: Path
) -> None:
    """Results and errors of a library call with a path do the same, also as plain data."""
    path = _write(tmp_path, what)
    try:
        found = call(kind(path))
        told = repr([getattr(found, "features", ()), getattr(found, "blockers", ()), found])
    except PortableError as error:
        told = f"{error} {json.dumps(error.record())}"
    assert not _UNNAMED.search(told)
    assert f"{path}:2:" in told


def test_a_difference_is_located_in_the_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first op that differs is named with the line of the program that has it."""
    path, other = _write(tmp_path, "tan"), tmp_path / "other.mlir"
    other.write_text(path.read_text().replace("stablehlo.tan", "stablehlo.sine"))
    assert main(["verify", str(other), "--against", str(path), "--timeout", "60"]) == 1
    told = capfd.readouterr().out
    assert f"stablehlo.sine at {other}:2:" in told
    assert not _UNNAMED.search(told)
