"""Run the commands and snippets of the pages in docs/, and write what they print.

    python -m tools pages                     run every page; takes flatbuffers and [jaxlib,attest]
    python -m tools pages docs/tutorial.md    run these
    python -m tools pages --check             write nothing; exit 1 where a page differs

The blocks of a page run in order, in a new folder that holds a copy of docs/examples:

- `console`: each command (`$ ...`), and what it prints; a line `...` stands for any lines.
- `python`: together one program, which is run last.
- any block with `title="NAME"`: a file of that name, written before what follows.
- a comment `<!-- setup` ... `-->`: commands that readers do not see.

All other blocks are not run.
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from portable.errors import PortableError
from portable.system.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["TORCH", "differences", "pages", "search_path"]

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TORCH = frozenset({"aten_passes.md", "exporters.md", "howto/pytorch.md"})
"""Pages that also need PyTorch."""

_BLOCK = re.compile(
    r"^```(?P<language>\w+)(?P<options>[^\n]*)\n(?P<body>.*?)^```$"
    r"|^<!-- setup\n(?P<setup>.*?)^-->$",
    re.DOTALL | re.MULTILINE,
)
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a page.

    Args:
        text: The command.
        printed: What the page shows.
        begin: Where that begins in the text of the page.
        end: Where it ends.
    """

    text: str
    printed: str
    begin: int
    end: int


def pages() -> list[Path]:
    """Return the pages of docs/ that have something to run."""
    return [
        path
        for path in sorted(DOCS.rglob("*.md"))
        if any(_runs(block) for block in _BLOCK.finditer(path.read_text("utf-8")))
    ]


def _runs(block: re.Match[str]) -> bool:
    return (
        block["setup"] is not None
        or block["language"] in {"console", "python"}
        or bool(_TITLE.search(block["options"]))
    )


def differences(path: Path) -> list[tuple[Command, str]]:
    """Run a page.

    Args:
        path: The page.

    Returns:
        Each command that prints something else than the page shows, and what it prints.

    Raises:
        PortableError: A snippet or the setup fails.
    """
    text = path.read_text("utf-8")
    found = []
    program = ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(DOCS / "examples", folder / "docs" / "examples")
        for block in filter(_runs, _BLOCK.finditer(text)):
            if block["setup"]:
                _succeed(_shell(block["setup"], folder), path)
            elif title := _TITLE.search(block["options"]):
                file = folder / title[1]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block["body"], "utf-8")
            elif block["language"] == "python":
                program += block["body"]
            else:
                ran = ((one, _shell(one.text, folder)) for one in _commands(block))
                found += [(one, done.stdout) for one, done in ran if not _same(one, done.stdout)]
        if program:
            _succeed(_run([sys.executable, "-I", "-c", program], folder), path)
    return found


def _commands(block: re.Match[str]) -> Iterator[Command]:
    # A command ends where its line does, or the last of those that end with a backslash.
    for found in re.finditer(
        r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block["body"], re.MULTILINE
    ):
        start = block.start("body")
        yield Command(found[1], found[2], start + found.start(2), start + found.end(2))


def _same(command: Command, printed: str) -> bool:
    return doctest.OutputChecker().check_output(command.printed, printed, doctest.ELLIPSIS)


def search_path() -> str:
    """Return where commands are looked for: those that this Python installed come first."""
    return os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])


def _environment() -> dict[str, str]:
    # As in a terminal of eighty columns without colours.
    return os.environ | {"PATH": search_path(), "NO_COLOR": "1", "COLUMNS": "80"}


def _shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return _run(["bash", "-c", command], folder)


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )


def _succeed(done: subprocess.CompletedProcess[str], path: Path) -> None:
    if done.returncode:
        message = f"a snippet ends with {done.returncode}: {done.stdout}"
        raise PortableError(message, where=os.path.relpath(path, DOCS.parent))


def main() -> int:
    """Run pages; write what they print, or compare it with `--check`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    chosen = parser.parse_args()
    stale = []
    for path in chosen.pages or [p for p in pages() if str(p.relative_to(DOCS)) not in TORCH]:
        found = differences(path.resolve())
        for command, printed in found:
            print(f"{path}: $ {command.text}\n{printed}", end="")
        if found:
            stale.append(str(path))
            if not chosen.check:
                text = path.read_text("utf-8")
                for command, printed in reversed(found):
                    text = text[: command.begin] + printed + text[command.end :]
                write_file(path, text.encode())
    print(f"stale: {', '.join(stale)}" if stale else "the pages show what their commands print")
    return 1 if stale and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
