"""What a prediction looks at: one artifact, read once, whatever the number of Consumers."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portable.artifact import NotAnArtifact
from portable.bytecode import read
from portable.features import analyze
from portable.prediction.forms import FORMS, KINDS, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from portable.artifact import Artifact
    from portable.features import Feature, RemovedForm
    from portable.inspection import Inspection
    from portable.version import Version

__all__ = ["RANGE", "Subject", "examine"]

RANGE = "file_line_col_range"
"""The location that readers before StableHLO 1.8.5 do not know."""

# What libStablehlo itself writes; everything else is outside the promise.
_NATIVE = frozenset({"builtin", "vhlo", "func", "stablehlo"})


@dataclass(frozen=True, slots=True)
class Subject:
    """One artifact, as far as a prediction and a policy look into it.

    Args:
        claimed: The Version in the header, if it names one.
        format: The version of the bytecode format.
        required: The Version a reader must have; None when nothing is known to force one.
        features: What forces it.
        present: What occurs, as `op:vhlo.tan_v1`, `type:i4`, `dialect:sdy` or
            `location:file_line_col_range`.
        kinds: The kinds that were looked for; whatever is not there of another kind may be.
        removed: Forms that newer readers do not know any more.
        forms: For each form of `portable.prediction.forms`, whether it occurs; None for perhaps.
        unknown: What the tables do not know, which may be newer than them.
        custom_calls: The targets of custom calls.
    """

    claimed: Version | None
    format: int
    required: Version | None
    features: Sequence[Feature] = ()
    present: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    removed: Sequence[RemovedForm] = ()
    forms: Mapping[str, bool | None] = field(default_factory=dict)
    unknown: Sequence[str] = ()
    custom_calls: frozenset[str] = frozenset()

    @classmethod
    def claim(cls, version: Version | None, format_: int) -> Subject:
        """Return what a header alone says, taken at its word."""
        return cls(version, format_, version)

    @classmethod
    def of(cls, inspection: Inspection) -> Subject:
        """Return what an Inspection says; it does not look for types and forms.

        Raises:
            NotAnArtifact: The file is no portable artifact, or cannot be read.
        """
        analysis = inspection.analysis
        if analysis is None or inspection.format is None:
            raise NotAnArtifact(inspection.damage or str(inspection.kind))
        present = {f"op:{name}" for name in inspection.operations}
        present |= {f"dialect:{name}" for name in inspection.dialects}
        present |= {f"location:{kind}" for kind in inspection.locations}
        return cls(
            claimed=inspection.claimed,
            format=inspection.format,
            required=analysis.required.version,
            features=analysis.required.features,
            present=frozenset(present),
            kinds=frozenset({"op", "dialect", "location"}),
            removed=analysis.removed,
            unknown=analysis.unknown,
            custom_calls=frozenset(inspection.custom_calls),
        )

    def names(self, kind: str) -> frozenset[str]:
        """Return the names of one kind that occur."""
        return frozenset(
            name for key in self.present for kind_, _, name in [key.partition(":")] if kind_ == kind
        )

    @property
    def foreign(self) -> frozenset[str]:
        """The dialects outside StableHLO."""
        return self.names("dialect") - _NATIVE


# Forms are found once for each artifact and looked up once for each Consumer.
@functools.lru_cache(maxsize=1)
def examine(artifact: Artifact) -> Subject:
    """Read what predictions and policies need to know of an artifact.

    Args:
        artifact: The artifact.

    Returns:
        What is in it.

    Raises:
        MalformedArtifact: Its bytes do not make sense.
    """
    content = read(artifact.data)
    analysis = analyze(content)
    reading = Reading(content, artifact.data)
    return Subject(
        claimed=artifact.version,
        format=artifact.header.format,
        required=analysis.required.version,
        features=analysis.required.features,
        present=reading.present,
        kinds=KINDS,
        removed=analysis.removed,
        forms={name: found(reading) for name, found in FORMS.items()},
        unknown=analysis.unknown,
        custom_calls=frozenset(reading.custom_calls()),
    )
