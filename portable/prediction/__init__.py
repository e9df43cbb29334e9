"""Predicted Verdicts: one artifact, one Consumer or a set of them; bytes and tables alone."""

from __future__ import annotations

from portable.prediction.blame import blamed
from portable.prediction.mode import Mode
from portable.prediction.subject import RANGE, Subject, examine, subjects, subjects_in
from portable.prediction.verdicts import combined, gravity, opening, predict, predict_all

__all__ = [
    "RANGE",
    "Mode",
    "Subject",
    "blamed",
    "combined",
    "examine",
    "gravity",
    "opening",
    "predict",
    "predict_all",
    "subjects",
    "subjects_in",
]
