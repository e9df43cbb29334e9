"""Measure what the matrix promises; minutes long, and only with warm environments.

python -m tools bench_matrix                 every figure but executing
python -m tools bench_matrix --execute       that too: 400 Cases on 45 jaxlibs
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from portable.matrix import Item, Pick, Run, Store, collect
from portable.releases import releases
from portable.runtime.environments import Environments
from portable.verdict import Stage
from tools.benches.figure import ROOT, Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.releases import Release

CORPUS = ROOT / "corpus"
CASES = 400
SAMPLE = 20


def seconds(
    items: Sequence[Item], consumers: Sequence[Release], stage: Stage, store: Store
) -> float:
    """Return how long a matrix takes."""
    began = time.perf_counter()
    Run(store, stage).observe(items, consumers)
    return time.perf_counter() - began


def fresh(items: Sequence[Item], consumers: Sequence[Release], stage: Stage) -> float:
    """Return how long a matrix takes of which nothing is known."""
    with Store(":memory:") as store:
        return seconds(items, consumers, stage, store)


def one_process_each(items: Sequence[Item], release: Release) -> float:
    """Return how long it takes to read artifacts, each in a process of its own."""
    environment = Environments().get(release)
    began = time.perf_counter()
    for item in items:
        with environment.worker() as worker:
            worker.ask({"kind": "read", "path": item.path})
    return time.perf_counter() - began


def figures(*, execute: bool) -> Iterator[Figure]:
    """Measure one after the other."""
    jaxlibs = releases("jaxlib")
    lowest = collect([CORPUS], pick=Pick.LOWEST)[:CASES]
    sealed = collect([CORPUS])
    one = fresh(lowest[:1], jaxlibs, Stage.DECODE)
    yield Figure(f"one artifact x {len(jaxlibs)} jaxlibs, read", one, 20, "s")
    with Store(":memory:") as store:
        first = seconds(lowest, jaxlibs, Stage.DECODE, store)
        yield Figure(f"{CASES} Cases x {len(jaxlibs)} jaxlibs, read", first, 120, "s")
        again = seconds(lowest, jaxlibs, Stage.DECODE, store)
        yield Figure("the same again, nothing new", again, 5, "s")
    cells = len(sealed) * len(jaxlibs)
    rate = cells / fresh(sealed, jaxlibs, Stage.DECODE)
    yield Figure(f"{cells:,} cells, read", rate, 800, "/s", floor=True)
    release = jaxlibs[len(jaxlibs) // 2]
    apart = one_process_each(sealed[:SAMPLE], release) / SAMPLE
    together = 1 / rate
    yield Figure(
        "one process a cell / the matrix", apart / together, 50, floor=True,
        detail=f"{apart * 1e3:.0f} ms, {together * 1e3:.2f} ms",
    )  # fmt: skip
    yield from _growth(sealed, jaxlibs)
    if execute:
        took = fresh(lowest, jaxlibs, Stage.EXECUTE)
        yield Figure(f"{CASES} Cases x {len(jaxlibs)} jaxlibs, execute", took, 1200, "s")


def _growth(items: Sequence[Item], consumers: Sequence[Release]) -> Iterator[Figure]:
    """Measure what a cell costs beyond starting the Releases, at 100, 1,000 and 10,000 cells."""
    chosen = consumers[:: len(consumers) // 4][:4]
    start = fresh(items[:1], chosen, Stage.DECODE)
    costs = {
        count: (fresh(items[: count // 4], chosen, Stage.DECODE) - start) / count
        for count in (100, 1_000, 10_000)
    }
    detail = ", ".join(f"{count:,}: {cost * 1e3:.2f} ms a cell" for count, cost in costs.items())
    growth = costs[10_000] / costs[1_000]
    yield Figure("a cell of 10,000 / a cell of 1,000", growth, 1.5, detail=detail)


def main() -> int:
    """Print the figures; exit 1 when one does not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--execute", action="store_true", help="execute too")
    held = True
    for figure in figures(execute=parser.parse_args().execute):
        held &= figure.holds
        print(figure, flush=True)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
