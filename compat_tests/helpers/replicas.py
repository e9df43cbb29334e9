"""Run a program on several devices, one replica each, in a process of its own.

That process reads arrays: `program`, the bytes of an artifact, then `0`, `1`, ..., the arguments.
It writes the results in the same way. How many replicas there are is the second axis of each.
"""

import io
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

REPLICAS = 2


def run_replicated(
    program: bytes, arguments: Sequence[np.ndarray[Any, Any]], *, partitions: bool = False
) -> list[Any]:
    """Run a program on as many devices of XLA CPU as there are arguments for.

    Args:
        program: A portable artifact.
        arguments: The arguments, for all runs: axes of runs and replicas come first.
        partitions: Whether the devices are partitions of one replica, not replicas.

    Returns:
        The results, with the same two axes in front.
    """
    given = io.BytesIO()
    _save(given, {"program": np.frombuffer(program, np.uint8), **_numbered(arguments)})
    flags = f"--xla_force_host_platform_device_count={arguments[0].shape[1]}"
    done = subprocess.run(
        [sys.executable, __file__, *(["partitions"] if partitions else [])],
        input=given.getvalue(),
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    results = np.load(io.BytesIO(done.stdout))
    return [results[str(number)] for number in range(len(results.files))]


def _numbered(arrays: Sequence[Any]) -> dict[str, Any]:
    return {str(number): array for number, array in enumerate(arrays)}


def _save(stream: Any, arrays: dict[str, Any]) -> None:
    np.savez(stream, **arrays)


def _main() -> None:
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    from jaxlib import xla_client

    jax.config.update("jax_enable_x64", True)
    given = np.load(io.BytesIO(sys.stdin.buffer.read()))
    devices = jax.devices()
    sharding = NamedSharding(Mesh(devices, ("replica",)), PartitionSpec("replica"))
    options = xla_client.CompileOptions()
    if sys.argv[1:]:
        options.num_partitions = len(devices)
        options.executable_build_options.num_partitions = len(devices)
    else:
        options.num_replicas = len(devices)
    loaded = devices[0].client.compile_and_load(
        given["program"].tobytes(), xla_client.DeviceList(tuple(devices)), options
    )
    arguments = [given[str(number)] for number in range(len(given.files) - 1)]
    runs = []
    for run in range(len(arguments[0])):
        placed = [_placed(array[run], devices, sharding) for array in arguments]
        parts = loaded.execute_sharded(placed).disassemble_into_single_device_arrays()
        runs.append([np.stack([np.asarray(part) for part in result]) for result in parts])
    _save(sys.stdout.buffer, _numbered([np.stack(column) for column in zip(*runs, strict=True)]))


def _placed(array: Any, devices: Any, sharding: Any) -> Any:
    """Put each part of an array on its device, whole."""
    import jax

    parts = [jax.device_put(part, device) for part, device in zip(array, devices, strict=True)]
    shape = parts[0].shape
    whole = (shape[0] * len(parts), *shape[1:])
    return jax.make_array_from_single_device_arrays(whole, sharding, parts)


if __name__ == "__main__":
    _main()
