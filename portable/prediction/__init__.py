"""Predicted Verdicts: one artifact, one Consumer or a set of them; bytes and tables alone."""

from __future__ import annotations

from portable.prediction.blame import blamed
from portable.prediction.forms import Reading
from portable.prediction.mode import Mode
from portable.prediction.replacing import replaced, replacing
from portable.prediction.subject import (
    RANGE,
    Subject,
    examine,
    subject_of,
    subjects,
    subjects_in,
)
from portable.prediction.verdicts import combined, gravity, opening, predict, predict_all

__all__ = [
    "RANGE",
    "Mode",
    "Reading",
    "Subject",
    "blamed",
    "combined",
    "examine",
    "gravity",
    "opening",
    "predict",
    "predict_all",
    "replaced",
    "replacing",
    "subject_of",
    "subjects",
    "subjects_in",
]
