"""Operands of different types: what the oldest library writes, against who really reads it."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable

import pytest

from compat_tests.helpers.eras import versions
from portable.artifact import Artifact
from portable.prediction import predict
from portable.releases import find_release
from portable.runtime.environments import Environment
from portable.verdict import Stage

pytestmark = pytest.mark.old_releases

TYPES = ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f16", "bf16", "f32", "i8", "ui8", "i32")
LAYOUT = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
COUNTS = "batch_group_count = 1 : i64, feature_group_count = 1 : i64"
OPS = {
    "convolution": """
  %0 = stablehlo.convolution(%a, %b) dim_numbers = LAYOUT, window = {} {COUNTS}
    : (tensor<1x4x4x2xA>, tensor<2x2x2x3xB>) -> tensor<1x3x3x3xf32>""",
    "dynamic_conv": """
  %p = stablehlo.constant dense<0> : tensor<2x2xi64>
  %0 = "stablehlo.dynamic_conv"(%a, %b, %p)
    {dimension_numbers = #stablehlo.conv<LAYOUT>, COUNTS}
    : (tensor<1x4x4x2xA>, tensor<2x2x2x3xB>, tensor<2x2xi64>) -> tensor<1x3x3x3xf32>""",
    "dynamic_reshape": """
  %p = stablehlo.constant dense<[8, 4]> : tensor<2xi64>
  %1 = stablehlo.dynamic_reshape %a, %p : (tensor<1x4x4x2xA>, tensor<2xi64>) -> tensor<8x4xB>
  %0 = stablehlo.constant dense<0.0> : tensor<1x3x3x3xf32>""",
}
PROGRAM = """
func.func @main(%a: tensor<1x4x4x2xA>, %b: tensor<2x2x2x3xB>) -> tensor<1x3x3x3xf32> {OP
  return %0 : tensor<1x3x3x3xf32>
}"""


def _program(op: str, first: str, second: str) -> str:
    text = PROGRAM.replace("OP", OPS[op]).replace("LAYOUT", LAYOUT).replace("COUNTS", COUNTS)
    return text.replace("xA>", f"x{first}>").replace("xB>", f"x{second}>")


@pytest.fixture(scope="module")
def written(release: Callable[[str], Environment]) -> dict[str, str]:
    """Return the artifacts of all ops and pairs of types, in base64, by what they are."""
    names = [(op, *pair) for op in OPS for pair in itertools.product(TYPES, TYPES)]
    jobs = (
        {"kind": "write", "text": _program(*name), "target": "0.9.0", "want": ["artifact"]}
        for name in names
    )
    with release("jaxlib 0.4.13").worker() as worker:
        answers = list(worker.ask_all(jobs))
    found = {
        " ".join(name): answer.payload["artifact"]
        for name, answer in zip(names, answers, strict=True)
        if answer.ok
    }
    assert len(found) > 150
    return found


@pytest.mark.parametrize(
    "version",
    versions(
        *("0.4.13", "0.4.18", "0.4.26", "0.4.27", "0.4.28", "0.4.30", "0.5.3", "0.10.2"),
        *("0.11.1", "0.11.2", "0.12.0.1"),
    ),
)
def test_who_reads_mixed_types_is_predicted(
    version: str, written: dict[str, str], release: Callable[[str], Environment]
) -> None:
    """The oldest verifiers take any types, those after them one, the newest different f8 again."""
    consumer = find_release(f"jaxlib {version}")
    with release(str(consumer)).worker() as worker:
        answers = list(worker.ask_all({"kind": "read", "data": one} for one in written.values()))
    wrong = {}
    for (name, data), answer in zip(written.items(), answers, strict=True):
        verdict = predict(Artifact.from_bytes(base64.b64decode(data)), consumer)
        if answer.ok != (verdict.compatible or verdict.stage > Stage.DECODE):
            wrong[name] = f"{answer.status} {answer.reason}; predicted {verdict.reason}"
    assert not wrong
