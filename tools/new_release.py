"""Do what one new Release asks of a maintainer: measure it, run the corpus, compare, write a page.

    python -m tools new_release jaxlib==0.12.1
    python -m tools new_release jaxlib==0.12.1 --case elementwise --case quantized

Writes its row into the shipped table, runs the lowest and the highest artifact of every Case (or of
some families) on it and on its predecessor, and writes `docs/releases/NAME-VERSION.md`: what the
tables say of the upgrade, every artifact that ends otherwise, and every contradiction that waits
for a finding. Exit code 1 where there is one of these. Needs uv and the network.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from portable.matrix.document import load
from portable.system.files import write_file
from tools.check import tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from portable.matrix import Cell, Matrix

__all__ = ["changes", "main", "page"]

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "releases"
_PORTABLE = (sys.executable, "-I", "-m", "portable")


def changes(matrix: Matrix) -> Iterator[tuple[str, str, str]]:
    """Compare two Releases, artifact by artifact.

    Args:
        matrix: Of two Releases, the older one first.

    Yields:
        The artifact, and how it ended on each, where that differs.
    """
    ends: dict[str, list[Cell]] = {}
    for cell in matrix.cells:
        ends.setdefault(cell.item.name, []).append(cell)
    for name, (before, after) in ends.items():
        if before.observed and after.observed:
            ended = [
                (one.observed.outcome, one.observed.stage)
                for one in (before, after)
                if one.observed
            ]
            if ended[0] != ended[1]:
                yield name, before.observed.says, after.observed.says


def page(matrix: Matrix, upgrade: str) -> str:
    """Write the page.

    Args:
        matrix: Of two Releases, the older one first.
        upgrade: What `portable releases diff` says of them, in Markdown.
    """
    before, after = matrix.releases
    unexplained = [cell for cell in matrix.contradictions if cell.unexplained]
    return "\n".join(
        (
            upgrade.rstrip(),
            "",
            f"## The corpus on both, {matrix.date}",
            "",
            f"{len(matrix.items)} artifacts, up to the Stage `{matrix.stage}`.",
            "",
            *_table(("artifact", str(before), str(after)), changes(matrix)),
            "",
            "## Contradictions that no entry explains",
            "",
            *_table(
                ("artifact", "Release", "predicted", "observed"),
                (
                    (one.item.name, str(one.release), one.predicted.says, one.verdict.says)
                    for one in unexplained
                ),
            ),
            "",
        )
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    body = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *body] if body else ["None."]


def main() -> int:
    """Run the steps, each in a process of its own: the table changes between them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("requirement", metavar="NAME==VERSION")
    parser.add_argument("--case", action="append", default=[], metavar="FAMILY")
    parser.add_argument("--pages", type=Path, default=PAGES)
    chosen = parser.parse_args()
    name, _, version = chosen.requirement.partition("==")
    _run(*tool("measure_release", chosen.requirement))
    listed = json.loads(
        _run(*_PORTABLE, "releases", "list", f"{name}<{version}", "--format", "json")
    )
    # Of Releases that were only read, nothing can be run.
    runs = [one for one in listed["releases"] if one.get("python")]
    before = f"{name}=={runs[-1]['version']}"
    words = ["releases", "diff", before, chosen.requirement, "--format", "markdown"]
    upgrade = _run(*_PORTABLE, *words)
    corpus = [str(ROOT / "corpus" / one) for one in chosen.case] or [str(ROOT / "corpus")]
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "matrix.json")
        words = ["--for", before, chosen.requirement, "--artifacts", "ends", "--stage", "execute"]
        _run(*_PORTABLE, "matrix", *corpus, *words, "--judge", "predicted", "-o", str(result))
        matrix = load(result.read_bytes())
    chosen.pages.mkdir(parents=True, exist_ok=True)
    path = chosen.pages / f"{name}-{version}.md"
    write_file(path, page(matrix, upgrade).encode())
    print(path)
    return 1 if any(cell.unexplained for cell in matrix.contradictions) else 0


def _run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    if done.returncode not in {0, 1}:
        raise SystemExit(f"failed with {done.returncode}: {' '.join(command)}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
