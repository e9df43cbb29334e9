"""Small files stay small: time, memory and output are linear in the bytes, whatever they hold.

The limits on time are generous, since other things run beside the tests; what is quadratic passes
them by far.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from compat_tests.adversarial.generators.amplification import ARTIFACTS
from compat_tests.adversarial.measuring import measured

SIZE = 8000
FLOOR_SECONDS, FLOOR_BYTES = 2.0, 40 << 20
SECONDS, RESIDENT, PRINTED = 15e-6, 100, 100  # for each byte of input


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the peak of memory")
@pytest.mark.parametrize("job", ["inspect json", "predict"])
@pytest.mark.parametrize("name", ARTIFACTS)
def test_what_reads_an_artifact_is_linear(name: str, job: str, tmp_path: Path) -> None:
    """One child reads the artifact; it ends by itself, within bounds that its size gives."""
    path = tmp_path / "artifact.bc"
    path.write_bytes(ARTIFACTS[name](SIZE))
    size = path.stat().st_size
    taken = measured(job, path)
    assert taken.status in {0, 1}, taken.said
    assert "Traceback" not in taken.said
    assert taken.seconds < FLOOR_SECONDS + SECONDS * size
    assert taken.resident < FLOOR_BYTES + RESIDENT * size
    assert taken.printed < 10_000 + PRINTED * size
