"""Damaged artifacts and containers: a reading or an error of this project, soon, and nothing else.

`PORTABLE_MUTANTS=100000` makes so many instead of the usual five thousand.
"""

from __future__ import annotations

import io
import os
import random
import shutil
import time
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial import reading
from compat_tests.adversarial.generators import amplification
from compat_tests.adversarial.generators.mutants import blindly, knowingly
from compat_tests.helpers.bytecode_samples import SAMPLES
from portable.bytecode import scan as scan_module
from portable.inspection.brackets import markers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).parents[2]
DATA = ROOT / "compat_tests" / "data"
REGRESSIONS = Path(__file__).parent / "regressions"
ARTIFACTS = [sample.data for sample in SAMPLES]
ARTIFACTS += [path.read_bytes() for path in sorted((DATA / "artifacts").glob("*.mlir.bc"))]
ARTIFACTS += [make(6) for name, make in amplification.ARTIFACTS.items() if "function" in name]
EXPORTED = [path.read_bytes() for path in sorted((DATA / "containers").glob("*.exported"))]
SAVED_MODELS = [path.read_bytes() for path in sorted((DATA / "containers").glob("*/*.pb"))]
TORCH_XLA = ROOT / "corpus" / "torch_xla" / "torch_xla_2_9_0" / "container"
LIBRARY = b"\x7fELF\x02\x01\x01" + bytes(57) + "\0".join([*markers(), ""]).encode()
KEPT = sorted([
    *(DATA / "mutations").glob("*.mlirbc"),
    *(DATA / "crashers").glob("*.mlir.bc"),
    *(REGRESSIONS / "artifact").glob("*"),
])  # fmt: skip
# A damaged sample of a few kilobytes takes a hundredth of this.
LIMIT = 2.0
SEEDS = range(10)
EACH = int(os.environ.get("PORTABLE_MUTANTS", "5000")) // len(SEEDS)


def _soon(read: Callable[[bytes], bool], data: bytes) -> bool:
    """Read; let any other error through, and whatever takes long."""
    began = time.process_time()
    valid = read(data)
    assert time.process_time() - began < LIMIT
    return valid


@pytest.fixture(params=[False, True], ids=["careful", "patterns"])
def _pace(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read operations with patterns whatever the size, or never."""
    monkeypatch.setattr(scan_module, "_COMPILE_WORTHWHILE", 0 if request.param else 1 << 60)


@pytest.mark.usefixtures("_pace")
@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_once_broke_a_reader_does_so_no_more(path: Path) -> None:
    """Finds of fuzzing and of mutation, and those that kill jaxlib, are refused or read."""
    _soon(reading.artifact, path.read_bytes())


@pytest.mark.parametrize("path", sorted((REGRESSIONS / "exported").glob("*")), ids=lambda p: p.stem)
def test_what_once_broke_the_reader_of_exported(path: Path) -> None:
    """The same for containers of jax.export."""
    _soon(reading.exported, path.read_bytes())


@pytest.mark.parametrize(
    "path", sorted((REGRESSIONS / "saved_model").glob("*")), ids=lambda p: p.stem
)
def test_what_once_broke_the_reader_of_saved_models(path: Path, tmp_path: Path) -> None:
    """The same for SavedModels."""
    _soon(partial(reading.saved_model, folder=tmp_path), path.read_bytes())


@pytest.mark.parametrize("seed", SEEDS)
def test_artifacts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three in five mutants: everything is inspected, digested, analysed and predicted."""
    monkeypatch.setattr(scan_module, "_COMPILE_WORTHWHILE", 0 if seed % 2 else 1 << 60)
    luck = random.Random(seed)  # noqa: S311 - repeatable, not secret
    valid, count = 0, EACH * 3 // 5
    for number in range(count):
        original = luck.choice(ARTIFACTS)
        blind = number % 2
        mutant = blindly(luck, original, ARTIFACTS) if blind else knowingly(luck, original)
        valid += _soon(reading.artifact, mutant)
    assert 0 < valid < count


def _mutants(
    seed: int, originals: Sequence[bytes], read: Callable[[bytes], bool], start: int = 0
) -> None:
    luck = random.Random(seed)  # noqa: S311 - repeatable, not secret
    count = EACH // 10
    valid = sum(
        _soon(read, blindly(luck, luck.choice(originals), originals, start)) for _ in range(count)
    )
    assert valid < count


@pytest.mark.parametrize("seed", SEEDS)
def test_exported(seed: int) -> None:
    """Flatbuffers, and the artifacts inside."""
    _mutants(seed, EXPORTED, reading.exported)


@pytest.mark.parametrize("seed", SEEDS)
def test_saved_models(seed: int, tmp_path: Path) -> None:
    """Protobufs, and the artifacts inside."""
    _mutants(seed, SAVED_MODELS, partial(reading.saved_model, folder=tmp_path))


@pytest.mark.parametrize("seed", SEEDS)
def test_descriptions(seed: int, tmp_path: Path) -> None:
    """The JSON of a torch_xla directory, which names files and shapes."""
    folder = tmp_path / "container"
    shutil.copytree(TORCH_XLA, folder)
    original = (folder / "functions" / "forward.meta").read_bytes()
    _mutants(seed, [original], partial(reading.torch_xla, folder=folder))


def archive() -> bytes:
    """Return a small wheel with a library."""
    with io.BytesIO() as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr("a/lib.so", LIBRARY)
            wheel.writestr("a/METADATA", b"Name: a")
        return stream.getvalue()


@pytest.mark.parametrize("seed", SEEDS)
def test_runtimes(seed: int) -> None:
    """Shared libraries, and archives whose directory, sizes and methods are damaged."""
    _mutants(seed, [LIBRARY, archive(), archive()], reading.runtime, 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_arrays(seed: int, tmp_path: Path) -> None:
    """The header of an array is Python that nobody runs."""
    originals = [path.read_bytes() for path in sorted((TORCH_XLA / "data").iterdir())]
    _mutants(seed, originals, partial(reading.npy, folder=tmp_path))
