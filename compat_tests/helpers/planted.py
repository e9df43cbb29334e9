"""Releases with planted defects: one op is miscompiled, as far as a hunt can see."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import portable
from portable.artifact import Artifact, ArtifactLike
from portable.fuzz.hunting import Hunt
from portable.matrix import Item, Run
from portable.matrix.batch import Observation
from portable.releases import Release
from portable.runtime.executors import Executor
from portable.runtime.executors.executor import Executable
from portable.runtime.executors.tensors import Array

__all__ = ["DEFECTS", "PlantedHunt", "planted"]

DEFECTS = {
    "maximum": (r"stablehlo\.maximum\b", "stablehlo.minimum"),
    "negate": (r"stablehlo\.negate\b", "stablehlo.optimization_barrier"),
    "compare": (" EQ, ", " NE, "),
    "reverse": (r"dims = \[0, 1\]", "dims = [1]"),
    # Of numbers in the middle of two alone.
    "round_nearest_even": ("round_nearest_even", "round_nearest_afz"),
    # Of negative numbers alone.
    "shift_right_arithmetic": ("shift_right_arithmetic", "shift_right_logical"),
    # Of one narrow type alone.
    "cosine": (r"stablehlo\.cosine\b(.*[x<]bf16>)", r"stablehlo.sine\1"),
    "reduce_window": (r"(reduce_window.*padding = dense<\[\[)1, 0\]", r"\g<1>0, 1]"),
    "convolution": (r"(stablehlo\.convolution.*reverse = \[)true", r"\1false"),
    # Half of the precision is lost.
    "tanh": (
        r"%(\w+) = stablehlo\.tanh (%\w+) : tensor<((?:[\d?]+x)*)f64>",
        (
            r"%n\1 = stablehlo.convert \2 : (tensor<\3f64>) -> tensor<\3f32>\n"
            r"%t\1 = stablehlo.tanh %n\1 : tensor<\3f32>\n"
            r"%\1 = stablehlo.convert %t\1 : (tensor<\3f32>) -> tensor<\3f64>"
        ),
    ),
}
"""Patterns of what is computed, as MLIR prints it, and what a Release computes instead."""


def planted(program: Any, defects: Iterable[str]) -> Artifact:
    """Return what a Release makes of an artifact: the same one where it has none of the ops.

    Args:
        program: The artifact.
        defects: What the Release has, by the keys of `DEFECTS`.
    """
    artifact = Artifact.of(program)
    text = changed = portable.pinning.program.text(artifact)
    for name in defects:
        changed = re.sub(*DEFECTS[name], changed)
    if changed == text or artifact.version is None:
        return artifact
    return portable.serialize(changed, artifact.version, locations="strip")


class _Miscompiling:
    """An Executor that executes another program than it was given.

    Args:
        executor: What executes it.
        defects: What it has.
    """

    def __init__(self, executor: Executor, defects: Iterable[str]) -> None:
        self._executor = executor
        self._defects = defects

    def compile(self, artifact: ArtifactLike) -> Executable:
        """Compile the other program."""
        return self._executor.compile(planted(artifact, self._defects))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.close()


class PlantedHunt(Hunt):
    """A hunt in which all Releases have defects, and some have others."""

    defects: Sequence[str] = ()
    others: Mapping[str, Sequence[str]] = MappingProxyType({})

    def defects_of(self, release: Release) -> Sequence[str]:
        """Return what a Release has."""
        return self.others.get(str(release), self.defects)

    def _executor(self, release: Release, name: str = "") -> Executor:
        executor = super()._executor(release, name)
        return executor if name else _Miscompiling(executor, self.defects_of(release))  # type: ignore[return-value]  # it has what a hunt calls

    def _run(self, on: str = "") -> Run:
        run = super()._run(on)
        return run if on else _PlantedRun(run, self.defects_of)  # type: ignore[return-value]  # it has what a hunt calls


class _PlantedRun:
    """What runs the matrix of such a hunt.

    Args:
        run: What would run it.
        defects: Says what a Release has.
    """

    def __init__(self, run: Run, defects: Callable[[Release], Iterable[str]]) -> None:
        self._run = run
        self._defects = defects

    def computed(
        self, items: Sequence[Item], releases: Sequence[Release]
    ) -> Iterator[tuple[Item, Release, Observation, list[Array]]]:
        """Have the Release, which is one, execute what it makes of the programs."""
        (release,) = releases
        made = []
        for item in items:
            artifact = planted(item.artifact(), self._defects(release))
            if artifact.digest != item.digest:
                path = Path(item.path).with_suffix(".other.bc")
                artifact.save(path)
                item = replace(item, path=str(path), digest=artifact.digest)  # noqa: PLW2901 - what the Release has of it
            made.append(item)
        for item, (_, *rest) in zip(items, self._run.computed(made, releases), strict=True):
            yield item, *rest  # type: ignore[misc]  # the four that there were
