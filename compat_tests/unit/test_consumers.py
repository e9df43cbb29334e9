"""The tox environments of the consumers, and the table of Releases."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

from tools.consumer import consumers

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


def test_every_run_has_ten_consumers_of_both_pythons() -> None:
    """The default environments hold each bytecode format and both Pythons, among ten or more."""
    chosen = [n for n in _sections()["tox"]["env_list"].split() if n.startswith("consumer-")]
    table = consumers()
    assert len(chosen) >= 10
    assert {table[name].python for name in chosen} >= {"3.11", "3.12"}
    minors = {str(table[name].target) for name in chosen}
    assert minors >= {"0.13.0", "0.14.0", "0.15.0"}  # formats 3, 4 and 6
