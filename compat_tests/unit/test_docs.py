"""What the documents promise exists."""

import pkgutil
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from portable.cli import COMMANDS, load, parser
from portable.containers.kind import Kind
from tools.site import BESIDE, reference

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")  # to a file, not to a place in the page
README = (ROOT / "README.md").read_text()
# Pages that are built with the site.
REFERENCE = {ROOT / "docs" / "reference" / name for name in reference()}


def test_ci_runs_the_readmes_test_command() -> None:
    """Exactly: what CI runs is what a newcomer is told to run."""
    commands = re.findall(r"```bash\n(.*?)\n```", README, re.DOTALL)
    assert len(commands) == 2
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    assert script[-1] == commands[1]


def test_the_readmes_commands_and_calls_exist() -> None:
    """Every `portable X` is a command, every `portable.x` a public name or a module."""
    for command in re.findall(r"`portable ([a-z-]+)", README):
        assert command in COMMANDS, command
    for dotted in re.findall(r"`(portable\.[A-Za-z_.]+)", README):
        assert pkgutil.resolve_name(dotted), dotted


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    """Relative links of the documents name files that are there."""
    # A fragment becomes a part of CHANGELOG.md.
    folder = ROOT if path.parent.name == "changelog" else path.parent
    for target in _LINK.findall(path.read_text()):
        derived = (folder / target).resolve() in REFERENCE
        assert derived or (folder / target).exists(), target


@pytest.mark.parametrize("name", BESIDE)
def test_a_page_beside_the_documents_links_to_pages(name: str) -> None:
    """The site has the documents and these: a link to anything else leads nowhere there."""
    targets = _LINK.findall((ROOT / name).read_text())
    assert not [one for one in targets if not one.startswith(("docs/", "README.md", *BESIDE))]


def _examples() -> Iterator[tuple[str, str]]:
    """Yield every command line of `portable` in a code block."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        blocks = re.findall(r"^```\w*\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE)
        blocks += re.findall(r"^ {4}.*$", path.read_text(), re.MULTILINE)
        for line in "\n".join(blocks).splitlines():
            if command := re.match(r"(?:\$ | {4})?(portable [^#;]*)", line):
                yield path.name, command[1]


@pytest.mark.parametrize(("where", "line"), sorted(set(_examples())))
def test_an_example_is_a_command_line(where: str, line: str) -> None:
    """What documents show can be typed: the command knows every option in it."""
    program, command, *words = shlex.split(line.partition(" > ")[0])
    assert program == "portable"
    assert command in COMMANDS, where
    if "..." not in line:
        parser.parse(command, load(command), words)


def test_the_page_of_inspection_names_every_kind_of_file() -> None:
    """As `inspect` prints it."""
    page = (ROOT / "docs" / "inspection.md").read_text("utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| `kind` |"))
    assert set(re.findall("`([^`]+)`", row)) - {"kind"} == {kind.value for kind in Kind}
