"""Run the corpus on one Release for its tox environment, and merge what all of them found.

    python -m tools consumer consumer-jaxlib0.4.13     run the corpus on that Release
    python -m tools consumer eras                      run it on the Releases of every run
    python -m tools consumer merge                     merge what ran, write matrix.html

The results are kept below `.tox/matrix`. The Release runs the lowest and the highest artifact of
every Case, as far as it can execute; a contradiction to what is predicted that is not listed makes
it fail. `toxfile.py` names the environments.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from portable.cli import main as portable
from portable.releases import Release, find_release, releases
from portable.runtime.environments import Recipe, UnsupportedDistribution

__all__ = ["ERAS", "consumers"]

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / ".tox" / "matrix"
# The Releases of every run, few because each takes 0.4 GB: every bytecode format, every era of the
# bindings and both Pythons, and an odd one: 0.9.1 (wrong results).
ERAS = (
    *(f"jaxlib {v}" for v in ("0.4.13", "0.4.30", "0.4.33", "0.5.3", "0.9.1", "0.10.2")),
    *("jaxlib 0.12.0.1", "torch-mlir 20261001"),
)


def consumers() -> dict[str, Release]:
    """Return every Release that can read artifacts here, by the name of its tox environment."""
    readers = (release for release in releases() if _reads(release))
    return {f"consumer-{one.distribution}{one.version}": one for one in readers}


def _reads(release: Release) -> bool:
    try:
        return Recipe.of(release).driver != "plugin"
    except UnsupportedDistribution:
        return False


def run(name: str) -> int:
    """Run the corpus on one Release, or on those of every run; return the exit code."""
    if name == "eras":
        chosen = [find_release(era) for era in ERAS]
    elif name in consumers():
        chosen = [consumers()[name]]
    else:
        print(f"no consumer is called {name!r}; tox list names them", file=sys.stderr)
        return 2
    RESULTS.mkdir(parents=True, exist_ok=True)
    specifiers = [f"{release.distribution}=={release.version}" for release in chosen]
    result = str(RESULTS / f"{name}.json")
    words = ["matrix", str(ROOT / "corpus"), "--for", *specifiers, "--artifacts", "ends"]
    # Observed again each time: what an earlier run saw is no test of this one.
    words += ["--stage", "execute", "--fresh"]
    code = portable([*words, "--judge", "predicted", "-o", result])
    portable(["matrix", "--merge", result])
    return code


def merge() -> int:
    """Merge what ran into one page; return the exit code."""
    found = sorted(map(str, RESULTS.glob("*.json")))
    if not found:
        print("nothing ran yet: tox -e consumer-jaxlib0.12.0.1", file=sys.stderr)
        return 2
    page = str(ROOT / "matrix.html")
    code = portable(["matrix", "--merge", *found, "--judge", "predicted", "-o", page])
    print(f"{len(found)} consumers: {page}")
    return code


def main() -> int:
    """Run or merge; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="of a tox environment, or eras, or merge")
    name = parser.parse_args().name
    return merge() if name == "merge" else run(name)


if __name__ == "__main__":
    sys.exit(main())
