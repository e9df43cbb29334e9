"""How PyTorch nests what a program takes and returns: as JSON, as names, as nothing special."""

from __future__ import annotations

from typing import Any

from portable.exporters.naming import dotted

__all__ = ["flat", "names", "written"]

# `torch.utils._pytree.TreeSpec`; the framework is imported where it is used.
_Tree = Any


def written(tree: _Tree) -> str | None:
    """Return a tree as PyTorch writes it to JSON.

    Args:
        tree: A tree. The tuples with names that `torch.max` or `torch.topk` return, which PyTorch
            cannot write, are taken as plain tuples.

    Returns:
        The JSON; None when the tree has classes that PyTorch cannot write.
    """
    from torch.utils import _pytree as pytree  # noqa: PLC0415 - a framework

    try:
        text: str = pytree.treespec_dumps(pytree.tree_structure(_with_named_as(tuple, tree)))
    except NotImplementedError:  # a class that was registered without a name for this
        return None
    return text


def names(tree: _Tree) -> list[str]:
    """Return where each leaf of a tree stands.

    Args:
        tree: A tree.

    Returns:
        For example `0`, `0.logits`, `values`; `output` for one without a tree, and numbers where
        a class does not name its parts.
    """
    from torch.utils import _pytree as pytree  # noqa: PLC0415 - a framework

    try:
        leaves, _ = pytree.tree_flatten_with_path(_with_named_as(_by_name, tree))
    except ValueError:  # a class that was registered without names of its parts
        return [str(number) for number in range(tree.num_leaves)]
    return [dotted(path) or "output" for path, _ in sorted(leaves, key=lambda leaf: leaf[1])]


def flat(tree: _Tree) -> _Tree:
    """Return a list with as many leaves as a tree."""
    from torch.utils import _pytree as pytree  # noqa: PLC0415 - a framework

    return pytree.tree_structure(list(range(tree.num_leaves)))


def _with_named_as(make: Any, tree: _Tree) -> Any:
    """Return the numbers of the leaves, nested as a tree but for PyTorch's tuples with names."""
    import torch  # noqa: PLC0415 - a framework
    from torch.utils import _pytree as pytree  # noqa: PLC0415 - as above

    named = tuple(torch.return_types.all_return_types)
    return pytree.tree_map(
        lambda value: make(value) if isinstance(value, named) else value,
        pytree.tree_unflatten(range(tree.num_leaves), tree),
        is_leaf=lambda value: isinstance(value, named),
    )


def _by_name(value: Any) -> dict[str, Any]:
    return dict(zip(type(value).__match_args__, value, strict=True))
