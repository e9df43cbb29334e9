"""The result of a matrix: every Cell, and what they amount to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.attestation import Sighting
from portable.matrix.cell import Agreement

if TYPE_CHECKING:
    import datetime

    from portable.matrix.cell import Cell
    from portable.matrix.item import Item
    from portable.releases import Release
    from portable.verdict import Stage

__all__ = ["Matrix"]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Artifacts x Consumers, up to a Stage.

    Args:
        stage: The Stage that was requested.
        items: The artifacts.
        releases: The consumers.
        cells: One for each artifact and consumer, artifact by artifact.
        date: The day of the observation.
    """

    stage: Stage
    items: tuple[Item, ...]
    releases: tuple[Release, ...]
    cells: tuple[Cell, ...]
    date: datetime.date

    def __repr__(self) -> str:
        size = f"{len(self.items)} artifacts x {len(self.releases)} Releases"
        return f"<Matrix {size} to {self.stage}, {len(self.contradictions)} contradictions>"

    @property
    def contradictions(self) -> tuple[Cell, ...]:
        """The Cells whose observation is not what was predicted, the unexplained ones first."""
        found = [cell for cell in self.cells if cell.agreement is Agreement.CONTRADICTS]
        return tuple(sorted(found, key=lambda cell: not cell.unexplained))

    @property
    def sightings(self) -> tuple[Sighting, ...]:
        """Everything that was observed, as `portable.attestation.sign` takes it."""
        return tuple(
            Sighting(cell.item.digest, self.date, seen)
            for cell in self.cells
            for seen in (cell.observed, *cell.also)
            if seen is not None
        )

    @property
    def unobserved(self) -> tuple[Cell, ...]:
        """The Cells whose Release could not be run."""
        return tuple(cell for cell in self.cells if cell.observed is None)

    @property
    def partial(self) -> tuple[Cell, ...]:
        """The Cells that work as far as they were observed, which is less far than requested."""
        return tuple(
            cell
            for cell in self.cells
            if cell.observed and cell.observed.compatible and cell.observed.stage < self.stage
        )

    @property
    def compatible(self) -> bool:
        """Whether every artifact was seen to work on every consumer."""
        return all(cell.observed is not None and cell.observed.compatible for cell in self.cells)
