"""Write what inspection and prediction say of the samples: `compat_tests/data/results.txt`.

python -m tools results                write it: a line and a digest for each sample
python -m tools results --show NAME    print all that is said of one, to compare two checkouts
python -m tools results --look NAME    print the line of `changes.txt` for a new artifact

Whether it is true other tests say, by real Releases. `compat_tests/property/test_results.py` names
the samples of which a change says something else: each field, each reason, the place of each error.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

from compat_tests.adversarial.generators.mutants import knowingly
from portable.bytecode import read, scan
from portable.bytecode.quick_scan import QuickScan
from portable.bytecode.view import View
from portable.errors import PortableError
from portable.features import Strictness
from portable.inspection import inspect, inspecting
from portable.prediction import examine, predict_all, subjects
from portable.releases import find_release
from portable.system.files import write_file
from portable.verdict import Stage
from tools.made_samples import made, printed
from tools.made_subjects import RELEASES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from portable.bytecode.encoding import Buffer
    from portable.inspection import Inspection
    from portable.prediction import Subject

__all__ = ["RECORD", "kept", "said", "samples", "wrong"]

ROOT = Path(__file__).parent.parent
DATA = ROOT / "compat_tests" / "data"
RECORD = DATA / "results.txt"
# Each byte of these is changed, of the others as many as stand here.
_SMALL = ("tan+1.4.0.mlir.bc", "mesh_inline+1.16.0.mlir.bc")
_CHANGED, _CHANGED_OF_A_CONTAINER, _CHANGED_OF_A_CASE = 8, 24, 1
_PARTS = 16
# Further changes, after which other forms are found, or another error: places, and whether an index
# or a number there is one more or one less.
CHANGES = DATA / "changes.txt"
# Numbers are changed, or sections, so that lengths stay right: by so many seeds, of each of these.
_NUMBERS, _DAMAGES, _DAMAGED = "numbers by seed", 5, {"artifacts", "generated"}
_CHANGE: dict[str, Callable[[int], int]] = {
    "^": lambda byte: byte ^ 1,
    "~": lambda byte: byte ^ 0x82,
    "+": lambda byte: (byte + 2) % 256,
    "-": lambda byte: (byte - 2) % 256,
}
_GATE = (
    "gate corpus/negative compat_tests/data/containers --for jaxlib>=0.5.3,<0.9 --as-of 2026-11-23"
)
_COMMANDS = {f"{_GATE} --format {one}" for one in ("text", "json", "junit", "github", "markdown")}


class Sample(NamedTuple):
    """What something is said of.

    Args:
        path: A file, or the folder of a container.
        changed: Which of its bytes are changed, one after the other, and by what.
    """

    path: Path
    changed: tuple[tuple[int, str], ...] = ()


@cache
def samples() -> dict[str, Sample]:
    """Return each sample by its name: artifacts, containers, what is damaged, a gate over them."""
    paths = [*sorted((DATA / "artifacts").glob("*.bc")), *sorted((DATA / "containers").glob("g*"))]
    paths += [one for of in (DATA / "generated", ROOT / "corpus/negative") for one in _inside(of)]
    cases = [_inside(one) for one in sorted((ROOT / "corpus").glob("*/*/artifacts"))]
    # One of each, of one Version or another, by its name: a new Case changes nothing else.
    of_cases = {of[min(sum(of[0].parts[-3].encode()) % 8, len(of) - 1)]: None for of in cases if of}
    telling = _telling()
    found = {}
    for path in (*paths, *of_cases):
        size = path.stat().st_size if path.is_file() else 0
        count = _CHANGED_OF_A_CASE if path in of_cases else _CHANGED
        count = _CHANGED_OF_A_CONTAINER if path.suffix == ".exported" else count
        # Not always the same remainder: sections, and the numbers in them, are aligned.
        step = max(1, (size - 30) // count) | 1
        changed = [(at, "^") for at in range(30 + step // 2, size, step)]
        if path.parent.name in _DAMAGED:
            changed += [(seed, _NUMBERS) for seed in range(_DAMAGES)]
        sample = Sample(path, (*changed, *telling.get(path.name, ())))
        found[path.relative_to(ROOT).as_posix()] = sample
    for name in _SMALL:
        path = DATA / "artifacts" / name
        for part in range(_PARTS):
            each = range(part, path.stat().st_size, _PARTS)
            changed = [(at, how) for at in each for how in "^~"]
            found[f"{path.relative_to(ROOT).as_posix()} from {part}"] = Sample(path, (*changed,))
    return found | dict.fromkeys((*sorted(_COMMANDS), *made()), Sample(ROOT))


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.bc"))


def _telling() -> dict[str, list[tuple[int, str]]]:
    """Return the changes that were found, by the name of the artifact."""
    found = {}
    for line in CHANGES.read_text("utf-8").splitlines():
        name, *changes = line.split()
        found[f"{name}.mlir.bc"] = [(int(one[:-1]), one[-1]) for one in changes]
    return found


def _changed(data: bytes, at: int, how: str) -> bytes:
    if how == _NUMBERS:
        return knowingly(random.Random(at), data)  # noqa: S311 - damage, no secrets
    return data[:at] + bytes([_CHANGE[how](data[at])]) + data[at + 1 :]


def said(name: str) -> Iterator[str]:
    """Yield all that is said of a sample."""
    if name in _COMMANDS:
        yield printed(name.split())
        return
    if name in made():
        yield from made()[name]()
        return
    path, changes = samples()[name]
    yield from _said(path, RELEASES)
    data = path.read_bytes() if changes else b""
    if path.suffix == ".bc":
        yield from _said_otherwise(path)
    for at, how in changes:
        yield f"byte {at} {how}:"
        yield from _said(_changed(data, at, how), RELEASES[-1:])


def _look(path: Path) -> Iterator[str]:
    """Yield changes of an artifact after which something else is found, each sort of it once."""
    data = path.read_bytes()
    text = {at for found in re.finditer(rb"[ -~]{5,}", data) for at in range(*found.span())}
    seen = {_found(data)}
    for at in sorted({*range(len(data))} - text):
        for how in "+-":
            found = _found(_changed(data, at, how))
            if found not in seen:
                seen.add(found)
                yield f"{at}{how}"


def _found(data: bytes) -> str:
    """Return the forms of an artifact, or its error without numbers."""
    try:
        known = subjects(inspect(data)).values()
        return json.dumps([one.forms for one in known], default=str)
    except PortableError as error:
        return re.sub(r"\d+", "N", str(error))


def _said(given: Path | bytes, releases: Iterable[str]) -> Iterator[str]:
    try:
        found = inspect(given, fingerprint=isinstance(given, Path))
        yield json.dumps(found.record())
        known = subjects(found)
        for entry, subject in known.items():
            yield json.dumps([entry, _subject(subject)], default=str)
        named = [find_release(one) for one in releases]
        for verdict in predict_all(known, named, stage=Stage.EXECUTE):
            said = verdict.record()
            # What was executed meanwhile changes nothing that is said.
            notes = [one for one in verdict.diagnostics if "executed on" not in one.message]
            yield json.dumps({**said, "diagnostics": [one.record() for one in notes]})
    except PortableError as error:
        yield json.dumps(error.record())


def _said_otherwise(path: Path) -> Iterator[str]:
    """Yield what StableHLO's serializer accepts, and what a quick scan and a View show."""
    data = path.read_bytes()
    try:
        yield json.dumps(inspect(path, strictness=Strictness.UPSTREAM).record())
        content = read(View(len(data), lambda first, last: data[first:last]))
        yield str(sorted((one.name, count) for one, count in content.scan().signatures.items()))
    except PortableError as error:
        yield json.dumps(error.record())
    try:
        quick = QuickScan(data)
        yield f"{quick.header} {quick.dialects} {sorted(quick.firsts.items())}"
    except Exception as error:  # noqa: BLE001 - of what is damaged it says that it may raise any
        yield type(error).__name__


def _subject(one: Subject) -> dict[str, object]:
    """Return what predictions know of an artifact, beside what `inspect` says."""
    return {
        "forms": dict(one.forms),
        "signatures": sorted(one.signatures or ()),
        "present": sorted(one.present),
        "removed": one.removed,
        "devices": one.devices,
        "opener": one.opener,
    }


def _digest(name: str) -> str:
    # Operations are read by patterns where these pay off, which depends on what was read before;
    # places of errors differ.
    size = 0 if len(name) % 2 else sys.maxsize
    with patch.object(scan, "_COMPILE_WORTHWHILE", size), _each_once():
        text = "\n".join(said(name))
    text = text.replace(str(ROOT), "")
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@contextmanager
def _each_once() -> Iterator[None]:
    """Look into the same bytes once: of what is in a container, most changes change one."""
    inspected = cache(inspecting._inspect)  # noqa: SLF001 - what inspects each artifact inside
    examined = cache(examine)

    def inspect_once(data: Buffer, *how: Any) -> Inspection:
        return inspected(bytes(data), *how)

    with ExitStack() as patches:
        patches.enter_context(patch.object(inspecting, "_inspect", inspect_once))
        for name in ("portable.prediction.subject", "portable.policy.gate"):
            patches.enter_context(patch.object(import_module(name), "examine", examined))
        yield


@cache
def kept() -> dict[str, str]:
    """Return the digest of each sample that was kept."""
    rows = (line.rpartition(" ") for line in RECORD.read_text("utf-8").splitlines())
    return {name: digest for name, _, digest in rows}


def wrong(names: list[str]) -> list[str]:
    """Return the samples of which something else is said than what was kept."""
    return [name for name in names if kept().get(name) != _digest(name)]


def _spread(text: str) -> str:
    """Return a document with a line for each value, so that two can be compared."""
    try:
        return json.dumps(json.loads(text), indent=1)
    except ValueError:
        return text


def main() -> int:
    """Write what is said, or show it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--show", metavar="NAME", help="print what is said of one sample")
    parser.add_argument("--look", metavar="NAME", type=Path, help="print telling changes of one")
    chosen = parser.parse_args()
    if chosen.look:
        print(chosen.look.name.removesuffix(".mlir.bc"), *_look(chosen.look))
    elif chosen.show:
        print(*map(_spread, said(chosen.show)), sep="\n")
    else:
        rows = "".join(f"{name} {_digest(name)}\n" for name in samples())
        write_file(RECORD, rows.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
