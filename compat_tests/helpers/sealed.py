"""The corpus as the tests use it: loaded once a process, and never through the code it judges."""

from __future__ import annotations

import functools
import importlib.metadata
from pathlib import Path
from typing import TYPE_CHECKING

from portable.corpus import Case, Sealed, load_corpus
from portable.releases import matching_releases
from portable.verdict import Stage
from portable.version import Version
from tools.full_scan import Scanner

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CASES",
    "CORPUS",
    "canonical_artifact",
    "canonical_program",
    "different",
    "is_excepted",
    "readable",
    "scanner",
]

CORPUS = Path(__file__).parents[2] / "corpus"
CASES = {case.name: case for case in load_corpus(CORPUS)}


@functools.cache
def scanner() -> Scanner:
    """Return the installed jaxlib, driven without any code of `portable`."""
    return Scanner()


def readable(case: Case) -> list[Sealed]:
    """Return the sealed artifacts of a Case that the installed jaxlib promises to read."""
    current = Version.parse(scanner().current).target
    return [sealed for sealed in case.artifacts if sealed.target.target <= current]


def is_excepted(case: Case) -> bool:
    """Say whether the installed jaxlib is known not to keep the program of a Case."""
    release = f"jaxlib {importlib.metadata.version('jaxlib')}"
    return any(
        known.stage is Stage.ROUNDTRIP
        and release in {str(each) for each in matching_releases(known.consumer)}
        for known in case.exceptions
    )


def canonical_program(case: Case) -> str | None:
    """Return the program of a Case in the one form that equal programs share.

    None where the installed jaxlib is too old for the program.
    """
    driver = scanner()
    try:
        draft = driver.serialize(
            case.program, driver.targets[-1], mixed="sdy." in case.program, sourceless=True
        )
    except driver.parse_error:
        return None
    return None if draft is None else canonical_artifact(case, draft)


def canonical_artifact(case: Case, artifact: bytes) -> str | None:
    """Return an artifact in that form, with locations where the Case is about them."""
    return scanner().canonical(artifact, locations=case.family == "locations")


def different(case: Case, artifacts: Iterable[bytes]) -> list[int]:
    """Return which artifacts are not read, or not as the program of the Case.

    Args:
        case: The Case; its program must be one that the installed jaxlib can express.
        artifacts: The bytes of each.
    """
    expected = canonical_program(case)
    assert expected is not None, f"{case.name} is too new for the installed jaxlib"
    return [
        number
        for number, artifact in enumerate(artifacts)
        if canonical_artifact(case, artifact) != expected
    ]
