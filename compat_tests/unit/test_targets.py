"""Which target for my consumers: every way of asking, every rule, every error."""

import datetime
import importlib.metadata

import pytest
from packaging.specifiers import SpecifierSet

from portable import PortableError, Version
from portable.releases import (
    Confidence,
    EmptySpecifier,
    ImpossibleSpecifier,
    InvalidSpecifier,
    NoMatchingRelease,
    NoTarget,
    Release,
    UnknownDistribution,
    UnknownRelease,
    UnknownVersion,
    distributions,
    find_release,
    matching_releases,
    published_releases,
    releases,
    resolve_target,
)
from portable.version import InvalidVersion

NOW = datetime.date(2026, 11, 21)


@pytest.mark.parametrize(
    "spec",
    ["jaxlib>=0.5", "jaxlib>=0.5,<0.11", "jaxlib<0.5", "jaxlib~=0.4.30", "tensorflow>=2.16.2",
     "torch_xla==2.6.*", "jaxlib==0.9.0.1", "jaxlib!=0.4.13", "libtpu>0.0.1"],
)  # fmt: skip
def test_the_oldest_release_binds(spec: str) -> None:
    """The Target is the lowest Version among the Releases that `packaging` says are contained."""
    name = (
        spec.split(">", maxsplit=1)[0]
        .split("<", maxsplit=1)[0]
        .split("=", maxsplit=1)[0]
        .split("~", maxsplit=1)[0]
        .split("!", maxsplit=1)[0]
    )
    contained = [
        r for r in published_releases(name) if SpecifierSet(spec[len(name) :]).contains(r.version)
    ]
    target = resolve_target(spec)
    assert target.version == min(r.current.target for r in contained)
    assert target.version.patch == 0
    assert target.binding in contained
    assert str(target.binding) in target.reason


def test_known_answers() -> None:
    """What the releases themselves said when they were asked (StableHLO of the wheels)."""
    assert str(resolve_target("jaxlib>=0.5,<0.11")) == "1.8.0"  # jaxlib 0.5.0 has 1.8.9
    assert str(resolve_target("jaxlib>=0.4.33")) == "1.7.0"  # jaxlib 0.4.33 has 1.7.1
    assert str(resolve_target("tensorflow~=2.16")) == "0.17.0"  # 2.16.1 has 0.17.7
    assert str(resolve_target("tensorflow~=2.18")) == "1.7.0"  # 2.18.0 has 1.7.3
    assert str(resolve_target("tensorflow>=2.16.2")) == "0.17.0"  # 2.16.2 has 0.17.7


def test_the_lowest_of_several_wins_and_the_next_is_the_runner_up() -> None:
    """Dropping what binds gives the runner-up."""
    target = resolve_target("jaxlib>=0.5", "tensorflow==2.18.1")
    assert str(target.binding) == "tensorflow 2.18.1"
    assert target.runner_up is not None
    assert target.runner_up.version == resolve_target("jaxlib>=0.5").version
    assert target.runner_up.version > target.version


def test_the_order_of_wants_does_not_matter() -> None:
    """Several requests are a set."""
    requests = ("WEEK_12", "jaxlib>=0.6", "1.9.5", "2025-06-01")
    assert resolve_target(*requests, on=NOW) == resolve_target(*reversed(requests), on=NOW)


@pytest.mark.parametrize("name", ["torch_xla", "Torch.XLA", "torch-xla", "TORCH__XLA"])
def test_names_are_normalised(name: str) -> None:
    """Distribution names compare as PEP 503 says."""
    assert resolve_target(f"{name}==2.6.1").binding == find_release("torch-xla 2.6.1")


@pytest.mark.parametrize("text", ["1.9.5", "1.9.0", " 1.9.0 "])
def test_a_version_loses_its_patch(text: str) -> None:
    """A patch target makes upstream refuse or leak; X.Y.0 is always what is meant."""
    target = resolve_target(text)
    assert target.version == Version(1, 9, 0)
    assert target.confidence is Confidence.STATED


def test_objects_are_wants_too() -> None:
    """Versions, Releases, dates, ages and Targets need no spelling."""
    release = find_release("jaxlib 0.5.0")
    assert resolve_target(release).version == resolve_target("jaxlib==0.5.0").version
    assert resolve_target(Version(1, 9, 5)).version == Version(1, 9, 0)
    day = datetime.date(2025, 1, 31)
    assert resolve_target(day, on=NOW) == resolve_target("2025-01-31", on=NOW)
    age = datetime.timedelta(days=180)
    assert resolve_target(age, on=NOW) == resolve_target("180d", on=NOW)
    assert resolve_target(resolve_target("jaxlib>=0.5")).version == Version(1, 8, 0)


def test_a_version_beyond_the_table_is_taken_at_its_word() -> None:
    """The table cannot know the future; it says that it does not."""
    target = resolve_target("1.99.0")
    assert target.version == Version(1, 99, 0)
    assert "newer than every Version in the table" in target.notes[0]


def test_a_version_that_never_was_is_an_error() -> None:
    """Between 0.20 and 1.0 there was nothing."""
    with pytest.raises(UnknownVersion, match=r"unknown StableHLO Version 0\.21\.0"):
        resolve_target("0.21.0")


def test_unknown_older_releases_are_a_caveat() -> None:
    """Without a lower bound a specifier contains what the table lacks, and the Target says so."""
    assert resolve_target("jaxlib<0.5").caveats == (
        "jaxlib before 0.4.13 is not in the table and not covered",
    )
    assert resolve_target("jaxlib>=0.4.13,<0.5").caveats == ()


def test_dates_and_ages() -> None:
    """A date stands for the newest Version out that day; 1.8.0 was tagged on 2024-10-28."""
    assert str(resolve_target("2024-10-27", on=NOW)) == "1.7.0"
    assert str(resolve_target("2024-10-28", on=NOW)) == "1.8.0"
    assert resolve_target("2024-10-28", on=NOW).confidence is Confidence.DATED
    assert str(resolve_target("7d", on=datetime.date(2024, 11, 4))) == "1.8.0"
    assert str(resolve_target("1w", on=datetime.date(2024, 11, 4))) == "1.8.0"
    assert str(resolve_target("8d", on=datetime.date(2024, 11, 4))) == "1.7.0"


def test_the_library_at_hand_caps_what_is_derived() -> None:
    """Older bytes are readable too, so the installed library's newest Version will do."""
    old, oldest = Version(1, 9, 3), Version(0, 9, 0)
    target = resolve_target("jaxlib>=0.12", current=old, minimum=oldest)
    assert target.version == Version(1, 9, 0)
    assert target.reason == "current Version of the installed library"
    assert resolve_target("jaxlib>=0.5", current=old, minimum=oldest).version == Version(1, 8, 0)


def test_the_library_at_hand_never_changes_a_stated_version() -> None:
    """Clamping in silence what was requested by number is upstream's trap."""
    stated = resolve_target("1.17.0", current=Version(1, 9, 3), minimum=Version(0, 9, 0))
    assert stated.version == Version(1, 17, 0)


@pytest.mark.parametrize(
    ("word", "version"), [("current", "1.9.0"), ("minimum", "0.9.0"), ("MAX", "0.9.0")]
)
def test_words_about_the_library_at_hand(word: str, version: str) -> None:
    """`current` is its newest; `minimum` and upstream's MAX (of compatibility) its oldest."""
    target = resolve_target(word, current=Version(1, 9, 3), minimum=Version(0, 9, 0))
    assert str(target.version) == version


def test_installed_stands_for_the_installed_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metadata tell what is installed; nothing is imported."""
    found = {"jaxlib": "0.5.0", "tensorflow": "2.18.1"}

    def version(name: str) -> str:
        if name not in found:
            raise importlib.metadata.PackageNotFoundError(name)
        return found[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert str(resolve_target("installed").binding) == "tensorflow 2.18.1"
    assert str(resolve_target("current")) == "1.8.0"
    found["jaxlib"] = "0.99"
    with pytest.raises(UnknownRelease, match=r"jaxlib 0\.99 is not in the table"):
        resolve_target("installed")
    found.clear()
    with pytest.raises(NoTarget, match="no known consumer is installed"):
        resolve_target("installed")


def test_consumer_sets() -> None:
    """A set stands for its members, and may name other sets."""
    sets = {"old": ["jaxlib>=0.5"], "all": ["@old", "tensorflow~=2.18"]}
    assert resolve_target("@all", consumers=sets) == resolve_target(
        "jaxlib>=0.5", "tensorflow~=2.18"
    )
    assert len(matching_releases("@all", "jaxlib==0.5.0", consumers=sets)) == len(
        matching_releases("jaxlib>=0.5", "tensorflow~=2.18")
    )


@pytest.mark.parametrize(
    ("want", "error", "says"),
    [
        ("", EmptySpecifier, "empty specifier"),
        ("stablehlo", EmptySpecifier, "write stablehlo==1.9.0"),
        ("stablehlo>9", NoMatchingRelease, "contains no known Version"),
        ("stablehlo==1.9.0.1", InvalidVersion, "not a StableHLO Version"),
        ("jax==0.6.0.9", NoMatchingRelease, "known are jax 0.4.30 to"),
        ("jax v0.6", NoTarget, "write jax==v0.6"),
        ("jaxlb>=1", UnknownDistribution, "did you mean jaxlib"),
        ("numpy>=1", UnknownDistribution, "no Release of 'numpy'"),
        ("iree==3.1", UnknownDistribution, "did you mean iree-base-compiler or iree-compiler"),
        ("jaxlib==0.99", NoMatchingRelease, "known are jaxlib 0.4.13 to"),
        ("jaxlib>=99", NoMatchingRelease, "contains no known Release"),
        ("jaxlib>=0.5,<0.4", ImpossibleSpecifier, "no version can satisfy"),
        ("jaxlib>>1", InvalidSpecifier, "not a version specifier"),
        ("jaxlib 0.5 0.6", NoTarget, "is not a specifier"),
        ("jaxlib[cuda]>=1", NoTarget, "is not a consumer"),
        ("jaxlib>=1; python_version>'3'", NoTarget, "is not a consumer"),
        ("1.9", InvalidVersion, "not a StableHLO Version"),
        ("1.9.0.0", InvalidVersion, "not a StableHLO Version"),
        ("2031-01-01", NoTarget, "is in the future"),
        ("2025-02-30", NoTarget, "is not a date"),
        ("2020-01-01", UnknownVersion, "no StableHLO Version was released by"),
        ("99999d", UnknownVersion, "no StableHLO Version was released by"),
        ("@phones", NoTarget, "unknown consumer set"),
        ("plugin:", PortableError, "no such file"),
        ("\0", NoTarget, "is not a consumer"),
        ("x" * 10000, UnknownDistribution, "no Release of"),
    ],
)
def test_every_bad_want_is_a_one_line_error(
    want: str, error: type[PortableError], says: str
) -> None:
    """The error is typed, says what is wrong, and stays one short line."""
    with pytest.raises(error) as caught:
        resolve_target(want, on=NOW)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["jaxlib>=0.9", "jaxlib~=0.9", "jaxlib==0.9.*", "jaxlib<1,>0"])
def test_one_release_is_not_a_specifier(name: str) -> None:
    """Where one Release is meant, an error says what names one and what takes several."""
    with pytest.raises(UnknownRelease, match=r"write jaxlib==0.9.1; .*matching_releases"):
        find_release(name)


def test_no_wants_is_an_error() -> None:
    """A Target without consumers would be a guess."""
    with pytest.raises(NoTarget, match="missing consumer"):
        resolve_target()


def test_a_set_that_contains_itself_is_an_error() -> None:
    """Endless sets end."""
    with pytest.raises(NoTarget, match="contains itself"):
        resolve_target("@a", consumers={"a": ["@b"], "b": ["@a"]})


def test_a_long_chain_of_sets_is_not_said_to_be_a_circle() -> None:
    """As many as a policy may nest resolve; of more it is said that they nest too deep."""
    chain = {f"s{at}": [f"@s{at + 1}"] for at in range(20)} | {"s20": ["jaxlib==0.5.0"]}
    assert resolve_target("@s13", consumers=chain).version
    with pytest.raises(NoTarget, match="'s8' is in more than 7 others"):
        resolve_target("@s0", consumers=chain)
    with pytest.raises(NoTarget, match="'s19' contains itself"):
        resolve_target("@s19", consumers=chain | {"s20": ["@s19"]})


def test_bracketed_releases_count_at_their_lowest() -> None:
    """IREE does not say its Version: what it has at least is what it is given."""
    target = resolve_target("iree-base-compiler==3.0.*")
    assert target.confidence is Confidence.BRACKETED
    assert target.binding is not None
    assert target.binding.below is not None
    assert "at least 1.8.0" in target.reason


def test_every_release_of_the_table_can_be_asked_for() -> None:
    """Each row resolves by its own name, as pages show it too, and its record is plain data."""
    for release in releases():
        assert resolve_target(f"{release.distribution}=={release.version}").binding == release
        assert resolve_target(str(release)).binding == release
        assert find_release(str(release)) == release
        assert all(isinstance(value, (str, bool)) for value in release.record().values())


def test_pre_releases_and_yanked_releases_follow_the_installers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pre-release counts when a clause names one, a yanked Release when it is named exactly."""
    row = find_release("jaxlib 0.5.0")

    def variant(version: str, current: Version, *, yanked: bool = False) -> Release:
        return Release("jaxlib", version, row.date, current, yanked=yanked)

    table = (
        variant("0.5.0rc1", Version(1, 1, 0)),
        variant("0.5.0", Version(1, 8, 9)),
        variant("0.5.2", Version(1, 2, 0), yanked=True),
        variant("0.5.3", Version(1, 10, 0)),
    )
    monkeypatch.setattr("portable.releases.requests.published_releases", lambda _: table)
    assert str(resolve_target("jaxlib>=0.4")) == "1.8.0"
    assert str(resolve_target("jaxlib>=0.5.0rc1")) == "1.1.0"
    assert str(resolve_target("jaxlib==0.5.2")) == "1.2.0"
    assert str(resolve_target("jaxlib>0.5.1")) == "1.10.0"


def test_targets_are_plain_data() -> None:
    """JSON gets the reason, the binding Release, the runner-up and confidence it is."""
    record = resolve_target("jaxlib>=0.5").record()
    assert record["version"] == "1.8.0"
    assert record["binding"] == "jaxlib 0.5.0"
    assert record["confidence"] == "measured"
    assert isinstance(record["runner_up"], dict)


def test_the_table_has_what_the_project_promises() -> None:
    """All jaxlibs from 0.4.13, torch_xla, TensorFlow, IREE, torch-mlir and plugins."""
    assert {
        "jaxlib",
        "torch-xla",
        "tensorflow",
        "iree-base-compiler",
        "torch-mlir",
        "libtpu",
    } <= set(distributions())
    assert len(releases("jaxlib")) >= 45
