"""Matrices for tests: a real one, and Cells of every kind, in the words of real Releases."""

from __future__ import annotations

import datetime
import functools
from dataclasses import replace
from pathlib import Path

from portable.artifact import Artifact
from portable.matrix import Cell, Item, Matrix, Role
from portable.prediction import predict
from portable.releases import Release, find_release
from portable.verdict import Basis, Diagnostic, Outcome, Severity, Stage, Verdict

__all__ = ["ARTIFACTS", "DAY", "cell", "item", "matrix", "observed", "sample"]

ARTIFACTS = Path(__file__).parents[1] / "data" / "artifacts"
DAY = datetime.date(2026, 11, 21)


@functools.cache
def item(name: str) -> Item:
    """Return an artifact of the test data."""
    path = ARTIFACTS / f"{name}.mlir.bc"
    artifact = Artifact.load(path)
    return Item(name, f"artifacts/{path.name}", artifact.digest, artifact.version)


def observed(
    release: str,
    outcome: Outcome = Outcome.COMPATIBLE,
    stage: Stage = Stage.DECODE,
    said: str = "",
) -> Verdict:
    """Return what a Release was seen to do."""
    told = (Diagnostic(Severity.ERROR, said, '"-":0:0'),) if said else ()
    return Verdict(release, outcome, stage, Basis.OBSERVED, said, told)


def cell(
    name: str,
    release: str,
    seen: Verdict | None,
    *,
    note: str = "",
    listed: str = "",
) -> Cell:
    """Return a Cell with what the tables really predict."""
    one, consumer = item(name), find_release(release)
    predicted = predict(Artifact.load(ARTIFACTS / f"{name}.mlir.bc"), consumer)
    newer = one.claimed is not None and one.claimed > consumer.target
    role = Role.FORWARD if newer else Role.BACKWARD
    return Cell(one, consumer, role, predicted, seen, note, listed)


def matrix(*cells: Cell, stage: Stage = Stage.DECODE, date: datetime.date = DAY) -> Matrix:
    """Return the Matrix of these Cells."""
    items: dict[tuple[str, str], Item] = {one.item.key: one.item for one in cells}
    releases: dict[str, Release] = {str(one.release): one.release for one in cells}
    rows, columns = list(items), list(releases)
    ordered = sorted(
        cells, key=lambda one: (rows.index(one.item.key), columns.index(str(one.release)))
    )
    return Matrix(stage, tuple(items.values()), tuple(releases.values()), tuple(ordered), date)


def sample() -> Matrix:
    """Return one Cell of each kind; the words are those of the Releases named, of 2026-11-21."""
    newer = "bytecode version 6 is newer than the current version 5"
    symbol = "'stablehlo.all_reduce' op replica_groups: mesh symbol 'mesh' not found"
    unknown = "unknown vhlo attribute code: 23"
    refused, decode = Outcome.INCOMPATIBLE, Stage.DECODE
    old, new, iree = "jaxlib 0.4.13", "jaxlib 0.10.2", "iree-base-compiler 3.4.0"
    return matrix(
        cell("add_f32+0.9.0", old, observed(old)),
        cell("add_f32+0.9.0", new, observed(new)),
        cell("add_f32+0.9.0", iree, observed(iree)),
        # A contradiction without explanation (no Release does this), and one that is listed.
        cell("add_f32+1.17.0", old, observed(old)),
        replace(
            cell("location_range+1.0.0", iree, observed(iree), listed="early-ranges"),
            # As it was predicted before the table knew better.
            predicted=Verdict(
                iree, refused, Stage.WINDOW, Basis.PREDICTED, "needs 1.8.5, has 1.8.0"
            ),
        ),
        cell("location_range+1.0.0", old, observed(old, refused, decode, newer)),
        cell("mesh_symbol+1.16.0", new, observed(new, refused, decode, symbol)),
        cell("mesh_symbol+1.16.0", iree, observed(iree, refused, decode, unknown)),
        cell("all_reduce_two+1.5.0", iree, observed(iree, Outcome.CRASHED, decode, "SIGSEGV")),
        cell("all_reduce_two+1.5.0", old, None, note="no Python 3.11 on this machine"),
        cell("i1_splat_8+1.0.0", new, observed(new, Outcome.HUNG, decode, "no answer in 30 s")),
        cell(
            "f8_round_trip+1.0.0",
            new,
            observed(new, Outcome.WRONG_RESULT, Stage.EXECUTE, "result 0 is off by 1"),
        ),
    )
