"""Forward: what the installed Release writes for an older Version is what that Version wrote."""

from __future__ import annotations

import tomllib

import pytest

from compat_tests.helpers.sealed import CASES, CORPUS, canonical_artifact, is_excepted, scanner
from portable import Module, bindings
from portable.corpus import Case
from portable.corpus.coverage import COVERAGE
from portable.pinning.locations import Locations
from portable.pinning.pipeline import NotExpressible, serialize
from portable.version import Version
from tools.full_scan import TARGETS

FOREIGN = ("sdy",)
ROWS = tomllib.loads((CORPUS / COVERAGE).read_text("utf-8"))
CONDITIONS = [*ROWS["condition"], *ROWS["constraint"]]
LATER = [
    case
    for case in CASES.values()
    if case.first > Version.parse(TARGETS[0]) and case.family != "torch_xla"
]


def _module(case: Case) -> Module:
    library = bindings.find("jaxlib")
    driver = scanner()
    if case.first > Version.parse(driver.current):
        pytest.skip(f"needs {case.first}, this jaxlib has {driver.current}")
    module: Module = driver.sourceless(library.parse(case.program, library.context()))
    return module


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_serializes_from_its_first_version_on(case: Case) -> None:
    """For every target from `first` on, the artifact is what the Release of that time sealed."""
    module = _module(case)
    sealed = {str(artifact.target): artifact for artifact in case.artifacts}
    different = []
    for target in scanner().targets:
        if Version.parse(target) < case.first.target:
            continue
        artifact = serialize(
            module, target, expand=False, locations=Locations.KEEP, allow_dialects=FOREIGN
        )
        if target in sealed:
            theirs = canonical_artifact(case, sealed[target].path.read_bytes())
            if canonical_artifact(case, artifact.data) != theirs:
                different.append(target)
    assert bool(different) == is_excepted(case), different


@pytest.mark.parametrize("case", LATER, ids=lambda case: case.name)
def test_program_fails_below_its_first_version_with_the_right_feature(case: Case) -> None:
    """Below `first` nothing is written, and the error names a Feature that needs just `first`."""
    below = [t for t in TARGETS if Version.parse(t) < case.first.target]
    module = _module(case)
    for target in {below[0], below[-1]}:
        with pytest.raises(NotExpressible) as refused:
            serialize(
                module, target, expand=False, locations=Locations.KEEP, allow_dialects=FOREIGN
            )
        assert refused.value.minimum == case.first
        assert refused.value.features[0].version.first_target == case.first


@pytest.mark.parametrize("row", CONDITIONS, ids=lambda row: str(row["name"]))
def test_error_names_the_feature_of_the_condition(row: dict[str, str]) -> None:
    """One Version too low, the error names the op form, attribute or constraint to blame."""
    below = TARGETS[TARGETS.index(row["version"]) - 1]
    module = _module(CASES[row["above"]])
    with pytest.raises(NotExpressible) as refused:
        serialize(module, below, expand=False, locations=Locations.KEEP)
    assert row["feature"] in {feature.name for feature in refused.value.features}
