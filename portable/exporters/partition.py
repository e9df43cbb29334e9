"""Which parts of a PyTorch model stand between it and a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from portable.exporters.frameworks import ExportFailed
from portable.exporters.traced import place
from portable.pinning.locations import Locations
from portable.pinning.pipeline import NotExpressible, serialize

if TYPE_CHECKING:
    from portable.pinning.program import Program
    from portable.version import Version

__all__ = ["Partition", "Subgraph", "partition_by_target"]

# Of the framework, which has no types here and is imported where it is used.
_Node: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Nodes of the graph that belong together.

    Args:
        nodes: Their names, in the order of the graph.
        needs: The Version that the most demanding needs; None when one cannot be lowered at all.
        features: What forces it, by name.
        where: The line of the model that the first comes from, if known.
    """

    nodes: tuple[str, ...]
    needs: Version | None
    features: tuple[str, ...]
    where: str | None


@dataclass(frozen=True, slots=True)
class Partition:
    """What of a model reaches a target and what does not.

    Args:
        target: The Version.
        parts: What does not, each as large as the graph allows.
        free: The parts that do.
    """

    target: Version
    parts: tuple[Subgraph, ...]
    free: tuple[Subgraph, ...]


def partition_by_target(program: Any, target: Version) -> Partition:
    """Divide a model into the parts that reach a target and those that do not.

    Each op is lowered and pinned by itself, once for each way it is called: this is seen, not
    predicted. What upstream's expander rewrites is not a blocker.

    Args:
        program: An `ExportedProgram`; not changed.
        target: The Version.

    Returns:
        The parts.
    """
    judge = _Judge(program, target)
    return Partition(target, _parts(judge, wanted=False), _parts(judge, wanted=True))


class _Judge:
    """Determines what each node of one program needs."""

    def __init__(self, program: Any, target: Version) -> None:
        self.program = program
        self.target = target
        self._known: dict[str, tuple[Version | None, tuple[str, ...]]] = {}

    def needs(self, node: _Node) -> tuple[Version | None, tuple[str, ...]]:
        """Return the Version that an op needs, and the Features that force it."""
        key = f"{node.target} {[_described(value) for value in (*node.args, *node.kwargs.items())]}"
        if key not in self._known:
            self._known[key] = self._tried(node)
        return self._known[key]

    def reaches(self, node: _Node) -> bool:
        """Say whether an op reaches the target by itself."""
        version, _ = self.needs(node)
        return version is not None and version <= self.target

    def _tried(self, node: _Node) -> tuple[Version | None, tuple[str, ...]]:
        try:
            serialize(_lowered(node), self.target, locations=Locations.STRIP)
        except NotExpressible as error:
            return error.minimum, tuple(feature.name for feature in error.features)
        except ExportFailed as error:
            return None, (str(error),)
        return self.target, ()


def _described(value: Any) -> str:
    meta = getattr(value, "meta", None)
    if meta is None:
        return repr(value)
    tensor = meta.get("val")
    return f"{getattr(tensor, 'dtype', '')}{tuple(getattr(tensor, 'shape', ()))}"


def _lowered(node: _Node) -> Program:
    """Lower one op by itself."""
    import torch
    from torch.fx.node import map_arg

    from portable.exporters import by_torchax
    from portable.exporters.traced import inspect_program

    inputs = list(node.all_input_nodes)

    class Alone(torch.nn.Module):  # type: ignore[misc] # as above
        def forward(self, *given: Any) -> Any:
            values = dict(zip(inputs, given, strict=True))
            args, kwargs = (map_arg(a, values.__getitem__) for a in (node.args, node.kwargs))
            results = node.target(*args, **kwargs)
            return tuple(results) if isinstance(results, (tuple, list)) else results

    shapes, given = _example(inputs)
    exported = torch.export.export(Alone(), tuple(given), dynamic_shapes=(tuple(shapes),))
    return by_torchax.lower(inspect_program(exported), "cpu").program


def _example(inputs: list[_Node]) -> tuple[list[Any], list[Any]]:
    """Make tensors of zeros for nodes, and say which of their dimensions are dynamic."""
    import torch

    shapes, given = [], []
    for node in inputs:
        value = node.meta["val"]
        sizes = [size if isinstance(size, int) else None for size in value.shape]
        shapes.append({a: torch.export.Dim.AUTO for a, s in enumerate(sizes) if s is None})
        given.append(torch.zeros([3 if s is None else s for s in sizes], dtype=value.dtype))
    return shapes, given


def _parts(judge: _Judge, *, wanted: bool) -> tuple[Subgraph, ...]:
    from torch.fx.passes.infra.partitioner import (
        CapabilityBasedPartitioner,
    )
    from torch.fx.passes.operator_support import (
        OperatorSupportBase,
    )

    class Support(OperatorSupportBase):  # type: ignore[misc] # the framework has no types here
        def is_node_supported(self, _modules: Any, node: _Node) -> bool:
            return _is_op(node) and judge.reaches(node) is wanted

    module = judge.program.graph_module
    partitioner = CapabilityBasedPartitioner(module, Support(), allows_single_node_partition=True)
    order = {node: number for number, node in enumerate(module.graph.nodes)}
    found = [sorted(p.nodes, key=order.__getitem__) for p in partitioner.propose_partitions()]
    return tuple(_part(judge, nodes) for nodes in sorted(found, key=lambda n: order[n[0]]))


def _is_op(node: _Node) -> bool:
    """Say whether a node calls ATen; the others pick results apart and belong to one that does."""
    return node.op == "call_function" and hasattr(node.target, "_schema")


def _part(judge: _Judge, nodes: list[_Node]) -> Subgraph:
    told = [judge.needs(node) for node in nodes if _is_op(node)]
    versions = [version for version, _ in told]
    known = [version for version in versions if version is not None]
    return Subgraph(
        tuple(node.name for node in nodes),
        max(known) if len(known) == len(versions) else None,
        tuple(dict.fromkeys(name for _, names in told for name in names)),
        place(nodes[0]),
    )
