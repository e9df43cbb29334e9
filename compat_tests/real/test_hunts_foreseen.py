"""What hunts found wrong on a Release is not said to be right there."""

from __future__ import annotations

import json

import pytest

from portable import pin, predict
from portable.fuzz.causes import grouped
from portable.fuzz.hunted import Hunted
from portable.verdict import Stage
from tools.hunt import KEPT

# Said to be right all the same, and why.
_GREEN = {
    "interpreter-irfft-odd": "the interpreter that judged is wrong",
    "interpreter-total-order": "the interpreter that judged is wrong",
    "convolution-padding-skipped": "it depends on infinities in the kernel, which may be any",
}
_NOT_FOUND_AGAIN = {"2026-11-23-b-power-f32-nan-for-a-number-9d84c2"}
CAUSES = {
    f"{path.stem}-{cause.name}": cause
    for path in sorted(KEPT.glob("*.json"))
    for group in grouped(Hunted.from_record(json.loads(path.read_text("utf-8"))).causes)
    if not group.open and group.id not in _GREEN
    for cause, _ in group.causes
    if cause.program and f"{path.stem}-{cause.name}" not in _NOT_FOUND_AGAIN
}


@pytest.mark.parametrize("name", CAUSES)
def test_a_defect_that_was_found_is_not_green(name: str) -> None:
    """Of each program that a hunt reduced, on each Release that computed something else."""
    artifact = pin(CAUSES[name].program, "current").artifact
    green = [
        release
        for release in CAUSES[name].releases
        if predict(artifact, release, stage=Stage.EXECUTE).compatible
    ]
    assert not green
