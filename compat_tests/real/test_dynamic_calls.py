"""Programs that JAX exports for dynamic dimensions run once these are fixed.

StableHLO has no op for a window or a k that is not known: JAX writes custom calls, which no Release
compiles, and XLA's extension of upstream's passes makes ops of them where the sizes are known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import portable
from portable.bindings import LibraryError
from portable.pinning import specialize
from portable.runtime.executors import Executor

jax = pytest.importorskip("jax")
pytest.importorskip("jax.export")


def causal(a: Any) -> Any:
    """Return the scores of a causal mask, with positions counted as transformers does."""
    positions = jax.numpy.cumsum(jax.numpy.ones_like(a), axis=1)
    mask = positions[:, :, None] >= positions[:, None, :]
    return jax.numpy.where(mask, a[:, None, :], -1e9)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "cumsum": lambda a: jax.numpy.cumsum(a, axis=1),
    "cumprod": lambda a: jax.numpy.cumprod(a, axis=0),
    "cummax": lambda a: jax.lax.cummax(a, axis=1),
    "causal mask": causal,
    "top_k": lambda a: jax.lax.top_k(a, a.shape[1] // 2)[0],
    "random numbers": lambda a: a + jax.random.uniform(jax.random.key(3), a.shape),
}


def exported(name: str) -> portable.Artifact:
    """Export a function of a matrix of any size, as an artifact."""
    rows, columns = jax.export.symbolic_shape("b, n", constraints=["n >= 2"])
    takes = jax.ShapeDtypeStruct((rows, columns), "float32")
    made = jax.export.export(jax.jit(PROGRAMS[name]))(takes)
    return portable.serialize(made.mlir_module_serialized)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_dynamic_calls_computes_what_jax_does(name: str, pjrt: Executor) -> None:
    """For three sizes, with the arithmetic of jitted JAX; nothing dynamic is left."""
    artifact = exported(name)
    for rows, columns in ((1, 2), (3, 5), (2, 64)):
        static = specialize(artifact, [f"tensor<{rows}x{columns}xf32>"])
        assert b"stablehlo.dynamic" not in static.data
        given = np.random.default_rng(rows).normal(0, 1, (rows, columns)).astype(np.float32)
        (made,) = portable.run(static, [given], pjrt)
        wanted = np.asarray(jax.jit(PROGRAMS[name])(given))
        np.testing.assert_allclose(made, wanted, rtol=1e-6, atol=1e-6)


def test_a_size_that_the_program_excludes_is_refused() -> None:
    """With JAX's own words: its assertions are checked, where they were left out before."""
    with pytest.raises(LibraryError, match="Input shapes do not match"):
        specialize(exported("cumsum"), ["tensor<3x1xf32>"])
