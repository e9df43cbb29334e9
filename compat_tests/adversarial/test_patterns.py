"""Patterns and keys of a policy, which a pull request may change: none takes long to be read."""

from __future__ import annotations

import datetime
import json
import time
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import pytest

from compat_tests.helpers.counting import calls, steps
from portable.artifact import Artifact
from portable.policy import Policy, gate, load_policy, parse_policy
from portable.policy.keys import PolicyError
from portable.prediction import examine
from portable.system.documents import parse_toml

BAD = (Path(__file__).parents[1] / "data" / "artifacts" / "tan+1.4.0.mlir.bc").read_bytes()
PIECES = ("[", "[!", "[a-", "[^", "*", "*a", "?*", "**/", "/**", "!", "\\")
KEYS = {
    "exclude": "[rules]\nexclude = [{}]\n",
    "include": "[rules]\ninclude = [{}]\n",
    "custom_calls": "[rules]\ncustom_calls = [{}]\n",
    "provided_custom_calls": "[rules]\nprovided_custom_calls = [{}]\n",
    "path": '[[waivers]]\npath = {}\nrule = "consumer"\nreason = "why"\nexpires = 2099-01-01\n',
}


def _policy(folder: Path, key: str, pattern: str) -> Path:
    path = folder / "portable.toml"
    path.write_text('[consumers]\na = ["jaxlib"]\n' + KEYS[key].format(json.dumps(pattern)))
    return path


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("piece", PIECES)
def test_a_long_pattern_is_refused(piece: str, key: str, tmp_path: Path) -> None:
    """It says how long it is, and which key has it; one that is short is taken."""
    with pytest.raises(PolicyError, match=r"above the limit of 1,000") as caught:
        load_policy(_policy(tmp_path, key, piece * 100_000))
    assert key in str(caught.value)
    load_policy(_policy(tmp_path, key, piece * 10))


@pytest.mark.parametrize("piece", PIECES)
def test_what_is_taken_is_understood_in_time_linear_in_it(piece: str, tmp_path: Path) -> None:
    """Of each size, up to the longest that is not refused."""
    for size in (50, 100, 400, 1000):
        pattern = (piece * size)[:size]
        try:
            load_policy(_policy(tmp_path, "exclude", pattern))
        except PolicyError:
            continue
        assert steps(partial(fnmatchcase, "a" * 100, pattern)) < 20_000 + 500 * size


@pytest.mark.parametrize("key", list(KEYS)[:-1])
def test_very_many_patterns_are_refused(key: str) -> None:
    """Each is compared with each file, with each name in it, or with each of another key."""
    rules = {key: [f"x{number}" for number in range(1_001)]}
    with pytest.raises(PolicyError, match="1,001 patterns, above the limit of 1,000"):
        parse_policy({"consumers": {"a": ["jaxlib"]}, "rules": rules})


@pytest.mark.parametrize("key", list(KEYS)[:-1])
def test_patterns_that_are_long_together_are_refused(key: str) -> None:
    """Each of their characters may be compared with each of a name."""
    patterns = ["*" * 900] * 55
    parse_policy({"consumers": {"a": ["jaxlib"]}, "rules": {key: patterns}})
    with pytest.raises(PolicyError, match="50,400 characters in all, above the limit of 50,000"):
        parse_policy({"consumers": {"a": ["jaxlib"]}, "rules": {key: [*patterns, "*" * 900]}})


def test_paths_of_waivers_are_limited_together() -> None:
    """Each is compared with the path of each file, however many there are of both."""
    waiver = {"rule": "consumer", "reason": "why", "expires": datetime.date(2099, 1, 1)}

    def parse(paths: list[str]) -> None:
        waivers = [waiver | {"path": one} for one in paths]
        parse_policy({"consumers": {"a": ["jaxlib"]}, "waivers": waivers})

    parse([f"{number}/model.mlir.bc" for number in range(10_000)])
    parse([f"{number:03}*{'?' * 896}" for number in range(55)])
    with pytest.raises(PolicyError, match="waivers: 10,001, above the limit of 10,000"):
        parse([f"{number}" for number in range(10_001)])
    with pytest.raises(PolicyError, match="50,400 characters in all, above the limit of 50,000"):
        parse([f"{number:03}*{'?' * 896}" for number in range(56)])


@pytest.mark.parametrize("tail", ["?" * 900, "a" * 900, "[!-b]" * 49])
def test_a_long_target_of_a_custom_call_takes_no_pattern_long(tail: str) -> None:
    """It is allowed and provided by `*` alone, for a megabyte of it takes seconds for each."""
    name = "a" * 1_000_000
    subject = replace(examine(Artifact.from_bytes(BAD)), custom_calls=frozenset({name, "mine"}))
    began = time.process_time()
    patterns = [f"*{tail}b{number}" for number in range(10)]
    assert subject.called([*patterns, "m*"]) == {"mine"}
    assert subject.providing([*patterns, "m*"]).custom_calls == {name}
    assert time.process_time() - began < 1.0
    assert subject.called(["*"]) == subject.custom_calls


def test_many_waivers_cost_little_for_each_finding(tmp_path: Path) -> None:
    """They are compared with each path once, and not with each consumer that does not read it."""
    for number in range(10):
        (tmp_path / f"{number}.mlir.bc").write_bytes(BAD)

    def policy(count: int) -> Policy:
        waiver = {"rule": "consumer", "reason": "why", "expires": datetime.date(2099, 1, 1)}
        waivers = [waiver | {"path": f"x{number}"} for number in range(count)]
        fields = {"consumers": {"old": ["jaxlib<0.4.30"]}, "waivers": waivers}
        return parse_policy(fields, root=tmp_path)

    few, many = policy(1), policy(1_000)
    found = len(gate(tmp_path, many).findings)  # and what is kept is there
    more = calls(lambda: gate(tmp_path, many)) - calls(lambda: gate(tmp_path, few))
    assert found >= 100
    assert more / 1_000 < 10 * 10, "for each waiver: 10 paths"


DOTTED = {
    "a key": lambda parts: "a" + ".a" * parts + " = 1\n",
    "a key in quotes": lambda parts: "'a'" + ' . "a"' * parts + " = 1\n",
    "a key in a value": lambda parts: "x = [\n{a" + ".b" * parts + " = 1}]\n",
    "a table": lambda parts: "[a" + ".a" * parts + "]\n",
    "an array of tables": lambda parts: "[[a" + ".a" * parts + "]]\n",
}


@pytest.mark.parametrize("kind", DOTTED)
def test_a_key_of_very_many_parts_is_refused(kind: str) -> None:
    """Python's reader takes a time that grows with their square: 23 s for 100 kB."""
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_toml(DOTTED[kind](50_000).encode())
    parse_toml(DOTTED[kind](90).encode())


def test_texts_with_many_dots_are_taken() -> None:
    """They are no keys."""
    text = "www.example.org, " * 200
    found = parse_toml(f'a = "{text}"\nb = [1.0, 2.0]\n# {"." * 200}\nc = "{"." * 200}"'.encode())
    assert found["a"] == text
