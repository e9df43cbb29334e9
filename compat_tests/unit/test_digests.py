"""The tables of recorded digests; `adversarial/test_downloads.py` compares downloads with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from portable.releases import releases
from portable.runtime.environments import Recipe, UnsupportedDistribution, digests
from portable.system.tables import InvalidTable


@pytest.mark.parametrize(
    "rows",
    [
        "numpy==1.0",
        "numpy==1.0 abc",
        f"numpy==1.0 {'a' * 64}  {'b' * 64}",
        f"[3.11 numpy] numpy==1.0\nml_dtypes==1.0 {'a' * 64}",
        f"[3.11 numpy<1] numpy==1.0\nnumpy==1.0 {'a' * 64}",
        f"[3.11 numpy ml_dtypes] numpy==1.0\nnumpy==1.0 {'a' * 64}",
    ],
)
def test_damaged_locks_are_refused(rows: str, tmp_path: Path) -> None:
    """A row without digests, a pin without a row, a requirement that no pin satisfies."""
    (tmp_path / "damaged.txt").write_text(rows, "utf-8")
    with pytest.raises(InvalidTable):
        digests.locks(tmp_path / "damaged.txt")


def test_every_release_is_locked() -> None:
    """With all that it depends on, to read and to execute; and no lock is for nobody."""
    wanted = set()
    for release in releases():
        for to_execute in (False, True):
            try:
                recipe = Recipe.of(release, to_execute=to_execute)
            except UnsupportedDistribution:
                continue
            assert digests.wheels(recipe.distribution, recipe.version), recipe.requirement
            if recipe.also:
                wanted.add((recipe.python, *sorted(recipe.also)))
    assert {("3.11", "numpy", "tensorflow==2.20.0")} <= wanted
    assert set(digests.locks()) == wanted
