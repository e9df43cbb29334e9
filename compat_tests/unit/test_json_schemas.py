"""Every JSON document that a command prints has the schema that docs/api-stability.md states."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portable.cli import COMMANDS, files, load, main, parser
from portable.matrix import document
from portable.policy import report

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "api-stability.md").read_text("utf-8")
ARTIFACT = str(ROOT / "compat_tests" / "data" / "artifacts" / "tan+1.4.0.mlir.bc")
DOCUMENTED = {
    command: int(number)
    for names, number in re.findall(r"^\| (`.*`) \| (\d+) \|$", PAGE, re.MULTILINE)
    for command in re.findall(r"`([a-z-]+)`", names)
}
# Printed by what also writes them to files.
WRITTEN = {"gate": report.SCHEMA, "matrix": document.SCHEMA}
# Commands in which no compiler runs, and what they are asked.
RUN = (
    f"check {ARTIFACT} --for jaxlib==0.10.2",
    f"inspect {ARTIFACT}",
    f"minimum {ARTIFACT}",
    f"explain {ARTIFACT} --target 1.0.0",
    f"gate {ARTIFACT} --policy POLICY",
    "target --for jaxlib>=0.5",
    "versions",
    "releases list jaxlib==0.10.2",
    "releases diff jaxlib==0.9.1 jaxlib==0.10.2",
    "env list",
    "env clear",
    "env prune --keep 1",
    f"corpus list --corpus {ROOT / 'corpus' / 'quantized'}",
    f"corpus show tanh_f32 --corpus {ROOT / 'corpus'}",
)


def _has_json(command: str) -> bool:
    actions = parser.build(command, load(command))._actions
    return any("json" in (action.choices or ()) for action in actions)


def _printed(command: str) -> Iterator[int]:
    """Find the schemas that the module of a command prints."""
    source = Path(str(load(command).__file__)).read_text("utf-8")
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="print_json"), args=[_]):
                yield 1
            case ast.Call(func=ast.Name(id="print_json"), args=[_, ast.Constant(int(number))]):
                yield number
            case ast.Call(func=ast.Name(id="report_each")):
                yield files.SCHEMA


def test_the_page_lists_every_command_with_json() -> None:
    """No command that takes `--format json` is missing, and no other is listed."""
    assert DOCUMENTED.keys() == {command for command in COMMANDS if _has_json(command)}


@pytest.mark.parametrize("command", DOCUMENTED)
def test_the_page_states_what_is_printed(command: str) -> None:
    """All documents of a command have one schema: the one on the page."""
    assert {WRITTEN.get(command), *_printed(command)} - {None} == {DOCUMENTED[command]}


@pytest.mark.parametrize("words", RUN, ids=lambda words: " ".join(words.split()[:2])[:20])
def test_a_document_begins_with_its_schema(
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is an object, never a bare array."""
    if words.startswith("explain") and importlib.util.find_spec("jaxlib") is None:
        pytest.skip("explaining takes a compiler")
    monkeypatch.setenv("PORTABLE_CACHE", str(tmp_path / "cache"))
    policy = tmp_path / "portable.toml"
    policy.write_text('[rules]\nconsumers = ["jaxlib==0.10.2"]\n')
    main([*words.replace("POLICY", str(policy)).split(), "--format", "json"])
    printed = json.loads(capsys.readouterr().out)
    assert next(iter(printed.items())) == ("schema", DOCUMENTED[words.split(maxsplit=1)[0]])
