"""Any bytes in any place of an artifact: a valid reading or `MalformedArtifact`, soon.

Mutants by the thousand are in `compat_tests/adversarial/test_mutants.py`.
"""

from __future__ import annotations

import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compat_tests.adversarial import reading
from compat_tests.helpers.bytecode_samples import SAMPLES

ORIGINALS = [sample.data for sample in SAMPLES]
LIMIT = 2.0  # seconds of processor time


def outcome(data: bytes) -> None:
    """Read everything, and let any error through that is not of this project."""
    began = time.process_time()
    reading.artifact(data)
    assert time.process_time() - began < LIMIT


@given(sample=st.sampled_from(ORIGINALS), data=st.data())
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_bytes_in_any_place(sample: bytes, data: st.DataObject) -> None:
    """Whatever is written over any part of an artifact, reading ends in one of two ways."""
    at = data.draw(st.integers(0, len(sample)))
    stop = data.draw(st.integers(at, min(len(sample), at + 64)))
    outcome(sample[:at] + data.draw(st.binary(max_size=64)) + sample[stop:])


@given(st.binary(max_size=300))
@settings(max_examples=500, deadline=None)
def test_any_bytes_behind_a_header(content: bytes) -> None:
    """Whatever follows a valid header, reading ends in one of two ways."""
    outcome(b"ML\xefR\x0dStableHLO_v1.0.0\0" + content)
