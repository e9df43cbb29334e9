"""The functions of a program: what can be called, with what."""

from __future__ import annotations

import pytest

from compat_tests.helpers.bytecode_samples import SAMPLES, Sample
from compat_tests.helpers.bytecode_writer import Artifact, operation
from portable.bytecode import read
from portable.bytecode.functions import Function, functions

PROGRAMS = {
    "classic.mlir": (
        Function(
            "main", True, ("tensor<4x8xf32>", "tensor<8x2xf32>"), ("tensor<4xf32>", "tensor<i32>")
        ),
        Function("twice", False, ("tensor<4xf32>",), ("tensor<4xf32>",)),
    ),
    "modern.mlir": (
        Function(
            "main",
            True,
            ("tensor<4xf32>", "token", "tensor<?x3xquant_per_axis<i8:f32>>", "tensor<3x?xf32>"),
            ("tensor<4xf32>", "token"),
        ),
        Function("scale", False, ("tensor<4xf32>",), ("tensor<4xf32>",)),
    ),
}


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_functions_are_those_of_the_program(sample: Sample) -> None:
    """Names, visibility and types are as the program has them, in every format."""
    assert functions(read(sample.data)) == PROGRAMS[sample.program]


def test_a_program_without_functions_has_none() -> None:
    """An empty module is no error."""
    assert functions(read(bytes(Artifact(operations=[operation(0)])))) == ()
