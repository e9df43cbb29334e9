"""Rewrites that reach an older Version compute the same: executed before and after.

Where the program as it was can be executed, the bits are those it gave; where no Executor runs it,
those that numpy gives for what the specification says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portable
from compat_tests.helpers.replicas import REPLICAS, run_replicated
from portable.bindings import Library, LibraryError
from portable.corpus import find_case
from portable.pinning.rewrites import DoesNotApply, NothingToDo, UnknownRewrite
from portable.runtime.executors import Executor, find_executor, random_inputs, signature
from portable.runtime.verification import verify
from portable.version import Version

CORPUS = Path(__file__).parents[2] / "corpus"
RUNS = 100


@pytest.fixture(scope="module")
def interpreter() -> Iterator[Executor]:
    """Return the reference interpreter."""
    with find_executor("interpreter") as executor:
        yield executor


def corpus(name: str) -> str:
    """Return the program of a Case."""
    return find_case(CORPUS, name).program


def lowered(program: Any, *allow: str) -> portable.Artifact:
    """Pin a program to 0.9.0, which it does not reach without `allow`."""
    with pytest.raises(portable.NotExpressible):
        portable.serialize(program, "0.9.0")
    artifact = portable.serialize(program, "0.9.0", allow=allow)
    assert artifact.version == Version(0, 9, 0)
    required = portable.inspect(artifact).required
    assert required is not None
    assert required.version == Version(0, 9, 0)
    return artifact


OPS = [
    "cbrt",
    "cosine",
    "exponential",
    "exponential_minus_one",
    "log",
    "log_plus_one",
    "logistic",
    "rsqrt",
    "sine",
    "sqrt",
    "tanh",
]
ALGORITHMS = [
    "bf16_bf16",
    "bf16_f32",
    "bf16_x3",
    "bf16_x6",
    "bf16_x9",
    "f16_f16",
    "f16_f32",
    "f32",
    "f64",
    "tf32",
    "tf32_x3",
    "f8E4M3FN",
    "f8E4M3FN_of_f32",
    "f8E5M2_imprecise",
    "f8E5M2_by_f8E4M3FN",
]
SAME = [
    ("composite_attributes_nested", "composites-to-calls"),
    ("composite_nested", "composites-to-calls"),
    ("all_gather_two_operands_f32", "split-collectives"),
    ("all_reduce_two_operands_f32", "split-collectives"),
    ("async_all_gather", "async-to-sync"),
    ("async_all_reduce", "async-to-sync"),
    ("async_all_to_all", "async-to-sync"),
    ("async_collective_permute", "async-to-sync"),
    ("all_reduce_mesh_symbol", "mesh-names-to-meshes"),
    *((f"{op}_result_accuracy_highest_f32", "drop-result-accuracy") for op in OPS),
    *((f"dot_general_algorithm_{name}", "drop-dot-algorithm") for name in ALGORITHMS),
]


@pytest.mark.parametrize(("case", "rewrite"), SAME)
def test_xla_computes_the_same_bits(case: str, rewrite: str, pjrt: Executor) -> None:
    """Before and after, for a hundred random inputs, a quarter of them with NaN and infinities."""
    program = corpus(case)
    dialects = ("sdy",) if "sdy." in program else ()
    before = portable.serialize(program, allow_dialects=dialects)
    after = lowered(program, rewrite) if not dialects else _lowered_mesh(program, rewrite)
    assert verify(before, after, executor=pjrt, seeds=range(75)).same
    assert verify(before, after, executor=pjrt, seeds=range(75, RUNS), specials=True).same


def _lowered_mesh(program: str, rewrite: str) -> portable.Artifact:
    # The mesh itself is an op of another dialect, which is gone together with its name.
    with pytest.raises(portable.PortableError):
        portable.serialize(program, "0.9.0")
    return portable.serialize(program, "0.9.0", allow=[rewrite])


@pytest.mark.parametrize("case", ["composite_regions_one", "composite_regions_two"])
def test_composites_with_regions_too(case: str, interpreter: Executor) -> None:
    """XLA refuses them; the reference interpreter takes them."""
    program = corpus(case)
    after = lowered(program, "composites-to-calls")
    assert verify(portable.serialize(program), after, executor=interpreter, seeds=range(RUNS)).same


def test_only_what_the_target_lacks_is_rewritten(library: Library) -> None:
    """At 1.5.0 a composite is known; one with regions is not."""
    program = corpus("composite_regions_one")
    artifact = portable.serialize(program, "1.5.0", allow=["composites-to-calls"])
    assert "call @impl" in str(library.deserialize(artifact.data, library.context()))
    with pytest.raises(NothingToDo, match=r"composites-to-calls.*1\.5\.0"):
        portable.serialize(corpus("composite_nested"), "1.5.0", allow=["composites-to-calls"])


DYNAMIC = ["top_k", "top_k_gradient", "take_along_axis", "take_i8", "slices", "scatter_add"]


def _dynamic(name: str, jax: Any) -> tuple[Callable[..., Any], list[Any]]:
    """Return a function of a batch whose size is not known, and what it takes."""
    (batch,) = jax.export.symbolic_shape("b")
    numpy, lax = jax.numpy, jax.lax
    x, i = jax.ShapeDtypeStruct((batch, 8), "float32"), jax.ShapeDtypeStruct((batch, 3), "int32")
    narrow = jax.ShapeDtypeStruct((batch, 3), "int8")

    def slices(a: Any, j: Any) -> Any:
        return jax.vmap(lambda b, k: lax.dynamic_slice(b, (k[0],), (4,)))(a, j)

    def scatter_add(a: Any, j: Any) -> Any:
        return jax.vmap(lambda b, k: b.at[k].add(1.5))(a, j)

    def take_i8(a: Any, j: Any) -> Any:
        return numpy.take_along_axis(a, j, axis=1, mode="clip")

    return {
        "top_k": (lambda a: lax.top_k(a, 3), [x]),
        "top_k_gradient": (jax.grad(lambda a: lax.top_k(a, 3)[0].sum()), [x]),
        "take_along_axis": (lambda a, j: numpy.take_along_axis(a, j, axis=1), [x, i]),
        "take_i8": (take_i8, [x, narrow]),
        "slices": (slices, [x, i]),
        "scatter_add": (scatter_add, [x, i]),
    }[name]


@pytest.mark.parametrize("name", DYNAMIC)
def test_batches_of_unknown_size_reach_0_9_0(name: str) -> None:
    """JAX runs the artifact in its own Exported as it runs its own, for four sizes of the batch.

    Indices lie outside on both sides too.
    """
    jax = pytest.importorskip("jax")
    pytest.importorskip("jax.export")
    function, takes = _dynamic(name, jax)
    exported = jax.export.export(jax.jit(function))(*takes)
    artifact = lowered(exported.mlir_module_serialized, "exact")
    downgraded = dataclasses.replace(exported, mlir_module_serialized=artifact.data)
    before, after = jax.jit(exported.call), jax.jit(downgraded.call)
    generator = np.random.default_rng(0)
    for batch in (1, 2, 5, 130):
        for _ in range(RUNS // 4):
            given = [_random(generator, (batch, *like.shape[1:]), like.dtype) for like in takes]
            wanted, made = (jax.tree.leaves(run(*given)) for run in (before, after))
            for one, other in zip(wanted, made, strict=True):
                assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def _random(generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    if np.issubdtype(dtype, np.integer):
        return generator.integers(-3, 12, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


GATHER = """
func.func @main(%a: tensor<5x2x4x9xf32>, %i: tensor<1x5x2x{index}>) -> tensor<1x5x8xf32> {{
  %s = stablehlo.constant dense<[1, 1, 1, 8]> : tensor<4xi32>
  %0 = "stablehlo.dynamic_gather"(%a, %i, %s) {{dimension_numbers = #stablehlo.gather<
    offset_dims = [2], collapsed_slice_dims = [1, 2], operand_batching_dims = [0],
    start_indices_batching_dims = [1], start_index_map = [1, 2], index_vector_dim = {depth}>}}
    : (tensor<5x2x4x9xf32>, tensor<1x5x2x{index}>, tensor<4xi32>) -> tensor<1x5x8xf32>
  return %0 : tensor<1x5x8xf32>
}}"""


@pytest.mark.parametrize("index", ["i8", "i32", "ui32", "i64"])
def test_dynamic_gathers_do_too(index: str, library: Library, pjrt: Executor) -> None:
    """With sizes known after all, upstream makes them gathers, which XLA executes."""
    program = GATHER.replace("x{index}", "x" + index).format(depth=2)
    after = lowered(program, "batching-dims-to-iota")
    one, other = (_static(library, artifact) for artifact in (portable.serialize(program), after))
    assert verify(one, other, executor=pjrt, seeds=range(RUNS)).same


def _static(library: Library, artifact: portable.Artifact) -> portable.Artifact:
    module = library.deserialize(artifact.data, library.context())
    library.run(
        module,
        "builtin.module(stablehlo-refine-shapes,func.func(stablehlo-canonicalize-dynamism))",
    )
    return portable.serialize(module)


def test_promoting_reductions_compute_what_numpy_does(pjrt: Executor) -> None:
    """XLA refuses them as they are, or answers in the narrow type."""
    truth: dict[str, Callable[..., Any]] = {
        "reduce_promoting_f32_to_f64": lambda a, i: a.astype(float).sum(1) + i.astype(float),
        "reduce_promoting_i8_to_i32": lambda a, i: a.sum(1, dtype=np.int32) + i.astype(np.int32),
        "all_reduce_promoting_f32_to_f64": lambda a: a.astype(float),
        "reduce_scatter_promoting_f32_to_f64": lambda a: a.astype(float),
    }
    for case, expected in truth.items():
        artifact = lowered(corpus(case), "promotions-to-converts")
        executable = pjrt.compile(artifact)
        for seed in range(RUNS):
            given = random_inputs(signature(artifact), seed)
            (made,) = executable.run(given)
            wanted = expected(*given)
            assert made.dtype == wanted.dtype
            np.testing.assert_allclose(made, wanted, rtol=4e-16, atol=4e-16)


def test_selections_compare_what_they_compared(pjrt: Executor) -> None:
    """The windows are 2 by 2; of each, the first of the largest gets the source."""
    artifact = lowered(corpus("select_and_scatter_promoting_f32_to_f64"), "promotions-to-converts")
    executable = pjrt.compile(artifact)
    for seed in range(RUNS):
        operand, source, initial = random_inputs(signature(artifact), seed)
        (made,) = executable.run([operand, source, initial])
        wanted = np.full((4, 4), initial, np.float64)
        for row, column in np.ndindex(2, 2):
            window = operand[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            place = np.unravel_index(np.argmax(window), (2, 2))
            wanted[2 * row + place[0], 2 * column + place[1]] += np.float64(source[row, column])
        assert made.tobytes() == wanted.tobytes()


TWO = """
func.func @main(%a: tensor<4xf32>, %b: tensor<2xf32>) -> ({results}) {{
  %0:2 = "stablehlo.{op}"(%a, %b) {body}
    : (tensor<4xf32>, tensor<2xf32>) -> ({results})
  return %0#0, %0#1 : {results}
}}"""
SUM = """({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) {{{attributes}}}"""
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>"
GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
REPLICATED = [
    ("all_reduce", SUM.format(attributes=GROUPS), "tensor<4xf32>, tensor<2xf32>"),
    (
        "all_gather",
        f"{{{GROUPS}, all_gather_dim = 0 : i64}}",
        "tensor<8xf32>, tensor<4xf32>",
    ),
]


@pytest.mark.parametrize(("op", "body", "results"), REPLICATED)
def test_two_devices_exchange_the_same(op: str, body: str, results: str) -> None:
    """Collectives with somebody to talk to; a channel of their own where they had one."""
    program = TWO.format(op=op, body=body, results=results)
    after = lowered(program, "split-collectives")
    generator = np.random.default_rng(0)
    given = [
        generator.standard_normal((RUNS, REPLICAS, size)).astype(np.float32) for size in (4, 2)
    ]
    wanted = run_replicated(portable.serialize(program).data, given)
    made = run_replicated(after.data, given)
    assert [array.tobytes() for array in made] == [array.tobytes() for array in wanted]
    assert not np.array_equal(wanted[0][:, 1, :4], given[0][:, 1])  # something was exchanged


STARTED = """
func.func @main(%a: tensor<4xf32>) -> tensor<{size}xf32> {{
  %0 = "stablehlo.async_start"(%a) ({{
  ^bb0(%b: tensor<4xf32>):
    %g = "stablehlo.{op}"(%b) {body} : (tensor<4xf32>) -> tensor<{size}xf32>
    stablehlo.return %g : tensor<{size}xf32>
  }}) : (tensor<4xf32>) -> !stablehlo.future<tensor<{size}xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<{size}xf32>>) -> tensor<{size}xf32>
  return %1 : tensor<{size}xf32>
}}"""
ASYNC = [
    ("all_reduce", SUM.format(attributes=GROUPS), 4),
    ("all_gather", f"{{{GROUPS}, all_gather_dim = 0 : i64}}", 8),
    ("collective_permute", "{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}", 4),
]


@pytest.mark.parametrize(("op", "body", "size"), ASYNC)
def test_two_devices_exchange_the_same_at_once(op: str, body: str, size: int) -> None:
    """What was started and waited for, done where it was started."""
    program = STARTED.format(op=op, body=body, size=size)
    after = lowered(program, "async-to-sync")
    given = [np.random.default_rng(0).standard_normal((RUNS, REPLICAS, 4)).astype(np.float32)]
    (wanted,) = run_replicated(portable.serialize(program).data, given)
    (made,) = run_replicated(after.data, given)
    assert made.tobytes() == wanted.tobytes()
    assert not np.array_equal(wanted[:, 1, :4], given[0][:, 1])  # something was exchanged


def test_channels_stay_apart(library: Library) -> None:
    """Two collectives on one channel would talk to each other; XLA fails on the two in one.

    ("LogicalBuffer all-reduce.1 does not have a layout", jaxlib 0.10.2.)
    """
    program = TWO.format(
        op="all_reduce",
        body=SUM.format(attributes=f"{GROUPS}, {CHANNEL}, use_global_device_ids"),
        results="tensor<4xf32>, tensor<2xf32>",
    )
    after = lowered(program, "split-collectives")
    text = str(library.deserialize(after.data, library.context()))
    assert "handle = 1" in text
    assert "handle = 2" in text
    generator = np.random.default_rng(0)
    given = [
        generator.standard_normal((RUNS, REPLICAS, size)).astype(np.float32) for size in (4, 2)
    ]
    for one, made in zip(given, run_replicated(after.data, given), strict=True):
        np.testing.assert_array_equal(made, np.repeat(one.sum(1, keepdims=True), REPLICAS, 1))


def test_xla_reads_variadic_all_to_all_otherwise_than_specified() -> None:
    """Why it is not split: XLA sends the i-th operand to the i-th process, whole."""
    program = TWO.replace("2xf32", "4xf32").format(
        op="all_to_all",
        body="{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, "
        + GROUPS
        + "}",
        results="tensor<4xf32>, tensor<4xf32>",
    )
    generator = np.random.default_rng(0)
    one, other = (generator.standard_normal((3, 2, 4)).astype(np.float32) for _ in range(2))
    first, second = run_replicated(portable.serialize(program).data, [one, other])
    np.testing.assert_array_equal(first, np.stack([one[:, 0], other[:, 0]], 1))
    np.testing.assert_array_equal(second, np.stack([one[:, 1], other[:, 1]], 1))
    with pytest.raises(portable.NotExpressible, match="all_to_all_v2"):
        portable.serialize(program, "0.9.0", allow=["exact"])


def test_an_accuracy_below_the_error_of_the_default_is_refused() -> None:
    """With the figure; one that the default satisfies is dropped."""
    refused = corpus("exponential_result_accuracy_tolerance_ulps_f32")
    with pytest.raises(DoesNotApply, match=r"requires 4 ulps.* errs by up to 5"):
        portable.serialize(refused, "0.9.0", allow=["drop-result-accuracy"])
    with pytest.raises(DoesNotApply, match="requires 0 ulps"):
        portable.serialize(
            corpus("exponential_result_accuracy_tolerance_atol_f32"),
            "0.9.0",
            allow=["drop-result-accuracy"],
        )
    lowered(corpus("exponential_result_accuracy_tolerance_rtol_f32"), "drop-result-accuracy")
    lowered(corpus("sine_result_accuracy_tolerance_ulps_f32"), "drop-result-accuracy")


DECLARED = """
func.func private @impl(%a: tensor<4xf32>) -> tensor<4xf32>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "my.op" %a {decomposition = @impl} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def test_a_composite_without_decomposition_is_refused(library: Library) -> None:
    """One that is only declared, and one that is not there; the module stays as it was."""
    module = library.parse(DECLARED, library.context())
    before = str(module)
    with pytest.raises(DoesNotApply, match=r'"my\.op" has no decomposition: @impl'):
        portable.serialize(module, "0.9.0", allow=["composites-to-calls"])
    assert str(module) == before
    with pytest.raises(LibraryError, match="impl"):
        portable.serialize(DECLARED.replace("private @impl", "private @other"), "0.9.0")


def test_futures_that_leave_the_program_are_refused() -> None:
    """There is nothing to wait for at an older Version."""
    program = """
    func.func @main(%a: tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>> {
      %0 = "stablehlo.async_start"(%a) ({
      ^bb0(%b: tensor<4xf32>):
        %g = stablehlo.slice %b [0:4] : (tensor<4xf32>) -> tensor<4xf32>
        stablehlo.return %g : tensor<4xf32>
      }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
      return %0 : !stablehlo.future<tensor<4xf32>>
    }"""
    with pytest.raises(DoesNotApply, match=r"used by func\.return"):
        portable.serialize(program, "0.9.0", allow=["async-to-sync"])


def test_names_that_are_unknown_or_idle_are_errors() -> None:
    """A name may be mistyped; `exact` does what is needed, if only nothing."""
    plain = corpus("add_f32")
    with pytest.raises(UnknownRewrite, match="split-collectives"):
        portable.serialize(plain, "0.9.0", allow=["split"])
    with pytest.raises(NothingToDo, match="split-collectives"):
        portable.serialize(plain, "0.9.0", allow=["split-collectives"])
    assert portable.serialize(plain, "0.9.0", allow=["exact"]) == portable.serialize(plain, "0.9.0")


def test_the_error_names_the_rewrite_that_would_help() -> None:
    """Beside the Version that would do."""
    with pytest.raises(portable.NotExpressible) as caught:
        portable.serialize(corpus("composite_nested"), "0.9.0")
    assert caught.value.hint == "try --target 0.19.0 or --allow composites-to-calls"


def test_explain_finds_the_rewrites_that_get_there() -> None:
    """By trying; without those that are not needed, and the nearest Version if none gets there."""
    (way,) = portable.explain(corpus("composite_nested"), "0.9.0").plans
    assert (way.target, way.allow, way.exact) == (
        Version(0, 9, 0),
        ("composites-to-calls",),
        True,
    )
    (way,) = portable.explain(corpus("dot_general_algorithm_f8E4M3FNUZ"), "0.9.0").plans
    assert (way.target, way.exact) == (Version(0, 10, 0), False)
    static = portable.explain(corpus("gather_batching_dims_f32"), "0.9.0")
    assert static.reachable
    assert not static.plans
    found = portable.explain(corpus("exponential_result_accuracy_tolerance_ulps_f32"), "0.9.0")
    assert not found.plans
    assert "errs by up to 5" in found.refusals[0]
