"""JSON that others wrote, and the form of what it says."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from compat_tests.helpers.matrices import sample
from portable.matrix.document import dump, load
from portable.system.documents import demand_form, parse_json, parse_toml


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1, "a": 1}', "duplicate key"),
        ("[NaN]", "NaN is no finite number"),
        ("[-Infinity]", "-Infinity is no finite number"),
        ("1e999", "1e999 is no finite number"),
        ('"\\ud800"', "half of a surrogate pair"),
        ('{"\\uDFFF": 1}', "half of a surrogate pair"),
        ("[" * 101 + "]" * 101, "nested too deeply"),
        ('{"a":' * 101 + "1" + "}" * 101, "nested too deeply"),
        ("9" * 5000, "too many digits"),
    ],
)
def test_what_readers_read_differently_is_refused(text: str, says: str) -> None:
    """Python reads all of it but the last; other readers do not, or otherwise."""
    with pytest.raises(ValueError, match=says):
        parse_json(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        '"\\ud83d\\ude00"',
        '"\\\\ud800"',
        "[" * 100 + "]" * 100,
        '["[[[", "\\"[{"]',
        "[1e308]",
        "[" + ",".join(["[{}]"] * 500) + "]",
        "9" * 400,
        "1e-999",
    ],
)
def test_what_is_sound_is_read(text: str) -> None:
    """Pairs of surrogates, escaped backslashes, a hundred levels, brackets in texts."""
    parse_json(text.encode())


@pytest.mark.parametrize("text", ['"' + "\\n" * 2_000_000 + '"', "[[]," * 99 + "[" * 2_000_000])
def test_looking_for_depth_takes_little(text: str) -> None:
    """Whatever is in texts, and where nothing is closed."""
    began = time.process_time()
    for data in (text, f"[{text}]", "[" * 99 + text + "]" * 99):
        try:
            parse_json(data.encode())
        except ValueError:
            continue
    assert time.process_time() - began < 3


def test_an_integer_that_python_cannot_show_is_no_toml() -> None:
    """TOML reads hexadecimal of any length, and Python cannot print it in an error."""
    with pytest.raises(ValueError, match="too many digits"):
        parse_toml(b"a = [0x" + b"f" * 10_000 + b"]")
    assert parse_toml(b'a = "0x' + b"f" * 10_000 + b'"')


FORM = {"a": str, "b?": [int], "c?": (int, frozenset({str, type(None)})), "d?": {"*": bool}}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([], r"the document is \[\], not an object"),
        ({}, "a of the document is missing"),
        ({"a": 1}, "a is 1, not a string"),
        ({"a": "", "b": [0, True]}, r"b\[1\] is True, not an integer"),
        ({"a": "", "b": {}}, "b is {}, not an array"),
        ({"a": "", "c": [1]}, "c has 1 items, not 2"),
        ({"a": "", "c": [1, 2]}, r"c\[1\] is 2, not a string or null"),
        ({"a": "", "d": {"x": 0}}, "d.x is 0, not a boolean"),
    ],
)
def test_another_form_is_refused_by_the_place(value: object, says: str) -> None:
    """With what is there, and what has to be."""
    with pytest.raises(ValueError, match=says):
        demand_form(value, FORM)


def test_what_has_the_form_is_taken() -> None:
    """Also what no form speaks of."""
    found: dict[str, Any] = {"a": "", "b": [], "c": [1, None], "d": {"x": True}, "e": object()}
    demand_form(found, FORM)
    demand_form("error", frozenset({"error", "note"}))


def test_a_matrix_of_an_own_release_is_read_again() -> None:
    """What is written down of a Release from the user's own table is known to the reader."""
    made = sample()
    own = tuple(replace(one, own=True) for one in made.releases)
    cells = tuple(replace(one, release=replace(one.release, own=True)) for one in made.cells)
    assert load(dump(replace(made, releases=own, cells=cells))).releases == own
