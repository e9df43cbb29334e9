"""Build the site of docs/: its pages, the reference from the code, and the playground.

    python -m tools site DIRECTORY    lay out its sources there, and write it to DIRECTORY/site

`tox -e docs` has what it needs. The sources are docs/ and the pages next to README.md; a link that
leads to no page or place is an error.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import portable
from portable.cli import COMMANDS, load, parser
from portable.errors import PortableError
from tools.playground import make as make_playground

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "BESIDE",
    "LISTINGS",
    "LISTING_BYTES",
    "PAGE_BYTES",
    "SiteError",
    "broken_links",
    "lay_out",
    "reference",
]

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BESIDE = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
"""The pages next to README.md, as the customs of repositories have it."""
PAGE_BYTES = 320 << 10
"""How many bytes a page has at most, with all that it loads, compressed as servers send it."""
_UNRELEASED = "<!-- towncrier release notes start -->"
LISTINGS = ("CHANGELOG.md", "findings.md")
"""What is long, and a third of the index that every page loads: the search does not find it.

Findings have pages of their own."""
# Neither does it find these tables.
_NOT_SEARCHED = re.compile(rf"{'|'.join(map(re.escape, LISTINGS))}|findings/hunt\.md|observed/.*")
LISTING_BYTES = 400 << 10
"""How many bytes the page of a listing has at most, as `PAGE_BYTES`."""
_EXCLUDED = "---\nsearch:\n  exclude: true\n---\n"


class SiteError(PortableError):
    """The site cannot be built, or a link in it is broken."""


def lay_out(folder: Path) -> Path:
    """Write what the site is built of.

    Args:
        folder: A new folder.

    Returns:
        The configuration in it.
    """
    sources = folder / "docs"
    shutil.copytree(DOCS, sources, ignore=shutil.ignore_patterns("changelog", "zensical.toml"))
    shutil.copy(DOCS / "zensical.toml", folder)
    for name in BESIDE:
        text = (ROOT / name).read_text("utf-8").replace(_UNRELEASED, _unreleased())
        # Their links begin beside docs/, where README.md is no page.
        text = text.replace("](docs/", "](").replace("](README.md", "](index.md")
        (sources / name).write_text(text, "utf-8")
    for page in sources.rglob("*.md"):
        # They are now one folder nearer.
        text = re.sub(
            rf"\]\(\.\./((?:\.\./)*(?:{'|'.join(BESIDE)}))", r"](\1", page.read_text("utf-8")
        )
        is_searched = not _NOT_SEARCHED.fullmatch(page.relative_to(sources).as_posix())
        page.write_text(text if is_searched else _EXCLUDED + text, "utf-8")
    make_playground(sources / "playground")
    for name, text in reference().items():
        path = sources / "reference" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder / "zensical.toml"


@cache
def _unreleased() -> str:
    command = ["towncrier", "build", "--draft", "--version", "next"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def reference() -> dict[str, str]:
    """Return the pages that are derived from the code, by name."""
    return {
        "commands.md": "\n".join(_commands()),
        "exit-codes.md": "\n".join(_exit_codes()),
        **_python(),
    }


def _commands() -> Iterator[str]:
    yield "# Commands\n\nWhat `portable COMMAND --help` prints.\n"
    for name, what in COMMANDS.items():
        text = parser.build(name, load(name)).format_help()
        yield f"## {name}\n\n{what[:1].upper()}{what[1:]}.\n\n```text\n{text}```\n"


def _exit_codes() -> Iterator[str]:
    yield (
        "# Exit codes\n\n0 is compatible or done, 1 incompatible, 2 not known, could not check, "
        "or bad usage. Of several files the highest counts. 130 is an interrupt, 143 SIGTERM.\n"
    )
    yield "| command | 0 | 1 | 2 |\n|---|---|---|---|"
    for name in COMMANDS:
        codes = load(name).EXIT_CODES
        cells = (str(codes.get(code, "")).replace("|", "\\|") for code in range(3))
        yield f"| [`{name}`](commands.md#{name}) | {' | '.join(cells)} |"


def _python() -> dict[str, str]:
    """Return a page of what `import portable` shows, and one for each module that has more."""
    public = _public_modules()
    names = {name for name in portable.__all__ if not name.startswith("_")} - {*public}
    pages = {}
    for module in public:
        more = [name for name in getattr(portable, module).__all__ if name not in names]
        if more:
            each = (f"portable.{module}.{name}" for name in more)
            text = _named(f"portable.{module}", "[All modules](../python.md).", each)
            pages[f"python/{module}.md"] = text
    links = "\n".join(f"- [`portable.{Path(page).stem}`]({page})" for page in pages)
    text = (
        "Every public name. [How they change](../api-stability.md). What `import portable` shows "
        f"is on this page; of its modules these have more:\n\n{links}"
    )
    return {
        "python.md": _named("Python", text, (f"portable.{name}" for name in sorted(names)))
    } | pages


def _named(title: str, introduction: str, names: Iterable[str]) -> str:
    return "\n".join((f"# {title}\n\n{introduction}\n", *(f"::: {name}" for name in names), ""))


def _public_modules() -> list[str]:
    """Return the modules that docs/api-stability.md names as public."""
    page = (DOCS / "api-stability.md").read_text("utf-8")
    public = page.partition("## Public")[2].partition("## Not public")[0]
    named = set(re.findall(r"`portable\.([a-z]+)`", public))
    return sorted(named.intersection(dir(portable)))


class _Page(HTMLParser):
    """Finds what a page links to, loads, and can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.places: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif name == "src" or (name == "href" and tag == "link"):
                self.loads.add(value or "")
            elif name == "href":
                self.links.add(value or "")


def broken_links(site: Path) -> list[str]:
    """Check every link of a built site.

    Args:
        site: Its folder.

    Returns:
        A line for each link that leads to no file or place, and for each thing that a page loads
        from another host.
    """
    pages = {path: _Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # its links begin at the root of wherever it is served
        for link in sorted(page.links | page.loads):
            parts = urlsplit(link)
            if parts.scheme == "data" or (parts.scheme and link not in page.loads):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            places = pages[target].places if target in pages else {""}
            there = target.exists() and unquote(parts.fragment) in places
            if parts.netloc or not there:
                found.append(f"{path.relative_to(site)}: {link}")
    return found


def build(folder: Path) -> Path:
    """Write the site.

    Args:
        folder: Where; what an earlier run left there is removed.

    Returns:
        The folder of its pages.

    Raises:
        SiteError: The generator warns, or a link is broken.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lay_out(folder)
    if subprocess.run(["zensical", "build", "--strict"], cwd=folder, check=False).returncode:
        raise SiteError("zensical refuses the sources", where=str(folder))
    site = folder / "site"
    if broken := broken_links(site):
        raise SiteError(f"broken links: {'; '.join(broken)}", where=str(site))
    return site


def main() -> int:
    """Build the site."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("directory", type=Path)
    print(build(arguments.parse_args().directory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
