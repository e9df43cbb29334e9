"""Inputs that are wrong, on the real reader they were tried on."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

NEGATIVE = Path(__file__).parents[2] / "corpus" / "negative"


def test_real_reader_does_what_is_on_record(release: Callable[[str], Environment]) -> None:
    """The Release that was asked still accepts, refuses, crashes and hangs as it did.

    Each input has a process of its own. What kills a reader makes it read memory that is not the
    input's: what lies there decides, and it may also end in a refusal, never in an acceptance.
    """
    table = tomllib.loads((NEGATIVE / "negative.toml").read_text("utf-8"))
    environment = release(table["reader"])
    for row in table["input"]:
        path = NEGATIVE / f"{row['name']}.mlir.bc"
        with environment.worker(limit=5) as worker:
            status = str(worker.ask({"kind": "read", "path": str(path)}).status)
        also = {"refused"} if row["native"] == "crashed" else set()
        assert {"ok": "accepted"}.get(status, status) in {row["native"], *also}, row["name"]
