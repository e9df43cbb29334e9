"""What only old libraries write: which Releases read it, as `tools older_forms` keeps it."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tools.byte_changes import predicted
from tools.older_forms import READERS, Older, load_older, without_properties

# Predicted to be refused by all of them; 0.4.13 to 0.4.25 read it.
_TOO_STRICT = ("scatter", "-" * len(READERS), "1" * 9 + "0" * 8)


def _by_op() -> dict[str, list[Older]]:
    found = defaultdict(list)
    for one in load_older():
        found[one.op].append(one)
    return found


KEPT = _by_op()


@pytest.mark.parametrize("op", sorted(KEPT))
def test_it_is_predicted_who_reads_what_older_verifiers_took(op: str) -> None:
    """Of each op, what 17 jaxlibs did with it.

    One that scatters by booleans with a body of unranked tensors is predicted too strictly.
    """
    marks = {"+": "1", "-": "0"}
    for one in KEPT[op]:
        found = "".join(predicted(one.data, READERS))
        if (op, found, one.marks) != _TOO_STRICT:
            assert "".join(marks.get(mark, mark) for mark in found) == one.marks


def test_all_ops_are_among_them() -> None:
    """Unranked tensors alone were refused of more than 60 ops, the last by 0.4.26."""
    assert len(KEPT) > 60
    ends = {one.marks.rstrip("0") for one in load_older()}
    assert {len(end) for end in ends} >= {1, 4, 7, 8, 9, 10, 12}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '%0 = "a.b"(%x) <{n = 1 : i64}> : (i1) -> i1',
            '%0 = "a.b"(%x) {n = 1 : i64} : (i1) -> i1',
        ),
        (
            '"a.b"(%x) <{n = 1 : i64}> ({\n"c.d"() : () -> ()\n}) : (i1) -> i1',
            '"a.b"(%x) ({\n"c.d"() : () -> ()\n}) {n = 1 : i64} : (i1) -> i1',
        ),
        ('"a.b"() ({\n}, {\n}) : () -> ()', '"a.b"() ({\n}, {\n}) : () -> ()'),
    ],
)
def test_old_libraries_know_no_properties(text: str, expected: str) -> None:
    """They stand behind the bodies of an op, as other attributes."""
    assert without_properties(text) == expected
