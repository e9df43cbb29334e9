"""The matrix: real artifacts x real Releases, predicted and observed."""

from __future__ import annotations

from portable.matrix.cell import Agreement, Cell, Role
from portable.matrix.collect import Pick, case_items, collect
from portable.matrix.document import MalformedMatrix
from portable.matrix.item import Item, NothingToTest
from portable.matrix.merging import merge
from portable.matrix.result import Matrix
from portable.matrix.run import Run
from portable.matrix.store import Store

__all__ = [
    "Agreement",
    "Cell",
    "Item",
    "MalformedMatrix",
    "Matrix",
    "NothingToTest",
    "Pick",
    "Role",
    "Run",
    "Store",
    "case_items",
    "collect",
    "merge",
]
