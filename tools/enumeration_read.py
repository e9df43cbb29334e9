"""Have old jaxlibs read what `tools/enumeration.py` writes, and compare with what is predicted.

The serializer's tables and the readers' verifiers are two things: a program that is written for a
Version may be refused by the verifier of a Release of it. Every program of the enumeration is
written by the installed jaxlib for its lowest Version, and each Release of `observe_readers` reads
it in one process.

    python -m tools enumeration_read                    every program, which takes hours
    python -m tools enumeration_read --part 3/50        one part of them
    python -m tools enumeration_read --only dot_general --readers 0.4.13 0.4.26

What differs is printed by op, Release and what was observed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tools.byte_changes import predicted
from tools.enumeration import Enumeration, part
from tools.full_scan import Scanner
from tools.observe_readers import READERS, observe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Misread", "misread"]

_READ = "1"
# Whether a verifier takes these is undefined: of one library, some processes do and others do not.
_STORED_IN_FLOATS = "!quant.uniform<f"
_SHOWN = 4


class Misread(NamedTuple):
    """Programs of one op that one Release did not read as predicted."""

    op: str
    reader: str
    predicted: str
    mark: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.op} on jaxlib {self.reader}: {len(self.names)} programs, predicted "
            f"{self.predicted}, observed {self.mark}: {', '.join(self.names[:_SHOWN])}"
        )


def misread(programs: Iterable[tuple[str, bytes]], readers: Sequence[str]) -> list[Misread]:
    """Compare what Releases read with what is predicted.

    Args:
        programs: The name and the artifact of each, by the installed jaxlib; of equal artifacts the
            first counts, and none of quantized types that are stored in floats.
        readers: The jaxlibs.

    Returns:
        Where they do not agree, by op, Release, prediction and observation.
    """
    kept = [(name, artifact) for name, artifact in programs if _STORED_IN_FLOATS not in name]
    names = {artifact: name for name, artifact in reversed(kept)}
    groups: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, str(number)) for number in range(len(names))]
        for path, artifact in zip(paths, names, strict=True):
            path.write_bytes(artifact)
        observed = {reader: observe(reader, paths) for reader in readers}
    for number, (artifact, name) in enumerate(names.items()):
        for reader, expected in zip(readers, predicted(artifact, readers), strict=True):
            mark = observed[reader][number]
            if (mark == _READ) != (expected == "+"):
                groups[name.partition(" ")[0], reader, expected, mark].append(name)
    return [Misread(*key, tuple(found)) for key, found in sorted(groups.items())]


def main() -> int:
    """Enumerate, have the Releases read, and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--part", type=part, default=(1, 1), metavar="I/N")
    parser.add_argument("--only", default="", metavar="OP")
    parser.add_argument("--readers", nargs="+", default=READERS, metavar="VERSION")
    arguments = parser.parse_args()
    programs = list(Enumeration(Scanner(), part=arguments.part, only=arguments.only).lowest())
    found = misread(programs, arguments.readers)
    for one in found:
        print(one)
    print(f"{len(programs)} programs, {len(arguments.readers)} Releases", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
