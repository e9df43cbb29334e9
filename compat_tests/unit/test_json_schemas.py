"""Every JSON document that a command prints matches the schema that the package ships.

`compat_tests/conftest.py` compares what any other test has a command print, in every environment.
"""

from __future__ import annotations

import ast
import importlib.util
import itertools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from compat_tests.helpers.documents import mismatches, validator
from compat_tests.helpers.matrices import sample
from portable.cli import COMMANDS, files, load, main, parser
from portable.inspection import inspect
from portable.matrix import document
from portable.policy import report
from portable.schemas import UnknownSchema, schema, schemas
from tools.schemas import DATA, made

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "api-stability.md").read_text("utf-8")
EXPORTED = str(ROOT / "compat_tests" / "data" / "containers" / "gate-vjp0-jax-0.10.0.exported")
ARTIFACT = str(ROOT / "compat_tests" / "data" / "artifacts" / "tan+1.4.0.mlir.bc")
DOCUMENTED = {
    command: int(number)
    for names, number in re.findall(r"^\| (`.*`) \| (\d+) \|$", PAGE, re.MULTILINE)
    for command in re.findall(r"`([a-z-]+)`", names)
}
# Of each document; some have thousands of objects.
_PLANTED = 100
# Printed by what also writes them to files.
WRITTEN = {"gate": report.SCHEMA, "matrix": document.SCHEMA}
# What is not printed by a command of its name.
OTHERS = {"error", "inspection", "predicate"}
COMPILING = {"explain"}
# Commands in which no compiler runs, and what they are asked.
RUN = (
    f"check {ARTIFACT} --for jaxlib==0.10.2",
    f"check {ARTIFACT} missing.mlir.bc --for jaxlib==0.10.2",
    f"check {EXPORTED} --for jaxlib==0.4.33 --stage execute",
    f"inspect {EXPORTED} missing.mlir.bc",
    f"minimum {EXPORTED} missing.mlir.bc",
    f"bundle --files {ARTIFACT} --for jaxlib==0.10.2 -o new",
    "check bundle --for jaxlib==0.10.2",
    "pick bundle --for jaxlib==0.10.2 -o new",
    "pick bundle --unpack -o new",
    "matrix --merge matrix.json",
    "fuzz generate --count 2 -o new",
    f"inspect {ARTIFACT}",
    f"minimum {ARTIFACT}",
    f"explain {ARTIFACT} --target 1.0.0",
    f"gate {ARTIFACT} --policy policy.toml",
    "target --for jaxlib>=0.5",
    "versions",
    "releases list jaxlib==0.10.2",
    "releases diff jaxlib==0.9.1 jaxlib==0.10.2",
    "env list",
    "env clear",
    "env prune --keep 1",
    f"corpus list --corpus {ROOT / 'corpus' / 'random'}",
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
def test_a_document_matches_its_schema(
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It begins with its `schema`; a field that is not in it, or that is missing, is refused."""
    command = words.split(maxsplit=1)[0]
    if command in COMPILING and importlib.util.find_spec("jaxlib") is None:
        pytest.skip("takes a compiler")
    monkeypatch.setenv("PORTABLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text('[rules]\nconsumers = ["jaxlib==0.10.2"]\n')
    Path("matrix.json").write_text(document.dump(sample()))
    main(["bundle", "--files", ARTIFACT, "-o", "bundle", "--quiet"])
    capsys.readouterr()
    main([*words.split(), "--format", "json"])
    printed = json.loads(capsys.readouterr().out)
    assert next(iter(printed.items())) == ("schema", DOCUMENTED[command])
    assert mismatches(command, json.dumps(printed)) == []
    for name in printed:
        missing = {other: value for other, value in printed.items() if other != name}
        assert mismatches(command, json.dumps(missing))
    for planted in itertools.islice(_planted(printed), _PLANTED):
        assert mismatches(command, json.dumps(planted))


def _planted(value: Any) -> Iterator[Any]:
    """Add a field to each object of a document, one after another."""
    if isinstance(value, dict):
        yield value | {"planted": None}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in items:
        if isinstance(part, dict | list):
            for planted in _planted(part):
                changed = value.copy()
                changed[key] = planted
                yield changed


def test_every_document_has_a_schema() -> None:
    """Those of commands, and three that are not printed by a command of their name."""
    assert set(schemas()) == DOCUMENTED.keys() | OTHERS
    with pytest.raises(UnknownSchema, match="unknown document 'nothing'"):
        schema("nothing")


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_one(name: str) -> None:
    """It is valid in its draft, is what its types say, and has the number of the page."""
    validator(name).check_schema(json.loads(schema(name)))
    assert schema(name) == made()[name]
    number = DOCUMENTED.get(name) or {"inspection": 2}.get(name)
    said = json.loads(schema(name))["$id"].removeprefix("urn:stablehlo-portable:schema:")
    assert said == (f"{name}:{number}" if number else name)


def test_an_inspection_and_an_error_match_theirs(capsys: pytest.CaptureFixture[str]) -> None:
    """Also where no command prints the first, and the second on standard error."""
    assert mismatches("inspection", json.dumps(inspect(ARTIFACT).record())) == []
    assert main(["inspect", "missing.mlir.bc", "--format", "json"]) == 2
    error = json.loads(capsys.readouterr().err)
    assert mismatches("error", json.dumps(error)) == []
    assert mismatches("error", json.dumps(error | {"planted": None}))


def test_the_command_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    """All names, or one schema, as it is in the package."""
    assert main(["schema"]) == 0
    assert capsys.readouterr().out.split() == list(schemas())
    assert main(["schema", "check"]) == 0
    assert capsys.readouterr().out == (DATA / "check.json").read_text("utf-8")
