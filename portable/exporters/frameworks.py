"""What the exporters share about frameworks: their errors, tensors, and the nesting of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable.containers import MalformedContainer
from portable.errors import PortableError
from portable.runtime.executors.tensors import dtype_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from portable.runtime.executors.tensors import Array

__all__ = [
    "ExportFailed",
    "ExporterMissing",
    "as_array",
    "dotted",
    "dtype_name",
    "first_line",
    "flat_inputs",
    "flat_tree",
    "from_torch",
    "is_higher_order",
    "leaf_names",
    "parameters",
    "passed",
    "to_torch",
    "tree_json",
    "tree_of_json",
]

_LINE = 300

# `torch.utils._pytree.TreeSpec`; the framework is imported where it is used.
_Tree = Any


class ExporterMissing(PortableError):
    """The library of an exporter is not installed, or there is no exporter of this name."""


class ExportFailed(PortableError):
    """A framework's program cannot be exported, or not without losing something."""


def dotted(path: Iterable[Any]) -> str:
    """Return where a leaf stands, from the keys that PyTorch's and JAX's trees name it by.

    Args:
        path: The keys, outermost first.

    Returns:
        For example `0`, `0.logits`, `params.w`; empty for a value without nesting.
    """
    return ".".join(map(_key, path))


def is_higher_order(op: Any) -> bool:
    """Return whether an op of PyTorch takes functions, as `cond` and `scan` do."""
    import torch

    return isinstance(op, torch._ops.HigherOrderOperator)


def parameters(op: Any) -> Sequence[Any]:
    """Return what an ATen op declares that it takes: each has a `name` and a `type`."""
    declared: Sequence[Any] = op._schema.arguments
    return declared


def passed(node: Any) -> dict[str, Any]:
    """Return what a call of an ATen op passes, by the names that the op declares."""
    names = [parameter.name for parameter in parameters(node.target)]
    return dict(zip(names, node.args, strict=False)) | dict(node.kwargs)


def first_line(error: BaseException) -> str:
    """Return what an error says, in one line that a person reads."""
    if isinstance(error, PortableError):
        return str(error)
    said = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {said}"[:_LINE] if said else type(error).__name__


def _key(entry: Any) -> str:
    for kind in ("key", "idx", "name"):
        if hasattr(entry, kind):
            return str(getattr(entry, kind))
    return str(entry)


def dtype_name(dtype: Any) -> str:
    """Return the numpy name of a dtype of PyTorch.

    Args:
        dtype: For example `torch.float32`.

    Returns:
        For example `float32`; the types that numpy lacks by their names in ml_dtypes.
    """
    return str(dtype).removeprefix("torch.")


def from_torch(tensor: Any, name: str = "a tensor") -> Array:
    """Copy a tensor into an array.

    Args:
        tensor: A dense tensor on any device.
        name: What to call it in an error.

    Returns:
        A new array of the same dtype.

    Raises:
        ExportFailed: No array can hold it: it is sparse, quantized, or has no data.
    """
    import torch

    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.device.type == "meta":
        kind = "quantized" if tensor.is_quantized else f"{tensor.layout} on {tensor.device.type}"
        raise ExportFailed(f"{name} is {kind}, which plain arrays cannot hold")
    whole = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    try:
        copied: Array = whole.numpy().copy()
        return copied
    except TypeError:
        pass  # numpy lacks the dtype: the bytes are the same, their name is not
    # A scalar cannot be viewed as another dtype of another width, but as one of the same.
    raw: Array = whole.view(getattr(torch, _INTEGERS[whole.element_size()])).numpy().copy()
    return raw.view(dtype_named(dtype_name(tensor.dtype)))


_INTEGERS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


def to_torch(array: Array) -> Any:
    """Copy an array into a tensor of the same dtype.

    Args:
        array: Of any dtype that PyTorch has, those of ml_dtypes included.

    Returns:
        A new tensor.
    """
    import torch

    copied = array.copy()
    try:
        return torch.from_numpy(copied)
    except TypeError:  # what numpy lacks, PyTorch knows by the same name
        raw = torch.from_numpy(copied.view(_INTEGERS[array.dtype.itemsize]))
        return raw.view(getattr(torch, array.dtype.name))


def as_array(value: Any) -> Array:
    """Return a tensor of PyTorch or JAX, or what else holds numbers, as an array."""
    import numpy as np  # only to execute

    if hasattr(value, "detach"):  # a tensor of PyTorch, bf16 and float8 included
        return from_torch(value)
    return np.asarray(value)


def tree_json(tree: _Tree) -> str | None:
    """Return a tree as PyTorch writes it to JSON.

    Args:
        tree: A tree. The tuples with names that `torch.max` or `torch.topk` return, which PyTorch
            cannot write, are taken as plain tuples.

    Returns:
        The JSON; None when the tree has classes that PyTorch cannot write.
    """
    from torch.utils import _pytree as pytree

    try:
        text: str = pytree.treespec_dumps(pytree.tree_structure(_named_as_plain(tree)))
    except Exception:  # a class of the user's, of tensors alone or without a name  # noqa: BLE001
        return None
    return text


def tree_of_json(text: str | None) -> _Tree | None:
    """Read what `tree_json` wrote, or anybody.

    Args:
        text: The JSON; None where there is none.

    Returns:
        The tree; None where there is no text.

    Raises:
        MalformedContainer: It is no tree, or has a class that PyTorch does not know here.
    """
    from torch.utils import _pytree as pytree

    if text is None:
        return None
    try:
        tree = pytree.treespec_loads(text)
        pytree.tree_unflatten(range(tree.num_leaves), tree)
    except Exception as error:  # PyTorch checks nothing of it
        raise MalformedContainer(
            f"does not say how PyTorch nests values: {first_line(error)}",
            hint="set pytree_specs to PytreeSpecs() to pass and get values one by one",
        ) from error
    return tree


def leaf_names(tree: _Tree) -> list[str]:
    """Return where each leaf of a tree stands.

    Args:
        tree: A tree.

    Returns:
        For example `0`, `0.logits`, `values`; `output` for one without a tree, and numbers where
        a class does not name its parts, or cannot be made without tensors.
    """
    return [dotted(path) or "output" for path in _paths(tree)]


def _paths(tree: _Tree) -> Iterator[tuple[Any, ...]]:
    if tree.is_leaf():
        yield ()
        return
    for key, number in zip(_keys(tree), range(tree.num_children), strict=True):
        for path in _paths(tree.child(number)):
            yield key, *path


def _keys(tree: _Tree) -> Sequence[Any]:
    """Return where the parts of a tree stand in it, not looking into them."""
    from torch.utils import _pytree as pytree

    numbers = range(tree.num_children)
    try:
        how = pytree.SUPPORTED_NODES[tree.type]
        whole = how.unflatten_fn(list(numbers), tree.context)
        if _is_named(whole):
            return [pytree.GetAttrKey(name) for name in type(whole).__match_args__]
        keyed, _ = how.flatten_with_keys_fn(whole)
        keys = {number: key for key, number in keyed}
        return [keys[number] for number in numbers]
    except Exception:  # a class of the user's, of tensors alone or without names  # noqa: BLE001
        return [pytree.SequenceKey(number) for number in numbers]


def flat_inputs(count: int) -> _Tree:
    """Return how so many inputs are nested that are passed one by one."""
    from torch.utils import _pytree as pytree

    return pytree.tree_structure((tuple(range(count)), {}))


def flat_tree(tree: _Tree) -> _Tree:
    """Return a list with as many leaves as a tree."""
    from torch.utils import _pytree as pytree

    return pytree.tree_structure(list(range(tree.num_leaves)))


def _named_as_plain(tree: _Tree) -> Any:
    """Return the numbers of the leaves, nested as a tree but for PyTorch's tuples with names."""
    from torch.utils import _pytree as pytree

    return pytree.tree_map(
        lambda value: tuple(value) if _is_named(value) else value,
        pytree.tree_unflatten(range(tree.num_leaves), tree),
        is_leaf=_is_named,
    )


def _is_named(value: Any) -> bool:
    """Say whether a value is a tuple as `torch.max` or `torch.topk` returns."""
    import torch

    return isinstance(value, tuple(torch.return_types.all_return_types))
