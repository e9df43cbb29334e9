"""Windows, and upstream's WEEK_4 and WEEK_12 replayed."""

import datetime
import tomllib
from pathlib import Path

import pytest

from portable import Version, window
from portable.releases import UnknownVersion, releases, resolve_target, version_on
from portable.releases.shipped import available_since, shipped_versions
from portable.releases.table import _DATA, Row
from portable.releases.window import promise_for

HISTORY = tomllib.loads(Path(_DATA, "history.toml").read_text())
ANCHORS = [Row("history.toml anchor", fields) for fields in HISTORY["anchor"]]
TAGS = {
    Version.parse(fields["version"]): datetime.date.fromisoformat(fields["tag_date"])
    for fields in HISTORY["version"]
    if "tag_date" in fields
}


def _first_tag(version: Version) -> datetime.date:
    """Return since when a tag of this minor, or of a later one, could be had."""
    return min(day for tagged, day in TAGS.items() if tagged.target >= version)


@pytest.mark.parametrize("anchor", ANCHORS, ids=lambda row: row.text("date"))
@pytest.mark.parametrize(("want", "days"), [("week_4", 28), ("week_12", 84)])
def test_windows_are_never_younger_than_promised_and_never_staler_than_upstream(
    anchor: Row, want: str, days: int
) -> None:
    """On every day that upstream moved an anchor, ours is at least as new, and old enough.

    Truth: the tags and the anchors of upstream's public history.
    """
    on = anchor.date("date")
    ours = resolve_target(want.upper(), on=on).version
    assert ours >= anchor.version(want).target
    assert (on - _first_tag(ours)).days >= days


@pytest.mark.parametrize(("want", "days"), [("WEEK_4", 28), ("WEEK_12", 84)])
def test_windows_are_as_new_as_the_promise_allows(want: str, days: int) -> None:
    """On every day there is a tag for, no newer minor was old enough."""
    for on in sorted(set(TAGS.values())):
        try:
            ours = resolve_target(want, on=on).version
        except UnknownVersion:
            continue
        aged = [v.target for v, day in TAGS.items() if (on - day).days >= days]
        assert ours == max(aged)


def test_dates_and_versions_ascend_together() -> None:
    """A later Version is never available earlier."""
    dated = available_since()
    assert list(dated) == sorted(dated)
    assert [version for _, version in dated] == [row.version for row in shipped_versions()]


def test_a_version_without_a_tag_is_dated_by_its_first_release() -> None:
    """Its row says when; the Releases are not searched each time.

    Truth: the dates of the Releases that shipped it.
    """
    for row in shipped_versions():
        if row.tag_date is None:
            dates = [one.date for one in releases() if one.exact and one.target >= row.version]
            assert row.seen == min(dates), f"{row.version} is seen first on {min(dates)}"


def test_an_untagged_version_waits_for_the_next_tag() -> None:
    """1.17.0 shipped inside two jaxlibs only: nobody else had it before 1.18.0 was tagged."""
    assert version_on(datetime.date(2026, 6, 28))[1] == Version(1, 16, 0)
    assert version_on(datetime.date(2026, 6, 29)) == (datetime.date(2026, 6, 29), Version(1, 18, 0))


def test_five_years_back_and_two_forward() -> None:
    """Since 1.0 the promise is 5 years backward and 2 years forward (compatibility.md)."""
    found = window("1.9.5")
    assert found.version == Version(1, 9, 0)
    assert found.since == datetime.date(2025, 1, 30)  # the tag v1.9.0
    assert found.readable_until == datetime.date(2030, 1, 30)
    assert found.writable_until == datetime.date(2027, 1, 30)
    assert found.jax_readable_until == datetime.date(2025, 7, 29)  # 180 days
    assert found.jax_writable_until == datetime.date(2025, 2, 20)  # 21 days


def test_before_1_0_the_promise_was_one_month() -> None:
    """The 0.x series promised a month; that readers still read it is no promise."""
    found = window("0.9.0", on=datetime.date(2023, 4, 2))
    assert found.readable_until == datetime.date(2023, 4, 2)
    assert found.readable
    assert not window("0.9.0", on=datetime.date(2023, 4, 3)).readable


@pytest.mark.parametrize(
    ("on", "readable", "writable"),
    [("2025-01-30", True, True), ("2027-01-30", True, True), ("2027-01-31", True, False),
     ("2030-01-30", True, False), ("2030-01-31", False, False),
     ("2023-01-30", True, True), ("2023-01-29", False, True)],
)  # fmt: skip
def test_the_ends_of_the_window_are_inside_it(on: str, *, readable: bool, writable: bool) -> None:
    """The last day counts, on either side; a reader two years older is the oldest promised one."""
    found = window("1.9.0", on=datetime.date.fromisoformat(on))
    assert (found.readable, found.writable) == (readable, writable)


def test_a_consumer_is_as_old_as_its_stablehlo() -> None:
    """The promise counts between StableHLO's dates, not those of the wheels."""
    found = window("1.9.0", "jaxlib 0.10.0")
    assert found.on == datetime.date(2026, 4, 10)  # the tag v1.16.0; the wheel came on 2026-04-15
    assert found.readable
    assert not window("1.17.0", "jaxlib 0.4.21").readable


def test_leap_days() -> None:
    """A month after the 31st is the last day of the next; records are plain text."""
    found = window("1.9.0", on=datetime.date(2024, 2, 29))
    assert found.record()["on"] == "2024-02-29"
    assert promise_for(Version(0, 20, 0)).backward == "1m"


def test_what_has_no_date_has_no_window() -> None:
    """A Version that nothing dates is an error, not a guess."""
    with pytest.raises(UnknownVersion, match="is unknown"):
        window("1.99.0")
