"""Specifiers are decided as `packaging` decides them, and never by a guess."""

import pytest

from portable.releases import ImpossibleSpecifier, InvalidSpecifier, Specifier
from portable.releases.specifier import version_key


@pytest.mark.parametrize(
    "text",
    [
        ">=0.5,<0.5",
        ">1,<1.0.0",
        "==1,==2",
        "~=2.16,<2.0",
        "==2.6.*,!=2.6.*",
        ">1.0,<=1",
        "==1,!=1.0",
    ],
)
def test_clauses_that_exclude_each_other_are_an_error(text: str) -> None:
    """A specifier that nothing can satisfy is told apart from one that matches nothing known."""
    with pytest.raises(ImpossibleSpecifier, match="no version can satisfy"):
        Specifier.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        ",",
        ">=",
        "0.5",
        ">=0.5,",
        ">=0.5 <0.6",
        "=>1",
        "~=1",
        ">=1.*",
        "==x",
        "≥1",
        ">=" + "9" * 2000,
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    """What `packaging` does not take is no specifier here either."""
    with pytest.raises(InvalidSpecifier):
        Specifier.parse(text).admits("1.0")


@pytest.mark.parametrize(
    ("text", "older"),
    [
        (">=0.5", False),
        (">=0.4", True),
        ("<0.6", True),
        ("==0.5", False),
        ("!=0.5", True),
        ("~=0.4.9", True),
    ],
)
def test_it_knows_whether_older_versions_are_admitted(text: str, *, older: bool) -> None:
    """Unknown Releases below the oldest known one are a caveat exactly where they are admitted."""
    assert Specifier.parse(text).admits_below("0.5") is older


def test_trailing_zeros_do_not_matter() -> None:
    """1 and 1.0.0 are the same version, as PEP 440 says."""
    assert version_key("1.0.0") == version_key("1")
    assert version_key("1.0rc1") is None
