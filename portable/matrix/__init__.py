"""The matrix: real artifacts x real Releases, predicted and observed."""

from __future__ import annotations

from portable.matrix.cell import Agreement, Cell, Role
from portable.matrix.item import Item, NothingToTest
from portable.matrix.result import Matrix

__all__ = ["Agreement", "Cell", "Item", "Matrix", "NothingToTest", "Role"]
