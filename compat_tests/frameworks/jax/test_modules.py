"""Modules of equinox, flax and haiku as they are: their arrays are weights beside the artifact."""

import functools
from pathlib import Path
from typing import Any

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from portable.exporters import ArgumentKind, ExportedArtifact, ExportFailed, export_jax
from portable.runtime.executors import Executor

X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
KEY = jax.random.key(0)


def _linen() -> Any:
    layer = nn.Dense(3)
    return layer.bind(layer.init(KEY, X))


def _batch_norm() -> Any:
    class Net(nnx.Module):
        def __init__(self) -> None:
            rngs = nnx.Rngs(0)
            self.layer, self.norm = nnx.Linear(4, 3, rngs=rngs), nnx.BatchNorm(3, rngs=rngs)
            self.drop = nnx.Dropout(0.5, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.drop(self.norm(self.layer(x)))

    return Net()


def _evaluated() -> Any:
    net = _batch_norm()
    net.eval()
    return net


MODULES: dict[str, tuple[Any, Any, set[str]]] = {
    "equinox": (
        lambda: eqx.nn.MLP(4, 2, 8, 1, key=KEY), X[0],
        {"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"},
    ),
    "a part of jax.tree_util": (
        lambda: jax.tree_util.Partial(lambda p, x: x @ p["w"], {"w": jnp.ones((4, 2))}), X,
        {"0.0.w"},
    ),
    "flax nnx": (lambda: nnx.Linear(4, 3, rngs=nnx.Rngs(0)), X, {"kernel", "bias"}),
    "flax nnx, evaluated": (
        _evaluated, X,
        {"layer.kernel", "layer.bias", "norm.mean", "norm.var", "norm.scale", "norm.bias"},
    ),
    "flax linen, bound": (_linen, X, {"params.kernel", "params.bias"}),
}  # fmt: skip


@pytest.mark.parametrize("case", MODULES)
def test_a_module_as_it_is(case: str, tmp_path: Path, executor: Executor) -> None:
    """Its weights by their names in it, before the inputs; called as the module is; saved, read."""
    make, x, names = MODULES[case]
    module = make()
    made = export_jax(module, x, target="1.0.0")
    assert set(made.weights) == names
    assert [a.kind for a in made.arguments][-1] is ArgumentKind.INPUT
    wanted = module(x)
    got = made(x, executor=executor)
    assert isinstance(got, jax.Array)
    assert np.allclose(got, wanted, atol=2e-6)
    made.save(tmp_path / "module")
    (got,) = ExportedArtifact.load(tmp_path / "module")(x, executor=executor)
    assert np.allclose(got, wanted, atol=2e-6)


def test_wrapped_modules(executor: Executor) -> None:
    """Under the frameworks' own jit, with modules as arguments, and under vmap."""
    net, layer = eqx.nn.MLP(4, 2, 8, 1, key=KEY), nnx.Linear(4, 3, rngs=nnx.Rngs(0))
    for function, args in (
        (eqx.filter_jit(net), (X[0],)),
        (lambda net, x: net(x), (net, X[0])),
        (eqx.filter_jit(lambda net, x: jax.vmap(net)(x)), (net, X)),
        (jax.vmap(net), (X,)),
        (nnx.jit(lambda layer, x: layer(x)), (layer, X)),
        (lambda layer, x: layer(x), (layer, X)),
    ):
        made = export_jax(function, *args, target="1.0.0")
        assert np.allclose(made(*args, executor=executor), function(*args), atol=2e-6)


class _Convolutions(eqx.Module):
    layers: list[Any]

    def __init__(self) -> None:
        keys = jax.random.split(KEY, 3)
        self.layers = [
            eqx.nn.Conv2d(1, 3, 4, key=keys[0]), eqx.nn.MaxPool2d(2, 2), jax.nn.relu, jnp.ravel,
            eqx.nn.Linear(48, 4, key=keys[1]), jax.nn.log_softmax,
        ]  # fmt: skip

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


class _Recurrence(eqx.Module):
    size: int
    cell: eqx.nn.GRUCell

    def __init__(self) -> None:
        self.size, self.cell = 3, eqx.nn.GRUCell(4, 3, key=KEY)

    def __call__(self, rows: Any) -> Any:
        return jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(self.size), rows)[0]


def _normalized(*, inference: bool) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return batch norm of equinox over a batch that `vmap` names, with its state."""
    norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(4, "batch", mode="ema")
    norm = eqx.nn.inference_mode(norm, inference)
    over = jax.vmap(norm, in_axes=(0, None), out_axes=(0, None), axis_name="batch")
    return over, (X, state), {}


def _linen_in_training() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    net = nn.Sequential(
        [nn.BatchNorm(use_running_average=False), nn.Dropout(0.5, deterministic=False)]
    )
    variables = net.init({"params": KEY, "dropout": KEY}, X)
    return (
        functools.partial(net.apply, mutable=["batch_stats"]),
        (variables, X),
        {"rngs": {"dropout": KEY}},
    )


def _haiku(function: Any, *args: Any, **named: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    net = hk.transform_with_state(function)
    params, state = net.init(KEY, *args, **(dict.fromkeys(named, True)))
    return net.apply, (params, state, KEY, *args), named


def _normalized_by_haiku(x: Any, is_training: bool) -> Any:
    return hk.BatchNorm(True, True, 0.9)(hk.Linear(3)(x), is_training)


USUAL: dict[str, Any] = {
    "equinox: convolutions": lambda: (
        jax.vmap(_Convolutions()), (np.linspace(-1, 1, 144, dtype="f").reshape(1, 1, 12, 12),), {}
    ),
    "equinox: recurrence": lambda: (_Recurrence(), (X,), {}),
    "equinox: batch norm": lambda: _normalized(inference=True),
    "equinox: batch norm in training": lambda: _normalized(inference=False),
    "equinox: dropout": lambda: (eqx.nn.Dropout(0.5), (X,), {"key": KEY}),
    "equinox: attention": lambda: (
        eqx.nn.MultiheadAttention(2, 4, key=KEY), (X, X, X), {"mask": np.tri(2, dtype=bool)}
    ),
    "flax nnx: convolutions": lambda: (nnx.Conv(4, 3, (3,), rngs=nnx.Rngs(0)), (X[None],), {}),
    "flax nnx: attention": lambda: (
        nnx.MultiHeadAttention(2, 4, decode=False, rngs=nnx.Rngs(0)), (X[None],), {}
    ),
    "flax linen: in training": _linen_in_training,
    "haiku: batch norm": lambda: _haiku(_normalized_by_haiku, X, is_training=False),
    "haiku: batch norm in training": lambda: _haiku(_normalized_by_haiku, X, is_training=True),
    "haiku: recurrence": lambda: _haiku(
        lambda x: hk.dynamic_unroll(hk.GRU(3), x, hk.GRU(3).initial_state(2)), X[None]
    ),
    "haiku: dropout": lambda: _haiku(lambda x: hk.dropout(hk.next_rng_key(), 0.5, x), X),
}  # fmt: skip


@pytest.mark.parametrize("case", USUAL)
def test_a_usual_model(case: str, executor: Executor) -> None:
    """As in the pages of its framework, called as it is called there."""
    function, args, named = USUAL[case]()
    made = export_jax(function, *args, kwargs=named, target="1.0.0")
    got, wanted = made(*args, executor=executor, **named), function(*args, **named)
    assert jax.tree.structure(got) == jax.tree.structure(wanted)
    for mine, theirs in zip(*map(jax.tree.leaves, (got, wanted)), strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        assert np.allclose(mine, theirs, atol=2e-6)


def test_haiku(executor: Executor) -> None:
    """What a transformed function has to apply, with its parameters as an input and no key."""
    net: Any = hk.without_apply_rng(hk.transform(lambda x: hk.Linear(2)(jnp.tanh(x))))
    noisy: Any = hk.transform(lambda x: hk.dropout(hk.next_rng_key(), 0.5, hk.Linear(3)(x)))
    params, others = net.init(KEY, X), noisy.init(KEY, X)
    made = export_jax(net.apply, params, X, target="1.0.0")
    assert np.allclose(made(params, X, executor=executor), net.apply(params, X), atol=2e-6)
    made = export_jax(noisy.apply, others, KEY, X, target="1.0.0")
    assert np.allclose(
        made(others, KEY, X, executor=executor), noisy.apply(others, KEY, X), atol=2e-6
    )
    with pytest.raises(ExportFailed, match=r"Transformed is not callable.*\.apply"):
        export_jax(net, params, X, target="1.0.0")


def _decoder() -> Any:
    attention = nnx.MultiHeadAttention(2, 4, decode=True, rngs=nnx.Rngs(0))
    attention.init_cache((2, 6, 4))
    return attention


CHANGING: dict[str, tuple[Any, Any, set[str]]] = {
    "statistics and dropout": (
        _batch_norm, X, {"norm.mean", "norm.var", "drop.rngs.count"}
    ),
    "a recurrence": (
        lambda: nnx.RNN(nnx.GRUCell(4, 3, rngs=nnx.Rngs(0))), X[:, None], {"rngs.count"}
    ),
    "a cache": (_decoder, X[:, None], {"cache_index", "cached_key", "cached_value"}),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGING)
def test_what_a_module_changes_is_kept(case: str, tmp_path: Path, executor: Executor) -> None:
    """A module of flax nnx in training, or that decodes: call by call as the module itself.

    Exporting changes no module; once saved and loaded, the state begins again.
    """
    make, x, names = CHANGING[case]
    module = make()
    made = export_jax(module, x, target="1.0.0")
    assert set(made.mutated) == names
    made.save(tmp_path / "module")
    loaded = ExportedArtifact.load(tmp_path / "module")
    for _ in range(3):
        wanted = module(x)
        assert np.allclose(made(x, executor=executor), wanted, atol=2e-6)
        (got,) = loaded(x, executor=executor)
        assert np.allclose(got, wanted, atol=2e-6)
    made.state.clear()
    assert np.allclose(made(x, executor=executor), make()(x), atol=2e-6)


def test_what_a_function_changes_is_not_lost() -> None:
    """What the caller passes, of another type than before, or new: refused, and what to do."""
    with pytest.raises(ExportFailed, match=r"changes 'layer\.mean', 'layer\.var'.*hold it"):
        export_jax(lambda layer, x: layer(x), nnx.BatchNorm(4, rngs=nnx.Rngs(0)), X, target="1.0.0")

    class Net(nnx.Module):
        def __init__(self, how: str) -> None:
            self.how, self.count = how, nnx.Variable(jnp.zeros(()))

        def __call__(self, x: Any) -> Any:
            if self.how == "add":
                self.seen = nnx.Variable(x)
            else:
                self.count.set_value(jnp.zeros(3))
            return x

    with pytest.raises(ExportFailed, match="changes 'count'"):
        export_jax(Net("grow"), X, target="1.0.0")
    with pytest.raises(ExportFailed, match=r"adds variables.*sow"):
        export_jax(Net("add"), X, target="1.0.0")
    layer = nn.BatchNorm(use_running_average=False)
    with pytest.raises(ExportFailed, match=r"partial\(module\.apply, mutable"):
        export_jax(layer.bind(layer.init(KEY, X)), X, target="1.0.0")


def test_two_weights_of_one_name() -> None:
    """Refused: the name would be one weight's, and the numbers the other's."""
    weights = {"a.b": jnp.ones(4), "a": {"b": jnp.zeros(4)}}
    both = jax.tree_util.Partial(lambda p, x: x * p["a.b"] + p["a"]["b"], weights)
    with pytest.raises(ExportFailed, match=r"two weights are named '0\.0\.a\.b'"):
        export_jax(both, X, target="1.0.0")


def test_weights_of_numpy_are_copied(executor: Executor) -> None:
    """What the caller does to them later changes neither the export nor what it computes."""
    w = np.ones(4, np.float32)
    made = export_jax(jax.tree_util.Partial(lambda w, x: x * w, w), X, target="1.0.0")
    w[:] = 7
    assert np.array_equal(made(X, executor=executor), X)
    with pytest.raises(ValueError, match="read-only"):
        made.weights["0.0"][0] = 1


def test_a_state_of_equinox(executor: Executor) -> None:
    """It is an input and a result, and no tree any more once the module has used it."""

    class Counter(eqx.Module):
        index: eqx.nn.StateIndex

        def __init__(self) -> None:
            self.index = eqx.nn.StateIndex(jnp.array(0.0))

        def __call__(self, x: Any, state: Any) -> Any:
            count = state.get(self.index)
            return x + count, state.set(self.index, count + 1)

    counter, state = eqx.nn.make_with_state(Counter)()
    made = export_jax(counter, X, state, target="1.0.0")
    first, state = made(X, state, executor=executor)
    second, _ = made(X, state, executor=executor)
    assert np.array_equal(first, X)
    assert np.array_equal(second, X + 1)


def test_a_step_that_changes_what_it_takes(executor: Executor) -> None:
    """By `jax.jit`, which hands over a copy, it is exported as the functional API of nnx has it."""
    net = nnx.BatchNorm(4, rngs=nnx.Rngs(0))
    graph, state = nnx.split(net)

    def step(state: Any, x: Any) -> Any:
        model = nnx.merge(graph, state)
        return model(x), nnx.state(model)

    with pytest.raises(ExportFailed, match=r"changes 'state\.mean'.*export jax\.jit\(function\)"):
        export_jax(step, state, X, target="1.0.0")
    made = export_jax(jax.jit(step), state, X, target="1.0.0")
    got, after = made(state, X, executor=executor)
    wanted, moved = jax.jit(step)(state, X)
    assert np.allclose(got, wanted, atol=1e-6)
    assert all(map(np.allclose, *map(jax.tree.leaves, (after, moved))))
