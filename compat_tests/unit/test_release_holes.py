"""Releases that are not in the table: between two of it, older, newer, and without a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version as PackageVersion

from portable import Version
from portable.prediction import predict
from portable.releases import (
    Confidence,
    UnknownRelease,
    distributions,
    find_release,
    matching_releases,
    named_consumers,
    published_releases,
    releases,
    resolve_target,
)


def test_a_hole_is_not_answered_as_measured() -> None:
    """jax-rocm7-pjrt 0.6.0 was read, not asked, and the answer says so."""
    target = resolve_target("jax-rocm7-pjrt>=0.6")
    assert target.version == Version(1, 10, 0)
    assert target.confidence is Confidence.STATIC
    assert "at least 1.10.0, below 1.12.0" in target.reason


def test_a_release_that_nobody_read_is_bracketed() -> None:
    """Both neighbours stand in the answer: `libtpu 0.0.40.9` was never published."""
    target = resolve_target("libtpu==0.0.40.9")
    assert target.confidence is Confidence.BRACKETED
    assert "between libtpu 0.0.40" in target.reason


@pytest.mark.parametrize(
    ("spec", "version"), [("tensorflow~=2.18", (1, 7, 0)), ("jax-cuda12-pjrt==0.6.0", (1, 10, 0))]
)
def test_no_hole_is_left_where_every_member_was_asked(
    spec: str, version: tuple[int, int, int]
) -> None:
    """Each Release that the specifier contains was measured; so is the answer."""
    target = resolve_target(spec)
    assert target.version == Version(*version)
    assert target.confidence is Confidence.MEASURED


@pytest.mark.parametrize("name", distributions())
def test_every_published_release_is_bracketed_by_its_neighbours(name: str) -> None:
    """It has the lower current and the higher minimum of the next Releases in the table."""
    known = sorted(releases(name), key=lambda one: PackageVersion(one.version))
    missing = [one for one in published_releases(name) if one not in known]
    for release in missing:
        version = PackageVersion(release.version)
        before = [one for one in known if PackageVersion(one.version) < version][-1]
        after = next(one for one in known if PackageVersion(one.version) > version)
        assert release.confidence is Confidence.BRACKETED
        assert not release.listed
        assert release.current == min(before.current, after.current)
        minima = [one.minimum for one in (before, after) if one.minimum]
        assert release.minimum == max(minima, default=None)
        assert before.version in release.evidence
        assert after.version in release.evidence
    assert all(release.listed for release in known)


def test_every_hole_of_every_distribution_is_found_by_a_specifier() -> None:
    """A specifier is never answered better than the worst of the Releases published in it."""
    for name in distributions():
        for release in published_releases(name):
            spec = f"{name}>={release.version}"
            later = [
                one
                for one in published_releases(name)
                if PackageVersion(one.version) >= PackageVersion(release.version)
            ]
            assert resolve_target(spec).version == min(one.target for one in later)
            assert set(matching_releases(spec)) >= {*later} - {r for r in later if r.yanked}


def test_a_release_that_nobody_published_is_bracketed_when_it_is_named() -> None:
    """A build of one's own between two Releases is at least what the older one is."""
    private = find_release("jaxlib 0.6.1.post7")
    assert (private.current, private.below) == (Version(1, 10, 9), Version(1, 11, 1))
    assert resolve_target("jaxlib==0.6.1.post7").binding == private
    with pytest.raises(UnknownRelease):
        find_release("jaxlib 0.99")
    with pytest.raises(UnknownRelease):
        find_release("jaxlib 0.4.12")


def test_newer_releases_are_one_note_and_older_ones_are_not_covered() -> None:
    """Newer readers only read more; of older ones nothing is known."""
    open_ended = named_consumers("jaxlib>=0.5", "jaxlib>=0.6")
    newest = releases("jaxlib")[-1].version
    assert open_ended.notes == (f"jaxlib after {newest} is not in the table",)
    assert open_ended.uncovered == ()
    old = named_consumers("jaxlib<0.6")
    assert old.notes == ()
    assert old.uncovered == ("jaxlib before 0.4.13 is not in the table and not covered",)


def test_a_distribution_alone_stands_for_every_release_of_the_table() -> None:
    """As `portable matrix` understands it."""
    assert matching_releases("tensorflow") == releases("tensorflow")


@pytest.mark.parametrize(
    ("spec", "currents"),
    [
        ("stablehlo==1.9.3", ["1.9.3"]),
        ("1.9.3", ["1.9.3"]),
        ("stablehlo~=1.9.0", ["1.9.0"]),
        ("stablehlo>=1.20,<1.22", ["1.20.0", "1.21.0"]),
    ],
)
def test_a_version_is_a_consumer(spec: str, currents: list[str]) -> None:
    """A runtime of one's own has a StableHLO Version and no name in any index."""
    found = matching_releases(spec)
    assert [str(one.current) for one in found] == currents
    assert [str(one) for one in found] == [f"stablehlo {version}" for version in currents]
    assert {one.confidence for one in found} == {Confidence.STATED}


@pytest.mark.parametrize(
    ("name", "confidence"),
    [("jax-tt-plugin 0.1.0", "static"), ("jaxlib 0.4.32", "bracketed"), ("jaxlib 0.4.33", "")],
)
def test_a_verdict_says_how_sure_its_version_is(name: str, confidence: str) -> None:
    """Whether it reads or refuses: the reason has the bracket and the confidence."""
    release, artifacts = find_release(name), Path(__file__).parents[1] / "data" / "artifacts"
    for artifact, compatible in (("add_f32+0.9.0", True), ("future_result+1.15.0", False)):
        verdict = predict(artifacts / f"{artifact}.mlir.bc", release)
        assert verdict.compatible is compatible
        assert verdict.reason.endswith(
            f"has {release.has}" + (f" ({confidence})" if confidence else "")
        )
