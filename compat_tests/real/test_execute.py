"""Programs executed on real Releases of every era; these tests install them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import portable
from compat_tests.helpers.eras import marked, versions
from compat_tests.helpers.programs import ENDLESS
from portable.corpus.tensors import save_tensor
from portable.errors import PortableError
from portable.pinning.pipeline import serialize
from portable.releases import find_release
from portable.runtime.executors import (
    ExecutionFailed,
    InputMismatch,
    PlatformMissing,
    find_executor,
    random_inputs,
)
from portable.runtime.executors.tensors import dtype_named
from portable.system.children import MOST_FILE_BYTES
from portable.system.worker import Status
from portable.system.worker.answer import CouldNotObserve
from portable.verdict import Outcome, Stage
from tools.capabilities import executed

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.artifact import Artifact
    from portable.runtime.environments import Environment
    from portable.runtime.executors import Executor
    from portable.system.worker import Answer, Worker

    Release = Callable[[str], Environment]

pytestmark = pytest.mark.old_releases

# Both ends of each era of the private API, and where something else changed inside one.
ERAS = versions(
    "0.4.13",  # E1; compiles bytecode only
    "0.4.20",
    "0.4.24",  # compiles artifacts
    "0.4.33",
    "0.5.0",
    "0.5.1",  # another way to read a buffer
    "0.6.0",
    "0.6.1",  # E2
    "0.7.2",
    "0.8.0",  # another way to configure
    "0.9.2",
    "0.10.0",  # E3
    "0.12.0.1",
)
DOUBLED = """
func.func @main(%x: tensor<2x3x{type}>) -> tensor<2x3x{type}> {{
  %sum = stablehlo.add %x, %x : tensor<2x3x{type}>
  return %sum : tensor<2x3x{type}>
}}
"""
COUNT = """
func.func @main() -> tensor<i32> {
  %yes = stablehlo.constant dense<true> : tensor<32xi1>
  %ones = stablehlo.convert %yes : (tensor<32xi1>) -> tensor<32xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %count = stablehlo.reduce(%ones init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<32xi32>, tensor<i32>) -> tensor<i32>
  return %count : tensor<i32>
}
"""
LAID_OUT = """
func.func @main(%%x: tensor<2x3x4xf32> {mhlo.layout_mode = "{%s}"}, %%one: tensor<f32>)
    -> tensor<2x3x4xf32> {
  %%ones = stablehlo.broadcast_in_dim %%one, dims = [] : (tensor<f32>) -> tensor<2x3x4xf32>
  %%sum = stablehlo.add %%x, %%ones : tensor<2x3x4xf32>
  return %%sum : tensor<2x3x4xf32>
}
"""
TF32 = """
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %dot = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <
    lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32,
    lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,
    allow_imprecise_accumulation = false>
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %dot : tensor<2x2xf32>
}
"""


def _execute(worker: Worker, folder: Path, program: str, target: str, *inputs: Any) -> Answer:
    """Have a worker execute the artifact of a program."""
    artifact = folder / "a.mlir.bc"
    artifact.write_bytes(serialize(program, target, locations="strip").data)
    records = []
    for number, array in enumerate(inputs):
        path = folder / f"input-{number}.npy"
        save_tensor(path, array)
        records.append({"path": str(path), "dtype": array.dtype.name})
    job = {"kind": "execute", "path": str(artifact), "inputs": records, "out": str(folder)}
    return worker.ask(job)


def _outputs(answer: Answer) -> list[Any]:
    assert answer.ok, (answer.error, answer.stderr)
    return [
        np.load(told["path"]).view(dtype_named(told["dtype"])) for told in answer.payload["outputs"]
    ]


@pytest.mark.parametrize("version", ERAS)
def test_every_era_executes(release: Release, tmp_path: Path, version: str) -> None:
    """An artifact is compiled and executed; numpy's and other types arrive with all their bits."""
    with release(f"jaxlib {version}").worker() as worker:
        for text, dtype in (
            ("f32", np.float32),
            ("f64", np.float64),
            ("i8", np.int8),
            ("i64", np.int64),
            ("ui32", np.uint32),
            ("complex<f32>", np.complex64),
            ("bf16", ml_dtypes.bfloat16),
            ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
            ("f8E5M2", ml_dtypes.float8_e5m2),
        ):
            values = np.array([[0, 1, 2], [3, 4, 5]], dtype)
            program = DOUBLED.format(type=text)
            answer = _execute(worker, tmp_path, program, "0.9.0", values)
            (doubled,) = _outputs(answer)
            assert doubled.dtype == values.dtype
            assert doubled.tolist() == (values + values).tolist()
        assert worker.starts == 1


@pytest.mark.parametrize("version", versions("0.4.13", "0.4.30", "0.5.3", "0.6.2", "0.12.0.1"))
def test_arguments_are_laid_out_as_the_program_wants_them(
    release: Release, tmp_path: Path, version: str
) -> None:
    """What a layout mode says of an argument does not change its values."""
    for order in ("0,1,2", "1,2,0", "2,1,0"):
        values, one = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.array(1, np.float32)
        with release(f"jaxlib {version}").worker() as worker:
            answer = _execute(worker, tmp_path, LAID_OUT % order, "0.9.0", values, one)
        assert _outputs(answer)[0].tolist() == (values + 1).tolist()


@pytest.mark.parametrize("version", versions("0.4.36", "0.5.3", "0.12.0.1"))
def test_narrow_integers_execute(release: Release, tmp_path: Path, version: str) -> None:
    """Four bits arrive as four bits."""
    values = np.array([[0, 1, 2], [3, -4, -1]], ml_dtypes.int4)
    with release(f"jaxlib {version}").worker() as worker:
        program = DOUBLED.format(type="i4")
        (doubled,) = _outputs(_execute(worker, tmp_path, program, "0.9.0", values))
    assert doubled.dtype == values.dtype
    assert doubled.astype(np.int8).tolist() == [[0, 2, 4], [6, -8, -2]]


@pytest.mark.parametrize(
    ("version", "count"),
    [
        marked([f"jaxlib {version}"], version, count)
        for version, count in (
            ("0.9.0.1", 32),
            ("0.9.1", 32 * 255),
            ("0.9.2", 32),
            ("0.10.0", 32),
            ("0.10.2", 32),
        )
    ],
)
def test_advisory_i1_splat_255(release: Release, tmp_path: Path, version: str, count: int) -> None:
    """Only jaxlib 0.9.1 computes 255 from each true of a constant."""
    with release(f"jaxlib {version}").worker() as worker:
        (counted,) = _outputs(_execute(worker, tmp_path, COUNT, "1.0.0"))
    assert counted.tolist() == count


def test_advisory_tf32_algorithm_crash(release: Release, tmp_path: Path) -> None:
    """What kills the process while it compiles is a crash of that job, and the next is done."""
    ones = np.ones((2, 2), np.float32)
    with release("jaxlib 0.4.33").worker() as worker:
        crashed = _execute(worker, tmp_path, TF32, "1.6.0", ones)
        (counted,) = _outputs(_execute(worker, tmp_path, COUNT, "1.0.0"))
    assert (crashed.status, crashed.error) == (Status.CRASHED, "SIGSEGV")
    assert crashed.verdict("jaxlib 0.4.33", Stage.EXECUTE).outcome is Outcome.CRASHED
    assert counted.tolist() == 32


def test_what_does_not_fit_is_refused(release: Release, tmp_path: Path) -> None:
    """The runtime's own words come back when the inputs are not those of the program."""
    program = DOUBLED.format(type="f32")
    with release("jaxlib 0.12.0.1").worker() as worker:
        answer = _execute(worker, tmp_path, program, "1.0.0", np.ones((2, 2), np.float32))
        none = _execute(worker, tmp_path, program, "1.0.0")
    assert (answer.status, none.status) == (Status.REFUSED, Status.REFUSED)
    assert "argument" in none.error


def _artifact(program: str, target: str = "1.0.0") -> Artifact:
    return serialize(program, target, locations="strip")


def test_one_call_runs_an_artifact() -> None:
    """`portable.run` takes an artifact and arrays, and returns arrays; nothing is changed."""
    values = np.array([[1, 2, 3], [4, 5, 6]], ml_dtypes.bfloat16)
    (doubled,) = portable.run(_artifact(DOUBLED.format(type="bf16")).data, [values])
    assert doubled.dtype == ml_dtypes.bfloat16
    assert doubled.tolist() == [[2, 4, 6], [8, 10, 12]]
    # numpy reads the types of ml_dtypes from a file as unnamed bytes.
    (again,) = portable.run(_artifact(DOUBLED.format(type="bf16")), {"arg0": values.view("V2")})
    assert again.tolist() == doubled.tolist()
    assert values.tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ([], "main takes 1 inputs (tensor<2x3xf32>), got 0"),
        ([np.zeros((2, 3))], "input 0 has dtype float64, main takes float32"),
        ([[[0.0] * 3] * 2], "input 0 is of type list, not an array; make one: numpy.asarray(x, 'f"),
        ([np.zeros((3, 2), np.float32)], "input 0 has shape 3x2, main takes tensor<2x3xf32>"),
        ([np.float32(0).reshape(())], "input 0 has shape scalar, main takes tensor<2x3xf32>"),
        ({"weights": np.zeros((2, 3), np.float32)}, "'weights' is not an argument number"),
        ({"arr_1": np.zeros((2, 3), np.float32)}, "the arguments arr_1 are not 0 to 0"),
    ],
)
def test_inputs_are_held_against_the_signature(inputs: Any, words: str) -> None:
    """A wrong number, dtype, shape or name is reported before anything is compiled."""
    with pytest.raises(InputMismatch) as error:
        portable.run(_artifact(DOUBLED.format(type="f32")), inputs)
    assert words in str(error.value)


def test_the_same_program_is_compiled_once(release: Release) -> None:
    """An open Executor keeps its process, and shapes of every kind arrive."""
    with find_executor("pjrt", release("jaxlib 0.10.2")) as executor:
        doubled = executor.compile(_artifact(DOUBLED.format(type="f32")))
        counted = executor.compile(_artifact(COUNT))
        for seed in range(3):
            (values,) = random_inputs(doubled.signature, seed)
            assert (doubled.run([values])[0] == values + values).all()
            assert counted.run([])[0].shape == ()
        assert executor.name == "jaxlib 0.10.2 (pjrt)"


def test_large_outputs_stay_what_they_were(release: Release) -> None:
    """What one run gave, the next one does not touch, nor closing; inputs are not changed."""
    program = DOUBLED.format(type="f32").replace("2x3x", "1024x1024x")
    with find_executor("pjrt", release("jaxlib 0.10.2")) as executor:
        doubled = executor.compile(_artifact(program))
        inputs = [np.full((1024, 1024), value, np.float32) for value in (1, 2, 3)]
        outputs = [doubled.run([each])[0] for each in inputs]
    assert [int(each.sum()) >> 20 for each in outputs] == [2, 4, 6]
    outputs[0][0, 0] = 7.0
    assert [int(each[0, 0]) for each in (*inputs, *outputs)] == [1, 2, 3, 7, 4, 6]


def test_an_output_may_be_larger_than_what_a_release_may_write(release: Release) -> None:
    """The limit on files is for what the Release writes by itself."""
    size = MOST_FILE_BYTES + 1
    wide = f"tensor<{size}xi8>"
    broadcast = f"stablehlo.broadcast_in_dim %x, dims = [] : (tensor<i8>) -> {wide}"
    program = f"func.func @main(%x: tensor<i8>) -> {wide} {{ %0 = {broadcast} return %0 : {wide} }}"
    artifact = serialize(program, "1.0.0")
    with find_executor("pjrt", release("jaxlib 0.10.2")) as executor:
        (output,) = portable.run(artifact, [np.full((), 7, np.int8)], executor)
    assert output.shape == (size,)
    assert output[-1] == 7


def test_memory_is_used_again_when_nobody_has_it(release: Release) -> None:
    """An output that was let go makes room for the next; a slice of one keeps all of it."""
    program = DOUBLED.format(type="f32").replace("2x3x", "1024x1024x")
    with find_executor("pjrt", release("jaxlib 0.10.2")) as executor:
        doubled = executor.compile(_artifact(program))
        slices = []
        for value in range(1, 7):
            (output,) = doubled.run([np.full((1024, 1024), value, np.float32)])
            assert (output == 2 * value).all()
            if value % 3 == 0:
                slices.append(output[5:, ::7].T)
            del output
    assert [(int(each.min()), int(each.max())) for each in slices] == [(6, 6), (12, 12)]


def test_what_a_program_was_given_goes_with_it(release: Release) -> None:
    """The same bytes are the same program; the files of one that nobody has are removed."""
    with find_executor("pjrt", release("jaxlib 0.10.2")) as executor:
        doubled = executor.compile(_artifact(DOUBLED.format(type="f32")))
        assert executor.compile(_artifact(DOUBLED.format(type="f32"))) is doubled
        folder = Path(doubled.path).parent  # type: ignore[attr-defined]  # of these Executors only
        counted = executor.compile(_artifact(COUNT))
        assert doubled.run([np.ones((2, 3), np.float32)])[0].tolist() == [[2, 2, 2]] * 2
        del doubled
        assert not folder.exists()
        assert counted.run([])[0].tolist() == 32


@pytest.mark.parametrize("version", versions("0.4.13", "0.6.1", "0.10.2", "0.12.0.1"))
def test_a_donated_input_is_not_changed(release: Release, version: str) -> None:
    """A program that says its result may take the place of its argument leaves the argument."""
    program = DOUBLED.format(type="f32").replace("2x3x", "1024x1024x")
    donating = program.replace("f32>)", "f32> {tf.aliasing_output = 0 : i32})", 1)
    values = np.ones((1024, 1024), np.float32)
    artifact = serialize(donating, "0.9.0", locations="strip")
    with find_executor("pjrt", release(f"jaxlib {version}")) as executor:
        doubled = executor.compile(artifact)
        for _ in range(3):
            assert (doubled.run([values])[0] == 2).all()
    assert (values == 1).all()


def test_a_failure_is_a_verdict(release: Release) -> None:
    """A crash, a hang and a refusal are told by a Verdict at the Stage where they happened."""
    with find_executor("pjrt", release("jaxlib 0.4.33"), limit=5.0) as executor:
        with pytest.raises(ExecutionFailed) as crashed:
            executor.compile(_artifact(TF32, "1.6.0"))
        with pytest.raises(ExecutionFailed) as hung:
            executor.compile(_artifact(ENDLESS)).run([])
        with pytest.raises(ExecutionFailed) as refused:
            executor.compile(_artifact(DOUBLED.format(type="i4")))
    outcomes = [error.value.verdict.outcome for error in (crashed, hung, refused)]
    assert outcomes == [Outcome.CRASHED, Outcome.HUNG, Outcome.INCOMPATIBLE]
    stages = [error.value.verdict.stage for error in (crashed, hung, refused)]
    assert stages == [Stage.COMPILE, Stage.EXECUTE, Stage.COMPILE]


@pytest.mark.parametrize(
    ("name", "version"), [("pjrt", "0.4.13"), ("pjrt", "0.12.0.1"), ("interpreter", "0.10.2")]
)
def test_memory_has_a_limit(release: Release, name: str, version: str) -> None:
    """What takes more than it may is refused in the Release's own words; less is computed."""
    program = """
    func.func @main() -> tensor<{size}xf32> {{
      %0 = stablehlo.iota dim = 0 : tensor<{size}xf32>
      return %0 : tensor<{size}xf32>
    }}
    """
    environment = release(f"jaxlib {version}")
    with find_executor(name, environment, memory=2 << 30) as executor:
        with pytest.raises(ExecutionFailed, match=r"(?i)memory") as refused:
            executor.compile(_artifact(program.format(size=10**9), "0.9.0")).run([])
        (counted,) = executor.compile(_artifact(program.format(size=10**6), "0.9.0")).run([])
    assert refused.value.verdict.outcome is Outcome.INCOMPATIBLE
    assert counted[-1] == 10**6 - 1


@pytest.mark.parametrize("version", versions("0.8.0", "0.10.2", "0.12.0.1"))
def test_a_plugin_executes(release: Release, version: str) -> None:
    """A PJRT plugin runs programs as those for CUDA and TPU do; this one is for the CPU."""
    library = str(release("xla-cpu-pjrt 0.0.1").library)
    with find_executor("pjrt", release(f"jaxlib {version}"), platform=library) as executor:
        program = executor.compile(_artifact(DOUBLED.format(type="f32")))
        for seed in range(2):
            (values,) = random_inputs(program.signature, seed)
            assert (program.run([values])[0] == values + values).all()
        assert executor.name == f"jaxlib {version} (pjrt on {library})"


@pytest.mark.parametrize(("element", "dtype"), [("i32", "int32"), ("f32", "float32")])
def test_random_bits_are_learnt_as_what_their_type_says(
    element: str, dtype: str, pjrt: Executor
) -> None:
    """XLA gives them as unsigned integers: by these they would be other numbers than elsewhere."""
    artifact = _artifact(f"""func.func @main(%s: tensor<2xui64>) -> tensor<4x{element}> {{
      %0:2 = "stablehlo.rng_bit_generator"(%s) <{{
        rng_algorithm = #stablehlo<rng_algorithm PHILOX>
      }}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x{element}>)
      return %0#1 : tensor<4x{element}>
    }}""")
    found = executed(pjrt, artifact, find_release("jaxlib 0.10.2"))
    assert found is not None
    assert [(name, shape) for name, shape, _ in found["outputs"]] == [(dtype, [4])]


def test_a_platform_that_is_not_here(release: Release) -> None:
    """Without its plugin a platform is missing, and the other Executors have the CPU only."""
    with (
        find_executor("pjrt", release("jaxlib 0.10.2"), platform="cuda") as executor,
        pytest.raises(PortableError, match="no PJRT plugin for cuda is installed"),
    ):
        executor.compile(_artifact(DOUBLED.format(type="f32")))
    # Nor is it learnt that what cannot be tried here was tried.
    with (
        find_executor("pjrt", release("jaxlib 0.10.2"), platform="cuda") as executor,
        pytest.raises(CouldNotObserve),
    ):
        executed(executor, _artifact(DOUBLED.format(type="f32")), find_release("jaxlib 0.10.2"))
    for name in ("interpreter", "iree", "tensorflow", "torch_xla"):
        with pytest.raises(PlatformMissing, match=f"{name} does not run on cuda"):
            find_executor(name, platform="cuda")
