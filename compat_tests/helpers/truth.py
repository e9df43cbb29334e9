"""The comparison of minimum targets with the truth, apart so that it is tested itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode import read
from portable.features import Strictness, analyze
from tools.observe_readers import three_targets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.full_scan import Scanner
    from tools.programs import Program

__all__ = ["wrong_minimums"]


def wrong_minimums(
    scanner: Scanner, programs: Iterable[tuple[Program, str]]
) -> list[tuple[str, ...]]:
    """Compare what the analysis says with the scanned minimum, for three artifacts a program.

    Args:
        scanner: Writes the artifacts.
        programs: Each with the lowest target that a full scan found.

    Returns:
        Program, target, both answers and the truth, where they are not the same.
    """
    wrong: list[tuple[str, ...]] = []
    for program, minimum in programs:
        for target in three_targets(minimum):
            if target not in scanner.targets:
                continue
            artifact = scanner.serialize(program.text, target)
            assert artifact is not None, f"{program.name} does not serialize at {target}"
            content = read(artifact)
            upstream = str(analyze(content, strictness=Strictness.UPSTREAM).minimum.version)
            readable = str(analyze(content, strictness=Strictness.READABLE).minimum.version)
            if (upstream, readable) != (minimum, program.first or minimum):
                wrong.append((program.name, target, upstream, readable, minimum))
    return wrong
