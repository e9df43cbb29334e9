"""Write `docs/findings.md`, what real Releases do that no Version says, from the tables.

python -m tools findings             write the page
python -m tools findings --check     exit 1 if it is not that of the tables
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, TypeAlias

from portable.matrix.listed import contradictions
from portable.releases.advisory import Effect
from portable.releases.assumption import assumption_about
from portable.releases.table import rows
from portable.system.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from portable.releases.table import Row

Entry: TypeAlias = tuple[str, ...]
"""The heading of a finding, and its lines."""

PAGE = Path(__file__).parent.parent / "docs" / "findings.md"
_TEMPLATE = Path(__file__).with_name("findings.md")
_SECTIONS = {
    "wrong": Effect.WRONG_RESULT,
    "crashes": Effect.CRASHES,
    "refuses": Effect.REFUSES,
}


def page() -> str:
    """Return the page."""
    advised = list(rows("advisories", "advisory"))
    sections: dict[str, Iterable[Entry]] = {
        name: [_advisory(row) for row in advised if row.text("effect") == str(effect)]
        for name, effect in _SECTIONS.items()
    }
    sections["late"] = [_late(row) for row in rows("refusals", "late")]
    sections["refusal"] = [_refusal(row) for row in rows("refusals", "refusal")]
    sections["contradictions"] = list(_contradictions())
    text = {name: "".join(map(_shown, found)) or "None.\n\n" for name, found in sections.items()}
    return Template(_TEMPLATE.read_text("utf-8")).substitute(text)


def _shown(entry: Entry) -> str:
    name, *lines = entry
    return f"### {name}\n\n" + "  \n".join(line for line in lines if line) + "\n\n"


def _advisory(row: Row) -> Entry:
    releases = f"{row.text('distribution')} {row.text('specifier')}".replace("*", "\\*")
    link, seen = row.note("link"), row.note("reproduced")
    assumed = assumption_about(row.text("feature"))
    return (
        row.text("id"),
        f"**{releases}**, at `{row.text('stage')}`: {row.text('feature')}",
        _sentence(row.note("reason")),
        f"Reproducer: {row.text('reproducer')}.",
        f"Observed {seen}." if seen else "",
        f"Does not count if you [assume](explanation/verdicts.md#what-you-may-assume) `{assumed}`."
        if assumed
        else "",
        f"Source: {row.text('source')}." + (f" <{link}>" if link else ""),
    )


def _late(row: Row) -> Entry:
    edge = f"refused up to {row.version('refused')}, read from {row.version('since')} on"
    return _form(row, edge)


def _refusal(row: Row) -> Entry:
    edge = f"read up to {row.version('last')}, refused from {row.version('since')} on"
    return _form(row, edge)


def _form(row: Row, edge: str) -> Entry:
    head = f"{_sentence(row.text('form'))[:-1]} (`{row.text('op')}`): {edge}"
    return row.text("id"), head, _sentence(row.text("reason")), f"Source: {row.text('source')}."


def _contradictions() -> Iterator[Entry]:
    for row in contradictions():
        consumers = ", ".join(sorted(row.consumers))
        head = f"**{consumers}**: {row.observed}, Cases {', '.join(row.cases)}"
        yield row.id, head, _sentence(row.reason), f"Observed {row.date}: {row.link}."


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def main() -> int:
    """Write the page, or check it with `--check`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    if not parser.parse_args().check:
        write_file(PAGE, page().encode())
        return 0
    stale = PAGE.read_text("utf-8") != page()
    print(
        "docs/findings.md is stale: python -m tools findings" if stale else "the page is up to date"
    )
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
