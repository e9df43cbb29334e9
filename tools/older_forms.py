"""Have an old jaxlib write what newer ones refuse, and keep which Releases read it.

A verifier that became stricter refuses what no library of today would write: only one of that time
does. Programs of one op are changed at random, in a type or a number or two: what an old jaxlib
writes, and the installed library does not take, is read by Releases on both sides. Of each op some
that the same Releases read are kept in `compat_tests/data/older_forms.json`.

    python -m tools older_forms 40000           write and read them, keep what is new in the record
    python -m tools older_forms 40000 --seed b  others
    python -m tools older_forms 40000 --writer 0.5.0

Where a Release reads otherwise than predicted it is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from portable import bindings
from portable.bindings import LibraryError
from portable.fuzz import one_op_programs
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.system.worker import Status
from tools.byte_changes import pack, predicted, unpack
from tools.observe_readers import observe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["READERS", "RECORD", "Older", "changed", "load_older", "main", "without_properties"]

RECORD = Path(__file__).parent.parent / "compat_tests" / "data" / "older_forms.json"
_WRITER = "0.4.24"
READERS = (
    "0.4.13", "0.4.18", "0.4.19", "0.4.20", "0.4.21", "0.4.22", "0.4.23", "0.4.24", "0.4.25",
    "0.4.26", "0.4.27", "0.4.28", "0.4.29", "0.4.30", "0.5.0", "0.10.2", "0.12.0.1",
)  # fmt: skip
_TARGETS = ("0.9.0", "0.16.0")
# How many are kept of one op that the same Releases read.
_KEPT = 3
_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)([a-z]\w*(?:<[^<>]*>)?)>")
_NUMBER = re.compile(r"(?<![\w.%#x<-])-?\d+(?=(?: : i64|,|\]|>))")
_PROPERTIES = re.compile(r" <\{(.*)\}>")
_ELEMENTS = ("f32", "f64", "i32", "i64", "i1", "f16", "bf16", "ui8", "complex<f32>", "i8")
_YOUNGER = re.compile("quant|f[468]E|f4|f6")


class Older(NamedTuple):
    """An artifact that an old jaxlib wrote.

    Args:
        op: The op that was changed.
        data: The artifact.
        marks: For each of `READERS` 1 where it reads it, 0 where not, x where it crashes.
    """

    op: str
    data: bytes
    marks: str


def load_older() -> list[Older]:
    """Return what is kept."""
    kept = json.loads(unpack(json.loads(RECORD.read_text("utf-8"))))
    return [Older(op, base64.b64decode(data), marks) for op, data, marks in kept]


def _keep(found: Iterable[Older]) -> None:
    rows = [(one.op, base64.b64encode(one.data).decode(), one.marks) for one in sorted(found)]
    RECORD.write_text(json.dumps(pack(json.dumps(rows))) + "\n", "utf-8")


def changed(count: int, seed: str) -> Iterator[tuple[str, str]]:
    """Yield programs of one op in which a type or a number is another, each with its op.

    Args:
        count: How many are tried.
        seed: Another seed has others.
    """
    chosen = random.Random(seed)  # noqa: S311 - the same programs of a seed, no secrets
    programs = [one for one in one_op_programs() if not _YOUNGER.search(one.program.text)]
    for _ in range(count):
        one = chosen.choice(programs)
        text = one.program.text
        for _ in range(chosen.choice((1, 1, 2))):
            change = chosen.choice((_retyped, _retyped, _renumbered))
            text = change(text, chosen)
        if text != one.program.text:
            yield one.form.op, text


def _retyped(text: str, chosen: random.Random) -> str:
    found = chosen.choice([*dict.fromkeys(one[0] for one in _TENSOR.finditer(text))] or [""])
    of = _TENSOR.fullmatch(found)
    if of is None:
        return text
    sizes, element = of[1].split("x")[:-1], of[2]
    at = chosen.randrange(len(sizes) + 1)
    match chosen.randrange(6):
        case 0 if sizes:
            sizes[at - 1] = "?"
        case 1:
            sizes = ["*"]
        case 2:
            element = chosen.choice(_ELEMENTS)
        case 3 if sizes:
            sizes[at - 1] = chosen.choice("012346")
        case 4 if sizes:
            sizes.pop(at - 1)
        case _:
            sizes.insert(at, chosen.choice("12?"))
    new = f"tensor<{'x'.join([*sizes, element])}>"
    # A constant has the values of its type.
    return "\n".join(
        line if "dense<" in line else line.replace(found, new) for line in text.split("\n")
    )


def _renumbered(text: str, chosen: random.Random) -> str:
    lines = text.split("\n")
    places = [
        (at, number.span())
        for at, line in enumerate(lines)
        if _PROPERTIES.search(line)
        for number in _NUMBER.finditer(line)
    ]
    if places:
        at, (begin, end) = chosen.choice(places)
        lines[at] = f"{lines[at][:begin]}{chosen.choice((-1, 0, 1, 2, 3))}{lines[at][end:]}"
    return "\n".join(lines)


def without_properties(text: str) -> str:
    """Return a program as it was written before ops had properties: with attributes at the end.

    Args:
        text: In the generic form, each op on a line of its own, or from a line to another.
    """
    lines, open_ops = [], list[str]()
    for line in text.split("\n"):
        found = _PROPERTIES.search(line)
        plain, given = line, f" {{{found[1]}}}" if found else ""
        if found:
            plain = line[: found.start()] + line[found.end() :]
        if plain.endswith("({"):  # its attributes stand behind its bodies
            open_ops.append(given)
        elif found:
            plain = line[: found.start()] + given + line[found.end() :]
        elif plain.strip().startswith("})") and open_ops:
            plain = plain.replace("})", "})" + open_ops.pop(), 1)
        lines.append(plain)
    return "\n".join(lines)


def _written(programs: Iterable[tuple[str, str]], writer: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield op, text and artifact of what a jaxlib writes and the installed one refuses."""
    library = bindings.find("jaxlib")
    context = library.context()
    with Environments().get(find_release(f"jaxlib {writer}")).worker() as worker:
        for op, text in programs:
            old = without_properties(text)
            for target in _TARGETS:
                job = {"kind": "write", "text": old, "target": target, "want": ["artifact"]}
                answer = worker.ask(job)
                if answer.status is Status.OK:
                    try:
                        library.parse(text, context)
                    except LibraryError:
                        yield op, text, base64.b64decode(answer.payload["artifact"])
                    break


def _marks(artifacts: Sequence[bytes]) -> list[str]:
    """Return the `marks` of artifacts."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{number}.mlir.bc") for number in range(len(artifacts))]
        for path, data in zip(paths, artifacts, strict=True):
            path.write_bytes(data)
        columns = [observe(reader, paths) for reader in READERS]
    return ["".join(marks) for marks in zip(*columns, strict=True)]


def _otherwise(one: Older) -> str:
    """Return for which Releases something else is predicted than was seen, in words."""
    right = {"+": "1", "-": "0x"}
    return ", ".join(
        f"{reader}: predicted {said}, seen {mark}"
        for reader, said, mark in zip(READERS, predicted(one.data, READERS), one.marks, strict=True)
        if mark not in right.get(said, "")
    )


def main() -> int:
    """Write, read, keep, compare; return 1 where a prediction is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("count", type=int, metavar="N", help="how many programs are tried")
    parser.add_argument("--seed", default="a", help="another seed has other programs")
    parser.add_argument("--writer", default=_WRITER, help="the jaxlib that writes them")
    chosen = parser.parse_args()
    written = [*_written(changed(chosen.count, chosen.seed), chosen.writer)]
    marks = _marks([data for _, _, data in written])
    found, wrong = [], []
    for (op, text, data), seen in zip(written, marks, strict=True):
        found.append(Older(op, data, seen))
        if says := _otherwise(found[-1]):
            wrong.append(found[-1])
            print(f"{op}: {says}", text, sep="\n")
    kept = load_older() if RECORD.exists() else []
    counts = Counter((one.op, one.marks) for one in kept)
    known = {one.data for one in kept}
    for one in wrong + found:
        if one.data not in known and counts[one.op, one.marks] < _KEPT:
            counts[one.op, one.marks] += 1
            known.add(one.data)
            kept.append(one)
    _keep(kept)
    print(f"{len(found)} artifacts, {len(wrong)} read otherwise; {len(kept)} are kept")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
