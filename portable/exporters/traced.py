"""A program that `torch.export` traced, checked for what would be lost in StableHLO."""

from __future__ import annotations

import inspect
import itertools
import re
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from portable.exporters.decompositions import replacements
from portable.exporters.exported import Argument, ArgumentKind, PytreeSpecs, Result
from portable.exporters.frameworks import (
    ExportFailed,
    dtype_name,
    first_line,
    is_higher_order,
    leaf_names,
    tree_json,
)
from portable.exporters.random_numbers import random_ops
from portable.exporters.weights import TorchWeights

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from portable.runtime.executors.tensors import Array

__all__ = [
    "Placeholder",
    "Traced",
    "dimension_ranges",
    "inspect_program",
    "is_random",
    "place",
    "refuse_branch",
    "refuse_losses",
    "refuse_random",
    "refuse_unbounded",
    "trace",
]

# `torch.export.ExportedProgram`; the framework is imported where it is used.
_ExportedProgram = Any
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One placeholder of the traced graph.

    Args:
        argument: The argument of `main` that it becomes; None when it becomes none.
        constant: Its value where it is not an input: the one traced with.
        tensor: The weight, when it is one.
    """

    argument: Argument | None
    constant: object = None
    tensor: Any = None


@dataclass(frozen=True, slots=True)
class Traced:
    """What every backend starts from.

    Args:
        program: The `ExportedProgram`.
        placeholders: One for each of its graph, in order.
        results: What it returns, and after that the new values of what it changes.
        returned: Which value of its graph each result is.
        pytree_specs: How arguments and results are nested.
    """

    program: _ExportedProgram
    placeholders: tuple[Placeholder, ...]
    results: tuple[Result, ...]
    returned: tuple[int, ...]
    pytree_specs: PytreeSpecs

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """What `main` will take when nothing reorders it."""
        return tuple(p.argument for p in self.placeholders if p.argument is not None)

    def weights(self, kept: Iterable[str] | None = None) -> Mapping[str, Array]:
        """Return the weights as arrays: copies of small ones, large ones as they are used.

        Args:
            kept: The names of those that are wanted; all by default.

        Returns:
            The arrays by name.
        """
        names = None if kept is None else set(kept)
        return TorchWeights.of(
            {
                p.argument.name: p.tensor
                for p in self.placeholders
                if p.argument is not None and p.argument.is_weight
                if names is None or p.argument.name in names
            }
        )


def trace(
    program: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None, shapes: Any
) -> _ExportedProgram:
    """Trace a module, unless it is traced already.

    Args:
        program: A `torch.nn.Module` or an `ExportedProgram`.
        args: Example inputs.
        kwargs: Example inputs by name.
        shapes: The `dynamic_shapes` of `torch.export.export`.

    Returns:
        The `ExportedProgram`.

    Raises:
        ExportFailed: The module cannot be traced, or `program` is something else.
    """
    import torch
    from torch._subclasses import fake_tensor

    if isinstance(program, torch.export.ExportedProgram):
        return program
    if not isinstance(program, torch.nn.Module):
        raise ExportFailed(
            f"cannot export {type(program).__name__}",
            hint="pass a torch.nn.Module or what torch.export.export returned",
        )

    given, named = _apart(program, (args, dict(kwargs or {})))
    _refuse_uncounted(program, given, named)

    def traced() -> _ExportedProgram:
        return torch.export.export(program, given, named, dynamic_shapes=shapes)

    try:
        try:
            return traced()
        except (
            fake_tensor.DataDependentOutputException,
            fake_tensor.DynamicOutputShapeException,
        ):
            with _replacing():
                return traced()
    except Exception as error:
        raise ExportFailed(
            f"torch.export cannot trace {type(program).__name__}: {_said(error)}",
            hint=_why_not(program, error),
        ) from error


def _refuse_uncounted(module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Refuse a cache of transformers whose window dropped what it still counts.

    PyTorch knows its keys and values alone, and would take their number for the place of the token.
    """
    given = _bound(module, args, kwargs)
    if _POSITIONS not in given or given[_POSITIONS] is not None:
        return
    for name, value in given.items():
        layers = getattr(value, "layers", None)
        if isinstance(layers, list) and any(map(_has_dropped, layers)):
            raise ExportFailed(
                f"{name!r} is a cache with a sliding window that is full: PyTorch does not know "
                "how many tokens came before",
                hint=f"pass {_POSITIONS}=torch.tensor([[place of the token]]) as an input too",
            )


_POSITIONS = "position_ids"


def _bound(module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs by name; None for those that could be passed by name, and are not.

    Models of transformers may take them by any name, and know some.
    """
    taken = inspect.signature(module.forward).parameters
    named = dict(zip(taken, args, strict=False)) | dict(kwargs)
    rest = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values())
    free = {name for name in (*taken, *([_POSITIONS] if rest else [])) if name not in named}
    return named | dict.fromkeys(free)


def _has_dropped(layer: Any) -> bool:
    keys, most = getattr(layer, "keys", None), getattr(layer, "sliding_window", None)
    return keys is not None and isinstance(most, int) and keys.shape[-2] >= most - 1


def _apart(module: Any, given: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return inputs each of which is a tensor of its own: PyTorch traces one that is two as one."""
    import torch
    from torch.utils import _pytree as pytree

    held = {id(tensor) for tensor in (*module.parameters(), *module.buffers())}

    def own(tensor: Any) -> Any:
        if id(tensor) in held:
            return tensor.detach().clone().requires_grad_(tensor.requires_grad)
        held.add(id(tensor))
        return tensor

    leaves = [leaf for leaf in pytree.tree_leaves(given) if isinstance(leaf, torch.Tensor)]
    if len({id(leaf) for leaf in leaves} - held) == len(leaves):
        return given
    made: tuple[Any, Any] = pytree.tree_map_only(torch.Tensor, own, given)
    return made


def _replacing() -> Any:
    """Return a context in which PyTorch calls `replacements` in the place of its own functions."""
    from torch.overrides import TorchFunctionMode

    table = replacements()

    class Replacing(TorchFunctionMode):  # type: ignore[misc] # PyTorch has no types here
        def __torch_function__(self, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            del types
            return table.get(f, f)(*args, **(kwargs or {}))

    return Replacing()


def _said(error: BaseException) -> str:
    """Return what PyTorch said in one line, with the reason that it gives for a dimension."""
    reasons = re.findall(r"^  - (.+)$", str(error), re.MULTILINE)
    fixes = re.findall(r"^Suggested fixes:\n  (.+)$", str(error), re.MULTILINE)
    if not reasons or "Constraints violated" not in first_line(error):
        return first_line(error)
    wanted = [f"PyTorch suggests {fix}" for fix in fixes]
    return "; ".join([first_line(error).partition("!")[0], reasons[0].rstrip("."), *wanted])


def _why_not(module: Any, error: BaseException) -> str:
    """Return what to do about a module that cannot be traced."""
    replaced = [name for name, m in module.named_modules() if _of_torch_xla(m)]
    if replaced:
        return (
            f"{replaced[0] or 'it'!r} is the GRU that torch_xla puts in the place of torch.nn.GRU "
            "when it is imported: build the model before that, or of torch.nn.GRU._orig"
        )
    said = "".join(traceback.format_exception(error))
    known = (hint for words, hint in _UNTRACEABLE.items() if words in said)
    return next(known, "torch.export.export shows the whole report")


_NUMBER = (
    "Python takes a number out of a tensor: keep it there (index_select and index_copy take "
    "tensors), or pass a number, which is fixed"
)
_DERIVATIVE = (
    "torch.export does not trace torch.func.grad, jacrev and torch.autograd.grad: pass "
    "torch.fx.experimental.proxy_tensor.make_fx(function)(*inputs)"
)
_UNTRACEABLE = {
    "float(self.num_batches_tracked)": "batch norm without a momentum counts in Python: give it "
    "one, or call .eval()",
    "in _detect_is_causal_mask": "pass is_causal=True or False beside the mask, tgt_is_causal to a "
    "decoder: PyTorch compares its values otherwise",
    "torch/distributions/distribution.py": "pass validate_args=False to the distribution",
    "argument 'size' failed to unpack": "a size is the value of a tensor, as in packed sequences: "
    "pass padded ones",
    "one_hot(": "pass num_classes to one_hot",
    "data-dependent expression zu": _NUMBER,  # of floats
    "We found a fake tensor in the exported program constant's list": _DERIVATIVE,
    "has no attribute 'constant'": _DERIVATIVE,
    "Constraints violated": "change the Dim as suggested, or leave the dimension fixed",
    "Could not guard on data-dependent": "Python branches on the value of a tensor: use torch.cond "
    "or torch.where, and turn checks of values off",
    "Could not extract specialized integer": _NUMBER,
    "aten.linalg_lstsq": "PyTorch does not trace it: use torch.linalg.pinv(a) @ b",
    "DynamicOutputShape": "the size of what it makes depends on data: compute with a fixed size "
    "and a mask",
    "DataDependentOutput": "PyTorch looks at values there: write it out of simpler ops",
    "Cache'> in output": "pass use_cache=False, or register what transformers calls DynamicCache: "
    "transformers.integrations.executorch.register_dynamic_cache_export_support()",
    "StaticCache'>. Export only": "keep it in the model, as "
    "transformers.integrations.executorch.TorchExportableModuleWithStaticCache does, or pass a "
    "DynamicCache",
    "DynamicCache'>. Export only": "register it: "
    "transformers.integrations.executorch.register_dynamic_cache_export_support()",
    "Unsupported input type": "register the class: torch.export.register_dataclass, or "
    "torch.utils._pytree.register_pytree_node with flatten_with_keys_fn",
    "register a pytree": "torch.export.register_dataclass(the class) before exporting",
    "__obj_flatten__": "quantize by PT2E or torchao: what torch.ao.quantization.quantize_dynamic "
    "makes cannot be traced",
}
"""What PyTorch says of what it cannot trace -> what to do."""


def _of_torch_xla(module: Any) -> bool:
    return type(module).__module__.startswith("torch_xla.")


def inspect_program(program: _ExportedProgram) -> Traced:
    """Read the signature of a traced program.

    Args:
        program: An `ExportedProgram`.

    Returns:
        It, with what it takes and returns.

    Raises:
        ExportFailed: It takes or returns what is no tensor.
    """
    spec = program.call_spec
    results = [*_results(program, spec.out_spec), *_changes(program)]
    return Traced(
        program,
        tuple(_placeholders(program)),
        tuple(result for _, result in results),
        tuple(at for at, _ in results),
        PytreeSpecs(tree_json(spec.in_spec), tree_json(spec.out_spec)),
    )


def dimension_ranges(program: _ExportedProgram) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield the dynamic dimensions of a program with the sizes that it was traced for.

    Args:
        program: An `ExportedProgram`.

    Yields:
        The symbol, the least and the largest size; None where there is none.
    """
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    for symbol, values in program.range_constraints.items():
        if not free_unbacked_symbols(symbol):  # those are numbers that depend on data
            least, most = values.lower, values.upper
            yield (
                str(symbol),
                int(least) if least.is_finite else None,
                int(most) if most.is_finite and most.is_Integer else None,
            )


def refuse_losses(program: _ExportedProgram) -> None:
    """Refuse, by name, what a backend without state, seeds and control flow would drop silently.

    Args:
        program: An `ExportedProgram` after decomposition, which lists what it changes.

    Raises:
        ExportFailed: It changes its state or an input, draws random numbers, or branches.
    """
    changed = [result.mutates for _, result in _changes(program)]
    if changed:
        names = ", ".join(map(repr, changed))
        raise ExportFailed(
            f"the model changes {names} while it runs, which this backend cannot lower",
            hint="use --backend torchax, call .eval() before exporting, or return the new value",
        )
    for node in program.graph.nodes:
        if node.op == "call_function":
            if is_higher_order(node.target):
                refuse_branch(node)
            if is_random(node):
                refuse_random(node)


def is_random(node: Any) -> bool:
    """Say whether a node draws random numbers."""
    import torch

    # PyTorch does not tag all of them.
    tagged = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
    return tagged or node.target in random_ops()


def refuse_branch(node: Any) -> NoReturn:
    """Refuse control flow that has no lowering."""
    name = node.target.name()
    raise ExportFailed(
        f"the model uses torch.{name}, which has no lowering",
        where=place(node),
        hint=_UNLOWERED.get(name, "decompose it: program.run_decompositions"),
    )


_FUNCTIONAL = "a custom op changes what it takes: let it return the new value instead"
_UNLOWERED = {
    "auto_functionalized": _FUNCTIONAL,
    "auto_functionalized_v2": _FUNCTIONAL,
    "cond": "use --backend torchax, or write both branches and choose with torch.where",
}


def refuse_random(node: Any) -> NoReturn:
    """Refuse random numbers that would be drawn once, at export."""
    raise ExportFailed(
        f"the model draws random numbers by {node.target}, which would be constants in the "
        "artifact",
        where=place(node),
        hint="call .eval() before exporting, or pass the numbers as an input",
    )


def refuse_unbounded(program: _ExportedProgram, lowered: Collection[Any] = ()) -> None:
    """Refuse results whose size depends on data, and say which op has a bound instead.

    Args:
        program: An `ExportedProgram`, before its ops are decomposed.
        lowered: Ops that the user lowers.

    Raises:
        ExportFailed: It has such an op.
    """
    import torch
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
    from torch.utils import _pytree as pytree

    for node in program.graph.nodes:
        if node.op != "call_function" or node.target in lowered:
            continue
        made = [v for v in pytree.tree_leaves(node.meta.get("val")) if isinstance(v, torch.Tensor)]
        if any(free_unbacked_symbols(size) for tensor in made for size in tensor.shape):
            name = str(node.target).removeprefix("aten.").partition(".")[0]
            raise ExportFailed(
                f"the size of what {node.target} makes depends on data",
                where=place(node),
                hint=_BOUNDED.get(name, "compute with a fixed size and a mask"),
            )


_BOUNDED = {
    "nonzero": "use torch.nonzero_static(x, size=BOUND)",
    "nonzero_numpy": "use torch.nonzero_static(x, size=BOUND)",
    "index": "use torch.where(mask, x, fill), or torch.nonzero_static(mask, size=BOUND)",
    "masked_select": "use torch.where(mask, x, fill), or torch.nonzero_static(mask, size=BOUND)",
    "argwhere": "use torch.nonzero_static(x, size=BOUND)",
    "bincount": "use torch.zeros(BOUND).index_add(0, x, torch.ones(len(x)))",
    "repeat_interleave": "pass output_size=BOUND",
    "tensor_split": "pass the places as integers",
}


def place(node: Any) -> str | None:
    """Return the line of the model that a node comes from, as `file:line`."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    # Generated code is in no file.
    written = [":".join(frame) for frame in frames if not frame[0].startswith("<")]
    return written[-1] if written else None


def _placeholders(program: _ExportedProgram) -> Iterator[Placeholder]:
    import torch

    kinds = torch.export.graph_signature
    nodes = [node for node in program.graph.nodes if node.op == "placeholder"]
    leaves = itertools.count()  # of what the caller passes, constants among them
    for node, spec in zip(nodes, program.graph_signature.input_specs, strict=True):
        position = next(leaves) if spec.kind is kinds.InputKind.USER_INPUT else -1
        if spec.kind is kinds.InputKind.TOKEN:
            yield Placeholder(None)
        elif isinstance(spec.arg, kinds.ConstantArgument):
            yield Placeholder(None, spec.arg.value)
        elif not isinstance(spec.arg, kinds.TensorArgument):
            raise ExportFailed(
                f"the model takes {spec.arg.name!r}, not a tensor: {spec.kind.name.lower()}",
                hint="pass it as a tensor, or fix its value",
            )
        elif spec.kind is kinds.InputKind.USER_INPUT:
            yield Placeholder(_argument(node, spec.arg.name, ArgumentKind.INPUT, position))
        else:
            lifted = spec.kind is kinds.InputKind.CONSTANT_TENSOR
            kind = ArgumentKind.CONSTANT if lifted else ArgumentKind.PARAMETER
            held = program.constants if spec.target in program.constants else program.state_dict
            _refuse_valueless(held[spec.target], spec.target)
            yield Placeholder(_argument(node, spec.target, kind), tensor=held[spec.target])


def _refuse_valueless(tensor: Any, name: str) -> None:
    """Refuse a constant that tracing left without a value, as it does in `torch.func.grad`."""
    from torch._subclasses.fake_tensor import maybe_get_fake_mode

    if maybe_get_fake_mode(tensor) is not None:
        raise ExportFailed(
            f"torch.export kept no value of the constant {name!r}: it does not trace "
            "torch.func.grad and jacrev",
            hint="pass torch.fx.experimental.proxy_tensor.make_fx(function)(*inputs)",
        )


def _argument(node: Any, name: str, kind: ArgumentKind, position: int = -1) -> Argument:
    value = node.meta["val"]
    return Argument(name, kind, _shape(value), dtype_name(value.dtype), position)


def _shape(value: Any) -> tuple[int | str, ...]:
    return tuple(size if isinstance(size, int) else str(size) for size in value.shape)


def _results(program: _ExportedProgram, tree: Any) -> Iterator[tuple[int, Result]]:
    """Yield what the model returns, with its place in what its graph does."""
    import torch

    kinds = torch.export.graph_signature
    made = [one for one in _outputs(program) if one[2].kind is kinds.OutputKind.USER_OUTPUT]
    for name, (at, node, spec) in zip(leaf_names(tree), made, strict=True):
        if isinstance(spec.arg, kinds.ConstantArgument):
            continue  # a call gives it back, as it was exported
        if not isinstance(spec.arg, kinds.TensorArgument):
            raise ExportFailed(
                f"the model returns {name!r}, a number that depends on a dynamic dimension or on "
                "data",
                hint="return it as a tensor: torch.full((), number)",
            )
        yield at, _result(name, node)


def _changes(program: _ExportedProgram) -> Iterator[tuple[int, Result]]:
    """Yield the new values of what the model changes, named as what they replace."""
    import torch

    kinds = torch.export.graph_signature.OutputKind
    for at, node, spec in _outputs(program):
        if spec.kind.name in _CHANGES:
            yield at, _result(spec.target, node, spec.target)
        elif spec.kind not in {kinds.USER_OUTPUT, kinds.TOKEN}:  # a token orders assertions
            raise ExportFailed(f"the model makes {spec.arg.name!r}, a {spec.kind.name.lower()}")


_CHANGES = {"BUFFER_MUTATION", "PARAMETER_MUTATION", "USER_INPUT_MUTATION"}


def _outputs(program: _ExportedProgram) -> Iterator[tuple[int, Any, Any]]:
    (output,) = (node for node in program.graph.nodes if node.op == "output")
    pairs = zip(output.args[0], program.graph_signature.output_specs, strict=True)
    for at, (node, spec) in enumerate(pairs):
        yield at, node, spec


def _result(name: str, node: Any, mutates: str = "") -> Result:
    value = node.meta["val"]
    return Result(name, _shape(value), dtype_name(value.dtype), mutates)
