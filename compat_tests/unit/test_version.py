"""Versions are strict, ordered, and blind to the patch where compatibility is concerned."""

import pickle

import pytest
from packaging.version import Version as Oracle

from portable import PortableError, Version
from portable.version import InvalidVersion


@pytest.mark.parametrize("text", ["0.9.0", "1.22.0", "10.0.123456789"])
def test_a_version_prints_as_it_was_written(text: str) -> None:
    """Parsing and printing give the same text back."""
    assert str(Version.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "", "1", "1.2", "1.2.3.4", "01.0.0", "1.00.0", " 1.0.0", "1.0.0 ", "1.0.0\n", "v1.0.0",
        "1.0.0rc1", "1.-1.0", "1,0,0", "\u0661.0.0", "1.0.1000000000", "9" * 100 + ".0.0",
        "9223372036854775808.0.0",
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    """Leading zeros, spaces, other digits and long numbers are no Version.

    A component above 2**63 - 1 makes libStablehlo abort the process.
    """
    with pytest.raises(InvalidVersion, match="not a StableHLO Version") as caught:
        Version.parse(text)
    assert isinstance(caught.value, PortableError)
    assert "\n" not in str(caught.value)


def test_the_target_has_patch_zero() -> None:
    """Targets with a patch fail on real releases (jaxlib 0.4.29 to 0.4.35)."""
    assert Version.parse("1.9.5").target == Version.parse("1.9.0")


def test_order_is_numeric() -> None:
    """1.10 is newer than 1.9, as `packaging` has it."""
    texts = ["0.9.0", "0.20.0", "1.0.0", "1.9.5", "1.10.0", "1.10.1", "2.0.0"]
    assert sorted(texts, key=Version.parse) == sorted(texts, key=Oracle)


def test_a_version_is_a_value() -> None:
    """It cannot be changed, hashes by content, and survives pickling."""
    version = Version.parse("1.2.3")
    with pytest.raises(AttributeError):
        version.major = 2  # type: ignore[misc]  # the point of the test
    assert {version: 1}[Version(1, 2, 3)] == 1
    assert pickle.loads(pickle.dumps(version)) == version
    assert repr(version) == "Version(major=1, minor=2, patch=3)"
