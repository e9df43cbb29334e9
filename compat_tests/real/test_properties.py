"""Properties of ops that are of other kinds: what is not read was not predicted to be."""

from __future__ import annotations

import os
import pickle
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.generators.properties import artifacts, needless
from compat_tests.helpers.eras import versions
from portable.prediction import predict
from portable.prediction.parts import property_kinds
from portable.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

READER = Path(__file__).parents[1] / "helpers" / "forked_reader.py"
# One in so many of 11,880.
EVERY = int(os.environ.get("PORTABLE_PROPERTIES_SHARE", "61"))


@pytest.mark.parametrize("version", versions("0.4.33", "0.9.1", "0.12.0.1"))
def test_no_crash_and_no_refusal_is_predicted_to_be_read(
    version: str, release: Callable[[str], Environment], tmp_path: Path
) -> None:
    """Every property of every op of VHLO, with attributes of every kind that is not its own."""
    name = f"jaxlib {version}"
    chosen = [
        (f"{what} = {kind}", data)
        for what, kind, data in artifacts(EVERY)
        if kind.dialect != "vhlo" or kind.layout.name not in property_kinds()[what.field]
    ]
    marks = _read([data for _, data in chosen], release(name), tmp_path)
    surprises = [
        (what, mark)
        for (what, data), mark in zip(chosen, marks, strict=True)
        if mark != "+" and predict(data, name).outcome is Outcome.COMPATIBLE
    ]
    assert not surprises


@pytest.mark.parametrize("version", versions("0.4.33", "0.9.1", "0.12.0.1"))
def test_an_op_that_has_no_properties_takes_none(
    version: str, release: Callable[[str], Environment], tmp_path: Path
) -> None:
    """An empty entry is refused too: MLIR reads properties by an interface that the op lacks."""
    name = f"jaxlib {version}"
    found = [data for _, data in needless()]
    assert _read(found, release(name), tmp_path) == "-" * len(found)
    assert {predict(data, name).outcome for data in found} == {Outcome.INCOMPATIBLE}


def _read(artifacts: list[bytes], environment: Environment, folder: Path) -> str:
    """Return what became of each artifact: read (+), refused (-), or anything else."""
    asked, told = folder / "asked", folder / "told"
    asked.write_bytes(pickle.dumps(artifacts))
    subprocess.run([environment.python, "-I", READER, asked, told], check=True, timeout=600)
    return told.read_text()
