"""Observe which of twelve real jaxlibs read the artifacts of every generated Program.

Each Program is written by the newest jaxlib at three targets: its lowest, the newest, and one in
the middle. Every artifact then goes to every reader, one process per Release. The matrix is the
truth that a required Version is judged by.

    python -m tools observe_readers           write compat_tests/data/readers.json
    python -m tools observe_readers --check   observe again, exit 1 if it differs
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.system.worker import Status
from tools.full_scan import NEVER, TARGETS, Scanner, load_minimums
from tools.programs import load_programs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


__all__ = ["DATA", "READERS", "load_observed", "observe", "three_targets"]

DATA = Path(__file__).parent.parent / "compat_tests" / "data" / "readers.json"
READERS = (
    "0.4.13", "0.4.18", "0.4.21", "0.4.26", "0.4.30", "0.4.33",
    "0.4.36", "0.5.3", "0.6.2", "0.8.0", "0.10.2", "0.12.0.1",
)  # fmt: skip
# One character for each reader, in the order of READERS.
_MARKS = {Status.OK: "1", Status.REFUSED: "0", Status.CRASHED: "x", Status.HUNG: "h"}


def three_targets(minimum: str) -> tuple[str, ...]:
    """Return the targets a Program is written at: its lowest, one in the middle, the newest."""
    lowest = TARGETS.index(minimum)
    middle = (lowest + len(TARGETS) - 1) // 2
    return tuple(dict.fromkeys((minimum, TARGETS[middle], TARGETS[-1])))


def observe(reader: str, artifacts: Iterable[Path]) -> list[str]:
    """Have one jaxlib read artifacts.

    Args:
        reader: The jaxlib release.
        artifacts: The files.

    Returns:
        A mark for each: 1 read, 0 refused, x crashed, h hung.
    """
    environment = Environments().get(find_release(f"jaxlib {reader}"))
    jobs = ({"kind": "read", "path": str(path)} for path in artifacts)
    with environment.worker() as worker:
        return [_MARKS[answer.status] for answer in worker.ask_all(jobs)]


def load_observed() -> dict[tuple[str, str], str]:
    """Read the derived file: the marks of READERS by Program name and target."""
    by_marks: Mapping[str, Mapping[str, Iterable[str]]] = json.loads(DATA.read_text("utf-8"))[
        "read"
    ]
    return {
        (name, target): marks
        for marks, by_target in by_marks.items()
        for target, names in by_target.items()
        for name in names
    }


def _write_artifacts(folder: Path) -> dict[tuple[str, str], Path]:
    scanner, minimums = Scanner(), load_minimums()
    written = {}
    for program in load_programs():
        if minimums[program.name] == NEVER:
            continue
        for target in three_targets(minimums[program.name]):
            artifact = scanner.serialize(program.text, target)
            assert artifact is not None, f"{program.name} no longer serializes at {target}"
            path = folder / f"{program.name}+{target}"
            path.write_bytes(artifact)
            written[program.name, target] = path
    return written


def _observe_all() -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        written = _write_artifacts(Path(folder))
        columns = list(pool.map(lambda reader: observe(reader, written.values()), READERS))
    read: dict[str, dict[str, list[str]]] = {}
    for (name, target), *marks in zip(written, *columns, strict=True):
        read.setdefault("".join(marks), {}).setdefault(target, []).append(name)
    return {
        "about": "Which jaxlibs read the artifacts of tools/families, written at three targets:"
        " one mark for each reader (1 read, 0 refused, x crashed, h hung), then target, names.",
        "producer": f"jaxlib {importlib.metadata.version('jaxlib')}",
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "readers": list(READERS),
        "read": {
            marks: {t: sorted(by_target[t]) for t in TARGETS if t in by_target}
            for marks, by_target in sorted(read.items())
        },
    }


def main() -> int:
    """Write the derived file, or check it with `--check`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    observed = _observe_all()
    if arguments.check:
        if json.loads(DATA.read_text("utf-8"))["read"] == observed["read"]:
            return 0
        print(f"{DATA.name} is out of date: run python -m tools observe_readers", file=sys.stderr)
        return 1
    DATA.write_text(json.dumps(observed, indent=None, separators=(",", ":")) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
