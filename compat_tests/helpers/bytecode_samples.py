"""The artifacts of `compat_tests/data/bytecode`, with what is on record about each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SAMPLES", "Sample", "minimums"]

_DIRECTORY = Path(__file__).parents[1] / "data" / "bytecode"
_RECORD = json.loads((_DIRECTORY / "artifacts.json").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Sample:
    """One artifact that a real release wrote.

    Args:
        name: Its name, without ending.
        program: The program it was written from.
        target: The Target it was written for.
        format: The version of the bytecode format.
        sha256: The digest of its bytes.
    """

    name: str
    program: str
    target: str
    format: int
    sha256: str

    @property
    def data(self) -> bytes:
        """The artifact."""
        return (_DIRECTORY / f"{self.name}.mlirbc").read_bytes()

    @property
    def printed(self) -> str:
        """What jaxlib 0.12.0.1 prints of the artifact, without locations."""
        return (_DIRECTORY / f"{self.name}.vhlo.txt").read_text("utf-8")

    def __str__(self) -> str:
        return self.name


SAMPLES = tuple(
    Sample(name, row["program"], row["target"], row["format"], row["sha256"])
    for name, row in _RECORD["artifacts"].items()
)


def minimums() -> dict[str, str]:
    """Return the lowest target at which each program serializes, found by trying all targets."""
    found: dict[str, str] = _RECORD["minimum"]
    return {f"{program}.mlir": target for program, target in found.items()}
