"""Write the JSON Schemas of all documents, from their types in `portable/schemas/records.py`.

python -m tools schemas            write portable/schemas/data
python -m tools schemas --check    compare only; exit code 1 if it is stale
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import types
import typing
from pathlib import Path
from typing import Any, Literal, Unpack

from portable.containers import Kind
from portable.corpus import Oracle
from portable.corpus.execution import Ending
from portable.corpus.seals import Defect
from portable.features.model import FeatureKind
from portable.fleet import CopyOutcome
from portable.fleet.plan import Transition
from portable.matrix.cell import Role
from portable.policy.document import Rule
from portable.releases.release import Confidence
from portable.schemas.records import DOCUMENTS
from portable.verdict import Basis, Outcome, Severity, Stage

__all__ = ["DATA", "made", "main"]

DATA = Path(__file__).parents[1] / "portable" / "schemas" / "data"
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_ENUMS = {
    one.__name__: one
    for one in (
        Basis, Confidence, CopyOutcome, Defect, Ending, FeatureKind, Kind, Oracle, Outcome, Role,
        Rule, Severity, Stage, Transition,
    )
}  # fmt: skip
_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def made() -> dict[str, str]:
    """Return every schema as text, by the name of its document."""
    return {name: _text(name, documents) for name, documents in DOCUMENTS.items()}


def _text(name: str, documents: tuple[type, ...]) -> str:
    definitions: dict[str, Any] = {}
    each = [_schema(one, definitions) for one in documents]
    # All documents of a command have one number.
    number = typing.get_args(typing.get_type_hints(documents[0]).get("schema"))
    found = {
        "$schema": _DRAFT,
        "$id": ":".join(["urn:stablehlo-portable:schema", name, *map(str, number)]),
        **(each[0] if len(each) == 1 else {"anyOf": each}),
        "$defs": dict(sorted(definitions.items())),
    }
    return json.dumps(found, indent=1) + "\n"


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type; objects are defined by their names, and referred to."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if kind is object:
        return {}
    if typing.is_typeddict(kind):
        return _object(kind, definitions)
    if origin is Literal:
        return {"const": parts[0]}
    if origin is typing.Annotated:
        return {"enum": [str(one) for one in _ENUMS[parts[1]]]}
    if origin is list:
        return {"type": "array", "items": _schema(parts[0], definitions)}
    if origin is dict:
        return _mapping(parts[0], parts[1], definitions)
    if origin is tuple:
        return _tuple(parts, definitions)
    if origin is types.UnionType:
        return _union([_schema(part, definitions) for part in parts])
    raise TypeError(f"{kind} has no schema")


def _object(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in definitions:
        found: dict[str, Any] = {"description": inspect.cleandoc(kind.__doc__)}
        # Before its fields, which may refer to it.
        definitions[name] = found
        properties, required = {}, []
        for field, hint in typing.get_type_hints(kind, include_extras=True).items():
            optional = typing.get_origin(hint) is typing.NotRequired
            of = typing.get_args(hint)[0] if optional else hint
            properties[field] = _schema(of, definitions)
            required += [] if optional else [field]
        found |= {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{name}"}


def _mapping(key: Any, value: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    found = {"type": "object", "additionalProperties": _schema(value, definitions)}
    return found if key is str else found | {"propertyNames": _schema(key, definitions)}


def _tuple(parts: tuple[Any, ...], definitions: dict[str, Any]) -> dict[str, Any]:
    *fixed, last = parts
    rest: Any = False
    if typing.get_origin(last) is Unpack:
        rest = _schema(typing.get_args(typing.get_args(last)[0])[0], definitions)
    else:
        fixed.append(last)
    each = [_schema(one, definitions) for one in fixed]
    return {"type": "array", "prefixItems": each, "items": rest, "minItems": len(each)}


def _union(each: list[dict[str, Any]]) -> dict[str, Any]:
    if all(one.keys() == {"type"} for one in each):
        return {"type": [one["type"] for one in each]}
    return {"anyOf": each}


def main() -> int:
    """Write or compare; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare only")
    check = parser.parse_args().check
    found = {path.stem: path.read_text("utf-8") for path in DATA.glob("*.json")}
    new = made()
    if not check:
        for name in found.keys() - new.keys():
            (DATA / f"{name}.json").unlink()
        for name, text in new.items():
            (DATA / f"{name}.json").write_text(text, "utf-8")
    return int(check and found != new)


if __name__ == "__main__":
    sys.exit(main())
