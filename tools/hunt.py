"""Write `docs/findings/hunt.md`, what hunts found, from what is kept of each in `tools/hunts`.

python -m tools hunt                      write the page
python -m tools hunt --check              exit 1 if it is not that of what is kept
python -m tools hunt --keep hunted NAME   keep first, as NAME, what `fuzz hunt -o hunted` did
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections import Counter
from pathlib import Path

from portable.fuzz.campaign import Campaign
from portable.fuzz.hunted import Hunted, page
from portable.fuzz.hunting import ELEMENTS
from portable.system.files import read_file, write_file

KEPT = Path(__file__).with_name("hunts")
_REPRODUCERS = Path(__file__).with_name("reproducers.toml")
NEWEST = ("jaxlib 0.12.0.1", "iree-base-compiler 3.13.0", "tensorflow 2.21.0")
"""The newest Release of each distribution that reproducers are tried on."""
PAGE = Path(__file__).parent.parent / "docs" / "findings" / "hunt.md"
_BEFORE = "\n## Defects\n"
_NOTE = "<!-- Derived from tools/hunts by `python -m tools hunt`. -->"


def written() -> str:
    """Return the page."""
    hunts = [
        Hunted.from_record(json.loads(read_file(path))) for path in sorted(KEPT.glob("*.json"))
    ]
    folders = (path.parent.name for path in sorted(PAGE.parent.glob("*/README.md")))
    links = {name: f"{name}/README.md" for name in folders}
    shown = page(hunts, ELEMENTS, links)
    return f"{_NOTE}\n\n{shown.replace(_BEFORE, f'{_causes()}{_BEFORE}', 1)}"


def reproducers() -> dict[str, dict[str, bool]]:
    """Return whether the reproducer of each finding shows it, by name and Release."""
    return tomllib.loads(read_file(_REPRODUCERS).decode())


def _causes() -> str:
    """Count the findings that have a folder, one for each cause, and those that are alive."""
    of = reproducers()
    alive = Counter(
        next(name for name in NEWEST if shown.get(name))
        for shown in of.values()
        if any(shown.get(name) for name in NEWEST)
    )
    places = ", ".join(f"{alive[name]} in {name}" for name in NEWEST)
    return (
        "\n## Causes with a reproducer\n\n"
        f"{len(of)} causes have a folder with a reproducer that needs the wheel alone, of hunts and"
        " of all that was found otherwise. Where each is counted once, in the first that has it,"
        f" {alive.total()} are alive: {places}.\n"
    )


def keep(folder: Path, name: str) -> None:
    """Keep what a hunt did: one file, a line for each cause and one for all else."""
    seed = min(int(path.name) for path in (folder / "rounds").iterdir())
    made = Campaign(folder, seed).hunted().record()
    write_file(KEPT / f"{name}.json", _lines(made).encode())


def _lines(made: dict[str, object]) -> str:
    """Write JSON with a line for each of its fields, and for each cause."""
    rows = []
    for key, value in made.items():
        text = json.dumps(value, sort_keys=True)
        if isinstance(value, list) and key == "causes":
            text = "[\n" + ",\n".join(json.dumps(one, sort_keys=True) for one in value) + "\n]"
        rows.append(f"{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(rows) + "\n}\n"


def main() -> int:
    """Keep a hunt, write the page, or check it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--keep", nargs=2, metavar=("DIRECTORY", "NAME"), help="keep a hunt first")
    chosen = parser.parse_args()
    if chosen.keep:
        keep(Path(chosen.keep[0]), chosen.keep[1])
    if not chosen.check:
        write_file(PAGE, written().encode())
        return 0
    stale = PAGE.read_text("utf-8") != written()
    print(f"docs/findings/hunt.md is {'stale: python -m tools hunt' if stale else 'up to date'}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
