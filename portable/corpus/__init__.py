"""The corpus: one feature a Case, written once by named Releases and never edited."""

from __future__ import annotations

from portable.corpus.case import (
    Case,
    CorpusError,
    KnownException,
    Oracle,
    Sealed,
    Tensor,
    case_folders,
    find_case,
    load_case,
    load_corpus,
)
from portable.corpus.seals import MOVED, SEALS, Broken, Seals, digest

__all__ = [
    "MOVED",
    "SEALS",
    "Broken",
    "Case",
    "CorpusError",
    "KnownException",
    "Oracle",
    "Sealed",
    "Seals",
    "Tensor",
    "case_folders",
    "digest",
    "find_case",
    "load_case",
    "load_corpus",
]
