"""Change every byte of small artifacts, and compare predictions with what real Releases do.

Each byte becomes 0, 1, 255, one more, one less, and itself with each of its bits flipped. What
jaxlib 0.10.2 and 0.12.0.1 make of each artifact (`+` read, `-` refused, `x` crashed) is kept in
`compat_tests/data/byte_changes.json`, with the changes that are predicted to be read and are not;
tests compare predictions with it.

    python -m tools byte_changes            ask the Releases, write the file, print the table
    python -m tools byte_changes --judge    do not ask again
"""

from __future__ import annotations

import argparse
import base64
import json
import pickle
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.artifact import Artifact
from portable.errors import PortableError
from portable.prediction import examine, predict
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["ARTIFACTS", "READERS", "RECORD", "ask", "changes", "pack", "predicted", "unpack"]

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "compat_tests" / "data" / "byte_changes.json"
READERS = ("0.10.2", "0.12.0.1")
_READER = ROOT / "compat_tests" / "helpers" / "forked_reader.py"
_CASES = ROOT / "corpus"
_DATA = ROOT / "compat_tests" / "data" / "artifacts"
# Regions and branches in five formats, dictionaries, bounds, an order of uses, a second dialect.
ARTIFACTS = {
    path.parents[1].name + "+" + path.name.split("+")[0]: path
    for path in (
        _CASES / "control_flow/case_2_branches_f32/artifacts/0.10.0+jaxlib-0.4.13.mlir.bc",
        _CASES / "reductions/reduce_empty_dimensions_f32/artifacts/0.12.0+jaxlib-0.4.13.mlir.bc",
        _CASES / "control_flow/case_2_branches_f32/artifacts/0.14.0+jaxlib-0.4.18.mlir.bc",
        _CASES / "control_flow/while_i32/artifacts/1.22.0+jaxlib-0.12.0.mlir.bc",
        _CASES / "attributes/discardable_dictionary_on_op/artifacts/1.22.0+jaxlib-0.12.0.mlir.bc",
        _CASES / "dynamism/bounded_add_f32/artifacts/1.7.0+jaxlib-0.4.33.mlir.bc",
    )
} | {name: _DATA / f"{name}.mlir.bc" for name in ("add_f32+0.14.0", "sdy+1.11.0")}


def changes(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield where a byte is changed, to what, and the artifact with it.

    Args:
        data: The artifact.
    """
    for at, old in enumerate(data):
        flipped = {old ^ 1 << bit for bit in range(8)}
        for new in sorted({0, 1, 255, (old + 1) % 256, (old - 1) % 256, *flipped} - {old}):
            yield at, new, data[:at] + bytes([new]) + data[at + 1 :]


def ask(python: Path, artifacts: Sequence[bytes]) -> str:
    """Have a Release read artifacts; return a mark for each.

    Args:
        python: The Python of its environment.
        artifacts: The artifacts.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder, "asked"), Path(folder, "told")
        asked.write_bytes(pickle.dumps(list(artifacts)))
        subprocess.run([python, "-I", _READER, asked, told], check=True)
        return told.read_text()


def predicted(data: bytes, readers: Sequence[str] = READERS) -> list[str]:
    """Return for each reader the mark of what is predicted, `?` where that is not known.

    Args:
        data: The artifact.
        readers: The Versions of jaxlib.
    """
    try:
        subject = examine(Artifact.from_bytes(data))
    except PortableError:
        return ["-"] * len(readers)
    found = []
    for reader in readers:
        verdict = predict(subject, f"jaxlib {reader}")
        later = verdict.compatible or verdict.stage > Stage.DECODE
        unknown = any(one.stage <= Stage.DECODE for one in verdict.not_known)
        if verdict.outcome is Outcome.NOT_KNOWN or (later and unknown):
            found.append("?")
        else:
            found.append("+" if later else "-")
    return found


def unpack(packed: str) -> str:
    """Return what `pack` made small."""
    return zlib.decompress(base64.b85decode(packed)).decode()


def pack(found: str) -> str:
    """Make a long text fit for a record: the marks of what was found, or artifacts."""
    return base64.b85encode(zlib.compress(found.encode(), 9)).decode()


def main() -> int:
    """Ask and judge, write the record, print the table; 1 if something that is read is refused."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--judge", action="store_true", help="do not ask the Releases again")
    judge = parser.parse_args().judge
    record: dict[str, Any] = json.loads(RECORD.read_text("utf-8")) if judge else {}
    refused = 0
    for name, path in ARTIFACTS.items():
        made = list(changes(path.read_bytes()))
        row = record.setdefault(name, {"marks": {}})
        for reader in () if judge else READERS:
            python = Environments().get(find_release(f"jaxlib {reader}")).python
            row["marks"][reader] = pack(ask(python, [data for _, _, data in made]))
        real = [unpack(row["marks"][reader]) for reader in READERS]
        counts: Counter[str] = Counter()
        row["green"], row["lucky"] = ({reader: [] for reader in READERS} for _ in range(2))
        for at, (offset, value, data) in enumerate(made):
            for reader, found, one in zip(READERS, real, predicted(data), strict=True):
                counts[one + found[at]] += 1
                kind = {"+-": "green", "+x": "green", "-+": "lucky"}.get(one + found[at])
                if kind:
                    row[kind][reader].append([offset, value])
        refused += counts["-+"]
        print(
            f"{name}: {2 * len(made)} of two readers, {counts['+-']} predicted to be read and "
            f"refused, {counts['+x']} and crashed, {counts['-+']} refused and read"
        )
    RECORD.write_text(
        json.dumps(record, separators=(",", ":")).replace('"marks"', '\n"marks"') + "\n"
    )
    return int(refused > 0)


if __name__ == "__main__":
    sys.exit(main())
