"""What a program needs: the Features in an artifact, and the two Versions that they force."""

from __future__ import annotations

from portable.features.analysis import analyze
from portable.features.model import (
    Analysis,
    Caveat,
    Feature,
    FeatureKind,
    Needs,
    RemovedForm,
    Strictness,
)

__all__ = [
    "Analysis",
    "Caveat",
    "Feature",
    "FeatureKind",
    "Needs",
    "RemovedForm",
    "Strictness",
    "analyze",
]
