"""MLIR calls a program from memory "-"; what is told of it has the file's name."""

from __future__ import annotations

import pytest

from portable.errors import PortableError
from portable.features import Feature, FeatureKind, Needs
from portable.pinning.locations import named
from portable.verdict import Diagnostic, Severity
from portable.version import Version

UNNAMED = {
    '"-":2:8': "a b.mlir:2:8",
    "-:2:8 (vhlo.tan_v2)": "a b.mlir:2:8 (vhlo.tan_v2)",
    'math.sin (1x, first at "-":2:8)': "math.sin (1x, first at a b.mlir:2:8)",
    'fused["-":2:8, "-":3:1 to 4:5]': "fused[a b.mlir:2:8, a b.mlir:3:1 to 4:5]",
    '"name"("-":2:8)': '"name"(a b.mlir:2:8)',
    'loc("-":1:73)': "loc(a b.mlir:1:73)",
}
ELSE = ['"a-":2:8', "x-:2:8", "0-1:2:3", "-1:2", "- 2:8", '"-"', "f.mlir:2:8", 'dense<"-">', ""]


@pytest.mark.parametrize("text", UNNAMED)
def test_a_location_gets_the_name(text: str) -> None:
    """However MLIR nests it, and as our reader of bytecode writes it."""
    assert named(text, "a b.mlir") == UNNAMED[text]


@pytest.mark.parametrize("text", ELSE)
def test_all_else_is_left(text: str) -> None:
    """A dash that is no file, and a file that has a name."""
    assert named(text, "a b.mlir") == text


def test_the_name_is_taken_as_it_is() -> None:
    """Backslashes in it are no groups of a pattern."""
    assert named('"-":2:8', "C:\\1\\g<0>.mlir") == "C:\\1\\g<0>.mlir:2:8"


def test_it_reaches_into_results_and_errors() -> None:
    """Features, notes inside of diagnostics, and what an error keeps beside its message."""
    where = ("-:2:8",)
    feature = Feature(FeatureKind.OP, "tan_v1", Version(1, 4, 0), 1, where, "no older form")
    needs = named(Needs(Version(1, 4, 0), (feature,)), "f")
    assert needs.features[0].locations == ("f:2:8",)
    assert feature.locations == where
    note = Diagnostic(Severity.NOTE, "see", '"-":3:1')
    heard = Diagnostic(Severity.ERROR, 'at "-":2:8', '"-":2:8', (note,))
    assert named([heard], "f")[0].notes[0].location == "f:3:1"
    error = PortableError('at "-":2:8', where='"-":2:8')
    error.diagnostics = (heard,)  # type: ignore[attr-defined]  # as some errors have
    assert named(error, "f") is error
    assert str(error) == "f:2:8: at f:2:8"
    assert error.args == ("at f:2:8",)
    assert error.diagnostics[0].notes[0].location == "f:3:1"  # type: ignore[attr-defined]  # as above


def test_what_has_no_such_location_is_the_same_object() -> None:
    """Nothing is copied for nothing."""
    needs = Needs(None, ())
    assert named(needs, "f") is needs
