"""The tox environments of the consumers, and the table of Releases."""

from __future__ import annotations

import configparser
import runpy
import sys
import tomllib
import types
from pathlib import Path

import pytest

from portable.releases import find_release
from tools import left_out
from tools.consumer import ERAS, consumers

ROOT = Path(__file__).parents[2]


def _sections() -> configparser.ConfigParser:
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini")
    return tox


def test_every_release_that_reads_has_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tox derives its environments from the table, and those are all that read."""
    # toxfile.py runs in the Python of tox, which has nothing of ours, and this one has no tox.
    plugin = types.ModuleType("tox.plugin")
    plugin.__dict__["impl"] = lambda hook: hook
    monkeypatch.setitem(sys.modules, "tox", types.ModuleType("tox"))
    monkeypatch.setitem(sys.modules, "tox.plugin", plugin)
    hooks = runpy.run_path(str(ROOT / "toxfile.py"))
    assert sorted(hooks["tox_extend_envs"]()) == sorted(consumers())


def test_every_environment_that_tests_has_the_package() -> None:
    """What all tests begin with imports `portable`, also where it is not what is tested."""
    tests = {name: one for name, one in _sections().items() if "pytest" in one.get("commands", "")}
    assert "testenv:release" in tests
    assert [name for name, one in tests.items() if one.get("package") == "skip"] == []


def test_every_run_has_consumers_of_every_era() -> None:
    """The Releases of every run hold each era of the bindings, both Pythons, and few gigabytes."""
    chosen = [find_release(name) for name in ERAS]
    assert set(chosen) <= set(consumers().values())
    assert {release.python for release in chosen} == {"3.11", "3.12"}
    rows = tomllib.loads((ROOT / "portable/releases/data/releases.toml").read_text("utf-8"))
    jaxlibs = [row for row in rows["release"] if row["distribution"] == "jaxlib"]
    ours = [row for row in jaxlibs if f"jaxlib {row['version']}" in ERAS]
    for era in ("serialize_api", "exec_era"):
        assert {row[era] for row in ours} == {row[era] for row in jaxlibs}, era
    assert len(chosen) < 10


def test_what_is_left_out_stands_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Environments that were not made and tests that lack an interpreter; CI fails by it."""
    python = tmp_path / "unit" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    # The environment that runs this tool stands beside those that it speaks of.
    (tmp_path / "left-out" / "bin").mkdir(parents=True)
    words = [str(tmp_path), "unit", "torch"]

    def said(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["left_out", *words])
        return left_out.main()

    for ci, code in (("true", 1), ("", 0)):
        monkeypatch.setenv("CI", ci)
        assert said(*words) == code
        assert said(*words[:-1]) == 0
    (tmp_path / left_out.FOLDER).mkdir()
    (tmp_path / left_out.FOLDER / "unit").write_text("no Python 3.12\n" * 2, "utf-8")
    assert said(*words) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "left out: nothing",
        "left out: torch (its Python is missing); 2 tests of unit (no Python 3.12)",
    ]


def test_left_out_names_every_environment_of_a_run() -> None:
    """It can only speak of what it is told of."""
    sections = _sections()
    names = sections["tox"]["env_list"]
    wanted = [line for line in names.split("\n") if line and line != "left-out" and "#" not in line]
    last = sections["testenv:left-out"]
    assert last["commands"].split()[5:] == wanted
    assert last["depends"].split(", ") == wanted
