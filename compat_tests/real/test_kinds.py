"""Types and attributes with parts of wrong kinds: readers read those that are predicted to be."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.generators.kinds import artifacts
from compat_tests.helpers.eras import versions
from portable.artifact import Artifact
from portable.prediction import Subject, examine, predict
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

READER = Path(__file__).parents[1] / "helpers" / "forked_reader.py"
# What some Releases happen to survive: they take one thing for another, and read on.
LUCKY = (
    ("vhlo.axis_ref_v1/22.name = ", "refused or read, by what happens to lie in memory"),
    ("vhlo.tensor_v1/15.type = builtin.", "MLIR's own shaped types, by 0.6.2 to 0.10.0"),
    ("vhlo.mesh_v1/25.device_ids = vhlo.type_extensions_v1/18", "converted by nothing"),
    ("builtin.location_fused/13.metadata = vhlo.", "said to be not known"),
    ("vhlo.axis_ref_v1/22.sub_axis_info = vhlo.type_extensions_v1/18", "the same"),
)


@pytest.fixture(scope="module")
def subjects() -> dict[str, tuple[bytes, Subject]]:
    """Return every artifact with what predictions look at."""
    return {name: (data, examine(Artifact.from_bytes(data))) for name, data in artifacts()}


@pytest.mark.parametrize(
    "version",
    versions("0.4.33", "0.4.38", "0.5.3", "0.6.1", "0.6.2", "0.9.0", "0.9.1", "0.10.2", "0.12.0.1"),
)
def test_no_crash_and_no_refusal_is_unforeseen(
    version: str,
    subjects: dict[str, tuple[bytes, Subject]],
    release: Callable[[str], Environment],
    tmp_path: Path,
) -> None:
    """Every part of every type and attribute of VHLO, with everything that can be pointed to."""
    name = f"jaxlib {version}"
    asked, told = tmp_path / "asked", tmp_path / "told"
    asked.write_bytes(pickle.dumps([data for data, _ in subjects.values()]))
    python = release(name).python
    subprocess.run([python, "-I", READER, asked, told], check=True, timeout=300)
    surprises = []
    for (what, (_, subject)), mark in zip(subjects.items(), told.read_text(), strict=True):
        verdict = predict(subject, name)
        reads = verdict.compatible or verdict.stage > Stage.DECODE
        lucky = mark == "+" and any(what.startswith(start) for start, _ in LUCKY)
        if reads != (mark == "+") and not lucky:
            surprises.append((what, mark, str(verdict.reason)))
    assert not surprises
