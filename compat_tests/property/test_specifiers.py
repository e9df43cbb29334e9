"""Specifiers agree with `packaging` on every version."""

from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from portable.releases import ImpossibleSpecifier, Specifier

numbers = st.lists(st.integers(0, 4), min_size=1, max_size=4).map(lambda n: ".".join(map(str, n)))
long_numbers = st.lists(st.integers(0, 4), min_size=2, max_size=4).map(
    lambda n: ".".join(map(str, n))
)
suffixes = st.sampled_from(["", "", "", "rc1", ".post1", ".dev3", "a2"])
clauses = st.one_of(
    st.tuples(st.sampled_from([">=", ">", "<=", "<", "==", "!="]), numbers),
    st.tuples(st.just("~="), long_numbers),
    st.tuples(st.sampled_from(["==", "!="]), numbers.map(lambda n: f"{n}.*")),
    st.tuples(
        st.sampled_from([">=", "<=", "==", ">", "<"]), st.tuples(numbers, suffixes).map("".join)
    ),
).map("".join)
specifiers = st.lists(clauses, min_size=1, max_size=3).map(",".join)
versions = st.tuples(numbers, suffixes).map("".join)


def _contains(oracle: SpecifierSet, version: str) -> bool:
    # Among others, that is: alone, packaging accepts a pre-release for want of anything better.
    return oracle.contains(version, prereleases=bool(oracle.prereleases))


@given(specifiers, st.lists(versions, min_size=1, max_size=8))
def test_they_contain_what_packaging_says(text: str, candidates: list[str]) -> None:
    """Whatever the clauses and the version, pre-releases included, the answer is the same."""
    oracle = SpecifierSet(text)
    try:
        specifier = Specifier.parse(text)
    except ImpossibleSpecifier:
        assert not [version for version in candidates if _contains(oracle, version)]
        return
    for version in candidates:
        assert specifier.contains(version) == _contains(oracle, version), (text, version)
