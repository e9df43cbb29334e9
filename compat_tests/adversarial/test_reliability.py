"""What docs/reliability.md counts is what there is: each figure that can be counted is."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("flatbuffers", reason="writes Exported")

from compat_tests.adversarial import (
    test_hijack,
    test_injection,
    test_native,
    test_orphans,
    test_overlarge,
    test_special_files,
)
from compat_tests.adversarial.generators import (
    amplification,
    bypass,
    containers,
    depths,
    faults,
    injection,
    kinds,
    properties,
    special_files,
)

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
COMPILING = len(faults.COMPILING) * len(faults.FAULTS)
FIGURES = {
    "test_hijack.py": f"{len(test_hijack.COMMANDS)} commands",
    "gate bypass": f"{len(bypass.DISGUISES)} disguises",
    "special files as inputs": (
        f"{len(test_special_files.TAKES_A_FILE)} command lines x {len(special_files.INPUTS)} kinds"
    ),
    "special files as outputs": (
        f"{len(test_special_files.WRITES)} command lines x {len(special_files.OUTPUTS)} kinds"
    ),
    "injection (": (
        f"{len(test_injection.WORDS)} actions x {len(injection.HOSTILE)} hostile words"
    ),
    "names in runtimes": f"{len(test_injection.SOME)} texts in every string",
    "parts of a corpus": (
        f"{len(test_special_files.PARTS)} parts of a corpus in"
        f" {sum(map(len, test_special_files.PARTS.values()))} lines x {len(special_files.INPUTS)}"
    ),
    "faults (": f"{len(faults.COMMANDS) * len(faults.FAULTS)} without a compiler, {COMPILING} with",
    "nesting (": (f"{len(depths.ARTIFACTS)} generators of artifacts, {len(depths.TEXTS)} of text"),
    "far too large": f"{len(test_overlarge.LINES)} command lines x {len(test_overlarge.INPUTS)}",
    "parts of wrong kinds": f"{sum(1 for _ in kinds.artifacts()):,} artifacts",
    "properties of wrong kinds": f"{sum(1 for _ in properties.artifacts()):,} artifacts",
    "amplification (": f"{len(amplification.ARTIFACTS)} classes of tables",
    "amplification of containers": f"{len(containers.CONTAINERS)} generators",
    "leaks": f"{len(test_native.IN_PROCESS)} paths",
    "orphans": f"{len(test_orphans.CALLERS)} callers x 2 signals",
}


@pytest.mark.parametrize("row", FIGURES)
def test_the_page_counts_what_there_is(row: str) -> None:
    """A generator, command or fault that is added is counted there."""
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    (found,) = (line for line in rows if row in line.split("|")[1])
    assert FIGURES[row] in found
