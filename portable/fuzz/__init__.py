"""Generated programs: make them, run them on real Releases, reduce what is found."""

from __future__ import annotations

from portable.fuzz.forms import Form, language
from portable.fuzz.generation import (
    Argument,
    Generated,
    NothingToGenerate,
    generate,
)
from portable.fuzz.inputs import inputs_for
from portable.fuzz.one_op import OneOp, one_op_programs

__all__ = [
    "Argument",
    "Form",
    "Generated",
    "NothingToGenerate",
    "OneOp",
    "generate",
    "inputs_for",
    "language",
    "one_op_programs",
]
