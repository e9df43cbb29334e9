"""JSON and TOML that others wrote: whatever is wrong with a text, it is one kind of error."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

__all__ = ["demand_form", "parse_json", "parse_toml", "without_ambiguity"]

# No document that we read nests deeper than some ten levels; what shows one recurses.
_DEEPEST = 100
_WORDS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[^][{}"]+', re.DOTALL)
# Python reads a key of so many parts in time that grows with their square.
_DEEP_KEY = re.compile(rb"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")
_LONG = re.compile(rb"0[xob][0-9a-fA-F_]{1000}")


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; for `parse_json`.

    Args:
        pairs: Its keys and values.

    Raises:
        ValueError: A key is duplicated.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def parse_json(
    data: bytes,
    pairs: Callable[[list[tuple[str, Any]]], dict[str, Any]] = without_duplicates,
) -> Any:
    """Parse JSON, without what Python reads beside it and others do not, or read otherwise.

    Args:
        data: The text, in UTF-8.
        pairs: What to make of the keys and values of an object.

    Returns:
        Dictionaries, lists, texts and numbers.

    Raises:
        ValueError: It is no JSON, is nested too deeply, has a key twice, a number that no float
            holds, an integer of thousands of digits, or half of a surrogate pair.
    """
    import json

    def parse() -> Any:
        found = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=pairs,
            parse_constant=_finite,
            parse_float=_finite,
        )
        _demand_shallow(data)
        if b"\\ud" in data or b"\\uD" in data:
            _demand_text(json.dumps(found, ensure_ascii=False))
        return found

    return _parsed("JSON", parse)


def demand_form(value: object, form: Any, where: str = "") -> None:
    """Refuse plain data of another form.

    Args:
        value: The data.
        form: A type; a frozenset of types and texts, any of which it may be; a list with the form
            of each item; a tuple with those of all items; or a dictionary with those of values:
            under `*` of any, and of one that may be missing with a `?` behind its key.
        where: Its name in errors.

    Raises:
        ValueError: Something in it is missing or of another form.
    """
    if isinstance(form, type | frozenset):
        _demand_kind(value, form if isinstance(form, frozenset) else frozenset({form}), where)
        return
    _demand_kind(value, frozenset({list if isinstance(form, tuple) else type(form)}), where)
    if isinstance(value, list):
        _demand_items(value, form if isinstance(form, tuple) else form * len(value), where)
    elif isinstance(value, dict):
        _demand_values(value, form, where)


def _demand_kind(value: object, known: frozenset[Any], where: str) -> None:
    # true is an integer to Python.
    if type(value) not in known and not (isinstance(value, str) and value in known):
        kinds = sorted(_KINDS.get(one, repr(one)) for one in known)
        raise ValueError(f"{_called(where)} is {value!r:.40}, not {' or '.join(kinds)}")


def _demand_items(value: list[Any], forms: Sequence[Any], where: str) -> None:
    if len(forms) != len(value):
        raise ValueError(f"{_called(where)} has {len(value)} items, not {len(forms)}")
    for number, (one, form) in enumerate(zip(value, forms, strict=True)):
        demand_form(one, form, f"{where}[{number}]")


def _demand_values(value: dict[str, Any], forms: Mapping[str, Any], where: str) -> None:
    for key, form in forms.items():
        name = key.removesuffix("?")
        if key == "*":
            for every, one in value.items():
                demand_form(one, form, f"{where}.{every:.40}")
        elif name in value:
            demand_form(value[name], form, f"{where}.{name}")
        elif name == key:
            raise ValueError(f"{name} of {_called(where)} is missing")


def _called(where: str) -> str:
    return where.lstrip(".") or "the document"


_KINDS = {
    bool: "a boolean",
    dict: "an object",
    int: "an integer",
    list: "an array",
    str: "a string",
    type(None): "null",
}


def _demand_shallow(data: bytes) -> None:
    """Refuse JSON that nests deeper than `_DEEPEST`."""
    if data.count(b"[") + data.count(b"{") <= _DEEPEST:
        return
    brackets = _WORDS.sub(b"", data)
    for _ in range(_DEEPEST):
        if not brackets:
            return
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    if brackets:
        raise ValueError("nested too deeply")


def _finite(number: str) -> float:
    found = float(number)
    if not math.isfinite(found):
        raise ValueError(f"{number:.20} is no finite number")
    return found


def _demand_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair in a text") from None


def without_ambiguity(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON that readers in Go, which take keys in any case, read alike.

    Args:
        pairs: Its keys and values.

    Raises:
        ValueError: Two keys are the same, or differ in case only.
    """
    if len({key.casefold() for key, _ in pairs}) < len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def parse_toml(data: bytes) -> dict[str, Any]:
    """Parse TOML.

    Args:
        data: The text, in UTF-8.

    Returns:
        The top-level table.

    Raises:
        ValueError: As `parse_json`.
    """
    import tomllib

    def parse() -> dict[str, Any]:
        if _DEEP_KEY.search(data):
            raise ValueError("nested too deeply")
        found = tomllib.loads(data.decode("utf-8"))
        if _LONG.search(data):
            repr(found)  # refuses what Python reads in hexadecimal, and cannot show
        return found

    read: dict[str, Any] = _parsed("TOML", parse)
    return read


def _parsed(language: str, parse: Callable[[], Any]) -> Any:
    try:
        return parse()
    except RecursionError:
        raise ValueError(f"not {language}: nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not {language}: byte {error.start} is not UTF-8") from None
    except ValueError as error:
        why = "an integer has too many digits" if "Exceeds the limit" in str(error) else error
        raise ValueError(f"not {language}: {why}") from None
