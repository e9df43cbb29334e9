"""The tox environments of the consumers, and the table of Releases."""

from __future__ import annotations

import configparser
import re
import tomllib
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


def test_every_release_that_reads_has_an_environment() -> None:
    """A new Release of the table is entered into tox.ini, and none stands there that is gone."""
    (section,) = [name for name in _sections().sections() if "consumer-{" in name]
    match = re.fullmatch(r"testenv:consumer-\{(.*)\}", section)
    assert match
    assert [f"consumer-{name}" for name in match[1].split(",")] == list(consumers())


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
    for ci, code in (("true", 1), ("", 0)):
        monkeypatch.setenv("CI", ci)
        assert left_out.main(*words) == code
        assert left_out.main(*words[:-1]) == 0
    (tmp_path / left_out.FOLDER).mkdir()
    (tmp_path / left_out.FOLDER / "unit").write_text("no Python 3.12\n" * 2, "utf-8")
    assert left_out.main(*words) == 0
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
    assert last["commands"].split()[3:] == wanted
    assert last["depends"].split(", ") == wanted
