"""Modules of equinox, flax and haiku as they are: their arrays are weights beside the artifact."""

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


def test_what_a_module_changes_is_not_lost() -> None:
    """Statistics and streams of random numbers in training: refused by their names."""
    changed = "'drop.rngs.count', 'norm.mean', 'norm.var'"
    with pytest.raises(ExportFailed, match=rf"changes {changed}.*\.eval\(\)"):
        export_jax(_batch_norm(), X, target="1.0.0")


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
