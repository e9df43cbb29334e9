"""Change types, values and numbers of ops, and keep what real Releases do with the artifacts.

What jaxlib 0.4.33 and 0.12.0.1 make of each (`+` read, `-` refused, `x` crashed) is kept in
`compat_tests/data/retyped.json`, and which of them are predicted to be read and are not.

    python -m tools retyped            ask the Releases, write the file
    python -m tools retyped --judge    do not ask again
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import cache
from pathlib import Path

from compat_tests.adversarial.generators.retyped import changes, samples
from portable.releases import find_release
from portable.runtime.environments import Environments
from tools.byte_changes import ask, pack, predicted, unpack

__all__ = ["READERS", "RECORD", "artifacts"]

READERS = ("0.4.33", "0.12.0.1")
RECORD = Path(__file__).parent.parent / "compat_tests" / "data" / "retyped.json"


@cache
def artifacts() -> list[tuple[str, bytes]]:
    """Return what is changed in each artifact, and the artifact."""
    return [
        (f"{what.op} {what.part} at byte {what.offset} is {what.number}", data)
        for op, sample in samples().items()
        for what, data in changes(op, sample)
    ]


def main() -> int:
    """Ask, write the record, print what is predicted to be read and refused; 1 for the reverse."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--judge", action="store_true", help="do not ask the Releases again")
    made = artifacts()
    if parser.parse_args().judge:
        record = json.loads(RECORD.read_text("utf-8"))
    else:
        found = {
            reader: ask(
                Environments().get(find_release(f"jaxlib {reader}")).python,
                [data for _, data in made],
            )
            for reader in READERS
        }
        record = {"marks": {name: pack(told) for name, told in found.items()}}
    real = [unpack(record["marks"][reader]) for reader in READERS]
    record["green"], refused = [], 0
    for at, (what, data) in enumerate(made):
        pairs = {*zip(predicted(data, READERS), (one[at] for one in real), strict=True)}
        refused += ("-", "+") in pairs
        if pairs & {("+", "-"), ("+", "x")}:
            record["green"].append(what)
            print(f"predicted to be read and refused: {what}")
    print(f"{len(made)} artifacts, {refused} predicted to be refused and read")
    RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    return int(refused > 0)


if __name__ == "__main__":
    sys.exit(main())
