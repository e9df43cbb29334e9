"""The site holds every page and every public name; a broken link does not pass."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import portable
from portable.cli import COMMANDS
from tools.pages import TORCH, pages
from tools.site import broken_links, reference

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def _named(entries: list[object]) -> list[str]:
    """Return the pages that a navigation names, in its order."""
    found = []
    for entry in entries:
        values = list(entry.values()) if isinstance(entry, dict) else [entry]
        for value in values:
            found += _named(value) if isinstance(value, list) else [str(value)]
    return found


def test_every_page_is_in_the_navigation() -> None:
    """Once, and it names no other but those that are derived and those beside README.md."""
    navigation = tomllib.loads((DOCS / "zensical.toml").read_text())["project"]["nav"]
    named = _named(navigation)
    assert len(named) == len(set(named))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    # What is generated of one finding or one Release is found by the search.
    apart = re.compile(r"changelog/|findings/.*/README\.md$|releases/")
    pages = {name for name in pages if not apart.match(name)}
    derived = {f"reference/{name}" for name in reference()}
    beside = {path.name for path in ROOT.glob("*.md")} - {"README.md"}
    assert set(named) == pages | derived | beside


def test_the_reference_has_every_command_and_every_name() -> None:
    """Each command with its help, each public name once."""
    made = reference()
    for command in COMMANDS:
        assert f"## {command}\n" in made["commands.md"]
        assert f"usage: portable {command} " in made["commands.md"]
        assert f"[`{command}`](commands.md#{command})" in made["exit-codes.md"]
    python = "".join(text for name, text in made.items() if name.startswith("python"))
    named = re.findall(r"^::: portable\.(.*)$", python, re.MULTILINE)
    assert len(named) == len(set(named))
    assert set(portable.__all__) - {"__version__"} <= set(named)
    assert {"policy.gate", "matrix.Run", "exporters.export_torch"} <= set(named)


def test_decisions_of_the_architecture_have_a_record() -> None:
    """The page lists every record, and no other; each has its three parts."""
    records = sorted(path for path in (DOCS / "adr").glob("0*.md"))
    section = (DOCS / "architecture.md").read_text().partition("## Decisions")[2]
    listed = re.findall(r"^- \[(.*)\]\(adr/(.*)\)$", section.partition("\n## ")[0], re.MULTILINE)
    index = re.findall(
        r"^- \[(.*)\]\((.*)\)$", (DOCS / "adr" / "README.md").read_text(), re.MULTILINE
    )
    assert listed == index
    assert [name for _, name in listed] == [path.name for path in records]
    for number, ((title, _), path) in enumerate(zip(listed, records, strict=True), 1):
        text = path.read_text()
        assert text.startswith(f"# {number}. {title}\n")
        for part in ("Context", "Decision", "Consequences"):
            assert f"\n**{part}.** " in text


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    """A missing page, a missing place, and what is loaded from elsewhere; other links pass."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(
        '<link href="a.css"><img src="data:,"><a href="sub/other.html#there">1</a>'
        '<a href="https://example.org/">2</a><a id="here" href="#here">3</a><a href="sub">4</a>'
        '<a href="missing.html">5</a><a href="sub/other.html#away">6</a>'
        '<script src="https://example.org/x.js"></script><img src="//example.org/x.png">'
    )
    (tmp_path / "a.css").touch()
    (tmp_path / "sub" / "index.html").touch()
    (tmp_path / "sub" / "other.html").write_text(
        '<h1 id="there">there</h1><a href="../index.html">up</a>'
    )
    assert broken_links(tmp_path) == [
        "index.html: //example.org/x.png",
        "index.html: https://example.org/x.js",
        "index.html: missing.html",
        "index.html: sub/other.html#away",
    ]


def test_the_pages_that_are_run_are_there() -> None:
    """The tutorial, the how-tos and what explains are among them; those for PyTorch exist."""
    run = {path.relative_to(DOCS).as_posix() for path in pages()}
    assert {"index.md", "tutorial.md", "howto/jax.md", "explanation/verdicts.md"} <= run
    assert run >= TORCH
