"""Inputs that are wrong, each in one way: what is said of them is on record."""

from __future__ import annotations

import tomllib

import pytest

from compat_tests.helpers.sealed import CORPUS
from tools.negative import judged

NEGATIVE = CORPUS / "negative"
TABLE = tomllib.loads((NEGATIVE / "negative.toml").read_text("utf-8"))
ROWS = {row["name"]: row for row in TABLE["input"]}


def test_every_kind_of_wrong_is_there() -> None:
    """Each file has a row and each row a file; all the kinds of damage are represented."""
    assert {path.name.partition(".")[0] for path in NEGATIVE.glob("*.bc")} == set(ROWS)
    for kind in (
        "truncated", "bit_flipped", "future_op", "removed_op", "spoofed_header", "plain_bytecode",
        "text", "empty", "trailing_bytes", "native_crasher",
    ):  # fmt: skip
        assert any(name.startswith(kind) for name in ROWS), kind
    assert {row["native"] for row in ROWS.values()} == {"accepted", "refused", "crashed", "hung"}


@pytest.mark.parametrize("name", ROWS)
def test_inspect_says_what_is_on_record(name: str) -> None:
    """The reader without a compiler gives the expected error or kind, and never anything worse."""
    data = (NEGATIVE / f"{name}.mlir.bc").read_bytes()
    assert judged(data) == ROWS[name]["inspect"]
