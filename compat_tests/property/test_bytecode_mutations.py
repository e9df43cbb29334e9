"""Damaged artifacts: a valid reading or `MalformedArtifact`, soon, and nothing else."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compat_tests.bytecode_samples import SAMPLES
from portable.bytecode import MalformedArtifact, read, read_header
from portable.bytecode import scan as scan_module
from portable.bytecode.fingerprint import fingerprint
from portable.bytecode.text import attribute_text, location_files, location_text, type_text
from portable.features import Strictness, analyze

DATA = Path(__file__).parents[1] / "data"
KEPT = sorted([*(DATA / "mutations").glob("*.mlirbc"), *(DATA / "crashers").glob("*.mlir.bc")])
ORIGINALS = [sample.data for sample in SAMPLES]
# Seeds are independent of each other, so that workers share them.
SEEDS, EACH = range(20), 1000
LIMIT = 0.25  # seconds of processor time


@pytest.fixture(params=[False, True], ids=["careful", "patterns"])
def _pace(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read with patterns whatever the size, or never."""
    size = 0 if request.param else 1 << 60
    monkeypatch.setattr(scan_module, "_COMPILE_WORTHWHILE", size)


def read_everything(data: bytes) -> None:
    """Ask the reader for all it can tell."""
    read_header(data)
    content = read(data)
    _ = content.resources
    for strictness in Strictness:
        analyze(content, strictness=strictness)
    pool = content.pool
    for op in content.operations():
        content.dictionary(op.attributes)
        content.property_attributes(op.name, op.properties)
        location_text(pool, op.location)
    for index in range(len(pool.types)):
        pool.type(index)
        type_text(pool, index)
    for index in range(len(pool.attributes)):
        pool.attribute(index)
        attribute_text(pool, index)
        location_text(pool, index)
    location_files(pool)
    fingerprint(content)


def outcome(data: bytes) -> bool:
    """Read everything; tell whether it was valid, and let any other error through."""
    began, error = time.process_time(), None
    try:
        read_everything(data)
    except MalformedArtifact as caught:
        error = caught
    assert time.process_time() - began < LIMIT
    assert error is None or (0 <= error.offset <= len(data) and "\n" not in str(error))
    return error is None


def _flip(chance: random.Random, data: bytearray, at: int) -> None:
    data[at] ^= 1 << chance.randrange(8)


def _replace(chance: random.Random, data: bytearray, at: int) -> None:
    data[at] = chance.choice((0, 1, 2, 3, 5, 0x7F, 0x80, 0xFE, 0xFF, chance.randrange(256)))


def _remove(chance: random.Random, data: bytearray, at: int) -> None:
    del data[at : at + chance.choice((1, 1, 2, 4, 16, 64))]


def _insert(chance: random.Random, data: bytearray, at: int) -> None:
    data[at:at] = chance.randbytes(chance.choice((1, 1, 2, 4, 9)))


def _copy(chance: random.Random, data: bytearray, at: int) -> None:
    length, source = chance.choice((1, 2, 4, 8, 32)), chance.randrange(4, len(data))
    data[at : at + length] = data[source : source + length]


def _cut(_: random.Random, data: bytearray, at: int) -> None:
    del data[at:]


def _graft(chance: random.Random, data: bytearray, at: int) -> None:
    other, length = chance.choice(ORIGINALS), chance.choice((4, 16, 64))
    source = chance.randrange(len(other))
    data[at : at + length] = other[source : source + length]


def _repeat(chance: random.Random, data: bytearray, at: int) -> None:
    data[at:at] = data[at : at + chance.choice((1, 4, 16, 200))] * chance.choice((1, 2, 20))


MUTATIONS: tuple[Callable[[random.Random, bytearray, int], None], ...] = (
    _flip, _replace, _remove, _insert, _copy, _cut, _graft, _repeat,
)  # fmt: skip


def mutate(chance: random.Random, original: bytes) -> bytes:
    """Damage an artifact in a few places behind its magic."""
    data = bytearray(original)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        if len(data) < 8:
            break
        chance.choice(MUTATIONS)(chance, data, chance.randrange(4, len(data)))
    return bytes(data)


@pytest.mark.usefixtures("_pace")
@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_once_broke_a_reader_does_so_no_more(path: Path) -> None:
    """Mutations that broke this reader, and those that kill jaxlib, are refused or read."""
    outcome(path.read_bytes())


@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_artifacts_are_malformed_or_valid(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of damaged artifacts: some are valid, most are malformed, none is anything else."""
    monkeypatch.setattr(scan_module, "_COMPILE_WORTHWHILE", 0 if seed % 2 else 1 << 60)
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    valid = sum(outcome(mutate(chance, chance.choice(ORIGINALS))) for _ in range(EACH))
    # Most places matter; a locator or a string that changes does not.
    assert EACH // 50 < valid < EACH // 2


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
