"""Signatures read from bytes, inputs from a seed, arrays in files: no compiler involved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

from compat_tests.helpers.sealed import CASES, CORPUS
from portable.artifact import Artifact
from portable.runtime.executors import (
    Signature,
    TensorType,
    UnsupportedType,
    random_inputs,
    signature,
)
from portable.runtime.executors.tensors import (
    UnreadableArrays,
    dtype_of,
    load_arrays,
    stored_arrays,
)

if TYPE_CHECKING:
    from pathlib import Path

EXECUTED = [case for case in CASES.values() if case.inputs and case.artifacts]


def test_signatures_are_those_of_the_corpus() -> None:
    """What every Case gives as inputs is what its artifacts say main takes, at every Version."""
    for case in EXECUTED:
        for sealed in (case.artifacts[0], case.artifacts[-1]):
            taken = signature(Artifact.load(sealed.path)).arguments
            assert [t.dtype.name for t in taken] == [tensor.dtype for tensor in case.inputs]
            for argument, tensor in zip(taken, case.inputs, strict=True):
                assert argument.accepts(np.load(tensor.path).shape), (case.name, argument)


def test_random_inputs_depend_on_the_seed_alone() -> None:
    """The same seed, the same bits; integers divide and index, floats are finite unless asked."""
    elements = ("f32", "bf16", "i2", "i4", "ui4", "i32", "i1", "complex<f32>", "f8E8M0FNU")
    wanted = Signature(tuple(TensorType("", (64, None), e) for e in elements), ())
    one, same, other = (random_inputs(wanted, seed) for seed in (7, 7, 8))
    for array, again, element in zip(one, same, elements, strict=True):
        assert array.dtype == dtype_of(element)
        assert array.shape[0] == 64
        assert array.tobytes() == again.tobytes()
    assert any(a.tobytes() != b.tobytes() for a, b in zip(one, other, strict=True))
    for array in (one[2], one[3], one[4], one[5]):
        assert (array.astype(np.int32) > 0).all()
    assert np.isfinite(one[0]).all()
    assert np.isnan(random_inputs(wanted, 7, specials=True)[0]).any()


# By hand: of what is indexed the smallest dimension that is, less what is taken from it, and one.
BOUNDS = {
    "dynamic_slice_f32": ("i32", 2),
    "dynamic_update_slice_f32": ("i32", 3),
    "gather_f32": ("i64", 3),
    "gather_unsorted_index_ui32": ("ui32", 5),
    "scatter_update_window_dims_f32": ("i32", 4),
    "torch_index_select_f32": ("i32", 5),
    "whole_embedding": ("i32", 6),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_indices_are_in_range(name: str) -> None:
    """What a program indexes by is smaller than what it indexes, at each Version, and varies."""
    element, bound = BOUNDS[name]
    for path in CORPUS.glob(f"*/{name}/artifacts/*.bc"):
        wanted = signature(Artifact.load(path))
        assert wanted.index_bounds == {element: bound}
        for number, argument in enumerate(wanted.arguments):
            if argument.element == element:
                made = [random_inputs(wanted, seed)[number] for seed in range(40)]
                values = {int(value) for array in made for value in array.reshape(-1)}
                assert values <= set(range(bound))
                assert len(values) > 1


def test_without_an_index_integers_are_small_and_positive() -> None:
    """Nothing is indexed by the integers of a sum."""
    assert signature(Artifact.load(CASES["add_i32"].artifacts[0].path)).index_bounds == {}


def test_what_no_array_holds_is_told() -> None:
    """A token or a quantized tensor has no dtype."""
    with pytest.raises(UnsupportedType, match="numpy has no array for"):
        random_inputs(Signature((TensorType("token", (), ""),), ()), 0)


def test_files_keep_every_type(tmp_path: Path) -> None:
    """What numpy would write as unnamed bytes comes back as what it was."""
    arrays = [np.ones((2, 3), np.float32), np.array([1, 2], ml_dtypes.bfloat16), np.array(True)]
    arrays.append(np.array([[1, -1]], ml_dtypes.int4))
    path = tmp_path / "x.npz"
    path.write_bytes(stored_arrays(arrays))
    loaded = load_arrays(path)
    assert list(loaded) == ["0", "1", "2", "3"]
    for array, again in zip(arrays, loaded.values(), strict=True):
        assert (array.dtype, array.shape) == (again.dtype, again.shape)
        assert array.tobytes() == again.tobytes()
    path.write_bytes(b"not a zip file")
    with pytest.raises(UnreadableArrays):
        load_arrays(path)
