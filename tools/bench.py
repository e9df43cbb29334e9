"""Measure what `portable` promises about speed, as ratios inside one run.

Absolute times differ by machine and hour; a ratio to something everybody knows (the bare binding,
`jax.extend.mlir`, `python -c pass`) does not. Every figure is the best of several rounds that
alternate between the two sides.

  python -m tools bench                 everything that is installed
  python -m tools bench serialize read  chosen groups
  python -m tools bench --format json   for machines
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

# Each group is `bench_GROUP` in a module of `tools/benches`, and what it needs: packages, programs.
GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "header": ("reading", ()),
    "process": ("starting", ()),
    "resolve": ("starting", ()),
    "examine": ("reading", ()),
    "gate": ("gating", ()),
    "containers": ("containing", ()),
    "playground": ("playing", ("selenium", "chromium", "chromedriver")),
    "constant": ("reading", ("jaxlib",)),
    "read": ("reading", ("jaxlib",)),
    "runtime": ("reading", ("jaxlib",)),
    "minimum": ("serializing", ("jaxlib",)),
    "downgrade": ("serializing", ("jaxlib",)),
    "serialize": ("serializing", ("jaxlib", "jax")),
    "export": ("exporting", ("torch",)),
    "execute": ("executing", ("jaxlib", "numpy")),
}


def main() -> int:
    """Measure the chosen groups; exit with 1 when a promise does not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=" ".join(GROUPS))
    parser.add_argument("--format", choices=("text", "json"), default="text")
    chosen = parser.parse_args()
    unknown = set(chosen.groups) - set(GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    figures = []
    for name in chosen.groups or GROUPS:
        home, needs = GROUPS[name]
        missing = [one for one in needs if not (shutil.which(one) or importlib.util.find_spec(one))]
        if missing:
            print(f"{name}: left out, needs {', '.join(missing)}", file=sys.stderr)
            continue
        bench = getattr(importlib.import_module(f"tools.benches.{home}"), f"bench_{name}")
        for figure in bench():
            figures.append(figure)
            if chosen.format == "text":
                print(figure, flush=True)
    if chosen.format == "json":
        print(
            json.dumps([asdict(figure) | {"holds": figure.holds} for figure in figures], indent=2)
        )
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    # Run by its path, not as a module, Python would look for `tools` beside it.
    sys.path.insert(0, str(Path(__file__).parent.parent))
    sys.exit(main())
