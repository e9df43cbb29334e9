"""An exported model compared with what PyTorch and a second compiler make of the same program.

AOTInductor compiles the very `ExportedProgram` that is exported, without XLA and without StableHLO:
where it, eager PyTorch and the artifact agree, no single one of them is wrong alone.
"""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from portable.errors import PortableError
from portable.exporters.frameworks import ExportFailed, as_array, first_line, passed
from portable.exporters.torch import DEFAULT, export_torch
from portable.exporters.traced import place, trace
from portable.runtime.executors import Tolerance, compare_all
from portable.system import children, scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from portable.exporters.exported import ExportedArtifact
    from portable.pinning.options import PinOptions
    from portable.releases import Target
    from portable.runtime.executors import Comparison
    from portable.runtime.executors.tensors import Array
    from portable.version import Version

__all__ = ["NEAR", "Opinion", "OracleFailed", "OracleReport", "verify_export"]

NEAR = Tolerance(ulps=16, relative=1e-5, absolute=1e-5)
"""Two compilers sum in different orders; further apart than this one of them is wrong."""
_EAGER, _INDUCTOR = "eager", "aotinductor"


class OracleFailed(PortableError):
    """AOTInductor does not compile or run the program, so there is nothing to compare with."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one way to run the model made of one set of inputs, against eager PyTorch.

    Args:
        runner: `aotinductor`, `pjrt` or `torch_xla`.
        inputs: Which inputs: the seed and the sizes of dynamic dimensions.
        comparisons: One for each output.
        ties: How many elements of each output are other places of equal values: of `topk`, `sort`,
            `argmax` and their like, which may choose any of them.
    """

    runner: str
    inputs: str
    comparisons: tuple[Comparison, ...]
    ties: tuple[int, ...]

    @property
    def agrees(self) -> bool:
        """Whether every output is as eager PyTorch has it."""
        return all(comparison.same for comparison in self.comparisons)


@dataclass(frozen=True, slots=True)
class OracleReport:
    """Whether all ways to run a model agree.

    Args:
        exported: The artifact that was tried.
        opinions: One for each runner and set of inputs.
        sources: The op that makes each output, and its line of the model where it is known.
    """

    exported: ExportedArtifact
    opinions: tuple[Opinion, ...]
    sources: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether they do."""
        return all(opinion.agrees for opinion in self.opinions)

    def record(self) -> dict[str, object]:
        """Return the agreement as plain data for JSON."""
        return {
            "same": self.same,
            "version": str(self.exported.artifact.version),
            "opinions": [
                {
                    "runner": opinion.runner,
                    "inputs": opinion.inputs,
                    "agrees": opinion.agrees,
                    "outputs": [
                        {**comparison.record(), **self._described(comparison.output), "ties": ties}
                        for comparison, ties in zip(opinion.comparisons, opinion.ties, strict=True)
                    ],
                }
                for opinion in self.opinions
            ],
        }

    def _described(self, output: int) -> dict[str, str]:
        return {"name": self.exported.results[output].name, "op": self.sources[output]}


def verify_export(
    program: Any,
    args: Sequence[Any] = (),
    *,
    target: str | Version | Target | Sequence[str],
    dynamic_shapes: Any = None,
    backend: str = DEFAULT,
    seeds: Sequence[int] = (0, 1, 2),
    tolerance: Tolerance = NEAR,
    **options: Unpack[PinOptions],
) -> OracleReport:
    """Export a model and compare the artifact with eager PyTorch and AOTInductor.

    Args:
        program: As for `export_torch`.
        args: Example inputs; random ones are made like them.
        target: As for `export_torch`.
        dynamic_shapes: As for `export_torch`. Dynamic dimensions are run at two sizes.
        backend: As for `export_torch`.
        seeds: One set of random inputs each.
        tolerance: What counts as the same.
        options: As for `export_torch`: `locations`, `expand`, `allow`, `allow_dialects`,
            `library`.

    Returns:
        Whether they agree, output by output.

    Raises:
        OracleFailed: AOTInductor does not compile or run it.
        PortableError: As `export_torch`.
    """
    traced = trace(program, tuple(args), None, dynamic_shapes)
    with scratch.folder() as folder:
        inductor = _inductor(traced, Path(folder, "model.pt2"))
        exported = export_torch(traced, target=target, backend=backend, random=False, **options)
        if exported.mutated:
            raise ExportFailed(
                f"the model changes {exported.mutated[0]!r}, and the oracle compares single calls",
                hint="call .eval() before",
            )
        runners: dict[str, Callable[..., Any]] = {_INDUCTOR: inductor}
        for name, package in (("pjrt", "jaxlib"), ("torch_xla", "torch_xla")):
            if importlib.util.find_spec(package) is not None:
                runners[name] = _executed(exported, name)
        opinions = []
        for label, given in _sets(exported, args, seeds):
            eager = _Eager(traced)
            wanted = _leaves(_run(_EAGER, eager, given))
            for name, runner in runners.items():
                made = _leaves(_run(name, runner, given))
                settled, ties = eager.settle(wanted, made)
                compared = compare_all(wanted, settled, tolerance)
                opinions.append(Opinion(name, label, compared, ties))
    return OracleReport(exported, tuple(opinions), _Eager(traced).sources())


# Which result of an op says where values stand, and whether the op keeps the dimension.
_PLACES = {
    "topk": (1, True), "sort": (1, True), "argsort": (0, True), "max": (1, False),
    "min": (1, False), "argmax": (0, False), "argmin": (0, False),
}  # fmt: skip


class _Eager:
    """The model as PyTorch runs it, with what its outputs were chosen from.

    Args:
        traced: The `ExportedProgram`.
    """

    def __init__(self, traced: Any) -> None:
        self._module = traced.module()
        (output,) = (node for node in self._module.graph.nodes if node.op == "output")
        from torch.utils import _pytree as pytree

        leaves = pytree.tree_leaves(output.args[0])
        self._outputs = [node for node in leaves if node is not None]
        self._seen: dict[Any, Any] = {}

    def __call__(self, *given: Any) -> Any:
        """Run it."""
        import torch

        kept = {source.args[0] for source, _, _ in map(_chosen, self._outputs) if source}
        seen = self._seen

        class Recorder(torch.fx.Interpreter):  # type: ignore[misc] # the framework has no types here
            def run_node(self, node: Any) -> Any:
                made = super().run_node(node)
                if node in kept:
                    seen[node] = made
                return made

        return Recorder(self._module).run(*given)

    def sources(self) -> tuple[str, ...]:
        """Return the op that makes each output, with its line."""
        return tuple(
            f"{_producer(node).target}" + (f" ({where})" if (where := place(node)) else "")
            for node in self._outputs
        )

    def settle(
        self, wanted: Sequence[Array], made: Sequence[Array]
    ) -> tuple[list[Array], tuple[int, ...]]:
        """Return outputs in which other places of equal values are those that eager chose.

        Args:
            wanted: What eager made.
            made: What another made.

        Returns:
            The outputs, and how many elements of each were such.
        """
        settled, ties = list(made), [0] * len(made)
        for at, (node, mine, theirs) in enumerate(zip(self._outputs, wanted, made, strict=False)):
            source, axis, keeps = _chosen(node)
            if source is None or mine.shape != theirs.shape or mine.dtype != theirs.dtype:
                continue
            values = as_array(self._seen[source.args[0]])
            same = _same_values(values, mine, theirs, axis, keeps=keeps)
            settled[at] = np.where(same, mine, theirs)
            ties[at] = int(np.count_nonzero(same & (mine != theirs)))
        return settled, tuple(ties)


def _producer(node: Any) -> Any:
    """Return the node of the op that an output is a result of."""
    return node.args[0] if getattr(node.target, "__name__", "") == "getitem" else node


def _chosen(node: Any) -> tuple[Any, int | None, bool]:
    """Return the op that an output of places is made by, its dimension, and whether it stays."""
    source = _producer(node)
    name = str(source.target).removeprefix("aten.").partition(".")[0]
    result, keeps = _PLACES.get(name, (-1, False))
    if result != (node.args[1] if source is not node else 0):
        return None, None, False
    given = passed(source)
    alone = None if name in {"argmax", "argmin"} else -1
    return source, given.get("dim", alone), keeps or bool(given.get("keepdim"))


def _same_values(
    values: Array, mine: Array, theirs: Array, axis: int | None, *, keeps: bool
) -> Array:
    """Say where two arrays of places name equal values; no place may be named twice."""
    if axis is None:
        values, axis, keeps = values.reshape(-1), 0, False
    equal: Array = mine == theirs
    if not values.ndim:
        return equal
    places = [p if keeps else np.expand_dims(p, axis) for p in (mine, theirs)]
    size = values.shape[axis]
    if any(p.ndim != values.ndim or p.size == 0 or p.min() < 0 or p.max() >= size for p in places):
        return equal
    one, other = (np.take_along_axis(values, p, axis) for p in places)
    ordered = np.sort(places[1], axis)
    twice = (np.diff(ordered, axis=axis) == 0).any(axis, keepdims=True)
    same: Array = ((one == other) & ~twice) | (places[0] == places[1])
    return same if keeps else np.squeeze(same, axis)


_COMPILE_LIMIT_S = 1800


def _inductor(traced: Any, path: Path) -> Callable[..., Any]:
    import torch
    import torch._inductor

    program = str(path.with_suffix(".exported.pt2"))
    with warnings.catch_warnings():
        # PyTorch warns of its own use of what it deprecates.
        warnings.simplefilter("ignore")
        try:
            torch.export.save(traced, program)
            children.call(
                _compile,
                program,
                str(path),
                timeout=_COMPILE_LIMIT_S,
                fresh=children.Limits(file=None),
            )
            loaded: Callable[..., Any] = torch._inductor.aoti_load_package(str(path))
        except (OSError, RuntimeError, ValueError, children.ChildFailed) as error:
            raise OracleFailed(f"AOTInductor does not compile it: {first_line(error)}") from error
    return loaded


def _compile(program: str, package: str) -> None:
    """Compile an exported program; in a child.

    Its own process: lowering imports torchax, which renames a backend of PyTorch, and then
    AOTInductor finds no allocator. Some ops have data-dependent shapes: a traced program
    allows that, a loaded one does not.
    """
    import torch
    import torch._inductor

    warnings.simplefilter("ignore")
    loaded = torch.export.load(program)
    for node in loaded.graph.nodes:
        mode = getattr(node.meta.get("val"), "fake_mode", None)
        if mode is not None:
            mode.allow_fallback_kernels = True
    torch._inductor.aoti_compile_and_package(loaded, package_path=package)


def _executed(exported: ExportedArtifact, executor: str) -> Callable[..., Any]:
    return lambda *given: exported(*given, executor=executor)


def _run(name: str, runner: Callable[..., Any], given: Sequence[Any]) -> Any:
    import torch

    try:
        with torch.no_grad():
            return runner(*given)
    except PortableError:
        raise
    except Exception as error:  # frameworks: anything may come
        raise OracleFailed(f"{name} does not run it: {first_line(error)}") from error


def _leaves(value: Any) -> list[Array]:
    from torch.utils import _pytree as pytree

    return [as_array(leaf) for leaf in pytree.tree_leaves(value) if leaf is not None]


def _sets(
    exported: ExportedArtifact, args: Sequence[Any], seeds: Sequence[int]
) -> list[tuple[str, list[Any]]]:
    """Make inputs like the example: for each seed, and dynamic dimensions at two sizes."""
    if len(args) != len(exported.inputs):
        raise ExportFailed("the oracle needs example inputs, tensors only")
    sizes = {size for argument in exported.inputs for size in argument.shape}
    grown = (0, 1) if any(isinstance(size, str) for size in sizes) else (0,)
    found = []
    for seed in seeds:
        for more in grown:
            generator = np.random.default_rng(seed)
            pairs = zip(exported.inputs, args, strict=True)
            given = [_like(example, argument.shape, more, generator) for argument, example in pairs]
            label = f"seed {seed}" + (f", dynamic dimensions {more} larger" if more else "")
            found.append((label, given))
    return found


def _like(
    example: Any, shape: Sequence[int | str], more: int, generator: np.random.Generator
) -> Any:
    """Return a random tensor: normal floats, integers of the example's range."""
    import torch

    named = zip(shape, example.shape, strict=True)
    sizes = [size + more if isinstance(name, str) else size for name, size in named]
    if example.dtype.is_floating_point:
        return torch.from_numpy(generator.standard_normal(sizes)).to(example.dtype)
    low, high = (int(edge(example)) for edge in (torch.min, torch.max))
    return torch.from_numpy(generator.integers(low, high + 1, sizes)).to(example.dtype)
