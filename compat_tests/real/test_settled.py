"""What XLA computes of constants before it simplifies what takes them, and what it does not.

Dividing by 1e38 is multiplying by a number that is taken for zero, if XLA sees it before it has
computed what is divided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.eras import versions
from portable import pin, predict
from portable.bytecode import read
from portable.prediction.forms import Reading
from portable.runtime.executors import find_executor
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_T = "tensor<2xf32>"
_COMMON = f"""
    %c = stablehlo.constant dense<[3.0e38, -2.0e38]> : {_T}
    %d = stablehlo.constant dense<[1.5e38, 1.1e38]> : {_T}
    %ones = stablehlo.constant dense<[1.0, 1.5]> : {_T}
    %most = stablehlo.constant dense<6.0e37> : {_T}
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %number = stablehlo.constant dense<3.0e38> : tensor<f32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %large = stablehlo.constant dense<1.0e38> : {_T}
"""
_TWO = "subtract add maximum minimum remainder"
_ONE = "abs negate round_nearest_afz round_nearest_even"
_UP = "exponential sine cosine tanh logistic sqrt rsqrt"
_ROW, _PAIR, _MATRIX = "tensor<1x2xf32>", "tensor<2x1xf32>", "tensor<2x2xf32>"
SETTLED = {
    **{op: f"%v = stablehlo.{op} %c, %d : {_T}" for op in _TWO.split()},
    **{op: f"%v = stablehlo.{op} %c : {_T}" for op in _ONE.split()},
    **{
        op: f"%w = stablehlo.{op} %ones : {_T}\n %v = stablehlo.multiply %w, %most : {_T}"
        for op in _UP.split()
    },
    "multiply": f"%v = stablehlo.multiply %d, %ones : {_T}",
    "divide": f"%v = stablehlo.divide %c, %ones : {_T}",
    "log": f"%w = stablehlo.log %d : {_T}\n %v = stablehlo.multiply %w, %ones2 : {_T}",
    "sign": f"%w = stablehlo.sign %c : {_T}\n %v = stablehlo.multiply %w, %d : {_T}",
    "convert": f"""%i = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
        %w = stablehlo.convert %i : (tensor<2xi32>) -> {_T}
        %v = stablehlo.multiply %w, %most : {_T}""",
    "clamp": f"%v = stablehlo.clamp %d, %c, %d : {_T}",
    "reshape": f"""%w = stablehlo.constant dense<[[3.0e38], [-2.0e38]]> : {_PAIR}
        %v = stablehlo.reshape %w : ({_PAIR}) -> {_T}""",
    "broadcast_in_dim": f"""%v = stablehlo.broadcast_in_dim %number, dims = []
        : (tensor<f32>) -> {_T}""",
    "slice": f"""%w = stablehlo.constant dense<[3.0e38, -2.0e38, 1.0]> : tensor<3xf32>
        %v = stablehlo.slice %w [0:2] : (tensor<3xf32>) -> {_T}""",
    "complex": f"""%z = stablehlo.complex %c, %d : tensor<2xcomplex<f32>>
        %a = stablehlo.real %z : (tensor<2xcomplex<f32>>) -> {_T}
        %b = stablehlo.imag %z : (tensor<2xcomplex<f32>>) -> {_T}
        %v = stablehlo.maximum %a, %b : {_T}""",
}  # fmt: skip
_SUM = """({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32> })"""
_ORDER = """({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1> })"""
OTHER = {
    "optimization_barrier": f"%v = stablehlo.optimization_barrier %c : {_T}",
    "iota": f"""%w = stablehlo.iota dim = 0 : tensor<2xi32>
        %u = stablehlo.convert %w : (tensor<2xi32>) -> {_T}
        %v = stablehlo.add %u, %c : {_T}""",
    "pad": f"""%w = stablehlo.constant dense<3.0e38> : tensor<1xf32>
        %v = stablehlo.pad %w, %zero, low = [0], high = [1], interior = [0]
            : (tensor<1xf32>, tensor<f32>) -> {_T}""",
    "concatenate": f"""%w = stablehlo.reshape %number : (tensor<f32>) -> tensor<1xf32>
        %v = stablehlo.concatenate %w, %w, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> {_T}""",
    "reverse": f"%v = stablehlo.reverse %c, dims = [0] : {_T}",
    "power": f"%o = stablehlo.constant dense<1.0> : {_T}\n %v = stablehlo.power %c, %o : {_T}",
    "select": f"""%p = stablehlo.compare GT, %c, %d : ({_T}, {_T}) -> tensor<2xi1>
        %v = stablehlo.select %p, %c, %d : tensor<2xi1>, {_T}""",
    "transpose": f"""%w = stablehlo.constant dense<[[3.0e38, -2.0e38], [2.0e38, 1.0]]> : {_MATRIX}
        %t = stablehlo.transpose %w, dims = [1, 0] : ({_MATRIX}) -> {_MATRIX}
        %s = stablehlo.slice %t [0:1, 0:2] : ({_MATRIX}) -> {_ROW}
        %v = stablehlo.reshape %s : ({_ROW}) -> {_T}""",
    "ceil": f"%v = stablehlo.ceil %c : {_T}",
    "call": f"%v = func.call @negated(%c) : ({_T}) -> {_T}",
    "while": f"""%v, %n = stablehlo.while(%x = %c, %at = %none) : {_T}, tensor<i32>
        cond {{ %ten = stablehlo.constant dense<10> : tensor<i32>
            %t = stablehlo.compare LT, %at, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %t : tensor<i1> }}
        do {{ %u = stablehlo.constant dense<1> : tensor<i32>
            %m = stablehlo.add %at, %u : tensor<i32>
            %y = stablehlo.negate %x : {_T}
            stablehlo.return %y, %m : {_T}, tensor<i32> }}""",
    "sort": f'%v = "stablehlo.sort"(%c) {_ORDER} {{dimension = 0 : i64}} : ({_T}) -> {_T}',
    "reduce_window": f"""%v = "stablehlo.reduce_window"(%c, %zero) {_SUM}
        {{window_dimensions = array<i64: 1>}} : ({_T}, tensor<f32>) -> {_T}""",
    "map": f"""%v = "stablehlo.map"(%c, %ones) {_SUM}
        {{dimensions = array<i64: 0>}} : ({_T}, {_T}) -> {_T}""",
    "all_to_all": f"""%v = "stablehlo.all_to_all"(%c)
        {{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64,
        replica_groups = dense<[[0]]> : tensor<1x1xi64>}} : ({_T}) -> {_T}""",
    "collective_permute": f"""%v = "stablehlo.collective_permute"(%c)
        {{source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}} : ({_T}) -> {_T}""",
    "cholesky": f"""%m = stablehlo.constant dense<[[4.0, 0.0], [0.0, 9.0]]> : {_MATRIX}
        %f = stablehlo.cholesky %m, lower = true : {_MATRIX}
        %g = stablehlo.slice %f [0:1, 0:2] : ({_MATRIX}) -> {_ROW}
        %h = stablehlo.reshape %g : ({_ROW}) -> {_T}
        %v = stablehlo.multiply %h, %large : {_T}""",
    "triangular_solve": f"""%m = stablehlo.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : {_MATRIX}
        %b = stablehlo.reshape %c : ({_T}) -> {_PAIR}
        %f = "stablehlo.triangular_solve"(%m, %b) {{left_side = true, lower = true,
            unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}}
            : ({_MATRIX}, {_PAIR}) -> {_PAIR}
        %v = stablehlo.reshape %f : ({_PAIR}) -> {_T}""",
    "fft": f"""%k = stablehlo.constant dense<[(3.0e38, 0.0), (0.0, 0.0)]> : tensor<2xcomplex<f32>>
        %f = stablehlo.fft %k, type = FFT, length = [2]
            : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
        %v = stablehlo.real %f : (tensor<2xcomplex<f32>>) -> {_T}""",
}  # fmt: skip


def _program(op: str) -> str:
    return f"""
    func.func private @negated(%x: {_T}) -> {_T} {{
        %n = stablehlo.negate %x : {_T}
        return %n : {_T}
    }}
    func.func @main() -> {_T} {{
        {_COMMON}
        %ones2 = stablehlo.constant dense<2.0e36> : {_T}
        {op}
        %r = stablehlo.divide %v, %large : {_T}
        return %r : {_T}
    }}"""


@pytest.mark.parametrize("version", versions("0.4.13", "0.5.3", "0.9.1", "0.10.2", "0.12.0.1"))
def test_what_is_not_computed_first_is_not_green(
    version: str, release: Callable[[str], Environment]
) -> None:
    """A quotient of constants is right where its Verdict is green, and of settled ones always."""
    name = f"jaxlib {version}"
    with find_executor("pjrt", release(name)) as executor:
        for op, text in (SETTLED | OTHER).items():
            artifact = pin(_program(text), "0.14.0").artifact
            (found,) = executor.compile(artifact).run([])
            wrong = bool(np.all(np.abs(found) < 1e-3))
            green = predict(artifact, name, stage=Stage.EXECUTE).compatible
            assert not (wrong and (green or op in SETTLED)), op


@pytest.mark.parametrize("op", SETTLED | OTHER)
def test_what_is_settled(op: str) -> None:
    """The quotient is where everything before it is."""
    artifact = pin(_program((SETTLED | OTHER)[op]), "0.14.0").artifact
    reading = Reading(read(artifact.data), artifact.data)
    quotient = [*reading.walk.of(["vhlo.divide_v1"])][-1]
    assert quotient.number in reading.folded or op == "call"
    assert (quotient.number in reading.settled) is (op in SETTLED)
