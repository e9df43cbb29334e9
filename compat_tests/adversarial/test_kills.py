"""A few kills in every run; `python -m compat_tests.adversarial.kills 500` does many."""

from pathlib import Path

import pytest

from compat_tests.adversarial.kills import KINDS, Killer

pytest.importorskip("jaxlib")


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"matrix", "env"}))
def test_a_kill_tears_loses_and_leaves_nothing(kind: str, tmp_path: Path) -> None:
    """Outputs are absent, as before, or whole; the next run sweeps what was left."""
    counts = Killer(kind, tmp_path / "work", seed=7).kill(4)
    assert counts["killed"] + counts["too late"] == 4
    assert {name: counts[name] for name in ("torn", "lost", "twice", "left behind")} == {
        "torn": 0,
        "lost": 0,
        "twice": 0,
        "left behind": 0,
    }
