"""A few signals in every run; `kills 500` and `steps`, run as modules, send many."""

from pathlib import Path

import pytest

from compat_tests.adversarial.kills import BAD, KINDS, Killer
from compat_tests.adversarial.steps import Stepper

pytest.importorskip("jaxlib")

SOME = ("pin", "container", "gate", "pick", "releases-add", "repin-all")


@pytest.mark.parametrize("sent", ["KILL", "TERM"])
@pytest.mark.parametrize("kind", SOME)
def test_a_signal_tears_loses_and_leaves_nothing(kind: str, sent: str, tmp_path: Path) -> None:
    """Outputs are absent, as before, or whole; the next run sweeps what was left."""
    if {"audit", "plan"} & {word.split()[0] for word in KINDS[kind].before}:
        pytest.importorskip("pyarrow")
    counts = Killer(kind, tmp_path / "work", seed=7, sent=sent).kill(3)
    assert counts["killed"] + counts["too late"] == 3
    assert {name: counts[name] for name in BAD} == dict.fromkeys(BAD, 0)


@pytest.mark.parametrize("fault", ["KILL", "ENOSPC"])
def test_no_step_tears_loses_or_leaves_anything(fault: str, tmp_path: Path) -> None:
    """The same at each step of one command on the file system."""
    counts = Stepper("releases-add", tmp_path / "work", 0).step(fault)
    assert counts["steps"]
    assert {name: counts[name] for name in BAD} == dict.fromkeys(BAD, 0)
