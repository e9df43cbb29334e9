"""Calling what `export_jax` returned: with the function's own inputs, for its own results."""

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from portable.exporters import ExportedArtifact, ExportFailed, export_jax
from portable.runtime.executors import Executor, InputMismatch

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
KEY = jax.random.key(7)


def _export(function: Any, *args: Any, **options: Any) -> ExportedArtifact:
    return export_jax(function, *args, target="0.9.0", allow=["exact"], **options)


def _same(got: Any, wanted: Any) -> None:
    """Nested alike, all of it JAX's arrays, of the same dtypes and values."""
    assert jax.tree_util.tree_structure(got) == jax.tree_util.tree_structure(wanted)
    leaves = zip(jax.tree_util.tree_leaves(got), jax.tree_util.tree_leaves(wanted), strict=True)
    for mine, theirs in leaves:
        assert isinstance(mine, jax.Array)
        assert mine.dtype == theirs.dtype
        if jax.dtypes.issubdtype(mine.dtype, jax.dtypes.prng_key):
            assert jnp.array_equal(jax.random.key_data(mine), jax.random.key_data(theirs))
        else:
            near = np.float64 if mine.dtype.kind != "c" else np.complex128
            assert np.allclose(np.asarray(mine, near), np.asarray(theirs, near), atol=2e-6)


_clipped: Any = jax.custom_vjp(jnp.sin)
_clipped.defvjp(lambda x: (_clipped(x), x), lambda x, g: (jnp.clip(g * jnp.cos(x), -0.7, 0.7),))


def _nested(tree: dict[str, Any], x: Any, *, scale: Any = 1.0) -> dict[str, Any]:
    return {"y": tree["w"] @ x.T * scale, "both": (x, [None, x.sum()])}


TAKEN: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    "nothing reads an argument": (lambda x, _: x + 1, (X, X), {}),
    "nested, by name": (_nested, ({"w": X, "unread": X}, X), {"scale": np.float32(2)}),
    "static by number": (jax.jit(lambda x, n: x * n, static_argnums=1), (X, 3), {}),
    "static by number from the end": (jax.jit(lambda x, n: x * n, static_argnums=-1), (X, 3), {}),
    "static, with its default": (jnp.linalg.qr, (X,), {}),
    "static by name": (jax.jit(lambda x, *, n: x * n, static_argnames="n"), (X,), {"n": 3}),
    "static in the middle": (jax.jit(lambda x, n, y: x * n + y, static_argnums=1), (X, 3, X), {}),
    "a word": (lambda x, how: getattr(jnp, how)(x), (X, "tanh"), {}),
    "None": (lambda x, nothing: x if nothing is None else nothing, (X, None), {}),
    "a number of Python's": (lambda x, s: x * s, (X, 2), {}),
    "a float of Python's": (lambda x, s: x * s, (X, 2.5), {}),
    "a truth of Python's": (lambda x, s: jnp.where(s, x, -x), (X, True), {}),
    "a key": (lambda key: jax.random.normal(key, (3,)), (KEY,), {}),
    "a key of another kind": (
        lambda key: jax.random.uniform(key, (3,)), (jax.random.key(7, impl="rbg"),), {}
    ),
    "keys, returned": (lambda keys: jax.random.split(keys[0]), (jax.random.split(KEY),), {}),
    "an old key": (lambda key: jax.random.normal(key, (3,)), (jax.random.PRNGKey(1),), {}),
    "int4": (lambda x: (x + x, x.astype(jnp.float32)), (jnp.array([-3, 2, 1], jnp.int4),), {}),
    "uint4": (lambda x: x.astype(jnp.int32) + 1, (jnp.array([0, 15], jnp.uint4),), {}),
    "fp8": (lambda x: (x, x.astype(jnp.float32) * 2), (jnp.ones(3, jnp.float8_e4m3fn),), {}),
    "fp8 of numpy's": (
        lambda x: x.astype(jnp.float32), (np.ones(3, ml_dtypes.float8_e5m2),), {}
    ),
    "bf16": (lambda x: x * 2, (jnp.ones(3, jnp.bfloat16),), {}),
    "complex": (jnp.fft.fft, (X,), {}),
    "custom_vjp": (jax.grad(lambda x: _clipped(x).sum()), (X,), {}),
    "no results": (lambda _: None, (X,), {}),
}  # fmt: skip


@pytest.mark.parametrize("case", TAKEN)
def test_called_as_the_function_is(case: str, executor: Executor) -> None:
    """The same inputs, and what the function returns, nested as it nests it."""
    function, args, kwargs = TAKEN[case]
    target = "1.9.0"  # for the narrow types, which older Versions lack
    made = export_jax(function, *args, kwargs=kwargs, target=target, allow=["exact"])
    _same(made(*args, **kwargs, executor=executor), function(*args, **kwargs))


def test_names_pass_over_static_arguments() -> None:
    """What comes after one keeps the name that the function gives it."""
    made = _export(jax.jit(lambda x, n, y: x * n + y, static_argnums=1), X, 3, X)
    assert [argument.name for argument in made.inputs] == ["x", "y"]


def test_derivatives_of_integers(executor: Executor) -> None:
    """They have no values: a call takes and returns what JAX does, an array of numpy."""

    def slopes(x: Any) -> Any:
        return jax.vjp(lambda number, x: x * number, 3, x)[1](jnp.ones_like(x))

    (none, one), x = _export(slopes, X)(X, executor=executor), jnp.asarray(X)
    assert (type(none), none.dtype, none.shape) == (np.ndarray, jax.dtypes.float0, ())
    assert jnp.array_equal(one, slopes(x)[1])
    again = _export(lambda none, x: (none, x + 1), none, X)
    none, one = again(none, X, executor=executor)
    assert none.dtype == jax.dtypes.float0
    assert jnp.array_equal(one, x + 1)


@pytest.mark.parametrize("platforms", [["cpu", "tpu"], ["tpu", "cpu"]])
def test_several_platforms(platforms: list[str], executor: Executor) -> None:
    """The number of the platform comes first in `main`, and is that of the executor."""
    made = _export(lambda x: jax.lax.platform_dependent(
        x, cpu=lambda x: x + 1, default=lambda x: x - 1), X, platforms=platforms)  # fmt: skip
    assert [argument.name for argument in made.inputs] == ["platform", "x"]
    _same(made(X, executor=executor), jnp.asarray(X + 1))


def test_wide_types_without_a_global_switch(executor: Executor) -> None:
    """`x64=True` keeps 64 bits, inside and in the results; JAX's own setting stays what it was."""
    wide = np.array([2**53 - 1.0, 0.1])
    made = _export(lambda x, n: (x * 2, n + 2**40), wide, np.int64(1), x64=True)
    got, number = made(wide, np.int64(1), executor=executor)
    assert (got.dtype, number.dtype) == (np.float64, np.int64)
    assert np.array_equal(got, wide * 2)
    assert int(number) == 2**40 + 1
    assert not jax.config.jax_enable_x64
    with pytest.raises(ExportFailed, match=r"'x' is float64.*float32.*x64=True"):
        _export(lambda x: x, wide)


REFUSED: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...], str]] = {
    "one too few": (lambda x, _: x, (X, X), (X,), "exported with"),
    "nested otherwise": (lambda t: t["a"], ({"a": X},), ([X],), "exported with"),
    "another static value": (
        jax.jit(lambda x, n: x * n, static_argnums=1), (X, 3), (X, 4), "'n' is 4.* with 3"
    ),
    "another word": (
        lambda x, how: getattr(jnp, how)(x), (X, "tan"), (X, "sin"), "'how' is 'sin'.* with 'tan'"
    ),
    "another shape": (lambda x: x, (X,), (X.T,), "shape"),
    "another dtype": (lambda x: x, (X,), (X.astype(np.float64),), "float64"),
    "a float for an integer": (lambda x: x, (2,), (2.5,), "float64"),
    "an integer that does not fit": (lambda x: x, (2,), (2**40,), "'x'.*int32"),
    "a key of another kind": (
        jax.random.bits, (KEY,), (jax.random.key(7, impl="rbg"),), r"'key'.*key<rbg>.*key<fry>"
    ),
    "the data of a key": (jax.random.bits, (KEY,), (jax.random.key_data(KEY),), r"'key'.*key<fry>"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_other_inputs_are_refused(case: str) -> None:
    """One line says which, before anything runs."""
    function, args, others, says = REFUSED[case]
    made = _export(function, *args)
    with pytest.raises(InputMismatch, match=says) as caught:
        made(*others)
    assert len(str(caught.value).splitlines()) == 1
