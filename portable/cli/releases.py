"""List the Releases that ship a libStablehlo, compare two, add one, or ask for new ones.

`add` measures a Release, or reads a file statically, and writes a row to a table of your own beside
the environments (PORTABLE_CACHE). Every command reads that table too; what comes from it is marked
`own table`. A row that contradicts the shipped table is refused.

`update` asks the package index for Releases that the tables lack, reads one wheel of each
statically (with --measure it installs and queries those that can run here), and adds them one
by one: an interrupted update keeps what it has.

`diff` shows what an upgrade changes according to the tables: what begins or ceases to be read or
refused, Advisories, and Cases of the corpus that the matrix saw end differently. Each side is one
Release, or a library or wheel, which is read statically.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from portable.cli.options import add
from portable.cli.output import note, print_json, print_table, say
from portable.errors import PortableError
from portable.escaping import markdown
from portable.releases import distributions, matching_releases, releases

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from portable.releases import Release
    from portable.releases.difference import Upgrade

__all__ = [
    "EXAMPLES",
    "EXIT_CODES",
    "CannotUpdate",
    "NotTwoReleases",
    "NothingToMeasure",
    "options",
    "run",
]

EXAMPLES = """
portable releases
portable releases list 'jaxlib>=0.5,<0.8'
portable releases diff 'jaxlib 0.9.1' 'jaxlib 0.12.0.1'
portable releases diff 'jaxlib 0.9.1' ./new.whl --format markdown
portable releases add jaxlib==0.12.2
portable releases add libours.so --name ours==1.4.0
portable releases update
portable releases update jaxlib --measure
"""
EXIT_CODES = {0: "done", 2: "unknown Release, could not query or measure it, or bad usage"}

_PINNED = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+", re.ASCII)
_HEADINGS = ("change", "what", "name", "detail")


class NothingToMeasure(PortableError):
    """`add` was given neither a Release nor a file."""


class CannotUpdate(PortableError):
    """The index must not be asked."""


class NotTwoReleases(PortableError):
    """`diff` was not given two Releases."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "action", nargs="?", choices=sorted(_ACTIONS), default="list", help="what to do"
    )
    parser.add_argument(
        "specs",
        nargs="*",
        metavar="SPEC",
        help="requirement specifiers; diff: two Releases; add: NAME==VERSION or a file",
    )
    parser.add_argument(
        "--name", default="", metavar="NAME==VERSION", help="add: the name and version of a file"
    )
    parser.add_argument(
        "--measure", action="store_true", help="update: install and query what is new"
    )
    add(parser, "--format", choices=("text", "json", "markdown"))


def run(chosen: argparse.Namespace) -> int:
    """Do one of the actions."""
    return _ACTIONS[chosen.action](chosen)


def _list(chosen: argparse.Namespace) -> int:
    """List them by distribution, the oldest first."""
    found = matching_releases(*chosen.specs) if chosen.specs else releases()
    if chosen.format == "json":
        print_json({"releases": [release.record() for release in found]})
        return 0
    _print(
        chosen.format,
        ("release", "date", "StableHLO", "confidence"),
        [
            (str(release), str(release.date), release.has, str(release.confidence))
            for release in found
        ],
    )
    note(_age())
    return 0


def _age() -> str:
    """Say how old the table is."""
    measured = [one.measured for one in releases() if one.measured]
    own = sum(one.own for one in releases())
    added = f", {own} of them in your own table" if own else ""
    return (
        f"{len(releases())} Releases{added}, the newest row of {max(measured)}; "
        "`portable releases update` asks the index for newer ones"
    )


def _update(chosen: argparse.Namespace) -> int:
    """Ask the index for what is new, and add it."""
    from portable.runtime import measuring
    from portable.runtime.environments import Environments, Unreachable

    environments = Environments()
    if environments.offline:
        raise CannotUpdate("PORTABLE_OFFLINE forbids to ask the index", hint=f"known are {_age()}")
    names = [releases(name)[0].distribution for name in chosen.specs] or [*distributions()]
    added, failed = [], 0
    while names:
        name = names.pop(0)
        note(f"{name}: asking the index")
        for what, found in measuring.update(name, environments if chosen.measure else None):
            if isinstance(found, PortableError):
                failed += 1
                note(f"{what}: {found}")
                if isinstance(found, Unreachable) and names:
                    note(f"not asked: {', '.join(names)}")
                    names = []
                continue
            added.append(found)
            if chosen.format != "json":
                say(f"{found}: StableHLO {found.has} ({found.evidence})")
    if chosen.format == "json":
        print_json({"added": [release.record() for release in added]})
    elif not added:
        say(f"nothing added; {failed} failed" if failed else "nothing new")
    return 2 if failed else 0


def _diff(chosen: argparse.Namespace) -> int:
    """Compare two."""
    from portable.releases.difference import diff  # cold start of the list

    if len(chosen.specs) != 2:
        raise NotTwoReleases(
            f"diff compares two Releases, not {len(chosen.specs)}",
            hint="e.g. portable releases diff 'jaxlib 0.9.1' 'jaxlib 0.12.0.1'",
        )
    found = diff(*(_one(spec) for spec in chosen.specs))
    if chosen.format == "json":
        print_json(found.record())
    else:
        _show(found, chosen.format)
    return 0


def _one(spec: str) -> Release:
    found = matching_releases(_pinned(spec))
    if len(found) != 1:
        raise NotTwoReleases(
            f"{spec!r} contains {len(found)} Releases", hint="give one, e.g. jaxlib==0.9.1"
        )
    return found[0]


def _pinned(spec: str) -> str:
    """Turn `jaxlib 0.9.1`, as listings show a Release, into a specifier."""
    name, space, version = spec.strip().partition(" ")
    return f"{name}=={version.strip()}" if space and version[:1].isdigit() else spec


def _show(found: Upgrade, style: str) -> None:
    shown = markdown if style == "markdown" else str
    before, after = shown(str(found.before)), shown(str(found.after))
    title = f"{before} (StableHLO {found.before.has}) -> {after} ({found.after.has})"
    say(f"# {title}" if style == "markdown" else title)
    for text in found.notes:
        say(f"note: {shown(text)}")
    say()
    if not found.changes:
        say("no known difference")
        return
    _print(
        style,
        _HEADINGS,
        [
            ("begins" if change.begins else "ends", change.kind, change.name, change.detail)
            for change in found.changes
        ],
    )


def _print(style: str, headings: Sequence[str], table: Sequence[Sequence[str]]) -> None:
    if style != "markdown":
        print_table(headings, table)
        return
    escaped = [list(map(markdown, cells)) for cells in table]
    for cells in (headings, ["---"] * len(headings), *escaped):
        say(f"| {' | '.join(cells)} |")


def _add(chosen: argparse.Namespace) -> int:
    """Measure Releases and keep their rows."""
    from portable.cli.making import making
    from portable.releases.release import as_release
    from portable.releases.table import own_table
    from portable.runtime import measuring
    from portable.runtime.environments import Environments

    if not chosen.specs or (chosen.name and len(chosen.specs) > 1):
        raise NothingToMeasure(
            "--name is for one file" if chosen.specs else "missing what to measure",
            hint="portable releases add jaxlib==0.12.2",
        )
    shipped, added = measuring.shipped_rows(), []
    with making(len(chosen.specs)) as tell:
        environments = Environments(progress=tell)
        for spec in chosen.specs:
            path = Path(spec)
            if path.is_file():
                row = measuring.measure_file(path, chosen.name)
            elif _PINNED.fullmatch(spec) and not chosen.name:
                row = measuring.measure(spec, environments, shipped)
            else:
                raise NothingToMeasure(
                    f"{spec!r} is neither a file nor NAME==VERSION",
                    hint="portable releases add jaxlib==0.12.2",
                )
            measuring.add_own(row)
            added.append(as_release(row))
    if chosen.format == "json":
        print_json({"added": [release.record() for release in added]})
        return 0
    for release in added:
        say(f"{release}: StableHLO {release.has}, added to {own_table()}")
    return 0


_ACTIONS = {"add": _add, "diff": _diff, "list": _list, "update": _update}
