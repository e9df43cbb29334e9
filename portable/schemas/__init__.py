"""JSON Schemas of the documents that `portable` prints and signs: data, one file for each."""

from __future__ import annotations

from pathlib import Path

from portable.errors import PortableError

__all__ = ["UnknownSchema", "schema", "schemas"]

_DATA = Path(__file__).with_name("data")


class UnknownSchema(PortableError):
    """No schema has this name."""


def schemas() -> tuple[str, ...]:
    """Return the names of all documents: those of commands, `error`, `inspection`, `predicate`."""
    return tuple(sorted(path.stem for path in _DATA.glob("*.json")))


def schema(name: str) -> str:
    """Return a JSON Schema (draft 2020-12), as text.

    It describes what this version of `portable` writes, field for field.

    Args:
        name: Of a document, as `schemas` lists it.

    Raises:
        UnknownSchema: There is no such document.
    """
    if name not in schemas():
        raise UnknownSchema(f"unknown document {name!r:.80}", hint=f"known: {', '.join(schemas())}")
    return (_DATA / f"{name}.json").read_text("utf-8")
