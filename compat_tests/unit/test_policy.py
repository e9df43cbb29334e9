"""The policy file: found, read strictly, and every error names its key."""

import datetime
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from portable.policy import (
    ContradictoryPolicy,
    Depth,
    ExpiredWaiver,
    LocationRule,
    Policy,
    PolicyError,
    PolicyNotFound,
    Rule,
    Rules,
    find_policy,
    load_policy,
    parse_policy,
)
from portable.system.files import FileError
from portable.verdict import Stage

FULL = """
[consumers]
serving = ["jaxlib>=0.5,<0.13", "tensorflow~=2.18"]
all = ["@serving", "iree-base-compiler>=3.4"]

[rules]
consumers = ["@all"]
depth = "content"
stage = "window"
locations = "points"
dialects = ["sdy"]
custom_calls = ["Sharding", "mhlo.*"]
include = ["*.bc"]

[[waivers]]
rule = "consumer"
path = "legacy/*.bc"
consumer = "jaxlib==0.9.1"
reason = "retired in March"
expires = 2027-03-31
"""


def _load(folder: Path, text: str, name: str = "portable.toml") -> Policy:
    (folder / name).write_text(text)
    return load_policy(folder / name)


def test_a_policy_is_read_as_it_is_written(tmp_path: Path) -> None:
    """Every key of the file arrives where it belongs."""
    policy = _load(tmp_path, FULL)
    assert policy.consumers["serving"] == ("jaxlib>=0.5,<0.13", "tensorflow~=2.18")
    assert policy.rules.consumers == ("@all",)
    assert policy.rules.depth is Depth.CONTENT
    assert policy.rules.stage is Stage.WINDOW
    assert policy.rules.locations is LocationRule.POINTS
    assert policy.rules.dialects == {"sdy"}
    assert policy.rules.custom_calls == ("Sharding", "mhlo.*")
    (waiver,) = policy.waivers
    assert waiver.rule is Rule.CONSUMER
    assert waiver.expires == datetime.date(2027, 3, 31)
    assert policy.root == tmp_path


def test_without_rules_every_set_counts(tmp_path: Path) -> None:
    """A policy that only names its consumers demands that all of them read everything."""
    policy = _load(tmp_path, '[consumers]\na = ["jaxlib>=0.5"]\nb = ["jaxlib>=0.6"]\n')
    assert policy.rules.consumers == ("@a", "@b")


def test_it_may_live_in_pyproject(tmp_path: Path) -> None:
    """`[tool.portable]` is the same policy."""
    text = '[tool.portable.consumers]\na = ["jaxlib>=0.5"]\n'
    assert _load(tmp_path, text, "pyproject.toml").consumers == {"a": ("jaxlib>=0.5",)}


def test_the_nearest_file_is_found(tmp_path: Path) -> None:
    """From a folder upwards; a pyproject.toml without the table is passed over."""
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "portable.toml").write_text("")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\n")
    assert find_policy(below) == tmp_path / "portable.toml"
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.portable]\n")
    assert find_policy(below) == tmp_path / "a" / "pyproject.toml"


@pytest.mark.parametrize("kind", ["folder", "broken link", "loop", "fifo"])
@pytest.mark.parametrize("name", ["portable.toml", "pyproject.toml"])
def test_what_is_no_file_does_not_hand_over_to_a_policy_above(
    name: str, kind: str, tmp_path: Path
) -> None:
    """A change must not choose another policy by what it puts in place of one."""
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "portable.toml").write_text("")
    policy = below / name
    make: dict[str, Callable[[], object]] = {
        "folder": policy.mkdir,
        "broken link": lambda: policy.symlink_to("nowhere"),
        "loop": lambda: policy.symlink_to(name),
        "fifo": lambda: os.mkfifo(policy),
    }
    make[kind]()
    with pytest.raises(FileError):
        load_policy(find_policy(below))


def test_no_policy_is_an_error(tmp_path: Path) -> None:
    """A gate without a policy must not pass."""
    with pytest.raises(PolicyNotFound):
        find_policy(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    with pytest.raises(PolicyNotFound):
        load_policy(tmp_path / "pyproject.toml")
    with pytest.raises(FileError):
        load_policy(tmp_path / "missing.toml")


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        ("[rules]", "[rule]", ": rule:", "unknown key"),
        ("locations =", "location =", "rules.location:", "unknown key"),
        ('"points"', '"some"', "rules.locations:", "not one of any, points, none"),
        ('"points"', "3", "rules.locations:", "must be a non-empty string"),
        ('"content"', '"deep"', "rules.depth:", "not one of header, content"),
        ('"window"', '"far"', "rules.stage:", "is not one of open"),
        ('["sdy"]', '"sdy"', "rules.dialects:", "must be a list of strings"),
        ('["sdy"]', "[1]", "rules.dialects:", "must be a list of strings"),
        ("jaxlib>=0.5,<0.13", "jaxlb>=0.5", "consumers.serving:", "did you mean jaxlib"),
        ("jaxlib>=0.5,<0.13", "jaxlib==0.99", "consumers.serving:", "contains no known Release"),
        ("jaxlib>=0.5,<0.13", "jaxlib>=2,<1", "consumers.serving:", "no version can satisfy"),
        ("jaxlib>=0.5,<0.13", "@all", "consumers.serving:", "contains itself"),
        ("jaxlib>=0.5,<0.13", "@none", "consumers.serving:", "unknown consumer set"),
        ('["@all"]', "[]", "rules.consumers:", "no consumers"),
        ('rule = "consumer"', 'rule = "any"', "waivers[0].rule:", "is not one of"),
        ("2027-03-31", '"2027-03-31"', "waivers[0].expires:", "must be a date"),
        ("2027-03-31", "2027-03-31T00:00:00", "waivers[0].expires:", "must be a date"),
        ("expires = 2027-03-31", "", "waivers[0].expires:", "must be a date"),
        ('reason = "retired in March"', "", "waivers[0].reason:", "must be a non-empty string"),
        ('"retired in March"', '""', "waivers[0].reason:", "must be a non-empty string"),
        ('"jaxlib==0.9.1"', '"jaxlib==0.99"', "waivers[0].consumer:", "no known Release"),
        ("[[waivers]]", "[waivers]", "waivers:", "must be an array of tables"),
        ("[consumers]", "consumers = 3\n[other]", "consumers:", "must be a table"),
        ("[rules]", "[rules", "portable.toml:", "not TOML"),
    ],
)
def test_every_error_names_its_key(tmp_path: Path, old: str, new: str, key: str, says: str) -> None:
    """The error says which file, which key, and what is wrong, in one line."""
    assert old in FULL
    with pytest.raises(PolicyError) as caught:
        _load(tmp_path, FULL.replace(old, new, 1))
    text = str(caught.value)
    assert key in text
    assert says in text
    assert "portable.toml" in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('depth = "content"', 'depth = "header"', "requires the content"),
        ('rule = "consumer"', 'rule = "dialects"', "rule dialects has no consumer"),
    ],
)
def test_contradictions_are_errors(tmp_path: Path, old: str, new: str, says: str) -> None:
    """Rules that cannot both hold are found when the policy is read."""
    with pytest.raises(ContradictoryPolicy, match=says):
        _load(tmp_path, FULL.replace(old, new, 1))


def test_two_waivers_for_the_same_are_a_contradiction(tmp_path: Path) -> None:
    """Which date would hold?"""
    waiver = FULL[FULL.index("[[waivers]]") :]
    with pytest.raises(ContradictoryPolicy, match=r"duplicates waivers\[0\]"):
        _load(tmp_path, FULL + waiver.replace("2027", "2028"))


def test_an_expired_waiver_is_an_error(tmp_path: Path) -> None:
    """The last day counts; on the next the waiver has to be decided again."""
    policy = _load(tmp_path, FULL)
    policy.demand_unexpired(datetime.date(2027, 3, 31))
    with pytest.raises(ExpiredWaiver, match=r"waivers\[0\].*expired on 2027-03-31: retired"):
        policy.demand_unexpired(datetime.date(2027, 4, 1))


def test_a_policy_needs_consumers() -> None:
    """An empty policy demands nothing, and says so."""
    with pytest.raises(PolicyError, match=r"rules\.consumers.*no consumers"):
        parse_policy({})
    with pytest.raises(PolicyError, match="must be a table"):
        parse_policy([])


@pytest.mark.parametrize(
    "fields",
    [
        {"depth": "header"},
        {"stage": "compile"},
        {"stage": 6},
        {"locations": "none"},
        *(
            {name: "sdy"}
            for name in ("consumers", "dialects", "custom_calls", "include", "exclude")
        ),
        {"provided_custom_calls": "my_lib.*"},
    ],
    ids=str,
)
def test_rules_of_other_types_are_refused(fields: dict[str, Any]) -> None:
    """A word instead of the member would be no rule, and its letters the consumers."""
    with pytest.raises(TypeError, match=f"{next(iter(fields))} must be"):
        Rules(**fields)
