"""Of distributions with one compiler or reader: what one fails on, and others were not tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from portable.artifact import Artifact
from portable.prediction import examine, predict
from portable.releases import Release, Specifier, find_release, releases
from portable.releases.advisory import advisories, advisories_for, unread_for, untried_for
from portable.releases.table import normalize_name, rows
from portable.verdict import Outcome, Stage

ARTIFACTS = sorted((Path(__file__).parents[1] / "data" / "artifacts").glob("*.mlir.bc"))
TENSORFLOW = find_release("tensorflow", "2.21.0")
OTHERS = [TENSORFLOW, find_release("torch-xla", "2.9.0")]
_OF_JAXLIB = {
    one.feature
    for one in advisories()
    if one.distribution == "jaxlib" and one.stage >= Stage.COMPILE
}


def _untried(release: Release) -> set[str]:
    """Return what jaxlib fails on in some Release, once compiled, and no row says of this one."""
    tried = {
        row.text("feature")
        for row in rows("tried", "tried")
        if normalize_name(row.text("distribution")) == release.distribution
        and Specifier.parse(row.text("specifier")).contains(release.version)
    }
    return _OF_JAXLIB - tried - {one.feature for one in advisories_for(release)}


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_every_form_that_the_other_fails_on_is_untried(other: Release) -> None:
    """Of all Advisories on jaxlib that compiling or executing shows, those without a twin."""
    found = untried_for(other, _OF_JAXLIB)
    assert {one.feature for one in found} == _untried(other)
    assert {one.distribution for one in found} == {"jaxlib"}
    assert untried_for(find_release("jaxlib", "0.9.1"), _OF_JAXLIB) == ()
    assert not {one.id for one in found} & {one.id for one in advisories_for(other)}


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_nothing_untried_is_green(other: Release) -> None:
    """Of every sample: that it compiles is not said where jaxlib fails on a form that it has."""
    doubted, untried = 0, _untried(other)
    for path in ARTIFACTS:
        artifact = Artifact.load(path)
        has = untried & examine(artifact).forms.keys()
        verdict = predict(artifact, other, stage=Stage.EXECUTE)
        if has:
            assert not verdict.compatible, path.name
            doubted += verdict.outcome is Outcome.NOT_KNOWN
    assert doubted > 20


@pytest.mark.parametrize(
    ("version", "feature", "says"),
    [
        ("2.18.1", "constant of f8E4M3FNUZ or f8E5M2FNUZ", False),
        ("2.19.1", "constant of f8E4M3FNUZ or f8E5M2FNUZ", True),
        # An Advisory is about older ones alone, or about newer ones: the others were tried, or not.
        ("2.17.1", "compare of the square or abs of an integer with zero", False),
        ("2.18.1", "compare of the square or abs of an integer with zero", True),
        ("2.15.1", "gather by single unsigned indices", False),
        ("2.20.0", "gather by single unsigned indices", True),
        ("2.18.1", "op:vhlo.composite_v1", True),
        ("2.16.2", "remainder of bf16 and a constant of different numbers", True),
        ("2.20.0", "batching dimensions of gather or scatter", True),
    ],
)
def test_what_was_tried_and_computed_right_is_known(version: str, feature: str, says: bool) -> None:
    """Of the Releases in which it was executed; of one before or behind these nothing is said."""
    release = find_release("tensorflow", version)
    assert not advisories_for(release, {feature})
    assert bool(untried_for(release, {feature})) is not says


def test_what_was_tried_is_what_another_fails_on() -> None:
    """Where a form has another name, what was tried with it says nothing any more."""
    features = {(one.distribution, one.feature) for one in advisories()}
    stale = [
        row.where
        for row in rows("tried", "tried")
        if not any(
            (other, row.text("feature")) in features
            for other in ("jaxlib", "tensorflow", "torch-xla")
            if other != normalize_name(row.text("distribution"))
        )
    ]
    assert stale == []


def test_what_was_tried_is_green() -> None:
    """In every Release from the oldest on in which its programs were executed."""
    path = next(one for one in ARTIFACTS if one.name.startswith("layout_of_another_rank"))
    for version in ("2.14.1", "2.18.1", "2.21.0"):
        verdict = predict(path, f"tensorflow {version}", stage=Stage.EXECUTE)
        assert verdict.holds(Stage.EXECUTE), verdict
    path = next(one for one in ARTIFACTS if one.name.startswith("vectors_masked+"))
    for version in ("2.1.0", "2.5.1", "2.9.0"):
        verdict = predict(path, f"torch-xla {version}", stage=Stage.EXECUTE)
        assert verdict.holds(Stage.EXECUTE), verdict


@pytest.mark.parametrize("stage", [Stage.DECODE, Stage.COMPILE])
def test_what_was_not_tried_is_named_where_it_is_asked_for(stage: Stage) -> None:
    """The reason says which Releases of the other fail; of reading nothing is said."""
    path = next(one for one in ARTIFACTS if one.name.startswith("sort_second_from_the_end"))
    verdict = predict(path, TENSORFLOW, stage=stage)
    said = [one.what for one in verdict.not_known if "not tried on tensorflow; jaxlib" in one.what]
    assert bool(said) is (stage is Stage.COMPILE)
    assert verdict.compatible is (stage is Stage.DECODE)


# IREE 3.13.0 and CUDA 0.9.2, 0.11.2 and 0.12.0.1 end by SIGABRT; the others were not executed.
TWO_BITS = Path(__file__).parents[1] / "adversarial" / "data" / "integer_i2+1.3.0.mlir.bc"


@pytest.mark.parametrize(
    ("release", "outcome"),
    [
        ("iree-base-compiler 3.13.0", Outcome.NOT_KNOWN),
        ("tensorflow 2.21.0", Outcome.NOT_KNOWN),
        ("torch-xla 2.9.0", Outcome.NOT_KNOWN),
        ("jax-cuda12-pjrt 0.9.0", Outcome.NOT_KNOWN),
        ("libtpu 0.0.52", Outcome.NOT_KNOWN),
        ("jax-cuda13-pjrt 0.9.2", Outcome.CRASHED),
        ("jaxlib 0.12.0.1", Outcome.CRASHED),
    ],
)
def test_what_a_reader_crashes_on_is_green_nowhere(release: str, outcome: Outcome) -> None:
    """All readers are built from the sources of that one, and few of them were tried with it."""
    verdict = predict(TWO_BITS, release)
    assert (verdict.outcome, verdict.stage) == (outcome, Stage.DECODE)


def test_what_readers_fail_on_is_not_known_of_others_of_the_same_versions() -> None:
    """Of every Advisory on reading: where a Release has a Version of those jaxlibs, and no row."""
    reading = [
        one
        for one in advisories()
        if one.distribution == "jaxlib"
        and one.stage < Stage.COMPILE
        and not one.feature.startswith("dialect:")
    ]
    every = {one.feature for one in reading}
    jaxlibs = releases("jaxlib")
    newest = max(one.current for one in jaxlibs)
    for release in releases():
        said = {one.feature for one in advisories() if one.distribution == release.distribution}
        expected = set()
        for one in reading:
            versions = [each.current for each in jaxlibs if one.applies_to(each)]
            last = release.current if max(versions) == newest else max(versions)
            if min(versions) <= release.current <= last and one.feature not in said:
                expected.add(one.id)
        found = {one.id for one in unread_for(release, every)}
        assert found == (set() if release.distribution == "jaxlib" else expected), release
