"""What IREE 3.13.0 refuses of programs that are nearly those that it compiles, as predicted."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

import portable
from compat_tests.helpers.compiled import ON_IREE, ON_OLDER_IREE, artifact_of
from compat_tests.helpers.thorough import some
from portable.artifact import Artifact
from portable.runtime.executors import ExecutionFailed, random_inputs
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _pytest.mark import ParameterSet

    from portable.runtime.executors import Executor

_RELEASE = "iree-base-compiler 3.13.0"
_FINDING = Path(__file__).parents[3] / "docs" / "findings" / "narrow-sums-iree" / "program.mlir"


def _function(takes: str, lines: list[str], gives: str) -> str:
    body = "\n  ".join(lines)
    return f"func.func @main({takes}) -> {gives} {{\n  {body}\n  return %r : {gives}\n}}"


def _convert(value: str, result: str, shape: str, of: str, to: str) -> str:
    return f"{result} = stablehlo.convert {value} : (tensor<{shape}x{of}>) -> tensor<{shape}x{to}>"


def _narrowed() -> Iterator[ParameterSet]:
    """Yield integers that become bf16: the program, and whether it is predicted to compile."""
    for shape, dim in (("8", 0), ("9", 0), ("3x5", 0), ("3x5", 1), ("2x2", 1)):
        iota = f"stablehlo.iota dim = {dim} : tensor<{shape}x"
        gives, compiles = f"tensor<{shape}xbf16>", shape in {"8", "2x2"}
        yield pytest.param(
            _function("", [f"%r = {iota}bf16>"], gives), compiles, id=f"iota {shape} {dim}"
        )
        lines = [f"%f = {iota}f32>", _convert("%f", "%r", shape, "f32", "bf16")]
        yield pytest.param(_function("", lines, gives), compiles, id=f"wider iota {shape} {dim}")
    for of, wider in itertools.product(("i1", "i8", "ui8", "i32", "i64"), ("f16", "f32", "f64")):
        lines = [_convert("%x", "%f", "16", of, wider), _convert("%f", "%r", "16", wider, "bf16")]
        text = _function(f"%x: tensor<16x{of}>", lines, "tensor<16xbf16>")
        yield pytest.param(text, wider == "f16", id=f"{of} by {wider}")
    integers = [_convert("%x", "%f", "16", "i32", "f32"), _convert("%g", "%h", "16", "f32", "bf16")]
    for op, compiles in (("add %f, %f", True), ("negate %f", True)):
        lines = [integers[0], f"%g = stablehlo.{op} : tensor<16xf32>", integers[1]]
        lines.append("%r = stablehlo.reshape %h : (tensor<16xbf16>) -> tensor<4x4xbf16>")
        text = _function("%x: tensor<16xi32>", lines, "tensor<4x4xbf16>")
        yield pytest.param(text, compiles, id=f"computed {op}")
    taken = "%x: tensor<16xi32>, %y: tensor<16xbf16>"
    for op in ("negate %h", "add %h, %y"):
        lines = [integers[0], "%g = stablehlo.reshape %f : (tensor<16xf32>) -> tensor<16xf32>"]
        lines += [integers[1], f"%r = stablehlo.{op} : tensor<16xbf16>"]
        yield pytest.param(_function(taken, lines, "tensor<16xbf16>"), None, id=f"then {op}")
        lines = ["%h = stablehlo.iota dim = 0 : tensor<16xbf16>", lines[-1]]
        yield pytest.param(_function(taken, lines, "tensor<16xbf16>"), True, id=f"iota {op}")


def _selected() -> Iterator[ParameterSet]:
    """Yield select_and_scatter with windows apart, of each size over each."""
    for of, window in itertools.product(range(2, 8), range(2, 4)):
        if window > of:
            continue
        count, tensor = of // window, f"tensor<{of}xf32>"
        source, scalar = f"tensor<{count}xf32>", "tensor<f32>"
        sizes = f"array<i64: {window}>"
        lines = [
            f"%z = stablehlo.constant dense<0.0> : {scalar}",
            f'%r = "stablehlo.select_and_scatter"(%x, %y, %z) <{{window_dimensions = {sizes},',
            f"window_strides = {sizes}}}> ({{",
            f"^bb0(%a: {scalar}, %b: {scalar}):",
            f"%c = stablehlo.compare GE, %a, %b : ({scalar}, {scalar}) -> tensor<i1>",
            "stablehlo.return %c : tensor<i1>",
            f"}}, {{\n^bb0(%a: {scalar}, %b: {scalar}):",
            f"%d = stablehlo.add %a, %b : {scalar}",
            f"stablehlo.return %d : {scalar}",
            f"}}) : ({tensor}, {source}, {scalar}) -> {tensor}",
        ]
        text = _function(f"%x: {tensor}, %y: {source}", lines, tensor)
        yield pytest.param(text, count > 1 or of == window, id=f"windows of {window} over {of}")


def _transformed() -> Iterator[ParameterSet]:
    """Yield transforms of constants and of arguments, of each kind and some lengths."""
    for kind, length, constant in itertools.product(
        ("FFT", "IFFT", "IRFFT"), (4, 8, 16), (False, True)
    ):
        taken = length // 2 + 1 if kind == "IRFFT" else length
        complex_ = f"tensor<3x{taken}xcomplex<f32>>"
        gives = f"tensor<3x{length}x{'f32' if kind == 'IRFFT' else 'complex<f32>'}>"
        rows = (", ".join(f"({row}.5, {one}.0)" for one in range(taken)) for row in range(3))
        values = ", ".join(f"[{row}]" for row in rows)
        made = [f"%x = stablehlo.constant dense<[{values}]> : {complex_}"] if constant else []
        fft = f"%r = stablehlo.fft %x, type = {kind}, length = [{length}] : ({complex_}) -> {gives}"
        text = _function("" if constant else f"%x: {complex_}", [*made, fft], gives)
        compiles = not constant or (length < 8 and kind != "IRFFT")
        yield pytest.param(text, compiles, id=f"{kind} {length} {'constant' if constant else ''}")


def _quantized() -> Iterator[ParameterSet]:
    """Yield what is quantized and back: constants, arguments, and what a convolution pads."""
    plain, image = "tensor<3xf32>", "tensor<1x4x1xf32>"
    for storage, bits in (("i4", 4), ("u4", 4), ("i8", 8), ("u8", 8), ("i16", 16), ("i32", 32)):

        def quantized(of: str, storage: str = storage) -> str:
            return of.replace("f32", f"!quant.uniform<{storage}:f32, 2.5e-1>")

        def there_and_back(made: str, of: str = plain) -> list[str]:
            return [
                f"%q = stablehlo.uniform_quantize {made} : ({of}) -> {quantized(of)}",
                f"%r = stablehlo.uniform_dequantize %q : ({quantized(of)}) -> {of}",
            ]

        constant = f"%x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : {plain}"
        text = _function("", [constant, *there_and_back("%x")], plain)
        yield pytest.param(text, None if bits == 4 else True, id=f"constant {storage}")
        text = _function(f"%x: {plain}", there_and_back("%x"), plain)
        yield pytest.param(text, None if bits == 4 else True, id=f"argument {storage}")
        for pad in (0, 1):
            result, kernel = f"tensor<1x{3 + pad}x1xf32>", "tensor<2x1x1xf32>"
            lines = [
                f"%p = stablehlo.uniform_quantize %x : ({image}) -> {quantized(image)}",
                f"%k = stablehlo.uniform_quantize %w : ({kernel}) -> {quantized(kernel)}",
                "%c = stablehlo.convolution(%p, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],",
                f"  window = {{pad = [[{pad}, 0]]}}",
                "  {batch_group_count = 1 : i64, feature_group_count = 1 : i64}",
                f"  : ({quantized(image)}, {quantized(kernel)}) -> {quantized(result)}",
                f"%r = stablehlo.uniform_dequantize %c : ({quantized(result)}) -> {result}",
            ]
            text = _function(f"%x: {image}, %w: {kernel}", lines, result)
            compiles = None if bits == 4 or (pad and bits > 8) else True
            yield pytest.param(text, compiles, id=f"convolution {storage} {pad}")


def _empty() -> Iterator[ParameterSet]:
    """Yield ops of quantized tensors without elements: what it refuses of some, it refuses."""
    plain, of = "tensor<0x2xf32>", "tensor<0x2x!quant.uniform<i8:f32, 1.0:3>>"
    moved, scalar = of.replace("0x2", "2x0"), "tensor<i32>"
    for op, compiles in {
        f"reverse %q, dims = [0] : {of}": False,
        f"optimization_barrier %q : {of}": False,
        f"dynamic_update_slice %q, %q, %i, %i : ({of}, {of}, {scalar}, {scalar}) -> {of}": False,
        f"negate %q : {of}": True,
        f"clamp %q, %q, %q : {of}": True,
        f"concatenate %q, %q, dim = 0 : ({of}, {of}) -> {of}": True,
        f"transpose %q, dims = [1, 0] : ({of}) -> {moved}": True,
    }.items():
        result = moved if op.startswith("transpose") else of
        gives = plain.replace("0x2", "2x0") if result == moved else plain
        lines = [
            f"%i = stablehlo.constant dense<0> : {scalar}",
            f"%q = stablehlo.uniform_quantize %x : ({plain}) -> {of}",
            f"%y = stablehlo.{op}",
            f"%r = stablehlo.uniform_dequantize %y : ({result}) -> {gives}",
        ]
        yield pytest.param(_function(f"%x: {plain}", lines, gives), compiles, id=op.split()[0])


def _unused() -> Iterator[ParameterSet]:
    """Yield collective ops that nothing uses: a broadcast stays, where it is refused."""
    groups, tensor = "replica_groups = dense<0> : tensor<1x1xi64>", "tensor<4xf32>"
    for op, more in (
        ("collective_broadcast", ""),
        ("all_gather", ", all_gather_dim = 0 : i64"),
        (
            "all_to_all",
            ", split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64",
        ),
    ):
        made = f'%u = "stablehlo.{op}"(%x) <{{{groups}{more}}}> : ({tensor}) -> {tensor}'
        lines = [made, f"%r = stablehlo.negate %x : {tensor}"]
        text = _function(f"%x: {tensor}", lines, tensor)
        yield pytest.param(text, op != "collective_broadcast", id=f"unused {op}")


def _booleans() -> Iterator[ParameterSet]:
    """Yield products of booleans: of one row and several columns it refuses a sum of several."""
    for rows, summed, columns in itertools.product((1, 2), (1, 2, 3), (1, 2)):
        left, right = f"tensor<{rows}x{summed}xi1>", f"tensor<{summed}x{columns}xi1>"
        gives = f"tensor<{rows}x{columns}xi1>"
        product = "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        lines = [f"{product} : ({left}, {right}) -> {gives}"]
        text = _function(f"%a: {left}, %b: {right}", lines, gives)
        compiles = not (rows == 1 and summed > 1 and columns > 1)
        yield pytest.param(text, compiles, id=f"booleans {rows} {summed} {columns}")


PROGRAMS = [
    *(*_narrowed(), *_selected(), *_transformed()),
    *(*_quantized(), *_empty(), *_unused(), *_booleans()),
]


@pytest.mark.parametrize(("text", "compiles"), some(PROGRAMS, each=2))
def test_it_compiles_what_is_predicted(
    text: str, compiles: bool | None, open_executor: Callable[..., Executor]
) -> None:
    """What is not known is what it compiles only in one loop with arithmetic."""
    artifact = portable.serialize(text, "1.9.0")  # with what nothing uses
    predicted = portable.predict(artifact, _RELEASE, stage=Stage.COMPILE)
    assert predicted.holds(Stage.COMPILE) is compiles
    executor = open_executor("iree", _RELEASE)
    if compiles is False:
        with pytest.raises(ExecutionFailed):
            executor.compile(artifact)
    elif compiles:
        executor.compile(artifact)


@pytest.mark.parametrize(("name", "compiles"), some(ON_IREE.items(), each=2))
def test_it_compiles_what_its_samples_say(
    name: str, compiles: bool | None, open_executor: Callable[..., Executor]
) -> None:
    """The table that predictions are compared with, without a Release, is what this one does."""
    seen = _is_compiled(open_executor("iree", _RELEASE), name)
    assert compiles in {None, seen}


@pytest.mark.more_releases
@pytest.mark.parametrize(("name", "version"), ON_OLDER_IREE)
def test_older_releases_compile_what_their_samples_say(
    name: str, version: str, open_executor: Callable[..., Executor]
) -> None:
    """The same of the Releases between which that changed."""
    seen = _is_compiled(open_executor("iree", f"iree-base-compiler {version}"), name)
    assert ON_OLDER_IREE[name, version] in {None, seen}


def _is_compiled(executor: Executor, name: str) -> bool:
    try:
        executor.compile(Artifact.load(artifact_of(name)))
    except ExecutionFailed:
        return False
    return True


def test_it_loses_what_a_branch_keeps_and_main_returns(
    open_executor: Callable[..., Executor],
) -> None:
    """It compiles the program, and gives no result."""
    artifact = Artifact.load(artifact_of("branch_keeps_what_is_returned"))
    program = open_executor("iree", _RELEASE).compile(artifact)
    with pytest.raises(ExecutionFailed, match="ref is null"):
        program.run(random_inputs(program.signature, 0))


@pytest.mark.parametrize("made", ["complex", "convert"])
def test_a_quotient_of_complex_constants_that_are_computed_is_not_known(
    made: str, open_executor: Callable[..., Executor]
) -> None:
    """It refuses this one; of constants as they are given it computes the quotient itself."""
    real, complex_ = "tensor<3xf32>", "tensor<3xcomplex<f32>>"
    types = f"{complex_}" if made == "complex" else f"({real}) -> {complex_}"
    lines = [
        f"%a = stablehlo.constant dense<[1.0, 2.0, 3.0]> : {real}",
        f"%c = stablehlo.{made} {'%a, %a' if made == 'complex' else '%a'} : {types}",
        f"%d = stablehlo.sqrt %c : {complex_}",
        f"%r = stablehlo.divide %d, %c : {complex_}",
    ]
    artifact = portable.pin(_function("", lines, complex_), "1.9.0").artifact
    verdict = portable.predict(artifact, _RELEASE, stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE) is None
    with pytest.raises(ExecutionFailed, match="initialization order"):
        open_executor("iree", _RELEASE).compile(artifact)


@pytest.mark.parametrize(
    "name",
    [
        *("sum_of_64_f16", "product_over_64_bf16", "dot_of_64_bf16", "convolution_over_60_f16"),
        *("maximum_of_65_bf16", "product_over_65_bf16_to_f32", "sum_of_65_f32"),
    ],
)
def test_few_narrow_floats_are_summed_alike(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """Where it is predicted, at most eight roundings are between IREE and XLA."""
    artifact = Artifact.load(artifact_of(name))
    assert portable.predict(artifact, _RELEASE, stage=Stage.EXECUTE).holds(Stage.EXECUTE)
    luck, found = np.random.default_rng(0), []
    program = open_executor("pjrt").compile(artifact)
    arguments = random_inputs(program.signature, 0)
    inputs = [np.asarray(luck.random(one.shape)).astype(one.dtype) for one in arguments]
    for one in (program, open_executor("iree", _RELEASE).compile(artifact)):
        found += [array.astype(np.float64) for array in one.run(inputs)]
    near = 8 * float(ml_dtypes.finfo(inputs[0].dtype).eps)
    np.testing.assert_allclose(found[1], found[0], rtol=near)


def test_many_narrow_floats_are_not(open_executor: Callable[..., Executor]) -> None:
    """Of 4,096 ones it makes 2,048."""
    artifact = portable.pin(_FINDING.read_text("utf-8"), "1.9.0").artifact
    program = open_executor("iree", _RELEASE).compile(artifact)
    assert [*program.run([np.ones((4096, 4), np.float16)])[0]] == [2048.0] * 4
    assert portable.predict(artifact, _RELEASE, stage=Stage.EXECUTE).not_known


@pytest.mark.parametrize(
    ("name", "same"),
    [
        *(("converted_to_i32", False), ("converted_to_i16_clamped", True)),
        *(("converted_to_ui8_clamped", True), ("converted_to_i8_of_tanh", True)),
        ("converted_to_i8_clamped", True),
    ],
)
def test_what_an_integer_does_not_hold_is_another(
    name: str, same: bool, open_executor: Callable[..., Executor]
) -> None:
    """Where it is predicted, but for NaN, to compute the same; above 127 i8 has the nearest too."""
    artifact = Artifact.load(artifact_of(name))
    verdict = portable.predict(artifact, _RELEASE, stage=Stage.EXECUTE, assume=["no-nan"])
    unknown = name in {"converted_to_i32", "converted_to_i8_clamped"}
    assert verdict.holds(Stage.EXECUTE) is (None if unknown else True)
    inputs = [np.array([-1e10, 1e10, -np.inf, 200.7], np.float32)]
    found, right = (
        one.compile(artifact).run(inputs)[0]
        for one in (open_executor("iree", _RELEASE), open_executor("pjrt"))
    )
    assert np.array_equal(found, right) is same


@pytest.mark.parametrize(
    ("name", "specified"),
    [
        *(("cumulated_from_one", False), ("cumulated_from_zero", True)),
        *(("cumulated_from_the_end", False), ("cumulated_to_half", True)),
        ("cumulated_padded_alike", True),
    ],
)
def test_a_scan_begins_with_its_first_element(
    name: str, specified: bool, open_executor: Callable[..., Executor]
) -> None:
    """Where it is predicted to compute the same it computes what the interpreter does."""
    artifact = Artifact.load(artifact_of(name))
    predicted = portable.predict(artifact, _RELEASE, stage=Stage.EXECUTE).holds(Stage.EXECUTE)
    assert predicted is (True if specified else None)
    shape = random_inputs(open_executor("pjrt").compile(artifact).signature, 0)[0].shape
    inputs = [2 + np.arange(np.prod(shape), dtype=np.float32).reshape(shape)]
    found, right = (
        one.compile(artifact).run(inputs)[0]
        for one in (open_executor("iree", _RELEASE), open_executor("interpreter"))
    )
    assert np.array_equal(found, right) is specified
