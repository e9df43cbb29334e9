"""Executing: a child process against the same calls in this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.benches.figure import Figure, compare, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["bench_execute"]


_INPUT = "tensor<25600x1024xf32>"  # 100 MB
_HALF = "tensor<12800x1024xf32>"


def _dense(layers: int) -> str:
    """Write dense layers over an input of 100 MB."""
    small = "tensor<1024x1024xf32>"
    lines, last = [], "%x"
    for layer in range(layers):
        lines.append(
            f"%d{layer} = stablehlo.dot_general {last}, %w, contracting_dims = [1] x [0]"
            f" : ({_INPUT}, {small}) -> {_INPUT}\n%t{layer} = stablehlo.tanh %d{layer} : {_INPUT}"
        )
        last = f"%t{layer}"
    head = f"func.func @main(%x: {_INPUT}, %w: {small}) -> {_INPUT}"
    return "\n".join([f"{head} {{", *lines, f"return {last} : {_INPUT}", "}"])


_ADD = f"""func.func @main(%x: {_HALF}, %y: {_HALF}) -> {_HALF} {{
%0 = stablehlo.add %x, %y : {_HALF}
return %0 : {_HALF}
}}"""


def bench_execute() -> Iterator[Figure]:
    """A compiled program with 100 MB of inputs, in the child and by the same calls in here."""
    import numpy as np

    import portable
    from portable.pinning.pipeline import serialize
    from portable.runtime.executors import find_executor
    from portable.system.worker.inside.pjrt import Pjrt

    values = np.random.default_rng(0).standard_normal((25_600, 1024), np.float32)
    dense = [values, values[:1024].copy()]
    for name, text, inputs in (
        ("one add", _ADD, [values[:12_800].copy(), values[12_800:].copy()]),
        ("one dense layer", _dense(1), dense),
        ("four dense layers", _dense(4), dense),
    ):
        artifact = serialize(text, "1.0.0")
        client = Pjrt(bytes, "cpu")
        client.compile(artifact.data)
        with find_executor("pjrt") as executor:
            executor.compile(artifact)

            def direct() -> Callable[[], object]:
                return lambda: client.run(artifact.data, inputs, [])  # noqa: B023 - called at once

            def child() -> Callable[[], object]:
                return lambda: portable.run(artifact, inputs, executor)  # noqa: B023 - called at once

            theirs, ours = compare(direct, child, rounds=7)
        yield ratio(f"run / the PJRT client itself, 100 MB, {name}", 1.1, ours, theirs)
