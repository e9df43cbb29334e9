"""What commands print as JSON, compared with the schemas that the package ships."""

from __future__ import annotations

import functools
import importlib.util
import json
from typing import TYPE_CHECKING, Any

from portable import cli
from portable.cli import output
from portable.escaping import json_pieces, json_text
from portable.matrix import document
from portable.policy import report
from portable.schemas import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

# The library takes seconds for a megabyte; documents of this size are of tests about size.
_LARGEST = 100_000


@functools.cache
def validator(name: str) -> Any:
    """Return what compares documents with one schema."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema(name)))


def mismatches(name: str, text: str) -> list[str]:
    """Return how a document differs from its schema."""
    found = validator(name).iter_errors(json.loads(text)) if len(text) <= _LARGEST else ()
    return [f"{name}: {error.json_path}: {error.message}" for error in found]


@functools.cache
def _installed() -> bool:
    return importlib.util.find_spec("jsonschema") is not None


def compare_all(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have every document that a command prints compared, where jsonschema is installed.

    Returns:
        How they differ, while they are printed.
    """
    wrong: list[str] = []
    if not _installed():
        return wrong
    running = ["error"]
    dispatch = cli._dispatch

    def named(words: list[str]) -> int:
        running[0] = words[0] if words else "error"
        return dispatch(words)

    def compared(value: object, indent: int | None = None) -> Iterator[str]:
        wrong.extend(mismatches(running[0], json_text(value)))
        return json_pieces(value, indent)

    def as_text(name: str) -> Callable[..., str]:
        def compared(value: object, indent: int | None = None) -> str:
            text = json_text(value, indent)
            wrong.extend(mismatches(name, text))
            return text

        return compared

    monkeypatch.setattr(cli, "_dispatch", named)
    monkeypatch.setattr(output, "json_pieces", compared)
    monkeypatch.setattr(output, "json_text", as_text("error"))
    monkeypatch.setattr(report, "json_text", as_text("gate"))
    monkeypatch.setattr(document, "json_text", as_text("matrix"))
    return wrong
