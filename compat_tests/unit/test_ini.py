"""The light reader of INI reads what the standard library's reader reads."""

import configparser
from pathlib import Path

import pytest

import portable
from portable.ini import read_ini

PACKAGE = Path(portable.__file__).parent
TABLES = sorted(PACKAGE.rglob("data/*.ini"))


def test_the_tables_of_short_commands_are_there() -> None:
    """VHLO, its layouts and the rules of downgrading."""
    assert {path.stem for path in TABLES} >= {"vhlo", "layouts", "rules"}


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_it_reads_what_configparser_reads(path: Path) -> None:
    """The same sections, keys and values in the same order, for every table."""
    parser = configparser.ConfigParser(
        interpolation=None, delimiters=["="], comment_prefixes=["#"], strict=True
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign] # as its documentation says
    parser.read(path, encoding="utf-8")
    found = read_ini(str(path.parent.parent / "any.py"), path.name)
    expected = {section: dict(parser[section]) for section in parser.sections()}
    assert found == expected
    assert list(map(list, found.values())) == list(map(list, expected.values()))
