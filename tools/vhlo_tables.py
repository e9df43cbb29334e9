"""Regenerate the table of VHLO from upstream's TableGen files.

    python -m tools vhlo_tables CHECKOUT            write portable/bytecode/data/vhlo.ini
    python -m tools vhlo_tables CHECKOUT --check    exit 1 if the file would change

CHECKOUT is a working copy of openxla/stablehlo. Layouts (`layouts.ini`) are not in TableGen: where
a new type or attribute appears, its code and fields are in VhloBytecode.cpp, and a test fails until
they are written down.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Definition", "definitions", "render", "table"]

DATA = Path(__file__).parent.parent / "portable" / "bytecode" / "data" / "vhlo.ini"
DIALECT = Path("stablehlo") / "dialect"
FILES = ("VhloOps.td", "VhloTypes.td", "VhloAttrs.td", "VhloEnums.td")
VERSION_FILE = "Version.h"
CURRENT = "current"

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEFINITION = re.compile(r"\bdef\s+(\w+)\s*:\s*(\w+)\s*<")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_VERSION = re.compile(r"\d+\.\d+\.\d+|current")
_MNEMONIC = re.compile(r'let\s+mnemonic\s*=\s*"([^"]+)"')
_ARGUMENTS = re.compile(r"let\s+arguments\s*=\s*\(\s*ins\b")
_ARGUMENT = re.compile(r"([\w<>:\s]+?)\s*:\s*\$(\w+)")
_CURRENT_VERSION = re.compile(
    r"getCurrentVersion\(\)\s*\{\s*(?:/[^\n]*\n\s*)*return\s+Version\((\d+),\s*(\d+),\s*(\d+)\)"
)
_MINIMUM_VERSION = re.compile(
    r"getMinimumVersion\(\)\s*\{\s*(?:/[^\n]*\n\s*)*return\s+Version\((\d+),\s*(\d+),\s*(\d+)\)"
)
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Definition:
    """One TableGen definition.

    Args:
        name: What it defines.
        kind: The class that it is of.
        arguments: The template arguments, as text.
        body: The text in braces; empty if nothing does.
    """

    name: str
    kind: str
    arguments: str
    body: str

    @property
    def strings(self) -> list[str]:
        """The strings among the arguments."""
        return _STRING.findall(self.arguments)

    @property
    def lifetime(self) -> dict[str, str | None]:
        """The first and the last Version, the last of the arguments that look like Versions."""
        since, until = [text for text in self.strings if _VERSION.fullmatch(text)][-2:]
        return {"since": since, "until": None if until == CURRENT else until}


def definitions(text: str) -> Iterator[Definition]:
    """Find the definitions in a TableGen file.

    Args:
        text: The content of the file.

    Yields:
        The definitions of something by a class with arguments.

    Raises:
        ValueError: A bracket is not closed.
    """
    text = _COMMENT.sub("", text)
    for match in _DEFINITION.finditer(text):
        stop = _closing(text, match.end() - 1)
        rest = text[stop + 1 :].lstrip()
        body = ""
        if rest.startswith("{"):
            start = text.index("{", stop)
            body = text[start + 1 : _closing(text, start)]
        yield Definition(match[1], match[2], text[match.end() : stop], body)


def table(sources: Mapping[str, str]) -> dict[str, Any]:
    """Make the table.

    Args:
        sources: The content of each of `FILES` and of `Version.h`, by name.

    Returns:
        What is written to `vhlo.ini`.

    Raises:
        ValueError: A file is not what it should be.
    """
    found = [each for name in FILES for each in definitions(sources[name])]
    current = _version(_CURRENT_VERSION, sources[VERSION_FILE])
    return {
        "source": f"openxla/stablehlo {', '.join(FILES)} at {current}",
        "minimum": _version(_MINIMUM_VERSION, sources[VERSION_FILE]),
        "current": current,
        "ops": _sorted({d.strings[0]: _op(d) for d in found if d.kind == "VHLO_Op"}),
        "types": _sorted({d.strings[1]: d.lifetime for d in found if d.kind == "VHLO_TypeDef"}),
        "attributes": _sorted(dict(filter(None, map(_attribute, found)))),
        "enums": _sorted(dict(_enums(found))),
    }


def render(document: Mapping[str, Any]) -> str:
    """Write the table as INI, one row a line, so that changes can be read."""
    versions = {name: document[name] for name in ("source", "minimum", "current")}
    parts = [
        (_TITLE, "versions", versions),
        (_OPS_TITLE, "ops", {name: _op_row(row) for name, row in document["ops"].items()}),
        ("", "types", {name: _lifetime_row(row) for name, row in document["types"].items()}),
        ("", "attributes", {name: _lifetime_row(r) for name, r in document["attributes"].items()}),
        (_ENUMS_TITLE, "enums", {name: _enum_row(row) for name, row in document["enums"].items()}),
    ]
    return "\n".join(
        f"{title}[{section}]\n" + "".join(f"{name} = {row}\n" for name, row in rows.items())
        for title, section, rows in parts
    )


_TITLE = "# Every op form, type, attribute and enum of VHLO; written by tools/vhlo_tables.py.\n\n"
_OPS_TITLE = """\
# form = first Version, last Version (- while it is current) | attributes | operands, * if variadic
"""
_ENUMS_TITLE = "# attribute = the name and the number of each value\n"


def _lifetime_row(row: Mapping[str, Any]) -> str:
    return f"{row['since']} {row['until'] or '-'}"


def _op_row(row: Mapping[str, Any]) -> str:
    words = (_lifetime_row(row), "|", *row["attributes"], "|", *row["operands"])
    return " ".join(words)


def _enum_row(row: Mapping[str, object]) -> str:
    return " ".join(f"{name}:{code}" for name, code in row.items())


def _op(definition: Definition) -> dict[str, object]:
    attributes, operands = [], []
    match = _ARGUMENTS.search(definition.body)
    if match is not None:
        start = definition.body.index("(", match.start())
        listed = definition.body[match.end() : _closing(definition.body, start)]
        for kind, name in _ARGUMENT.findall(listed):
            if "Attr" in kind:
                attributes.append(name)
            else:
                operands.append(name + "*" * ("Variadic" in kind))
    return {**definition.lifetime, "attributes": attributes, "operands": operands}


def _attribute(definition: Definition) -> tuple[str, dict[str, str | None]] | None:
    if definition.kind == "VHLO_EnumAttr":
        return definition.strings[0], definition.lifetime
    if definition.kind != "VHLO_AttrDef":
        return None
    mnemonic = _MNEMONIC.search(definition.body)
    if mnemonic is None:
        raise ValueError(f"{definition.name} has no mnemonic")
    return mnemonic[1], definition.lifetime


def _enums(found: list[Definition]) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the values of each enum attribute: it names an enum, which names its cases."""
    cases = {
        each.name: (each.strings[0], int(each.arguments.rpartition(",")[2]))
        for each in found
        if each.kind == "I32EnumAttrCase"
    }
    enums = {
        each.name: [cases[word] for word in re.findall(r"\w+", each.arguments) if word in cases]
        for each in found
        if each.kind == "VHLO_I32EnumAttr"
    }
    for each in found:
        if each.kind == "VHLO_EnumAttr":
            yield each.strings[0], dict(enums[each.arguments.partition(",")[0].strip()])


def _closing(text: str, start: int) -> int:
    """Return where the bracket at `start` is closed; strings do not count."""
    stack: list[str] = []
    position = start
    while position < len(text):
        sign = text[position]
        string = _STRING.match(text, position) if sign == '"' else None
        if text.startswith("[{", position):
            position = text.index("}]", position) + 1  # a block of C++
        elif string is not None:
            position = string.end() - 1
        elif sign in _CLOSING:
            stack.append(_CLOSING[sign])
        elif stack and sign == stack[-1]:
            stack.pop()
            if not stack:
                return position
        position += 1
    raise ValueError(f"nothing closes {text[start : start + 40]!r}")


def _version(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    if match is None:
        raise ValueError(f"{VERSION_FILE} does not list the Versions")
    return ".".join(match.groups())


def _sorted(rows: Mapping[str, object]) -> dict[str, object]:
    return dict(sorted(rows.items()))


def main() -> int:
    """Write or check the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="a working copy of openxla/stablehlo")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it differs")
    options = parser.parse_args()
    directory = options.checkout / DIALECT
    names = (*FILES, VERSION_FILE)
    text = render(table({name: (directory / name).read_text("utf-8") for name in names}))
    if options.check:
        return int(text != DATA.read_text("utf-8"))
    DATA.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
