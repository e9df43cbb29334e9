"""`export_jax` and `repin_exported`: JAX programs for consumers that one names."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from portable import bindings
from portable.artifact import Artifact
from portable.bytecode import read
from portable.errors import PortableError
from portable.exporters import (
    ExportedArtifact,
    ExportFailed,
    export_jax,
    lowered,
    repin_exported,
)
from portable.features import analyze
from portable.pinning.pipeline import ForeignDialect, NotExpressible
from portable.runtime.executors import Executor, InputMismatch
from portable.system import children
from portable.version import Version

PARAMETERS = {
    "w": np.arange(12, dtype=np.float32).reshape(3, 4),
    "b": np.ones(4, np.float32),
    "unused": np.ones(2, np.float32),
}
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


def model(params: dict[str, Any], x: Any, *, scale: Any = 1.0) -> dict[str, Any]:
    """Nest what it takes and returns."""
    y = jnp.dot(x, params["w"]) + params["b"]
    return {"y": y * scale, "best": (jax.lax.top_k(y, 2)[1],)}


def _required(exported: ExportedArtifact) -> Version | None:
    return analyze(read(exported.artifact.data)).required.version


def test_names_and_results() -> None:
    """By the parameters of the function; what nothing reads is left out; the numbers are JAX's."""
    made = export_jax(model, PARAMETERS, X, target="0.9.0", allow=["exact"])
    assert [(a.name, a.shape, a.dtype) for a in made.inputs] == [
        ("params.b", (4,), "float32"),
        ("params.w", (3, 4), "float32"),
        ("x", (2, 3), "float32"),
    ]
    assert [(r.name, r.dtype) for r in made.results] == [("best.0", "int32"), ("y", "float32")]
    assert made.artifact.version == _required(made) == Version(0, 9, 0)
    got, wanted = made(PARAMETERS, X), model(PARAMETERS, X)
    assert np.array_equal(got["best"][0], wanted["best"][0])
    assert np.allclose(got["y"], wanted["y"], atol=2e-6)


def test_inputs_by_name() -> None:
    """Keyword arguments are arguments like any other."""
    made = export_jax(model, PARAMETERS, X, kwargs={"scale": np.float32(2)}, target="1.9.0")
    assert [a.name for a in made.inputs][-1] == "scale"


def test_open_dimensions() -> None:
    """One artifact for every size; no custom call of jax.export is left in it."""
    (size, _) = jax.export.symbolic_shape("b, 3")
    x = jax.ShapeDtypeStruct((size, 3), np.float32)
    made = export_jax(lambda x, y: (x + y).sum(0), x, x, target="1.0.0")
    assert "custom_call" not in made.get_stablehlo_text()
    assert made.inputs[0].shape == ("b", 3)
    for rows in (2, 5):
        got = made(np.ones((rows, 3), np.float32), np.ones((rows, 3), np.float32))
        assert np.array_equal(got, np.full(3, 2 * rows, np.float32))
    with pytest.raises(InputMismatch, match="dimension 'b' is 2 in another input and 5 in 'y'"):
        made(np.ones((2, 3), np.float32), np.ones((5, 3), np.float32))


def test_keys_of_random_numbers() -> None:
    """The sharding constraint that JAX puts on keys constrains nothing here, and is taken out."""
    key = jax.random.key(7)
    made = export_jax(lambda key: jax.random.normal(key, (3,)), key, target="1.0.0")
    assert "sdy" not in made.get_stablehlo_text()
    assert np.allclose(made(key), jax.random.normal(key, (3,)), atol=2e-6)


def test_rules_of_sharding_go_where_nothing_is_sharded() -> None:
    """And stay where something is, for which the dialect has to be let through."""
    x = np.ones((4, 4), np.float32)
    made = export_jax(jnp.linalg.qr, x, target="1.0.0")
    assert b"sdy" not in made.artifact.data
    mesh = jax.sharding.AbstractMesh((2,), ("rows",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))
    sharded = jax.jit(jnp.linalg.qr, in_shardings=rows)
    x = jax.ShapeDtypeStruct(x.shape, x.dtype)
    with pytest.raises(ForeignDialect, match="sdy"):
        export_jax(sharded, x, target="1.11.0")
    kept = export_jax(sharded, x, target="1.11.0", allow_dialects=["sdy"])
    assert "sdy.sharding_rule" in kept.get_stablehlo_text()


def test_rules_of_sharding_go_from_inside_of_loops() -> None:
    """Factors are computed in a loop there, and keys are split in one."""
    x = np.asarray([[2, 1], [1, 3], [0, 1]], np.float32)
    made = export_jax(lambda x: jax.scipy.linalg.polar(x)[0], x, target="1.0.0")
    assert b"sdy" not in made.artifact.data
    assert np.allclose(made(x), jax.scipy.linalg.polar(x)[0], atol=2e-6)
    key = jax.random.key(7)

    def draw(turn: Any, x: Any) -> Any:
        return x + jax.random.normal(jax.random.split(jax.random.fold_in(key, turn))[0], (3,))

    made = export_jax(lambda x: jax.lax.fori_loop(0, 3, draw, x), X, target="1.0.0")
    assert b"sdy" not in made.artifact.data


def test_a_mesh_of_one_device(executor: Executor) -> None:
    """Shardings over it say nothing, and what is mapped over it is the whole: written without."""
    P = jax.sharding.PartitionSpec  # noqa: N806 - what everybody calls it
    auto = jax.sharding.AxisType.Auto
    mesh = jax.make_mesh((1,), ("rows",), (auto,), devices=jax.devices()[:1])
    rows = jax.sharding.NamedSharding(mesh, P("rows"))
    placed = jax.device_put(X, rows)
    for function in (
        lambda x: jax.lax.with_sharding_constraint(x * 2, rows),
        jax.jit(lambda x: x * 2, in_shardings=rows, out_shardings=rows),
        jax.tree_util.Partial(lambda w, x: x * w, placed),
        jax.jit(
            jax.shard_map(
                lambda x: jax.lax.psum(x.sum(0), "rows"),
                mesh=mesh,
                in_specs=P("rows"),
                out_specs=P(),
            )
        ),
    ):
        made = export_jax(function, placed, target="1.0.0")
        assert b"sdy" not in made.artifact.data
        assert np.allclose(made(X, executor=executor), function(placed))


def test_arrays_where_a_mesh_has_no_devices() -> None:
    """JAX takes no arrays there; the error says what it takes, which is exported."""
    mesh = jax.sharding.AbstractMesh((2,), ("rows",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))
    sharded = jax.jit(lambda x: x + 1, in_shardings=rows)
    with pytest.raises(ExportFailed, match=r"AbstractMesh.*jax\.ShapeDtypeStruct"):
        export_jax(sharded, jnp.ones((4, 2)), target="1.0.0", allow=["drop-sharding"])
    shape = jax.ShapeDtypeStruct((4, 2), jnp.float32)
    assert export_jax(sharded, shape, target="1.0.0", allow=["drop-sharding"])


def test_calls_of_python_are_refused_with_what_to_do() -> None:
    """By what they are called in JAX."""
    with pytest.raises(ExportFailed, match=r"take out.*jax\.debug\.print"):
        export_jax(lambda x: (jax.debug.print("{}", x), x)[1], X, target="1.0.0")


def _fails(x: Any) -> Any:
    raise ValueError(f"no luck\n with {x.shape}")


@pytest.mark.parametrize(
    ("function", "target", "kind", "says"),
    [
        (_fails, "1.0.0", ExportFailed, "ValueError: no luck"),
        (lambda x: x.item(), "1.0.0", ExportFailed, "Concretization"),
        (jnp.tan, "1.0.0", NotExpressible, "tan"),
        (lambda x: x, "soon", PortableError, "soon"),
        (lambda x, y: x + y, "1.0.0", ExportFailed, "missing 1 required"),
    ],
)
def test_bad_requests(function: Any, target: str, kind: type[PortableError], says: str) -> None:
    """Each is one line that says what is wrong."""
    with pytest.raises(kind) as caught:
        export_jax(function, X, target=target, expand=False)
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def _energy(x: Any) -> Any:
    return jnp.sum(jnp.sin(x) ** 2)


def test_an_exported_is_repinned_with_its_derivatives() -> None:
    """It is called, differentiated and serialized as before; the artifacts inside are new."""
    original = jax.export.export(jax.jit(_energy))(X)
    before = original.mlir_module_serialized
    repinned = repin_exported(original, "1.0.0")
    assert original.mlir_module_serialized == before
    assert Artifact.from_bytes(repinned.mlir_module_serialized).version == Version(1, 0, 0)
    assert np.array_equal(repinned.call(X), original.call(X))
    assert np.array_equal(jax.grad(repinned.call)(X), jax.grad(original.call)(X))
    loaded = jax.export.deserialize(repinned.serialize(vjp_order=1))
    inner = Artifact.from_bytes(loaded.vjp().mlir_module_serialized)
    assert inner.version == Version(1, 0, 0)
    assert np.array_equal(jax.grad(loaded.call)(X), jax.grad(original.call)(X))


def test_a_file_is_repinned(tmp_path: Path) -> None:
    """The bytes are those of an Exported that computes the same; the file stays as it was."""
    original = jax.export.export(jax.jit(_energy))(X)
    path = tmp_path / "energy.exported"
    path.write_bytes(original.serialize(vjp_order=1))
    before = path.read_bytes()
    loaded = jax.export.deserialize(bytearray(repin_exported(path, "1.0.0")))
    assert path.read_bytes() == before
    for part in (loaded, loaded.vjp()):
        version = Artifact.from_bytes(part.mlir_module_serialized).version
        assert version == Version(1, 0, 0)
    assert np.array_equal(loaded.call(X), original.call(X))


def test_only_an_exported_is_repinned() -> None:
    """Anything else is refused with what to do."""
    with pytest.raises(ExportFailed, match=r"jax\.export\.export returned"):
        repin_exported(_energy, "1.0.0")


def test_no_child_reads_what_jax_wrote_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is of this process, which waits for no other; sharding rules go all the same."""

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("a child was asked")

    monkeypatch.setattr(children, "call", refused)
    monkeypatch.setattr(children, "expendable", lambda: False)
    made = export_jax(jnp.linalg.cholesky, np.eye(3, dtype="f"), target="0.9.0")
    assert made.artifact.version == Version(0, 9, 0)


def test_small_programs_share_a_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until they are a few together: what a context keeps of them has a bound."""
    library, made = bindings.find(), []

    def counted(self: bindings.Library) -> Any:
        made.append(self)
        return new(self)

    new = bindings.Library.context
    monkeypatch.setattr(bindings.Library, "context", counted)
    monkeypatch.setattr(lowered, "_kept", {})
    exported = jax.export.export(jax.jit(jnp.sin))(jax.ShapeDtypeStruct((3,), "f"))
    data = exported.mlir_module_serialized
    for number in range(3):
        context = lowered.cleaned(data).context
        assert len(made) == 1, number
        assert library.is_context(context)
    monkeypatch.setattr(lowered, "_SHARED", len(data) + 1)
    lowered.cleaned(data)
    lowered.cleaned(data)
    assert len(made) == 3
