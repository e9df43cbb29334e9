"""Specifiers are decided as `packaging` decides them, and never by a guess."""

import pytest

from portable.releases import ImpossibleSpecifier, InvalidSpecifier, Specifier


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
    """What `packaging` does not take, and what stands for every version, is no specifier."""
    with pytest.raises(InvalidSpecifier):
        Specifier.parse(text)


@pytest.mark.parametrize(
    ("text", "older", "newer"),
    [
        (">=0.5", False, True),
        (">=0.4", True, True),
        ("<0.6", True, True),
        ("==0.5", False, False),
        ("!=0.5", True, True),
        ("~=0.4.9", True, False),
        ("<=0.5", True, False),
    ],
)
def test_it_knows_what_lies_beyond_a_version(text: str, *, older: bool, newer: bool) -> None:
    """Releases below the oldest and above the newest known one are told where they are meant."""
    specifier = Specifier.parse(text)
    assert (specifier.contains_older("0.5"), specifier.contains_newer("0.5")) == (older, newer)


@pytest.mark.parametrize(
    ("text", "exact"), [("==0.5", "0.5"), ("===0.5", "0.5"), ("==0.5.*", None), ("~=0.5", None)]
)
def test_it_knows_when_it_names_one_version(text: str, exact: str | None) -> None:
    """What is named exactly is answered although nobody published it."""
    assert Specifier.parse(text).exact == exact
