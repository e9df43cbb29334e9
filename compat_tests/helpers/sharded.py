"""Functions that JAX shards over eight devices: its artifacts, and what it computes there.

Run in a process of its own, it writes to a folder: of each function by each partitioner `.bc`, the
artifact that jax.export makes, `.exported`, what it is in, and `.npz`, what goes in and comes out.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DEVICES = 8
# Hints of Shardy are attributes and ops of `sdy`, those of GSPMD are `mhlo.sharding` and calls.
PARTITIONERS = ("shardy", "gspmd")
# What JAX computes of these on eight devices has the bits that one device gives.
EQUAL = ("constrained", "integers", "loop", "sorted", "random", "lapack")
# Floating-point sums over a dimension that is spread: each device adds its part first.
SPLIT = ("perceptron",)
# Each device computes on its part, and sees the others' by collectives.
MANUAL = ("mapped",)


@dataclass(frozen=True, slots=True)
class Exported:
    """One function as JAX exports it.

    Args:
        artifact: The bytes of the portable artifact.
        container: The bytes of the whole `jax.export.Exported`.
        inputs: What it was called with.
        outputs: What it returned on eight devices.
    """

    artifact: bytes
    container: bytes
    inputs: list[Any]
    outputs: list[Any]


def export_all(folder: Path) -> dict[str, Exported]:
    """Have JAX export and call every function, by `NAME-PARTITIONER`."""
    _run("export", str(folder))
    return {path.stem: _load(path) for path in sorted(folder.glob("*.npz"))}


def call_exported(container: Path, inputs: list[Any]) -> list[Any]:
    """Have JAX call a container on eight devices; return what it returns."""
    given, made = container.with_suffix(".given.npz"), container.with_suffix(".made.npz")
    np.savez(given, *inputs)
    _run("call", str(container), str(given), str(made))
    return list(np.load(made).values())


def _run(*arguments: str) -> None:
    flags = f"--xla_force_host_platform_device_count={DEVICES}"
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]


def _load(path: Path) -> Exported:
    arrays = np.load(path)
    inputs, outputs = (
        [arrays[f"{kind}{number}"] for number in range(sum(n[0] == kind for n in arrays.files))]
        for kind in "io"
    )
    parts = [path.with_suffix(suffix).read_bytes() for suffix in (".bc", ".exported")]
    return Exported(parts[0], parts[1], inputs, outputs)


def _mesh(jax: Any) -> Any:
    automatic = (jax.sharding.AxisType.Auto,) * 2
    return jax.make_mesh((4, 2), ("x", "y"), axis_types=automatic)


def _functions(jax: Any) -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Return each function, compiled for a mesh of four by two, with what it takes."""
    from jax.sharding import NamedSharding, PartitionSpec

    jnp = jax.numpy
    mesh = _mesh(jax)

    def over(*axes: Any) -> Any:
        return NamedSharding(mesh, PartitionSpec(*axes))

    def constrained(a: Any) -> Any:
        return jax.lax.with_sharding_constraint(jnp.tanh(a), over(None, ("y", "x"))) * 2

    def integers(a: Any) -> Any:
        return jax.lax.with_sharding_constraint(a @ a.T, over("y")), a.sum(0)

    def loop(a: Any) -> Any:
        def step(carry: Any, row: Any) -> Any:
            return jax.lax.with_sharding_constraint(carry * row + 1, over("y")), carry[0]

        return jax.lax.scan(step, a[0], a)

    def perceptron(a: Any, w: Any) -> Any:
        hidden = jax.lax.with_sharding_constraint(jnp.tanh(a @ w), over("x"))
        return hidden, (hidden * 2).sum(0)

    def draw(seed: Any) -> Any:
        return jax.random.normal(jax.random.key(seed), (8, 16))

    def mapped(a: Any) -> Any:
        return jax.lax.psum(a, "x")

    generator = np.random.default_rng(0)
    a = generator.standard_normal((8, 16)).astype(np.float32)
    w = generator.standard_normal((16, 8)).astype(np.float32)
    i = generator.integers(-9, 9, (8, 16)).astype(np.int32)
    grid, row = over("x", "y"), over(("x", "y"))
    shard_map = getattr(jax, "shard_map", None) or jax.experimental.shard_map.shard_map
    spread = shard_map(
        mapped, mesh=mesh, in_specs=PartitionSpec("x", "y"), out_specs=PartitionSpec(None, "y")
    )
    return {
        "constrained": (jax.jit(constrained, in_shardings=grid, out_shardings=row), [a]),
        "integers": (jax.jit(integers, in_shardings=grid), [i]),
        "loop": (jax.jit(loop, in_shardings=grid), [a]),
        "sorted": (jax.jit(lambda b: jnp.sort(b, 0), in_shardings=grid), [a]),
        "random": (jax.jit(draw, out_shardings=grid), [np.uint32(3)]),
        "lapack": (jax.jit(lambda b: tuple(jnp.linalg.qr(b)), in_shardings=row), [a]),
        "perceptron": (jax.jit(perceptron, in_shardings=(grid, over("y"))), [a, w]),
        "mapped": (jax.jit(spread), [a]),
    }


def _export(folder: str) -> None:
    import jax
    import jax.export

    for partitioner in PARTITIONERS:
        jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
        jax.clear_caches()
        for name, (function, given) in _functions(jax).items():
            exported = jax.export.export(function)(*given)
            path = Path(folder) / f"{name}-{partitioner}"
            path.with_suffix(".bc").write_bytes(exported.mlir_module_serialized)
            path.with_suffix(".exported").write_bytes(exported.serialize())
            arrays = {f"i{number}": array for number, array in enumerate(given)}
            returned = jax.tree.leaves(function(*given))
            arrays |= {f"o{number}": np.asarray(array) for number, array in enumerate(returned)}
            np.savez(path.with_suffix(".npz"), **arrays)


def _call(container: str, given: str, made: str) -> None:
    import jax
    import jax.export

    exported = jax.export.deserialize(bytearray(Path(container).read_bytes()))
    shardings = exported.in_shardings_jax(_mesh(jax))
    placed = map(jax.device_put, np.load(given).values(), shardings)
    np.savez(made, *map(np.asarray, jax.tree.leaves(jax.jit(exported.call)(*placed))))


if __name__ == "__main__":
    _export(*sys.argv[2:]) if sys.argv[1] == "export" else _call(*sys.argv[2:])
