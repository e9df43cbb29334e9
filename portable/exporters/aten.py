"""Transformations of ATen graphs that survive in an `ExportedProgram`.

A pass is a function that changes a `GraphModule` in place and says whether it did. `transform`
runs passes over a copy and hands back a program that PyTorch's verifier accepts, or refuses; the
program it was given is never changed. Nodes that are put in keep the metadata of those they
replace, which a `torch.fx.Transformer` would lose.
"""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

from portable.errors import PortableError
from portable.exporters.frameworks import parameters
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

__all__ = [
    "PassFailed",
    "decompose",
    "decompositions_below",
    "fuse",
    "matches",
    "merge_constants",
    "remove",
    "rename",
    "scalars_to_tensors",
    "transform",
]

# Of the framework, which has no types here and is imported where it is used.
_ExportedProgram: TypeAlias = Any
_Op: TypeAlias = Any
_Node: TypeAlias = Any
_Change: TypeAlias = "Callable[[Any], bool]"


class PassFailed(PortableError):
    """A pass raised, a check after it failed, or its result is not a valid program."""


def transform(
    program: _ExportedProgram, *passes: _Change, checks: Sequence[Callable[[Any], None]] = ()
) -> _ExportedProgram:
    """Run passes over a copy of a program.

    Args:
        program: An `ExportedProgram`; not changed. The result shares its weights.
        passes: What to run, in order; each once.
        checks: Called with the `GraphModule` after each pass; they raise when something is wrong.

    Returns:
        The new program, verified.

    Raises:
        PassFailed: A pass or a check raised, or the result does not verify.
    """
    from torch.fx.passes.infra.pass_manager import PassManager

    module = copy.copy(program.graph_module)
    module.graph = copy.deepcopy(program.graph)
    module.meta = dict(program.graph_module.meta)
    manager = PassManager(
        passes=[_result(one) for one in passes], run_checks_after_each_pass=bool(checks)
    )
    for check in checks:
        manager.add_checks(_complain(check))
    try:
        manager(module)
        return _rebuilt(program, module)
    except Exception as error:  # passes are anybody's code
        cause = error.__cause__ or error
        said = str(cause).strip().splitlines() or [type(cause).__name__]
        raise PassFailed(f"a pass failed: {said[0]}", hint="the program was not changed") from error


def rename(ops: Mapping[_Op, _Op]) -> _Change:
    """Make a pass that calls another op instead, with the same arguments: one to one.

    Args:
        ops: Old op -> new op.
    """

    def run(module: Any) -> bool:
        changed = False
        for node in module.graph.nodes:
            if node.op == "call_function" and node.target in ops:
                node.target = ops[node.target]
                changed = True
        return changed

    return run


def remove(ops: Collection[_Op]) -> _Change:
    """Make a pass that takes out ops which hand on their first argument: one to none.

    Args:
        ops: For example `aten.alias.default`, `aten.detach.default`.
    """

    def run(module: Any) -> bool:
        gone = [n for n in module.graph.nodes if n.op == "call_function" and n.target in ops]
        for node in gone:
            node.replace_all_uses_with(node.args[0])
            module.graph.erase_node(node)
        return bool(gone)

    return run


def merge_constants(program: _ExportedProgram) -> _ExportedProgram:
    """Take a weight where the code of the model holds the same tensor too: what changes is one.

    Args:
        program: An `ExportedProgram`; not changed.

    Returns:
        It, or one without the constants that lie where a parameter or a buffer does.
    """
    weights: dict[object, str] = {}
    twins: dict[str, str] = {}
    for spec in program.graph_signature.input_specs:
        held = program.constants if spec.target in program.constants else program.state_dict
        key = _memory(held.get(spec.target))
        if key is None:
            continue
        if spec.kind.name in {"PARAMETER", "BUFFER"}:
            weights.setdefault(key, spec.arg.name)
        elif key in weights:
            twins[spec.arg.name] = weights[key]

    def run(module: Any) -> bool:
        nodes = {node.name: node for node in module.graph.nodes if node.op == "placeholder"}
        for twin, weight in twins.items():
            nodes[twin].replace_all_uses_with(nodes[weight])
            module.graph.erase_node(nodes[twin])
        return True

    return transform(program, run) if twins else program


def _memory(value: Any) -> object:
    """Return what tensors share that are the same in one memory; None for what has none."""
    import torch

    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    if value.device.type == "meta" or not value.numel():
        return None
    return value.data_ptr(), value.dtype, value.shape, value.stride()


def scalars_to_tensors(ops: Collection[_Op]) -> _Change:
    """Make a pass that gives ops tensors where they take tensors and were given Python numbers.

    What a node and its schema say is all it looks at. The tensor has the dtype of the result, so
    nothing is promoted that was not before.

    Args:
        ops: For example `aten.add.Tensor`, `aten.mul.Tensor`.
    """

    def run(module: Any) -> bool:
        import torch

        changed = False
        for node in [n for n in module.graph.nodes if n.op == "call_function" and n.target in ops]:
            for place, argument in enumerate(parameters(node.target)[: len(node.args)]):
                value = node.args[place]
                if isinstance(value, (int, float)) and isinstance(argument.type, torch.TensorType):
                    node.update_arg(place, _full(module.graph, node, value))
                    changed = True
        return changed

    return run


def fuse(
    pattern: Callable[..., Any],
    replacement: Callable[..., Any],
    *filters: Callable[[Any, Any, Any], bool],
) -> _Change:
    """Make a pass that writes one subgraph instead of another: many to one.

    Args:
        pattern: A function of ATen ops; its arguments match anything.
        replacement: Another one with the same arguments.
        filters: Called with the match, the graph and the pattern's graph; all must agree.
    """

    def run(module: Any) -> bool:
        from torch.fx import subgraph_rewriter

        results = {node: node.meta for node in module.graph.nodes}
        replaced = subgraph_rewriter.replace_pattern_with_filters(
            module, pattern, replacement, match_filters=list(filters)
        )
        for match in replaced:
            for node in match.replacements:
                node.meta = dict(results.get(match.anchor, {}))
                _infer(node)
        return bool(replaced)

    return run


def matches(program: _ExportedProgram, pattern: Callable[..., Any]) -> list[tuple[str, ...]]:
    """Find where a program has a subgraph.

    Args:
        program: An `ExportedProgram`.
        pattern: A function of ATen ops; its arguments match anything.

    Returns:
        The names of the nodes of each match, in the order of the graph; matches do not overlap.
    """
    from torch.fx import symbolic_trace
    from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

    graph = symbolic_trace(pattern).graph
    matcher = SubgraphMatcher(graph, match_output=False, remove_overlapping_matches=True)
    order = {node: place for place, node in enumerate(program.graph.nodes)}
    found = [
        sorted(
            (n for p, n in match.nodes_map.items() if p.op == "call_function"),
            key=order.__getitem__,
        )
        for match in matcher.match(program.graph)
    ]
    return [
        tuple(node.name for node in nodes) for nodes in sorted(found, key=lambda n: order[n[0]])
    ]


def decompose(program: _ExportedProgram, target: Version) -> _ExportedProgram:
    """Write ops whose lowering needs more than a Version by older ones: one to many.

    Args:
        program: An `ExportedProgram`; not changed.
        target: The Version to reach.

    Returns:
        A program that computes the same: `topk` exactly, `tan` to a few ulps.
    """
    with warnings.catch_warnings():
        # PyTorch warns of its own use of a class that it renamed.
        warnings.simplefilter("ignore", FutureWarning)
        return program.run_decompositions(decompositions_below(target))


def decompositions_below(target: Version) -> dict[_Op, Callable[..., Any]]:
    """Return what `ExportedProgram.run_decompositions` takes to reach an older Version.

    Args:
        target: The Version to reach.

    Returns:
        Every op whose lowering needs more -> a function that does the same with older ones.
    """
    import torch

    aten = torch.ops.aten
    known: list[tuple[_Op, Version, Callable[..., Any]]] = [
        (aten.tan.default, Version(1, 4, 0), _tan),
        (aten.topk.default, Version(0, 19, 0), _topk),
    ]
    return {op: function for op, needs, function in known if needs > target}


def _tan(x: Any) -> Any:
    import torch

    return torch.sin(x) / torch.cos(x)


def _topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:  # noqa: A002 - ATen's signature
    import torch

    del sorted  # the order is irrelevant
    values, indices = torch.sort(x, dim=dim, descending=largest, stable=True)
    return values.narrow(dim, 0, k), indices.narrow(dim, 0, k)


def _full(graph: Any, node: _Node, value: float) -> _Node:
    """Put a tensor without dimensions before a node, of the dtype of its result."""
    import torch

    with graph.inserting_before(node):
        made = graph.call_function(
            torch.ops.aten.full.default, ([], value), {"dtype": node.meta["val"].dtype}
        )
    made.meta = dict(node.meta)
    with node.meta["val"].fake_mode:
        made.meta["val"] = torch.full([], value, dtype=node.meta["val"].dtype)
    return made


def _infer(node: _Node) -> None:
    """Work out what a new node computes, from what its arguments do."""
    from torch.fx.node import map_arg

    args, kwargs = (map_arg(a, lambda n: n.meta["val"]) for a in (node.args, node.kwargs))
    node.meta["val"] = node.target(*args, **kwargs)


def _result(one: _Change) -> Callable[[Any], Any]:
    from torch.fx.passes.infra.pass_base import PassResult

    def run(module: Any) -> Any:
        return PassResult(module, one(module))

    return run


def _complain(check: Callable[[Any], None]) -> Callable[[Any], None]:
    """Give PyTorch's manager a check in the form it requires: one argument called `module`."""

    def checked(module: Any) -> None:
        check(module)

    return checked


def _rebuilt(program: _ExportedProgram, module: Any) -> _ExportedProgram:
    """Make a program of a changed graph, with the weights of the old one."""
    import torch

    module.graph.eliminate_dead_code()
    module.graph.lint()
    module.recompile()
    signature = copy.deepcopy(program.graph_signature)
    taken = {node.name for node in module.graph.nodes if node.op == "placeholder"}
    signature.input_specs = [s for s in signature.input_specs if s.arg.name in taken]
    (output,) = (node for node in module.graph.nodes if node.op == "output")
    for spec, node in zip(signature.output_specs, output.args[0], strict=True):
        if hasattr(node, "name"):
            spec.arg.name = node.name
    return torch.export.ExportedProgram(
        root=module,
        graph=module.graph,
        graph_signature=signature,
        state_dict=program.state_dict,
        range_constraints=program.range_constraints,
        module_call_graph=program.module_call_graph,
        example_inputs=program.example_inputs,
        constants=program.constants,
        verifiers=program.verifiers,
    )
