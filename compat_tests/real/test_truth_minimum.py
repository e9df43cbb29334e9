"""The minimum target of thousands of programs, against a full scan of real serialization."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from compat_tests.helpers.truth import wrong_minimums
from portable.bytecode import read
from portable.features import Strictness, analyze
from tools.full_scan import TARGETS, Scanner, load_minimums
from tools.observe_readers import three_targets
from tools.programs import Program, load_programs

FAMILIES = sorted({program.family for program in load_programs()})


@pytest.fixture(scope="module")
def scanner() -> Scanner:
    """Return the installed jaxlib, driven without any code of `portable`."""
    return Scanner()


def _writable(scanner: Scanner, family: str) -> list[tuple[Program, str]]:
    """Return the programs that the installed jaxlib can express, with the scanned minimum."""
    minimums = load_minimums()
    return [
        (program, minimums[program.name])
        for program in load_programs()
        if program.family == family and minimums[program.name] in scanner.targets
    ]


def test_there_are_thousands_of_programs() -> None:
    """The truth covers at least 2,000 programs, and each has a scanned minimum."""
    names = [program.name for program in load_programs()]
    assert len(names) >= 2000
    assert set(names) == set(load_minimums())


@pytest.mark.parametrize("family", FAMILIES)
def test_minimum_target_equals_the_lowest_target_that_serializes(
    scanner: Scanner, family: str
) -> None:
    """For artifacts written at three Versions, both strictnesses give the scanned minimum.

    The stricter one may only differ where the program says which target an old reader really
    reads: location ranges and the storage of per-axis quantized types pass the serializer
    unchecked.
    """
    assert not wrong_minimums(scanner, _writable(scanner, family))


@pytest.mark.parametrize("family", FAMILIES)
def test_scanned_minimum_is_observed_again(scanner: Scanner, family: str) -> None:
    """Scanning one program in twenty again finds what is on record: it is no stale copy."""
    again = {
        program.name: scanner.minimum(program.text)
        for program, _ in _writable(scanner, family)[::20]
    }
    minimums = load_minimums()
    assert again == {name: minimums[name] for name in again}


def test_every_condition_is_on_both_sides() -> None:
    """The programs are spread over the Versions: every minor that introduced one is there."""
    counted = Counter(load_minimums().values())
    silent = {"0.12.0", "0.13.0", "0.14.0", "0.15.0", "0.20.0", "1.0.0", "1.11.0"}
    assert set(TARGETS) - set(counted) == silent


ROOT = Path(__file__).parents[2]
WHOLE = [*ROOT.glob("corpus/whole_programs/*/program.mlir"), *ROOT.glob("docs/examples/*.mlir")]


@pytest.mark.parametrize("path", sorted(WHOLE), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_whole_programs_agree_with_a_full_scan(scanner: Scanner, path: Path) -> None:
    """So do the programs of the corpus that are no single feature, and the examples of JAX."""
    text = path.read_text("utf-8")
    lowest = scanner.minimum(text)
    for target in three_targets(lowest):
        if target in scanner.targets:
            artifact = scanner.serialize(text, target)
            assert artifact is not None
            found = analyze(read(artifact), strictness=Strictness.UPSTREAM)
            assert str(found.minimum.version) == lowest
