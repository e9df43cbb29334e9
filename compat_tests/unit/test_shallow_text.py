"""MLIR text that native code may not survive is refused by its brackets and aliases alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from portable.bytecode.nesting import TooDeep, demand_shallow_text, limit

MOST = limit("text")


def _chain(length: int, mark: str) -> str:
    """Return aliases that each name the one before; the first names one that nothing defines."""
    return "".join(f"\n{mark}a{at} = tuple<{mark}a{at - 1}>" for at in range(length))


# What nests as deep as its first part says, with what follows it. One character or alias more in
# the first part is too much.
AFTER = {
    "()": "", "[]": "]" * MOST, "{}": "}" * 9, "<>": ">" * MOST + "[]" * 3,
    "<": "->" * 9 + "<=" * 9, "(": '"((" "\\"((" // ((\n' * 3, "{": "} {" * 9,
}  # fmt: skip


@pytest.mark.parametrize("what", AFTER)
def test_brackets_are_refused_one_level_beyond_the_limit(what: str) -> None:
    """At the limit they are read: a program that works everywhere must not be refused."""
    _demand_border(lambda depth: "[]()" * 5 + what[0] * depth + AFTER[what])


@pytest.mark.parametrize("mark", "!#")
def test_aliases_are_refused_one_level_beyond_the_limit(mark: str) -> None:
    """Each alias that names another is one level, however little the text of each nests."""
    _demand_border(lambda depth: _chain(depth, mark) + f"\n{mark}b = tuple<{mark}a3>" * 9)


def _demand_border(text: Callable[[int], str]) -> None:
    for given in (text(MOST), text(MOST).encode(), text(MOST - 1)):
        demand_shallow_text(given)
    with pytest.raises(TooDeep, match=rf"nested {MOST + 1} deep, Releases read {MOST};") as refused:
        demand_shallow_text(text(MOST + 1), "here")
    assert refused.value.where == "here"
