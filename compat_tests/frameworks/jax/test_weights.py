"""Weights beside an artifact as safetensors: written, read, and left where they are already."""

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy

from portable.containers import MalformedContainer
from portable.exporters import ExportedArtifact, ExportFailed, export_jax
from portable.exporters.weights import open_safetensors
from portable.runtime.executors import Executor, InputMismatch

X = np.linspace(-1, 1, 4, dtype=np.float32)
WEIGHTS = {
    "b": jnp.asarray(X + 1),
    "half": jnp.asarray(X, jnp.bfloat16),
    "scalar": jnp.float32(3),
    "true": jnp.asarray([True, False, True, True]),
}


def _computed(w: dict[str, Any], x: Any) -> Any:
    kept = jnp.where(w["true"], w["half"].astype(jnp.float32), 0)
    return x * w["b"] + kept * w["scalar"]


def _exported() -> ExportedArtifact:
    return export_jax(jax.tree_util.Partial(_computed, WEIGHTS), X, target="1.9.0")


def test_safetensors_are_written_and_read(tmp_path: Path, executor: Executor) -> None:
    """The library of safetensors reads the same arrays; the model computes the same."""
    made = _exported()
    made.save(tmp_path / "m", safetensors=True)
    assert not (tmp_path / "m" / "data").exists()
    theirs = safetensors.numpy.load_file(tmp_path / "m" / "weights.safetensors")
    loaded = ExportedArtifact.load(tmp_path / "m")
    assert set(theirs) == set(loaded.weights) == {f"0.0.{name}" for name in WEIGHTS}
    for name, array in WEIGHTS.items():
        for held in (theirs, loaded.weights):
            assert held[f"0.0.{name}"].dtype == array.dtype
            assert np.array_equal(held[f"0.0.{name}"], np.asarray(array))
    (got,) = loaded(X, executor=executor)
    assert np.allclose(got, _computed(WEIGHTS, X), atol=2e-6)
    with pytest.raises(ValueError, match="read-only"):
        loaded.weights["0.0.b"][0] = 0


def test_what_exists_is_not_copied(tmp_path: Path) -> None:
    """It is named by the digest of its file; what differs in one bit is written."""
    made = _exported()
    held = {name: np.array(array) for name, array in made.weights.items()}
    held["0.0.b"][3] = np.nextafter(held["0.0.b"][3], 9, dtype=np.float32)
    safetensors.numpy.save_file(held, tmp_path / "original.safetensors")
    made.save(tmp_path / "m", existing=[tmp_path / "original.safetensors"])
    assert set(open_safetensors(tmp_path / "m" / "weights.safetensors")) == {"0.0.b"}
    (entry,) = json.loads((tmp_path / "m" / "weights.json").read_text())
    assert entry["file"] == "original.safetensors"
    (tmp_path / "original.safetensors").rename(tmp_path / "moved")
    loaded = ExportedArtifact.load(tmp_path / "m", existing=[tmp_path / "moved"])
    for name, array in made.weights.items():
        assert np.array_equal(loaded.weights[name], array)
    with pytest.raises(InputMismatch, match=r"not saved.*existing="):
        ExportedArtifact.load(tmp_path / "m")(X)
    with (tmp_path / "moved").open("ab") as stream:
        stream.write(b"\0")
    with pytest.raises(MalformedContainer, match="not saved with this file"):
        ExportedArtifact.load(tmp_path / "m", existing=[tmp_path / "moved"])


def test_weights_baked_in(executor: Executor) -> None:
    """One file for the same Version, which takes the inputs alone and computes the same bits."""
    weights = {**WEIGHTS, "narrow": jnp.asarray([1, -2, 3, 4], jnp.int4)}
    function = jax.tree_util.Partial(
        lambda w, x, y: _computed(w, x) + w["narrow"].astype(jnp.float32) + y, weights
    )
    made = export_jax(function, X, X, target="1.9.0")
    baked = made.baked()
    assert baked.artifact.version == made.artifact.version
    assert not baked.weights
    assert [a.name for a in baked.arguments] == ["x", "y"]
    assert len(baked.signature.arguments) == 2
    got = baked(X, X, executor=executor)
    assert np.array_equal(got, made(X, X, executor=executor))
    assert np.allclose(got, function(X, X), atol=2e-6)
    assert baked.baked().artifact == baked.artifact


def test_what_safetensors_lack_is_refused(tmp_path: Path) -> None:
    """Four bits: they are written as .npy files, and nothing is left behind."""
    four = jnp.asarray([1, 2, 3, 4], jnp.int4)
    partial = jax.tree_util.Partial(lambda w, x: x * w.astype(jnp.float32), four)
    made = export_jax(partial, X, target="1.9.0")
    with pytest.raises(ExportFailed, match=r"no int4.*\.npy"):
        made.save(tmp_path / "m", safetensors=True)
    assert list(tmp_path.iterdir()) == []


def _file(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def _one(
    dtype: str = "F32", shape: Any = (1,), offsets: Any = (0, 4), name: str = "a"
) -> dict[str, Any]:
    return {name: {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


_TEXT = json.dumps(_one()).encode()
DAMAGED = {
    "empty": b"",
    "short": b"\1\2",
    "a header that is longer than the file": (1 << 40).to_bytes(8, "little"),
    "no JSON": _file(b"{"),
    "a list": _file([]),
    "deep": _file(b"[" * 100_000),
    "an unknown dtype": _file(_one("F3"), bytes(4)),
    "beyond the end": _file(_one(offsets=(4, 8)), bytes(4)),
    "before the start": _file(_one(offsets=(-4, 0)), bytes(4)),
    "another size": _file(_one(shape=(2,)), bytes(4)),
    "a negative size": _file(_one(shape=(-1, -1)), bytes(4)),
    "no shape": _file({"a": {"dtype": "F32", "data_offsets": [0, 4]}}, bytes(4)),
    "an entry that is a number": _file({"a": 3}),
    "two arrays in one place": _file(_one() | _one(name="b"), bytes(4)),
    "bytes of no array": _file(_one(), bytes(8)),
    "bytes between arrays": _file(_one() | _one(offsets=(8, 12), name="b"), bytes(12)),
    "a name that is there twice": _file(b"%b,%b" % (_TEXT[:-1], _TEXT[1:]), bytes(4)),
    "a dtype that is there twice": _file(_TEXT.replace(b'"F32"', b'"I32","dtype":"F32"'), bytes(4)),
    "NaN": _file(_TEXT.replace(b"[1]", b"[NaN]"), bytes(4)),
    "infinity": _file(_TEXT.replace(b"[1]", b"[1e999]"), bytes(4)),
    "a fraction": _file(_TEXT.replace(b"[1]", b"[1.5]"), bytes(4)),
    "a truth": _file(_TEXT.replace(b"[1]", b"[true]"), bytes(4)),
    "a text": _file(_one(shape="1"), bytes(4)),
    "three offsets": _file(_one(offsets=(0, 4, 4)), bytes(4)),
    "a size of thousands of digits": _file(_TEXT.replace(b"1", b"1" * 5000), bytes(4)),
    "more than any memory": _file(_one(shape=(2**62, 2**62)), bytes(4)),
    "nothing, many times": _file(_one(shape=(2**70, 0), offsets=(0, 0))),
    "a hundred dimensions": _file(_one(shape=(1,) * 100), bytes(4)),
    "a dtype of a megabyte": _file(_one("\x1b\n" * (1 << 19)), bytes(4)),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_safetensors(case: str, tmp_path: Path) -> None:
    """One line, whatever the file holds."""
    path = tmp_path / "weights.safetensors"
    path.write_bytes(DAMAGED[case])
    with pytest.raises(MalformedContainer, match="safetensors") as caught:
        open_safetensors(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 3000


@pytest.mark.parametrize("weights", [3, None, [["0.0.b"]], [{}], "0.0.b"])
def test_a_list_of_existing_weights_that_is_none(weights: Any, tmp_path: Path) -> None:
    """Of any type in the place of names: a typed error when the program is read or called."""
    made = _exported()
    safetensors.numpy.save_file(dict(made.weights), tmp_path / "w")
    made.save(tmp_path / "m", existing=[tmp_path / "w"])
    path = tmp_path / "m" / "weights.json"
    path.write_text(json.dumps([json.loads(path.read_text())[0] | {"weights": weights}]))
    with pytest.raises((MalformedContainer, InputMismatch)):
        ExportedArtifact.load(tmp_path / "m", existing=[tmp_path / "w"])(X)


def test_a_weight_of_another_type_is_refused(tmp_path: Path) -> None:
    """What `main` takes is in the artifact."""
    _exported().save(tmp_path / "m", safetensors=True)
    held = dict(open_safetensors(tmp_path / "m" / "weights.safetensors"))
    held["0.0.b"] = held["0.0.b"].astype(np.float64)
    safetensors.numpy.save_file(held, tmp_path / "m" / "weights.safetensors")
    with pytest.raises(MalformedContainer, match=r"'0\.0\.b' is float64\[4\], main takes float32"):
        ExportedArtifact.load(tmp_path / "m")
