"""The backend torchax: every ATen op as a JAX function, lowered by `jax.export`."""

from __future__ import annotations

import dataclasses
import itertools
import sys
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from portable.exporters.aten import merge_constants, rename, transform
from portable.exporters.decompositions import all_decompositions
from portable.exporters.derivatives import derivative_ops
from portable.exporters.exported import Argument, ArgumentKind
from portable.exporters.frameworks import (
    ExportFailed,
    first_line,
    flat_inputs,
    flat_tree,
    is_higher_order,
)
from portable.exporters.graphs import GraphLowering, all_nodes
from portable.exporters.images import byte_images
from portable.exporters.lowered import Lowered, cleaned
from portable.exporters.lowerings import lowerings, stored_lowerings
from portable.exporters.numbers import is_number
from portable.exporters.quantized_types import type_lowerings, with_fixed_scales, with_types
from portable.exporters.random_numbers import random_ops
from portable.exporters.traced import (
    dimension_ranges,
    inspect_program,
    is_random,
    place,
    refuse_branch,
    refuse_random,
    refuse_unbounded,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from portable.exporters.traced import Placeholder, Traced

__all__ = ["Lowerings", "lower"]


@dataclass(frozen=True, slots=True)
class Lowerings:
    """What the caller decides about single ops.

    Args:
        functions: Ops -> functions of JAX arrays, in the place of torchax's.
        random: Whether random numbers may be drawn, from a seed that `main` takes.
        types: Whether PT2E's ops become quantized types.
    """

    functions: Mapping[Any, Callable[..., Any]] = field(default_factory=dict)
    random: bool = True
    types: bool = False


def lower(traced: Traced, platform: str, options: Lowerings = Lowerings()) -> Lowered:
    """Lower a traced program; see `portable.exporters.export_torch`.

    Args:
        traced: The program; not changed.
        platform: What it is lowered for.
        options: The user's own lowerings, and whether random numbers may be drawn.

    Returns:
        The program, with its weights.

    Raises:
        ExportFailed: It cannot be lowered, or not without losing something.
    """
    import jax

    _import_torchax().default_env()  # registers the lowerings
    if options.types:
        functions = {**type_lowerings(), **options.functions}
        options = dataclasses.replace(options, functions=functions)
    try:
        _demand_ops(options.functions)
        refuse_unbounded(traced.program, options.functions)
        ready = inspect_program(_decomposed(traced.program, options.functions))
        ready = with_fixed_scales(ready) if options.types else ready
        nodes = [n for n in all_nodes(ready.program.graph_module) if n.op == "call_function"]
        _refuse_unknown(nodes, options)
        used = _used(ready)
        arguments = tuple(p.argument for p in used if p.argument is not None)
        if any(map(is_random, nodes)):
            arguments += (_seed(ready),)
        # Without this JAX makes int32 of every int64.
        with jax.enable_x64(True):
            function = jax.jit(_function(ready, used, options.functions), keep_unused=True)
            export = jax.export.export(function, platforms=[platform])
            data = export(*_avals(arguments, traced.program)).mlir_module_serialized
    except ExportFailed:
        raise
    except Exception as error:  # lowering runs two frameworks: anything may come
        raise ExportFailed(
            f"torchax cannot lower the model: {first_line(error)}", hint=_remedy(error)
        ) from error
    weights = ready.weights(a.name for a in arguments if a.is_weight)
    module = with_types(cleaned(data)) if options.types else cleaned(data)
    return Lowered(module, arguments, ready.results, weights, traced.pytree_specs)


def _remedy(error: Exception) -> str | None:
    """Return what to do about what PyTorch says as it decomposes a model."""
    said = f"{type(error).__name__}: {error}"
    return next((hint for words, hint in _REMEDIES.items() if words in said), None)


_MOVED = "the model changes the shape or the memory of an input: return a new tensor instead"
_NAMES = (
    "PyTorch writes names of weights and keys of inputs into code: rename those with quotes, line "
    "ends, or words of Python"
)
_REMEDIES = {
    # As `code` and `graph`.
    "already exists": "a weight of the model has the name of an attribute of PyTorch's graphs: "
    "rename it",
    "num_mutated_inp_runtime_indices": _MOVED,
    "set_ on a graph input": _MOVED,
    "expected compiled_fn to be GraphModule": "the model changes a buffer or an input that shares "
    "memory with another: use one of them, or a copy",
    "SyntaxError": _NAMES,
    "null bytes": _NAMES,  # a ValueError before Python 3.11.4
    "UnicodeEncodeError": _NAMES,
}
"""What PyTorch says of what it cannot decompose -> what to do."""


def _demand_ops(functions: Mapping[Any, Callable[..., Any]]) -> None:
    """Refuse lowerings that nothing would look up."""
    import torch

    for op, function in functions.items():
        if not isinstance(op, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
            raise ExportFailed(
                f"a lowering is given for {op!r:.100}, which is not an op of PyTorch",
                hint="write it as torch.ops.aten.silu.default",
            )
        if not callable(function):
            raise ExportFailed(f"the lowering of {op} is {function!r:.100}, not a function")


def _import_torchax() -> Any:
    """Import torchax, and leave the compiler of PyTorch as it was.

    It registers a device of its own as available, which has no streams: wherever PyTorch compiles
    later in this process, for example a `torch.cond`, it would look for them and fail.
    """
    first = "torchax" not in sys.modules
    import torchax

    if first:
        torchax.device_module.is_available = lambda: False
    return torchax


def _decomposed(program: Any, functions: Mapping[Any, Callable[..., Any]]) -> Any:
    import torch

    def kept(table: Mapping[Any, Any]) -> dict[Any, Any]:
        return {op: how for op, how in table.items() if not {op, _packet(op)} & functions.keys()}

    program = merge_constants(program)
    with warnings.catch_warnings():
        # PyTorch warns of its own use of a class that it renamed.
        warnings.simplefilter("ignore", FutureWarning)
        # Once: tracing is most of an export's time.
        table = all_decompositions()
        if any(map(is_number, program.graph.nodes)):
            # PyTorch's own asks whether the place is below zero.
            del table[torch.ops.aten.select_scatter.default]
        try:
            return _flatly_decomposed(program, kept(table))
        except ValueError:
            # Some decompositions have other strides than the op, which views may not take.
            aten = torch.ops.aten
            copied = transform(program, rename({aten.view.default: aten.reshape.default}))
            return _flatly_decomposed(copied, kept(table))


def _flatly_decomposed(program: Any, table: Mapping[Any, Any]) -> Any:
    """Decompose; PyTorch would make classes that a model takes or returns, and trace how."""
    called = program.module_call_graph[0]
    nested, given = called.signature, program.example_inputs
    names = [spec.arg.name for spec in program.graph_signature.input_specs if _is_input(spec)]
    called.signature = dataclasses.replace(
        nested,
        in_spec=flat_inputs(len(names)),
        out_spec=flat_tree(nested.out_spec),
        forward_arg_names=names,
    )
    program.example_inputs = None  # nested as well; only checked
    try:
        made = program.run_decompositions(table)
    finally:
        called.signature = nested
        program.example_inputs = given
    made.module_call_graph[0].signature = nested
    return made


def _is_input(spec: Any) -> bool:
    return bool(spec.kind.name == "USER_INPUT")


def _packet(op: Any) -> Any:
    return getattr(op, "overloadpacket", op)


def _refuse_unknown(nodes: Sequence[Any], options: Lowerings) -> None:
    """Refuse what has no lowering, before tracing stumbles over it."""
    import torch
    from torchax.ops import ops_registry

    drawn = random_ops()
    known = {
        *ops_registry.all_aten_ops,
        *options.functions,
        *lowerings(),
        *stored_lowerings(),
        *derivative_ops(),
        *byte_images(),
        *drawn,
    }
    for node in nodes:
        target = node.target
        if is_higher_order(target):
            if target.name() not in GraphLowering.control_flow:
                refuse_branch(node)
        elif is_random(node) and (target not in drawn or not options.random):
            refuse_random(node)
        elif isinstance(target, torch._ops.OpOverload):
            names = {target, _packet(target)}
            instead = next((how for name, how in _INSTEAD.items() if name in str(target)), None)
            if not names & known or (instead and not names & options.functions.keys()):
                raise ExportFailed(
                    f"torchax has no lowering of {target}",
                    where=place(node),
                    hint=instead or _UNKNOWN,
                )


_UNKNOWN = (
    "decompose it: program.run_decompositions({op: function}), or give one: "
    "lowerings={op: function}"
)
_INSTEAD = {
    "mkldnn": "call make_fx inside of torch.backends.mkldnn.flags(enabled=False)",
    # torchax takes a matrix for positive definite, and makes NaN of another.
    "aten.linalg_ldl_factor": "use torch.linalg.lu_factor",
    "aten.linalg_ldl_solve": "use torch.linalg.solve",
    "aten._to_sparse": "compute with dense tensors",
}
"""Parts of the names of ops that are not lowered -> what to do."""


def _seed(traced: Traced) -> Argument:
    """Return the argument that random numbers come from, under a name that is free."""
    taken = {argument.name for argument in traced.arguments}
    names = itertools.chain(["seed"], (f"seed_{number}" for number in itertools.count(1)))
    name = next(name for name in names if name not in taken)
    leaves = traced.program.call_spec.in_spec.num_leaves
    return Argument(name, ArgumentKind.SEED, (), "uint64", leaves)


def _used(traced: Traced) -> list[Placeholder]:
    """Return the placeholders without the weights that nothing reads."""
    nodes = [node for node in traced.program.graph.nodes if node.op == "placeholder"]
    pairs = zip(nodes, traced.placeholders, strict=True)
    return [p for node, p in pairs if p.tensor is None or node.users]


def _function(
    traced: Traced, used: Sequence[Placeholder], functions: Mapping[Any, Callable[..., Any]]
) -> Callable[..., Any]:
    """Return the program as a function of its arguments for JAX to trace."""
    taken = {id(p) for p in used if p.argument is not None}

    def forward(*arguments: Any) -> list[Any]:
        given = iter(arguments)
        values = [next(given) if id(p) in taken else p.constant for p in traced.placeholders]
        made = GraphLowering(functions, next(given, None)).run(traced.program.graph_module, values)
        return [made[at] for at in traced.returned]

    return forward


def _avals(arguments: Sequence[Argument], program: Any) -> list[Any]:
    """Return what JAX traces with; dynamic dimensions share one scope."""
    import jax

    scope = jax.export.SymbolicScope(_constraints(program))

    def size(dimension: int | str) -> Any:
        if isinstance(dimension, int):
            return dimension
        return jax.export.symbolic_shape(dimension, scope=scope)[0]

    return [
        jax.ShapeDtypeStruct(tuple(map(size, a.shape)), jax.numpy.dtype(a.dtype)) for a in arguments
    ]


def _constraints(program: Any) -> list[str]:
    """Return the ranges of dynamic dimensions as JAX writes them, who knows that they are >= 1."""
    found = []
    for symbol, least, most in dimension_ranges(program):
        if least is not None and least > 1:
            found.append(f"{symbol} >= {least}")
        if most is not None:
            found.append(f"{symbol} <= {most}")
    return found
