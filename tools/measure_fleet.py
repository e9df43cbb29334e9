"""Measure audits and plans of many objects, in a folder or in a bucket.

Of the objects 1% are damaged and 10% containers, all of them small. Each audit and plan is a
process of its own, of which the time of the CPU, the whole time and the most memory are measured;
ratios of one run stand also where other work runs beside it. What an audit wrote is compared with
what was made: nothing is lost or twice.

Beside a second audit of a folder is measured what only looks at the state of each file.

    python -m tools measure_fleet /tmp/models --count 1000000      a new folder
    python -m tools measure_fleet s3://models --count 20000        an empty bucket
    python -m tools measure_fleet /tmp/models --count 100000 --kill here --kill dask
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import operator
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["main"]

DATA = Path(__file__).parents[1] / "compat_tests" / "data"
_MOST = 4096
"""How many bytes an object has at most: a block of the disk."""
_IN_FOLDER = 1000
_CHANGED = 1000
"""One of how many objects is written again."""
_RANGE = 32 << 10
"""What an audit reads of an object at most, and a bare read of a range too."""
_AT_ONCE = 16
_BARE = 20_000
"""How many bare reads of a range are measured."""
_EVERY_S = 0.02
_IN_PART = 1000
_PORTABLE = (sys.executable, "-I", "-m", "portable")
_PLANS = {
    "plan, one Release": ("--from", "jaxlib==0.9.1", "--to", "jaxlib==0.12.0.1"),
    "plan, many Releases": ("--from", "jaxlib>=0.5,<0.8", "--to", "jaxlib>=0.5"),
    "calendar": ("--today",),
}
_WALK = """
import os, sys
below = [sys.argv[1]]
while below:
    with os.scandir(below.pop()) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.path)
            else:
                entry.stat(follow_symlinks=False)
"""
_WALKS = {
    "a bare walk that looks at the state of each file": (sys.executable, "-I", "-S", "-c", _WALK),
    "GNU find that prints it": ("sh", "-c", "find \"$0\" -printf '%s %T@ %i %P\\0'"),
}
"""What a second audit of files has to do at least, and nothing else."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took.

    Args:
        cpu: Seconds of CPU time, of the user and of the system.
        wall: Seconds.
        memory: The most that was resident, bytes.
    """

    cpu: float
    wall: float
    memory: int


def main() -> int:
    """Make the objects where there are none, measure, and print a table; 1 where a row is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("place", metavar="PLACE")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--kill", choices=("here", "dask"), action="append", default=[],
                        help="kill clients, and on Dask a worker")  # fmt: skip
    parser.add_argument("--made", action="store_true", help="the objects are there already")
    parser.add_argument("--single-folder", action="store_true", help="all of them in one folder")
    chosen = parser.parse_args()
    per_folder = chosen.count if chosen.single_folder else _IN_FOLDER
    keys = [f"{at // per_folder:04}/{at:07}{_object(at)[0]}" for at in range(chosen.count)]
    write, bare = _bucket(chosen.place) if "://" in chosen.place else _folder(chosen.place)
    # Where they are made, those that another run has written again.
    _write(write, keys, range(0, chosen.count, _CHANGED if chosen.made else 1))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        fleet = Path(folder, "fleet.parquet")
        audit = ("audit", chosen.place, "-o", str(fleet))
        before = bare(keys[:_BARE])
        first = _measured("first audit", chosen.count, *_PORTABLE, *audit)
        if both := [*before, *bare(keys[:_BARE])]:
            share = chosen.count / first.wall * len(both) / sum(both)
            print(f"  {share:.2f} of the bare ranged reads before and after, "
                  f"{both[0]:,.0f} and {both[1]:,.0f} a second")  # fmt: skip
        wrong += _differs(fleet, chosen.place, keys)
        _write(write, keys, range(0, chosen.count, _CHANGED), other=1)
        again = _measured("again, 0.1% changed", chosen.count, *_PORTABLE, *audit)
        print(f"  {again.cpu / first.cpu:.3f} of the CPU time of the first, "
              f"{again.wall / first.wall:.3f} of the whole")  # fmt: skip
        if "://" not in chosen.place:
            for what, command in _WALKS.items():
                walk = _measured(what, chosen.count, *command, chosen.place)
                print(f"  {walk.cpu / first.cpu:.3f} of the CPU time of the first audit")
        wrong += _differs(fleet, chosen.place, keys)
        for name, words in _PLANS.items():
            asked = ("plan", str(fleet), *words, "--format", "json")
            _measured(name, chosen.count, *_PORTABLE, *asked)
        for where in chosen.kill:
            wrong += _killed(where, chosen.place, keys, fleet)
    return int(wrong > 0)


def _object(at: int) -> tuple[str, bytes]:
    """Return the ending and the bytes of an object."""
    artifacts, containers = _samples()
    if at % 100 == 99:
        return ".mlir.bc", artifacts[at % len(artifacts)][: 6 + at % 3]  # cut off in the producer
    if at % 10 == 5:
        return ".jax_exported", containers[at % len(containers)]
    return ".mlir.bc", artifacts[at % len(artifacts)]


@functools.cache
def _samples() -> list[list[bytes]]:
    return [
        [data for path in sorted(DATA.glob(names)) if len(data := path.read_bytes()) <= _MOST]
        for names in ("artifacts/*.bc", "containers/*.exported")
    ]


def _write(write: _Writing, keys: Sequence[str], which: range, other: int = 0) -> None:
    """Write some of the objects, several at once; with `other` as those that follow them."""

    def one(at: int) -> None:
        write(keys[at], _object(at + other)[1])

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for start in range(0, len(which), _IN_PART):
            for _ in pool.map(one, which[start : start + _IN_PART]):
                pass


_Writing: TypeAlias = "Callable[[str, bytes], object]"
_Bare: TypeAlias = "Callable[[Sequence[str]], list[float]]"


def _folder(place: str) -> tuple[_Writing, _Bare]:
    """Return what writes a file, and what measures bare reads: nothing, of files."""
    root = Path(place)

    def write(key: str, data: bytes) -> None:
        path = root / key
        try:
            path.write_bytes(data)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    return write, lambda _: []


def _bucket(place: str) -> tuple[_Writing, _Bare]:
    """Return what writes an object, and what returns how many a second bare ranged reads reach."""
    import obstore.store

    store = obstore.store.from_url(place)

    def read(key: str) -> None:
        obstore.get(store, key, options={"range": (0, _RANGE)}).bytes()

    def bare(keys: Sequence[str]) -> list[float]:
        start = time.perf_counter()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for _ in pool.map(read, keys):
                pass
        return [len(keys) / (time.perf_counter() - start)]

    return lambda key, data: obstore.put(store, key, data), bare


def _portable(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*_PORTABLE, *words], stdout=subprocess.DEVNULL)


def _measured(what: str, count: int, *words: str) -> Cost:
    start = time.perf_counter()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    memory = 0
    while True:
        # What wait4 says of memory is that of this process where it is more.
        memory = max(memory, _most(child.pid))
        time.sleep(_EVERY_S)
        ended, _, used = os.wait4(child.pid, os.WNOHANG)
        if ended:
            break
    child.returncode = 0  # it was waited for
    cost = Cost(used.ru_utime + used.ru_stime, time.perf_counter() - start, memory)
    print(
        f"{what}: {cost.cpu:.2f} s of CPU time ({count / cost.cpu:,.0f} objects a second), "
        f"{cost.wall:.1f} s in all, {cost.memory / 1e6:.0f} MB resident",
        flush=True,
    )
    return cost


_COMPARED = ["place", "inside", "size", "etag", "kind", "claimed", "error"]


def _rows(fleet: Path) -> Any:
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(fleet, columns=_COMPARED)
    # Equal words may have other numbers in another file.
    types = [one.type for one in rows.schema]
    words = [one.value_type if pyarrow.types.is_dictionary(one) else one for one in types]
    return rows.cast(pyarrow.schema(zip(rows.schema.names, words, strict=True)))


def _differs(fleet: Path, place: str, keys: Sequence[str]) -> bool:
    """Say whether an audit has other objects than were made, or one of them twice."""
    rows = _rows(fleet)
    artifacts = list(
        zip(*(rows.column(one).to_pylist() for one in ("place", "inside")), strict=True)
    )
    names = [name for name, _ in itertools.groupby(artifacts, operator.itemgetter(0))]
    damaged = len(rows) - rows.column("error").null_count
    good = (
        names == [f"{place.rstrip('/')}/{key}" for key in keys]
        and len(set(artifacts)) == len(artifacts)
        and damaged == sum(at % 100 == 99 for at in range(len(keys)))
    )
    print(f"  {len(names):,} objects in {len(rows):,} rows, {damaged:,} of them damaged: "
          f"{'as made' if good else 'NOT as made'}")  # fmt: skip
    return not good


def _killed(where: str, place: str, keys: Sequence[str], whole: Path) -> bool:
    """Kill the client three times and end the audit; on Dask once, and one of two workers."""
    fleet = whole.with_name(f"{where}.parquet")
    words = ["audit", place, "-o", str(fleet)]
    if where == "here":
        for turn in range(3):
            _kill(words, fleet, len(keys) * (turn + 1) // 4)
        _measured("the rest", len(keys), *_PORTABLE, *words)
    else:
        most = _killed_on_dask(words, fleet, len(keys))
        print(f"  {most / 1e6:.0f} MB resident in a worker at most")
    differs = not _rows(fleet).equals(_rows(whole))
    print(f"  rows {'differ from' if differs else 'are'} those of the audit that was not killed")
    return differs or _differs(fleet, place, keys)


def _kill(words: Sequence[str], fleet: Path, after: int) -> None:
    child = _portable(*words)
    while child.poll() is None and _kept(fleet) < after:
        time.sleep(_EVERY_S)
    child.kill()
    print(f"client killed: {child.wait()}, {_kept(fleet):,} objects are kept", flush=True)


def _kept(fleet: Path) -> int:
    """Return of how many objects the rows are safe at least, as each part has a thousand."""
    kept = (name for *_, names in os.walk(f"{fleet}.parts") for name in names)
    return _IN_PART * sum(name.endswith(".arrow") for name in kept)


def _killed_on_dask(words: list[str], fleet: Path, count: int) -> int:
    """Kill the client and one of two workers; return how much memory a worker took at most."""
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        words = [*words, "--cluster", cluster.scheduler_address]
        _kill(words, fleet, count // 4)
        child, most, client, killed = _portable(*words), 0, 0, False
        start = time.perf_counter()
        while child.poll() is None:
            workers = [worker.pid for worker in cluster.workers.values()]
            most, client = max(most, *map(_most, workers)), max(client, _most(child.pid))
            if not killed and _kept(fleet) >= count // 2:
                os.kill(workers[0], signal.SIGKILL)
                killed = True
                print(f"one of two workers killed, {_kept(fleet):,} objects are kept", flush=True)
            time.sleep(_EVERY_S)
    print(f"on Dask: exit status {child.returncode}, {time.perf_counter() - start:.1f} s in all, "
          f"{client / 1e6:.0f} MB resident in the client")  # fmt: skip
    return most


def _most(pid: int) -> int:
    """Return the most bytes that were resident of a process."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0
