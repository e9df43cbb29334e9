"""Changed types and numbers of ops: real jaxlibs still make of them what predictions rest on."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.generators.mutants import knowingly
from compat_tests.helpers.eras import versions
from compat_tests.helpers.thorough import some
from portable.bytecode import MalformedArtifact
from tools.byte_changes import ask, predicted, unpack
from tools.retyped import READERS, RECORD, artifacts

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

CORPUS = Path(__file__).parents[2] / "corpus"
_EACH, _MUTANTS, _LARGEST, _SEED = 7, 2_000, 4_000, 2026


@pytest.mark.parametrize("reader", READERS)
def test_releases_do_what_is_on_record(reader: str, release: Callable[[str], Environment]) -> None:
    """One in seven of all changes."""
    record = unpack(json.loads(RECORD.read_text("utf-8"))["marks"][reader])
    made = [data for _, data in artifacts()][::_EACH]
    assert ask(release(f"jaxlib {reader}").python, made) == record[::_EACH]


@pytest.mark.parametrize(
    "reader", some(versions("0.4.38", "0.5.3", "0.7.2", "0.10.2", "0.12.0.1"), each=5, first=4)
)
def test_damaged_artifacts_are_read_if_they_are_predicted_to_be(
    reader: str, release: Callable[[str], Environment]
) -> None:
    """Of numbers changed anywhere: all that are read but one or two, which readers read by luck."""
    luck = random.Random(_SEED)  # noqa: S311 - repeatable, not secret
    paths = [
        path
        for path in sorted(CORPUS.rglob("artifacts/*.mlir.bc"))
        if path.stat().st_size < _LARGEST
    ]
    made: list[bytes] = []
    while len(made) < _MUTANTS:
        data = luck.choice(paths).read_bytes()
        try:
            made.append(knowingly(luck, data))
        except MalformedArtifact:
            continue
    found = ask(release(f"jaxlib {reader}").python, made)
    pairs = [(predicted(data, [reader])[0], mark) for data, mark in zip(made, found, strict=True)]
    read = sum(mark == "+" for mark in found)
    assert read > _MUTANTS / 20
    assert pairs.count(("-", "+")) <= read / 50
    assert pairs.count(("+", "-")) <= read / 20
