"""Operands of different types: what an old library writes, against who really reads it."""

from __future__ import annotations

import itertools
from base64 import b64decode
from collections.abc import Callable, Iterator

import pytest

from compat_tests.helpers.eras import versions
from portable.artifact import Artifact
from portable.prediction import Subject, examine, predict
from portable.releases import find_release
from portable.runtime.environments import Environment
from portable.verdict import Stage

pytestmark = pytest.mark.old_releases

TYPES = ("f8E4M3FN", "f8E5M2", "f16", "f32", "i8", "ui8")
QUANTIZED = (
    *("f32", "f16", "!quant.uniform<i8:f32, 5.0e-1>", "!quant.uniform<i8:f32, 2.5e-1>"),
    *("!quant.uniform<i8:f16, 5.0e-1>", "!quant.uniform<i16:f32, 5.0e-1>"),
)
LAYOUT = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
COUNTS = "batch_group_count = 1 : i64, feature_group_count = 1 : i64"
OPS = {
    "convolution": """
  %0 = stablehlo.convolution(%a, %b) dim_numbers = LAYOUT, window = {} {COUNTS}
    : (tensor<1x4x4x2xA>, tensor<2x2x2x3xB>) -> tensor<1x3x3x3xC>""",
    "dynamic_conv": """
  %p = stablehlo.constant dense<0> : tensor<2x2xi64>
  %0 = "stablehlo.dynamic_conv"(%a, %b, %p)
    {dimension_numbers = #stablehlo.conv<LAYOUT>, COUNTS}
    : (tensor<1x4x4x2xA>, tensor<2x2x2x3xB>, tensor<2x2xi64>) -> tensor<1x3x3x3xC>""",
    "dynamic_reshape": """
  %p = stablehlo.constant dense<[1, 3, 3, 3]> : tensor<4xi64>
  %0 = stablehlo.dynamic_reshape %b, %p
    : (tensor<1x3x3x3xB>, tensor<4xi64>) -> tensor<1x3x3x3xC>""",
    "dynamic_broadcast_in_dim": """
  %p = stablehlo.constant dense<[1, 3, 3, 3]> : tensor<4xi64>
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%b, %p)
    {broadcast_dimensions = array<i64: 0, 1, 2, 3>}
    : (tensor<1x3x3x3xB>, tensor<4xi64>) -> tensor<1x3x3x3xC>""",
    "uniform_quantize": """
  %0 = stablehlo.uniform_quantize %b : (tensor<1x3x3x3xB>) -> tensor<1x3x3x3xC>""",
}
UNARY = {"dynamic_reshape", "dynamic_broadcast_in_dim", "uniform_quantize"}
PROGRAM = """
func.func @main(%a: tensor<1x4x4x2xA>, %b: tensor<2x2x2x3xB>) -> tensor<1x3x3x3xC> {OP
  return %0 : tensor<1x3x3x3xC>
}"""


def _program(op: str, first: str, second: str, result: str) -> str:
    text = PROGRAM.replace("OP", OPS[op]).replace("LAYOUT", LAYOUT).replace("COUNTS", COUNTS)
    if op in UNARY:
        text = text.replace("%b: tensor<2x2x2x3xB>", "%b: tensor<1x3x3x3xB>")
    for letter, name in zip("ABC", (first, second, result), strict=True):
        text = text.replace(f"x{letter}>", f"x{name}>")
    return text


def _combinations() -> Iterator[tuple[str, ...]]:
    for op in OPS:
        for first, second in itertools.product(TYPES, TYPES):
            yield (op, "f32", first, second) if op in UNARY else (op, first, second, "f32")
        for types in itertools.product(QUANTIZED, repeat=2 if op in UNARY else 3):
            yield (op, "f32", *types) if op in UNARY else (op, *types)


@pytest.fixture(scope="module", params=versions("0.4.13", "0.4.26"))
def written(
    request: pytest.FixtureRequest, release: Callable[[str], Environment]
) -> dict[str, tuple[str, Subject]]:
    """Return the artifacts of all ops and types, in base64, with what is in them, by name."""
    names = list(dict.fromkeys(_combinations()))
    jobs = (
        {"kind": "write", "text": _program(*name), "target": "0.9.0", "want": ["artifact"]}
        for name in names
    )
    with release(f"jaxlib {request.param}").worker() as worker:
        answers = list(worker.ask_all(jobs))
    found = {
        " ".join(name): (
            data := answer.payload["artifact"],
            examine(Artifact.from_bytes(b64decode(data))),
        )
        for name, answer in zip(names, answers, strict=True)
        if answer.ok
    }
    assert len(found) > 100
    return found


@pytest.mark.parametrize(
    "version",
    versions(
        *("0.4.13", "0.4.18", "0.4.26", "0.4.27", "0.4.28", "0.4.30", "0.5.3", "0.10.2"),
        *("0.11.1", "0.11.2", "0.12.0.1"),
    ),
)
def test_who_reads_mixed_types_is_predicted(
    version: str, written: dict[str, tuple[str, Subject]], release: Callable[[str], Environment]
) -> None:
    """The oldest verifiers take any types, those after them one, the newest different f8 again."""
    consumer = find_release(f"jaxlib {version}")
    with release(str(consumer)).worker() as worker:
        jobs = ({"kind": "read", "data": data} for data, _ in written.values())
        answers = list(worker.ask_all(jobs))
    wrong = {}
    for (name, (_, subject)), answer in zip(written.items(), answers, strict=True):
        verdict = predict(subject, consumer)
        if answer.ok != (verdict.compatible or verdict.stage > Stage.DECODE):
            wrong[name] = f"{answer.status} {answer.reason}; predicted {verdict.reason}"
    assert not wrong
