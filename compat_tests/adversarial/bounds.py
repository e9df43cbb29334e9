"""What reading takes for each byte, of every class of small files that try to take much.

  python -m compat_tests.adversarial.bounds > docs/bounds.md

Each class is made in three sizes, once, twice and four times as large; a child inspects it, checks
it for a Consumer, and finds its minimum target. A row has the processor time and the memory that
the largest takes beyond the smallest, for each byte between them, and in brackets how much more
that is for the second half of these bytes than for the first: 1 where it is linear.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from compat_tests.adversarial.generators.amplification import ARTIFACTS
from compat_tests.adversarial.generators.containers import CONTAINERS
from compat_tests.adversarial.measuring import measured, size_of
from compat_tests.helpers.bytecode_writer import entry, operation
from portable.bytecode import read
from portable.bytecode.encoding import WIDTHS
from portable.bytecode.operations import OpSignature
from portable.features import analyze
from portable.prediction.forms import Reading
from portable.prediction.signatures import signatures_by_name
from portable.prediction.subject import subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

JOBS = ("inspect", "check", "minimum")
BYTES = 30_000  # of the smallest, about
_PROBE = 1000
# What is explained step by step, and of how many operations.
_EXPLAINED = ("operations_of_all_forms", "operations_different", "properties_many")
_OPS = 10_000


class _Point(NamedTuple):
    """One measurement."""

    size: int
    seconds: float
    resident: int


def _bare(data: bytes) -> float:
    """Return the seconds that a loop takes which decodes numbers from bytes, and nothing else."""
    began, at, found = time.process_time(), 0, []
    while at < len(data):
        first = data[at]
        if first & 1:
            found.append(first >> 1)
            at += 1
        else:
            width = (first & -first).bit_length() if first else 9
            found.append(int.from_bytes(data[at : at + width], "little") >> width)
            at += width
    return time.process_time() - began


def _barely(n: int) -> float:
    """Return the seconds for each byte to decode different operations and their types in one loop.

    And to count them by what they are: the least that something has to do which is said of each.
    """
    data = ARTIFACTS["operations_different"](n)
    one = bytes(operation(1, results=[1000])) + bytes(entry(20, 1, 1000, 0))
    began, counts = time.process_time(), dict[tuple[object, ...], int]()
    types: dict[int, tuple[object, ...]] = {}
    for number in range(n):
        at, found = 0, []
        while at < len(one):
            first = one[at]
            width = WIDTHS[first]
            found.append(int.from_bytes(one[at : at + width], "little") >> width)
            at += width
        signature = OpSignature(found[0], -1, -1, (number,), 0, 0)
        counts[signature] = counts.get(signature, 0) + 1
        types[number] = (found[5], found[6:-1], found[-1])
    return (time.process_time() - began) / len(data)


def _shares(name: str, n: int) -> dict[str, float]:
    """Return the seconds for each byte of what `check` does with an artifact, step by step."""
    data = ARTIFACTS[name](n)
    found, times = {}, [time.process_time()]
    content = read(data)
    reading = Reading(content, data)
    times.append(time.process_time())
    analysis = analyze(content)
    times.append(time.process_time())
    signatures_by_name(reading)
    times.append(time.process_time())
    subject_of(reading, analysis)
    times.append(time.process_time())
    steps = ("its operations", "entries, and which Version they need", "op signatures", "forms")
    for step, (start, stop) in zip(steps, pairwise(times), strict=True):
        found[step] = (stop - start) / len(data)
    found["forms"] = max(0.0, found["forms"] - found["op signatures"])  # which it finds again
    return found


def _artifact(make: Callable[[int], bytes], n: int, folder: Path) -> Path:
    path = folder / "artifact.bc"
    path.write_bytes(make(n))
    return path


def _classes() -> Iterator[tuple[str, Callable[[int, Path], Path]]]:
    for name, make in ARTIFACTS.items():
        yield name, partial(_artifact, make)
    for name, container in CONTAINERS.items():
        yield name, container


def _points(make: Callable[[int, Path], Path]) -> dict[str, list[_Point]]:
    """Measure a class in three sizes, each job once."""
    found: dict[str, list[_Point]] = {job: [] for job in JOBS}
    with tempfile.TemporaryDirectory() as name:
        probe = Path(name, "probe")
        probe.mkdir()
        n = max(1, _PROBE * BYTES // size_of(make(_PROBE, probe)))
        for factor in (1, 2, 4):
            folder = Path(name, str(factor))
            folder.mkdir()
            path = make(factor * n, folder)
            for job in JOBS:
                taken = measured(job, path)
                found[job].append(_Point(size_of(path), taken.seconds, taken.resident))
    return found


def _slope(points: list[_Point], of: Callable[[_Point], float]) -> tuple[float, float]:
    """Return the cost of a byte, and how much it rises."""
    small, middle, large = points
    if not small.size < middle.size < large.size:
        return 0.0, 1.0  # all that it has is one large number
    whole = (of(large) - of(small)) / (large.size - small.size)
    first = (of(middle) - of(small)) / (middle.size - small.size)
    second = (of(large) - of(middle)) / (large.size - middle.size)
    return whole, second / first if first > 0 else 1.0


def main() -> None:
    """Print the table, the worst first; takes ten minutes."""
    rows: list[tuple[float, str]] = []
    bare, loads = [], []
    for name, make in _classes():
        sample = bytes(range(1, 256)) * 400
        loads.append(os.getloadavg()[0])
        bare.append(_bare(sample) / len(sample) * 1e6)
        points = _points(make)
        cells, worst = [], 0.0
        for job in JOBS:
            time_, rise = _slope(points[job], lambda point: point.seconds * 1e6)
            memory, _ = _slope(points[job], lambda point: point.resident)
            cells.append(f"{max(0.0, time_):.2f} ({rise:.1f}) | {max(0.0, memory):.0f}")
            worst = max(worst, time_)
        size = points["inspect"][-1].size
        rows.append((worst, f"| {name} | {size:,} | {' | '.join(cells)} |"))
        print(rows[-1][1], file=sys.stderr)  # to see how far it is
    print("# Time and memory for each byte\n")
    print(f"Written by `python -m {__spec__.name}`, which says how.\n")
    print(
        "A loop that decodes numbers from bytes and does nothing else took "
        f"{min(bare):.2f} to {max(bare):.2f} us for each byte on the same machine meanwhile, where "
        f"{min(loads):.0f} to {max(loads):.0f} processes waited for {os.cpu_count()} cores.\n"
    )
    print(
        f"One that decodes {_OPS:,} different operations and their types, and counts them, took "
        f"{_barely(_OPS) * 1e6:.2f} us for each byte of such an artifact. What `check` takes, step "
        "by step, without the start of a process and without its text:\n"
    )
    for name in _EXPLAINED:
        shares = ", ".join(f"{of} {value * 1e6:.2f}" for of, value in _shares(name, _OPS).items())
        print(f"- {name}: {shares} us")
    print()
    head = " | ".join(f"{job}: us/B | B/B" for job in JOBS)
    print(f"| class | bytes of the largest | {head} |")
    print("|---" * (2 + 2 * len(JOBS)) + "|")
    for _, row in sorted(rows, reverse=True):
        print(row)


if __name__ == "__main__":
    main()
