"""Generated programs: make them, run them on real Releases, reduce those that differ."""

from __future__ import annotations

from portable.fuzz.forms import Form, language
from portable.fuzz.generation import (
    Generated,
    NothingToGenerate,
    Parameter,
    generate,
)
from portable.fuzz.inputs import inputs_for
from portable.fuzz.one_op import OneOp, one_op_programs
from portable.fuzz.reduction import (
    Candidate,
    ConditionNeverHolds,
    ConditionNotStable,
    Reduced,
    reduce,
)

__all__ = [
    "Candidate",
    "ConditionNeverHolds",
    "ConditionNotStable",
    "Form",
    "Generated",
    "NothingToGenerate",
    "OneOp",
    "Parameter",
    "Reduced",
    "generate",
    "inputs_for",
    "language",
    "one_op_programs",
    "reduce",
]
