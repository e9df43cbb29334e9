"""Documents in JSON and TOML in which each node in turn is something else."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["NEVER", "NEVER_TOML", "as_json", "as_toml", "changed"]

_MARK = "@@odd@@"
_DEEP = 100_000

NEVER: Mapping[str, str] = {
    "NaN": "NaN",
    "Infinity": "Infinity",
    "-Infinity": "-Infinity",
    "1e400": "1e400",
    "-1e400": "-1e400",
    "10,000 digits": "9" * 10_000,
    "deep lists": "[" * _DEEP + "]" * _DEEP,
    "deep objects": '{"a":' * _DEEP + "1" + "}" * _DEEP,
    "a lone surrogate": r'"\ud800"',
    "a lone low surrogate": r'"a\uDC80b"',
    "a lone surrogate as key": r'{"\udfff": 1}',
    "a key twice": '{"a": 1, "a": 2}',
}
"""Values of JSON that no document of ours may have anywhere."""

_ODD: Mapping[str, str] = {
    **NEVER,
    "401 digits": "9" * 401,
    "4,000 digits": "-" + "9" * 4000,
    "26 digits": "9" * 26,
    "nearly too deep": "[" * 900 + "]" * 900,
    "an escaped pair": r'"\ud83d\ude00"',
    "an escaped backslash": r'"\\ud800"',
    "control characters": r'"\u0000\u001b[31m\n::error::x\r\u202e"',
    "a long text": '"' + "x" * 100_000 + '"',
    "a path": '"../../../../etc/passwd"',
    "a URL": '"file:///etc/passwd"',
    "a version": '"1.0.0"',
    "a huge version": '"' + "9" * 5000 + '.0.0"',
    "a digest": '"sha256:' + "0" * 64 + '"',
    **{
        word: word
        for word in (
            "null", "true", "false", "0", "-0", "1", "-1", "2", "0.5", "1e308", "5e-324",
            '""', '" "', '"x"', "[]", "[null]", "[[]]", "[1]", '["x"]', "[[1,2]]", "[{}]", "{}",
            '{"a": null}', '{"": 1}', '{"x": []}', '[["x","x"],["x","x"]]', "[true,false]",
        )
    },
}  # fmt: skip

NEVER_TOML: Mapping[str, str] = {
    "10,000 digits": "9" * 10_000,
    "deep lists": "[" * _DEEP + "]" * _DEEP,
    "deep tables": "{a=" * 3000 + "1" + "}" * 3000,
    "a lone surrogate": r'"\ud800"',
    "a key twice": "{a = 1, a = 2}",
    "a bad day": "2026-99-99",
    "no value": "NaN",
    "hexadecimal": "0x" + "f" * 10_000,
}
"""The same of TOML."""

_ODD_TOML: Mapping[str, str] = {
    **NEVER_TOML,
    "401 digits": "9" * 401,
    "4,000 digits": "-" + "9" * 4000,
    "nearly too deep": "[" * 200 + "]" * 200,
    "control characters": r'"\u0000\u001b[31m\n::error::x\r\u202e"',
    "a long text": '"' + "x" * 100_000 + '"',
    "a path": '"../../../../etc/passwd"',
    "a huge version": '"' + "9" * 5000 + '.0.0"',
    **{
        word: word
        for word in (
            "true", "false", "0", "1", "-1", "0.5", "1e400", "-1e400", "nan", "inf", "-inf",
            '""', '" "', '"x"', '"*"', '"@a"', '"jaxlib==0.10.2"', '"1.0.0"', "[]", "[[]]", "[1]",
            '["x"]', '["jaxlib==0.10.2"]', "[{}]", "{}", "{a = 1}", '{"" = 1}', '{a = ["x"]}',
            "[true,false]", "2026-01-01", "0001-01-01", "9999-12-31", "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00+23:59", "0001-01-01T00:00:00+23:59", "10:00:00",
            "1979-05-27 07:32:00",
        )
    },
}  # fmt: skip


def as_json(document: object, raw: str = "null") -> bytes:
    """Write JSON, with `raw` where the mark is."""
    return json.dumps(document).replace(f'"{_MARK}"', raw).encode()


def as_toml(document: Mapping[str, Any], raw: str = "0") -> bytes:
    """Write TOML, with `raw` where the mark is: tables inside are written on one line."""
    rows = (f"{_key(key)} = {_toml(value)}\n" for key, value in document.items())
    return "".join(rows).replace(f'"{_MARK}"', raw).encode()


def changed(
    document: Any, write: Callable[..., bytes] = as_json, *, share: int = 1
) -> Iterator[tuple[str, str, bytes]]:
    """Return a document with each node replaced by each odd value, left out, doubled and joined.

    Args:
        document: Plain data.
        write: `as_json` or `as_toml`.
        share: Take every so many-th.

    Returns:
        The way to the node, what became of it, and the text.
    """
    return itertools.islice(_all(document, write), share - 1, None, share)


def _all(document: Any, write: Callable[..., bytes]) -> Iterator[tuple[str, str, bytes]]:
    values = _ODD if write is as_json else _ODD_TOML
    for way in _ways(document):
        said = "/".join(map(str, way)) or "all of it"
        if way or write is as_json:
            marked = _with(document, way, _MARK)
            for what, raw in values.items():
                yield said, what, write(marked, raw)
        if not way:
            continue
        yield said, "left out", write(_with(document, way, None, leave_out=True))
        holder, last = _at(document, way[:-1]), way[-1]
        if isinstance(holder, dict):
            twice = _with(document, (*way[:-1], _MARK), holder[last])
            # The mark is a key here: the text of the key itself takes its place.
            key = json.dumps(last)
            yield said, "twice", write(twice, key)
            yield said, "in capitals too", write(_with(document, (*way[:-1], last.upper()), 1))
        else:
            many = [holder[last]] * 1000
            yield said, "a thousand times", write(_with(document, way[:-1], many))
    for way in _ways(document):
        if isinstance(_at(document, way), dict):
            said = "/".join(map(str, way)) or "all of it"
            yield said, "another key", write(_with(document, (*way, "nobody\x1b[31mknows"), 1))


def _ways(value: Any, *outer: object) -> Iterator[tuple[Any, ...]]:
    yield outer
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _ways(inner, *outer, key)


def _at(value: Any, way: tuple[Any, ...]) -> Any:
    for key in way:
        value = value[key]
    return value


def _with(value: Any, way: tuple[Any, ...], instead: Any, *, leave_out: bool = False) -> Any:
    if not way:
        return instead
    copied = value.copy()
    if len(way) == 1 and leave_out:
        del copied[way[0]]
    elif isinstance(copied, dict):
        copied[way[0]] = _with(copied.get(way[0]), way[1:], instead, leave_out=leave_out)
    else:
        copied[way[0]] = _with(copied[way[0]], way[1:], instead, leave_out=leave_out)
    return copied


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool) else str(value)


def _key(key: str) -> str:
    return json.dumps(key)
