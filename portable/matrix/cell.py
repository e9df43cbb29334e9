"""Cells: one Artifact on one Consumer, predicted and observed, and how the two agree."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from portable.matrix.item import Item
    from portable.releases import Release
    from portable.verdict import Verdict

__all__ = ["MOST_ALSO", "Agreement", "Cell", "Role", "agreement"]

MOST_ALSO = 16
"""How many other observations of one cell are kept: each is a Verdict of its own."""


class Role(enum.Enum):
    """Whether an artifact goes to an older or a newer Release."""

    BACKWARD = "backward"  # an old artifact, a reader that is as new or newer
    FORWARD = "forward"  # a new producer, a reader that is older

    def __str__(self) -> str:
        return self.value


class Agreement(enum.Enum):
    """Whether a prediction and an observation agree."""

    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    UNOBSERVED = "unobserved"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Cell:
    """One Artifact on one Consumer.

    Args:
        item: The artifact.
        release: The consumer.
        role: Whether to an older or a newer Release.
        predicted: What the tables say.
        observed: What the Release did; None when it could not be run.
        note: Why it was not observed, or why it was observed less far than requested.
        listed: The entry of the list of contradictions that explains a contradiction; empty for
            an unexplained one, and where there is none.
        also: Other observations of the same cell that do not fit with `observed`, at most
            `MOST_ALSO`.
    """

    item: Item
    release: Release
    role: Role
    predicted: Verdict
    observed: Verdict | None
    note: str = ""
    listed: str = ""
    also: tuple[Verdict, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The observation if there is one, else the prediction."""
        return self.observed or self.predicted

    @property
    def agreement(self) -> Agreement:
        """Whether the prediction and the observation agree."""
        if self.observed is None:
            return Agreement.UNOBSERVED
        return agreement(self.predicted, self.observed)

    @property
    def unexplained(self) -> bool:
        """Whether this is a contradiction that is not listed."""
        return self.agreement is Agreement.CONTRADICTS and not self.listed


def agreement(predicted: Verdict, observed: Verdict) -> Agreement:
    """Compare a prediction with an observation.

    What is predicted beyond the Stage that was observed is not contradicted; nor is a refusal to
    write or to execute, which tables of Versions say nothing about. A Release that crashes or hangs
    where a refusal was predicted does not read the artifact either, so that agrees too. Executors
    that compile as they execute fail later than those that do not: that is no difference either.

    Args:
        predicted: The prediction.
        observed: The observation.

    Returns:
        Whether they agree.
    """
    if observed.outcome is Outcome.INCOMPATIBLE and observed.stage > Stage.DECODE:
        return Agreement.AGREES
    if predicted.outcome is Outcome.NOT_KNOWN:
        return Agreement.AGREES
    stage = max(_executing(predicted.stage), Stage.DECODE)
    reached = predicted.compatible or stage > _executing(observed.stage)
    same = observed.compatible == reached
    return Agreement.AGREES if same else Agreement.CONTRADICTS


def _executing(stage: Stage) -> Stage:
    return Stage.EXECUTE if stage is Stage.COMPILE else stage
