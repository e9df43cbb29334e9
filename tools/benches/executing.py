"""Executing: a child process against the same calls in this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.benches.figure import Figure, compare, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["bench_execute"]


def bench_execute() -> Iterator[Figure]:
    """A compiled program with 100 MB of inputs, in the child and by the same calls in here."""
    import numpy as np

    from portable.executors import find_executor
    from portable.pin import serialize
    from portable.worker.inside.pjrt import Pjrt

    activations = np.random.default_rng(0).standard_normal((25_600, 1024), np.float32)
    weights = activations[:1024].copy()
    for name, layers in (("one dense layer", 1), ("four dense layers", 4)):
        big, small = "tensor<25600x1024xf32>", "tensor<1024x1024xf32>"
        lines, last = [], "%x"
        for layer in range(layers):
            lines.append(
                f"%d{layer} = stablehlo.dot_general {last}, %w, contracting_dims = [1] x [0]"
                f" : ({big}, {small}) -> {big}\n%t{layer} = stablehlo.tanh %d{layer} : {big}"
            )
            last = f"%t{layer}"
        text = "\n".join(lines)
        head = f"func.func @main(%x: {big}, %w: {small}) -> {big}"
        artifact = serialize(f"{head} {{\n{text}\nreturn {last} : {big} }}", "1.0.0")
        client = Pjrt(bytes, "cpu")
        client.compile(artifact.data)
        with find_executor("pjrt") as executor:
            executable = executor.compile(artifact)
            inputs = [activations, weights]

            def direct() -> Callable[[], object]:
                return lambda: client.run(artifact.data, inputs, [])  # noqa: B023 - called at once

            def child() -> Callable[[], object]:
                return lambda: executable.run(inputs)  # noqa: B023 - called at once

            theirs, ours = compare(direct, child, rounds=5)
        yield ratio(f"run / the PJRT client itself, 100 MB, {name}", 1.1, ours, theirs)
