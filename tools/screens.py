"""Record what commands show on a terminal, as pictures for the pages.

python -m tools screens             write docs/pictures/*.svg
python -m tools screens --check     exit 1 if a command shows something else now
"""

from __future__ import annotations

import argparse
import io
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from portable.system.files import write_file
from tools.pages import search_path

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
COMMANDS = {"explain": "portable explain docs/examples/tan.mlir.bc --target 0.9.0"}
_COLUMNS = 110


def screen(command: str) -> str:
    """Run a command on a terminal of its own.

    Args:
        command: The command line.

    Returns:
        What it shows, with its colours as escape sequences.
    """
    leader, follower = pty.openpty()
    known = {
        "PATH": search_path(),
        "COLUMNS": str(_COLUMNS),
        "LINES": "40",
        "TERM": "xterm-256color",
    }
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(
        ["bash", "-c", command],
        cwd=ROOT,
        env=kept | known,
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.DEVNULL,
    ):
        os.close(follower)
        shown = b""
        # How a terminal ends when no process writes to it any more.
        with suppress(OSError):
            while piece := os.read(leader, 65536):
                shown += piece
    os.close(leader)
    return shown.decode().replace("\r\n", "\n")


def picture(command: str) -> str:
    """Draw what a command shows.

    Args:
        command: The command line.

    Returns:
        SVG that asks no other host for a font.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {command}", style="bold"))
    console.print(Text.from_ansi(screen(command)))
    drawn = console.export_svg(title="portable", unique_id="screen")
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)


def main() -> int:
    """Write the pictures, or check them with `--check`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    stale = []
    for name, command in COMMANDS.items():
        path, drawn = PICTURES / f"{name}.svg", picture(command)
        if not path.exists() or path.read_text("utf-8") != drawn:
            stale.append(path.name)
            if not check:
                write_file(path, drawn.encode())
    print(f"stale: {', '.join(stale)}" if stale else "the pictures show what the commands show")
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main())
