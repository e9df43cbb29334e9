"""Names that people say: what `jax>=0.5` and `jax-cuda12-plugin` stand for."""

import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from portable.releases import matching_releases, named_consumers, published_releases, resolve_target

TABLE = Path(__file__).parents[2] / "portable" / "releases" / "data" / "aliases.toml"
ROWS = {row["name"]: row for row in tomllib.loads(TABLE.read_text("utf-8"))["alias"]}


@pytest.mark.parametrize(
    ("name", "pair"),
    [(name, pair) for name, row in ROWS.items() for pair in row.get("versions", ())],
    ids=lambda one: one.partition(" ")[0],
)
def test_a_name_stands_for_every_jaxlib_that_it_runs_with(name: str, pair: str) -> None:
    """As the metadata of its wheel demand; what is not in the table is left out."""
    version, _, demand = pair.partition(" ")
    allowed = SpecifierSet(demand)
    expected = {
        str(one)
        for one in published_releases("jaxlib")
        if one.version in allowed and not one.yanked
    }
    assert expected, "it runs with no jaxlib of the table"
    assert {str(one) for one in matching_releases(f"{name}=={version}")} == expected


def test_a_range_of_jax_is_no_better_than_its_oldest_jaxlib() -> None:
    """Jax 0.4.30 runs with jaxlib 0.4.27, which is what binds."""
    assert str(resolve_target("jax>=0.4.30").binding) == "jaxlib 0.4.27"
    assert named_consumers("jax>=0.4").uncovered
    assert named_consumers("jax>=0.4.30").notes


def test_torchax_is_no_better_than_the_oldest_jaxlib_that_it_admits() -> None:
    """It has no StableHLO of its own and bounds its jax only from below."""
    assert str(resolve_target("torchax>=0.0.5").binding) == "jaxlib 0.6.2"
    assert named_consumers("torchax").releases[-1].distribution == "jaxlib"


@pytest.mark.parametrize("name", sorted(name for name in ROWS if "versions" not in ROWS[name]))
def test_an_alias_of_the_same_numbers_is_the_other_distribution(name: str) -> None:
    """Specifiers mean the same under both names, and without one all Releases."""
    other = ROWS[name]["distribution"]
    assert matching_releases(name) == matching_releases(other)
    version = matching_releases(other)[-1].version
    assert matching_releases(f"{name}=={version}") == matching_releases(f"{other}=={version}")


def test_ages_may_be_given_in_years() -> None:
    """`2y` is what upstream promises to be read forward."""
    assert resolve_target("2y").version == resolve_target("730d").version
