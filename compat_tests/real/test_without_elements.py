"""Ops without elements: compilers remove most of them, whatever they make of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.eras import versions
from portable import pin, predict
from portable.runtime.executors import ExecutionFailed, find_executor
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_GROUPS = "replica_groups = dense<0> : tensor<1x1xi64>"
_SUM = """({{ ^bb0(%p: tensor<{0}>, %q: tensor<{0}>):
    %s = stablehlo.add %p, %q : tensor<{0}>
    stablehlo.return %s : tensor<{0}> }})"""
_T = "tensor<0x2x{0}>"
# Ops of one operand of two dimensions, of which each gives what it takes.
_OPS = {
    "collective_broadcast": f'"stablehlo.collective_broadcast"(%x) <{{{{{_GROUPS}}}}}>',
    "all_to_all": f""""stablehlo.all_to_all"(%x) <{{{{split_dimension = 0 : i64,
        concat_dimension = 1 : i64, split_count = 1 : i64, {_GROUPS}}}}}>""",
    "collective_permute": """"stablehlo.collective_permute"(%x)
        <{{source_target_pairs = dense<0> : tensor<1x2xi64>}}>""",
    "all_reduce": f'"stablehlo.all_reduce"(%x) <{{{{{_GROUPS}}}}}> {_SUM}',
    "cross-replica-sum": f'"stablehlo.cross-replica-sum"(%x) <{{{{{_GROUPS}}}}}>',
    "unary_einsum": '"stablehlo.unary_einsum"(%x) <{{einsum_config = "ab->ab"}}>',
    "reshape": '"stablehlo.reshape"(%x)',
    "negate": '"stablehlo.negate"(%x)',
    "reverse": '"stablehlo.reverse"(%x) <{{dimensions = array<i64: 0>}}>',
    "sine": '"stablehlo.sine"(%x)',
    "cbrt": '"stablehlo.cbrt"(%x)',
    "barrier": '"stablehlo.optimization_barrier"(%x)',
}
_TYPES = ("f32", "bf16", "f8E3M4", "f6E2M3FN", "i2", "i32", "ui16", "complex<f32>")


def _texts() -> dict[str, str]:
    found = {}
    for op, text in _OPS.items():
        for element in _TYPES:
            if op in {"sine", "cbrt"} and element.startswith(("i", "ui")):
                continue
            if op == "negate" and element.startswith("ui"):
                continue
            type_ = _T.format(element)
            found[f"{op} {element}"] = f"""module {{ func.func @main(%x: {type_}) -> {type_} {{
                %y = {text.format(element)} : ({type_}) -> {type_}
                return %y : {type_} }} }}"""
    return found


TEXTS = _texts()


@pytest.mark.parametrize("version", versions("0.5.3", "0.9.2", "0.12.0.1"))
def test_what_is_said_of_ops_without_elements(
    version: str, release: Callable[[str], Environment]
) -> None:
    """What is said to compile does, and what is said to fail does; of some nothing is said."""
    name, wrong = f"jaxlib {version}", []
    with find_executor("pjrt", release(name)) as executor:
        for op, text in TEXTS.items():
            artifact = pin(text, "current").artifact
            verdict = predict(artifact, name, stage=Stage.COMPILE)
            if verdict.holds(Stage.COMPILE) is None or verdict.holds(Stage.DECODE) is False:
                continue
            compiles = True
            try:
                executor.compile(artifact)
            except ExecutionFailed:
                compiles = False
            if verdict.holds(Stage.COMPILE) is not compiles:
                wrong.append(op)
    assert not wrong
