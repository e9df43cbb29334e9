"""The corpus: one feature a Case, written once by named Releases and never edited."""

from __future__ import annotations

from portable.corpus.case import (
    Case,
    CorpusError,
    KnownException,
    Oracle,
    Sealed,
    Tensor,
    Tolerance,
    load_case,
    load_corpus,
)
from portable.corpus.seals import SEALS, Broken, Seals, digest

__all__ = [
    "SEALS",
    "Broken",
    "Case",
    "CorpusError",
    "KnownException",
    "Oracle",
    "Sealed",
    "Seals",
    "Tensor",
    "Tolerance",
    "digest",
    "load_case",
    "load_corpus",
]
