"""Damaged containers: a valid reading or `MalformedContainer`, soon, and nothing else.

What can be read can be replaced too: the copy then holds exactly what was put into it. Mutants that
are only read are in `compat_tests/adversarial/test_mutants.py`.
"""

import random
import time
from pathlib import Path

import pytest

from compat_tests.adversarial.generators.mutants import blindly
from portable.bytecode import MAGIC
from portable.containers import (
    MalformedContainer,
    NoArtifact,
    NotAContainer,
    TooLarge,
    open_container,
)
from portable.containers.folder import Folder
from portable.containers.npy import read_array

ROOT = Path(__file__).parents[2]
CONTAINERS = ROOT / "compat_tests" / "data" / "containers"
EXPORTED = [
    (CONTAINERS / f"gate-vjp2-jax-{version}.exported").read_bytes()
    for version in ("0.4.30", "0.9.0", "0.12.0.1")
]
SAVED_MODELS = [
    (CONTAINERS / name / "saved_model.pb").read_bytes()
    for name in ("gate-jax2tf-0.7.1-tensorflow-2.20.0", "graph-tensorflow-2.20.0")
]
SEEDS, EACH = range(8), 250
LIMIT = 0.25  # seconds of processor time


def held(source: bytes | Path, to: Path, luck: random.Random) -> bool:
    """Read, replace and read again; tell whether it was valid, and let other errors through."""
    began = time.process_time()
    try:
        container = open_container(source)
        entries = container.artifacts()
        assert entries
        before = {entry.name: bytes(entry) for entry in entries}
        new = {
            entry.name: MAGIC + luck.randbytes(luck.choice([0, 1, len(entry.data), 3000]))
            for entry in entries
            if luck.random() < 0.8
        }
        container.replace(new, to=to)
    except (MalformedContainer, NotAContainer, NoArtifact, TooLarge):
        return False
    finally:
        assert time.process_time() - began < LIMIT
    copy = open_container(to).artifacts()
    assert {entry.name: bytes(entry) for entry in copy} == before | new
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_exported(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flatbuffer of any layout; some damage hits what nobody reads."""
    monkeypatch.setattr("os.fsync", lambda _: None)  # the disk is not what is tested
    luck = random.Random(seed)  # noqa: S311 - damage, no secrets
    valid = sum(
        held(blindly(luck, luck.choice(EXPORTED), EXPORTED, 0), tmp_path / "copy", luck)
        for _ in range(EACH)
    )
    assert 0 < valid < EACH


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_saved_models(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A protobuf with what leads to the artifact damaged, or anything else."""
    monkeypatch.setattr("os.fsync", lambda _: None)
    luck = random.Random(seed)  # noqa: S311 - damage, no secrets
    (tmp_path / "model").mkdir()
    valid = 0
    for number in range(EACH):
        data = blindly(luck, luck.choice(SAVED_MODELS), SAVED_MODELS, 0)
        (tmp_path / "model" / "saved_model.pb").write_bytes(data)
        valid += held(tmp_path / "model", tmp_path / str(number), luck)
    assert 0 < valid < EACH


@pytest.mark.parametrize("seed", SEEDS)
def test_headers_of_arrays(seed: int, tmp_path: Path) -> None:
    """Whatever stands in one is parsed as data, never run, and nothing else is raised."""
    luck = random.Random(seed)  # noqa: S311 - damage, no secrets
    atoms = ["{", "}", "(", ")", "[", "]", "'descr'", "'shape'", ":", ",", "-", "*", "9", "1e999"]
    atoms += ["'<f4'", "'|O'", "None", "True", "'fortran_order'", "**", "b''", "9" * 5000, "j"]
    for _ in range(EACH):
        text = "".join(luck.choices(atoms, k=luck.randrange(1, 60))).encode()
        head = b"\x93NUMPY\1\0" + (len(text) % 65536).to_bytes(2, "little") + text
        (tmp_path / "array").write_bytes(head)
        try:
            read_array(Folder(str(tmp_path)), "array")
        except MalformedContainer:
            continue
