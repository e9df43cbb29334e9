"""Directories of torch_xla, and ours, as SavedModels that the real TensorFlow loads and serves."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import portable
from portable.containers import open_container
from portable.exporters import Argument, ArgumentKind, ExportedArtifact, ExportFailed, Result
from portable.exporters.saved_model import save_as_saved_model
from portable.pinning.pipeline import retarget
from portable.system.files import FileError
from portable.version import Version

DIRECTORIES = sorted((Path(__file__).parents[3] / "corpus").glob("torch_xla/*/container"))
LOWEST = "0.9.0"
NEAR = 2e-6

OPEN = """
func.func @main(%w: tensor<3xf32>, %x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<i64>) {
  %rows = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %row = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %shape = stablehlo.concatenate %row, %three, dim = 0
      : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %wide = stablehlo.dynamic_broadcast_in_dim %w, %shape, dims = [1]
      : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  %sum = stablehlo.add %x, %wide : tensor<?x3xf32>
  %count = stablehlo.convert %rows : (tensor<i32>) -> tensor<i64>
  return %sum, %count : tensor<?x3xf32>, tensor<i64>
}
"""


def _open() -> ExportedArtifact:
    return ExportedArtifact(
        portable.serialize(OPEN, "1.0.0"),
        None,
        (
            Argument("bias.w", ArgumentKind.PARAMETER, (3,), "float32"),
            Argument("x", ArgumentKind.INPUT, ("batch", 3), "float32", 0),
        ),
        (Result("0", ("batch", 3), "float32"), Result("count", (), "int64")),
        {"bias.w": np.arange(3, dtype=np.float32)},
    )


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.parent.name)
def test_directories_of_torch_xla_are_served(directory: Path, tmp_path: Path) -> None:
    """Of every release, pinned to the lowest Version; the answers are PyTorch eager's of then."""
    loaded = ExportedArtifact.load(directory)
    pinned = dataclasses.replace(loaded, artifact=retarget(loaded.artifact, LOWEST))
    save_as_saved_model(pinned, tmp_path / "1")
    served = tf.saved_model.load(str(tmp_path / "1")).signatures["serving_default"]
    with np.load(directory / "io.npz", allow_pickle=False) as arrays:
        x, y = arrays["x"], arrays["y"]
    assert list(served.structured_input_signature[1]) == ["input0"]
    got = served(input0=tf.constant(x))["output"]
    assert np.abs(got.numpy() - y).max() <= NEAR
    entries = open_container(tmp_path / "1").artifacts()
    assert {bytes(entry) for entry in entries} == {pinned.artifact.data}
    # The oldest that TensorFlow since 2.14 runs whole; newer ones are refused by older TensorFlow.
    assert {entry.versions["XlaCallModule"] for entry in entries} == {"5"}
    assert pinned.artifact.version == Version.parse(LOWEST)


def test_tensorflows_own_command_runs_it(tmp_path: Path) -> None:
    """`saved_model_cli`, in a process that knows nothing of us, by the names of the signature."""
    save_as_saved_model(_open(), tmp_path / "1")
    np.save(tmp_path / "x.npy", np.ones((4, 3), np.float32))
    command = [str(Path(sys.executable).with_name("saved_model_cli")), "run"]
    command += ["--dir", str(tmp_path / "1"), "--tag_set", "serve"]
    command += ["--signature_def", "serving_default", "--inputs", f"x={tmp_path / 'x.npy'}"]
    done = subprocess.run(
        [*command, "--outdir", str(tmp_path / "out")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert np.array_equal(
        np.load(tmp_path / "out" / "output_0.npy"),
        np.ones((4, 3), np.float32) + np.arange(3, dtype=np.float32),
    )
    assert np.load(tmp_path / "out" / "count.npy") == 4


def test_there_are_nine_of_them() -> None:
    """The test above is not empty."""
    assert len(DIRECTORIES) == 9


def test_open_dimensions_and_names(tmp_path: Path) -> None:
    """A batch of any size; inputs and results by their names, the weight as a variable."""
    save_as_saved_model(_open(), tmp_path / "1")
    model = tf.saved_model.load(str(tmp_path / "1"))
    served = model.signatures["serving_default"]
    assert served.structured_input_signature[1]["x"].shape.as_list() == [None, 3]
    assert served.structured_outputs["output_0"].shape.as_list() == [None, 3]
    for rows in (2, 5):
        got = served(x=tf.ones((rows, 3)))
        assert np.array_equal(got["output_0"], np.ones((rows, 3)) + np.arange(3))
        assert got["count"].dtype == tf.int64
        assert int(got["count"]) == rows
    (variable,) = model.weights.values()
    assert np.array_equal(variable, np.arange(3))


PLACES = """
func.func @main(%y: tensor<2xf32>, %w: tensor<2xi64>, %x: tensor<2xf32>, %v: tensor<2xi64>)
    -> (tensor<2xf32>, tensor<2xi64>, tensor<2xf32>) {
  %less = stablehlo.subtract %x, %y : tensor<2xf32>
  %wide = stablehlo.subtract %w, %v : tensor<2xi64>
  %more = stablehlo.add %x, %y : tensor<2xf32>
  return %less, %wide, %more : tensor<2xf32>, tensor<2xi64>, tensor<2xf32>
}
"""


def test_everything_has_its_place(tmp_path: Path) -> None:
    """Inputs in another order than their positions, weights and results of the same type."""
    exported = ExportedArtifact(
        portable.serialize(PLACES, "0.9.0"),
        None,
        (
            Argument("y", ArgumentKind.INPUT, (2,), "float32", 1),
            Argument("w", ArgumentKind.PARAMETER, (2,), "int64"),
            Argument("x", ArgumentKind.INPUT, (2,), "float32", 0),
            Argument("v", ArgumentKind.CONSTANT, (2,), "int64"),
        ),
        (
            Result("less", (2,), "float32"),
            Result("wide", (2,), "int64"),
            Result("a.more", (2,), "float32"),
        ),
        {"w": np.array([5, 2**40]), "v": np.array([2, 1])},
    )
    save_as_saved_model(exported, tmp_path / "1")
    model = tf.saved_model.load(str(tmp_path / "1"))
    got = model.signatures["serving_default"](x=tf.constant([5.0, 6.0]), y=tf.constant([1.0, 3.0]))
    found = {name: value.numpy() for name, value in got.items()}
    assert found["less"].tolist() == [4, 3]
    assert found["a_more"].tolist() == [6, 9]
    assert found["wide"].dtype == np.int64
    assert found["wide"].tolist() == [3, 2**40 - 1]


def test_nothing_is_overwritten_or_left_behind(tmp_path: Path) -> None:
    """What is there stays as it was."""
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "file").write_text("mine")
    with pytest.raises(FileError, match="destination exists"):
        save_as_saved_model(_open(), tmp_path / "1")
    results = (Result("0", ("batch", 3), "float128"), _open().results[1])
    with pytest.raises(ExportFailed, match="TensorFlow cannot save the model"):
        save_as_saved_model(dataclasses.replace(_open(), results=results), tmp_path / "2")
    assert [path.name for path in tmp_path.iterdir()] == ["1"]


def test_the_command(tmp_path: Path) -> None:
    """`stablehlo-to-saved-model` by another name; a directory that is none is one line."""
    command = [sys.executable, "-m", "portable", "export", "saved-model"]
    words = [str(DIRECTORIES[-3]), "-o", str(tmp_path / "1")]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "1" / "saved_model.pb").exists()
    bad = [*command, str(tmp_path), "-o", str(tmp_path / "2")]
    done = subprocess.run(bad, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["1"]
