"""Programs in which two ops meet: that there are some of each kind, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest

from portable.bytecode import read
from portable.prediction.forms import Reading
from tools import two_ops


@pytest.mark.parametrize("before", [False, True])
def test_two_ops_meet_in_each(before: bool) -> None:
    """The op that is named stands in the program; another seed has other programs."""
    found = [*two_ops.pairs(150, "one", before=before)]
    assert len(found) > 75
    assert len({one.name for one in found}) > 60
    assert not {one.text for one in found} & {one.text for one in two_ops.pairs(150, "two")}
    for one in found:
        walk = Reading(read(one.artifact.data), one.artifact.data).walk
        second = one.name.split(", ")[1].split()[0]
        assert f"vhlo.{second}" in {visit.name.rpartition("_v")[0] for visit in walk}


def test_what_differs_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its program; what fails too."""
    (made,) = [*two_ops.pairs(40, "one")][:1]
    given = {"a": [np.ones(3)], "b": [np.zeros(3)], "c": "crashed with SIGABRT"}
    monkeypatch.setattr(two_ops, "pairs", lambda *_, **__: [made])
    monkeypatch.setattr(two_ops, "find_release", str)
    monkeypatch.setattr(two_ops, "_computed", lambda name, _: [(made, given[name])])
    monkeypatch.setattr("sys.argv", ["two_ops", "1", "--seed", "one", "--on", "a", "a"])
    assert two_ops.main() == 0
    assert "0 differ or fail" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["two_ops", "1", "--seed", "one", "--on", "a", "b", "c"])
    assert two_ops.main() == 1
    said = capsys.readouterr().out
    assert "b: " in said
    assert "computes something else" in said
    assert "crashed with SIGABRT" in said
    assert said.count(made.text) == 2
