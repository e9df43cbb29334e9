"""What the playground says of files: the same reader as in the browser, on this Python."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from portable.cli import main
from tools.playground import EXAMPLES, NotFetched, library, npm_package

ROOT = Path(__file__).parents[2]
READER = ROOT / "docs" / "playground" / "reader.py"
ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"
TAN = ARTIFACTS / "tan+1.4.0.mlir.bc"


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reader", READER)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


READ = _loaded()


def _ask(name: str, *values: object) -> Any:
    return json.loads(READ.call(name, json.dumps(values)))


def _dropped(folder: Path, *sources: Path) -> list[dict[str, str]]:
    for source in sources:
        if source.is_dir():
            shutil.copytree(source, folder / source.name)
        else:
            shutil.copy(source, folder)
    answer: list[dict[str, str]] = _ask("found", str(folder))["answer"]
    return answer


def test_it_says_what_the_commands_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The squares are the Verdicts of `check`, the facts those of `inspect`."""
    (item,) = _dropped(tmp_path, TAN)
    assert item == {"path": str(tmp_path / TAN.name), "entry": "", "label": TAN.name}
    found = _ask("look", item["path"], "")["answer"]
    main(["check", str(TAN), "--for", "jaxlib", "tensorflow", "--format", "json"])
    told = json.loads(capsys.readouterr().out)["files"][0]["verdicts"]
    shown = {f"{one['distribution']} {one['version']}": one for one in found["consumers"]}
    for verdict in told:
        one = shown[verdict["consumer"]]
        assert (one["says"], one["reason"]) == (verdict["says"], verdict["reason"])
        assert (one["state"] == "reads") == (verdict["outcome"] == "compatible")
    assert {"reads", "refuses"} == {shown[verdict["consumer"]]["state"] for verdict in told}
    main(["inspect", str(TAN), "--format", "json"])
    record = json.loads(capsys.readouterr().out)["files"][0]
    assert found["inspection"].items() >= {k: v for k, v in record.items() if k != "file"}.items()
    good = sum(one["state"] == "reads" for one in found["consumers"])
    assert found["says"] == (
        "A portable artifact, written for StableHLO 1.4.0; its bytes need 1.4.0. "
        f"{good} of {len(found['consumers'])} known Releases read it."
    )


def test_ops_have_their_versions_and_the_graph_its_edges(tmp_path: Path) -> None:
    """Each op with the first Version of its form; an edge from what defines to what uses."""
    (item,) = _dropped(tmp_path, TAN)
    found = _ask("look", item["path"], "")["answer"]
    assert {one["name"]: (one["since"], one["forces"]) for one in found["ops"]} == {
        "builtin.module": ("", ""),
        "vhlo.func_v1": ("0.9.0", ""),
        "vhlo.return_v1": ("0.9.0", ""),
        "vhlo.tan_v1": ("1.4.0", "1.4.0"),
    }
    names = [node["name"] for node in found["graph"]["nodes"]]
    assert names == ["tan_v1", "return_v1"]
    assert found["graph"]["edges"] == [[0, 1]]


def test_targets_for_consumers(tmp_path: Path) -> None:
    """The target of `portable target`, and whether this artifact will do; mistakes are one line."""
    (item,) = _dropped(tmp_path, TAN)
    answer = _ask("choose", item["path"], "", ["jaxlib>=0.4.30", "jaxlib<0.5"])["answer"]
    assert answer["version"]
    assert answer["lines"][0].startswith("The target for these consumers is ")
    enough = _ask("choose", item["path"], "", ["jaxlib>=0.5"])["answer"]
    count = len(enough["consumers"])
    assert enough["lines"][1].startswith(f"{count} of {count} read this artifact")
    short = _ask("choose", item["path"], "", ["jaxlib==0.4.30"])["answer"]
    assert short["lines"][1:] == [
        "0 of 1 read this artifact, with no known failure later.",
        "Rewritten for that target, it would do.",
    ]
    assert "did you mean jaxlib" in _ask("choose", item["path"], "", ["jaxlibb"])["error"]
    assert "error" in _ask("choose", item["path"], "", [])


def test_two_artifacts_are_compared(tmp_path: Path) -> None:
    """Ops that were added and removed, and what forces each side's Version."""
    other = ARTIFACTS / "add_f32+0.9.0.mlir.bc"
    first, second = _dropped(tmp_path, TAN, other)[::-1]
    answer = _ask("compare", [first["path"], ""], [second["path"], ""])["answer"]
    assert answer["same"] is False
    assert answer["ops"] == [
        {"name": "vhlo.add_v1", "before": 0, "after": 1},
        {"name": "vhlo.tan_v1", "before": 1, "after": 0},
    ]
    assert [side["required"] for side in answer["sides"]] == ["1.4.0", "0.9.0"]
    assert _ask("compare", [first["path"], ""], [first["path"], ""])["answer"]["same"] is True


def test_every_kind_of_file_is_answered_by_a_sentence(tmp_path: Path) -> None:
    """Empty, text, garbage, damaged and cut ones: no defect, no blank answer."""
    data = TAN.read_bytes()
    files = {
        "empty": b"",
        "text": b"module {}\n",
        "garbage": bytes(range(256)) * 40,
        "cut.mlir.bc": data[: len(data) // 2],
        "<script>alert(1)</script>": data,
        "plugin.so": b"\x7fELF" + bytes(100),
        "archive.whl": b"PK\x03\x04" + bytes(100),
        "cut.exported": (
            ROOT / EXAMPLES["A jax.export.Exported with its derivatives"]
        ).read_bytes()[:500],
    }
    for number, (name, content) in enumerate(files.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name.replace("/", "\u2215")).write_bytes(content)
        (item,) = _ask("found", str(folder))["answer"]
        found = _ask("look", item["path"], item["entry"])
        assert (found.get("error") or found["answer"]["says"]).strip(), name
    empty = tmp_path / "empty-folder"
    empty.mkdir()
    (item,) = _ask("found", str(empty))["answer"]
    assert "error" in _ask("look", item["path"], "") or _ask("look", item["path"], "")["answer"]


def test_the_examples_are_of_every_kind(tmp_path: Path) -> None:
    """Ten, each read from the archive that the page loads, by nothing but what is in it."""
    library(tmp_path / "library.zip", READER.read_bytes())
    with zipfile.ZipFile(tmp_path / "library.zip") as archive:
        archive.extractall(tmp_path / "library")
    titles = json.loads((tmp_path / "library" / "examples.json").read_text())
    assert [one["title"] for one in titles] == list(EXAMPLES)
    assert len(titles) == 10
    script = (
        "import json, sys; sys.path[:0] = [sys.argv[1]]; import reader, portable\n"
        "assert portable.__file__.startswith(sys.argv[1])\n"
        "for one in json.load(open(sys.argv[1] + '/examples.json')):\n"
        "    folder = sys.argv[1] + one['folder'].removeprefix('/library')\n"
        "    for item in json.loads(reader.call('found', json.dumps([folder])))['answer']:\n"
        "        look = reader.call('look', json.dumps([item['path'], item['entry']]))\n"
        "        print(json.loads(look)['answer']['says'])\n"
    )
    command = [sys.executable, "-I", "-c", script, str(tmp_path / "library")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    says = done.stdout.splitlines()
    assert len(says) >= 10
    assert all(one.startswith("A portable artifact") for one in says)
    for kind in ("jax.export.Exported", "TensorFlow SavedModel", "torch_xla directory"):
        assert any(f" in a {kind}," in one for one in says), kind


def test_an_npm_package_of_another_digest_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is unpacked; and without npm the error says what to install."""
    tools = tmp_path / "bin"
    tools.mkdir()
    npm = tools / "npm"
    npm.write_text("#!/bin/sh\nprintf x > thing-1.0.0.tgz\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    with pytest.raises(NotFetched, match="has the digest sha512-"):
        npm_package("thing@1.0.0", "sha512-AAAA", tmp_path)
    assert not (tmp_path / "package").exists()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotFetched, match="npm is not installed"):
        npm_package("thing@1.0.0", "sha512-AAAA", tmp_path)
