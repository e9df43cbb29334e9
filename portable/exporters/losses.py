"""PyTorch's losses that do not hold all scores at once, as if they held them: compilers split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["loss_ops"]


def loss_ops() -> dict[Any, Callable[..., Any]]:
    """Return what `ExportedProgram.run_decompositions` takes.

    Returns:
        The op -> the function that does the same; none in a PyTorch that lacks them.
    """
    import torch

    table: dict[str, Callable[..., Any]] = {
        "_linear_cross_entropy_batch_chunked": _with_derivatives,
        "_linear_cross_entropy_batch_chunked_no_reduction": _of_each,
    }
    ops = torch.ops.torch_nn
    return {getattr(ops, name).default: how for name, how in table.items() if hasattr(ops, name)}


def _with_derivatives(
    x: Any,
    matrix: Any,
    target: Any,
    bias: Any,
    weight: Any,
    reduction: str,
    ignored: int,
    *rest: Any,
) -> tuple[Any, ...]:
    """Return the loss, and its derivatives by `x`, `matrix` and `bias` where they are wanted."""
    import torch

    wide, wanted = rest[3], rest[-3:]  # after the smoothing, which PyTorch takes no other than 0
    scores = _scores(x, matrix, bias, wide)
    scale = _scale(weight, scores)
    kept = target != ignored
    hot = target[:, None] == torch.arange(scale.shape[0])
    shares = hot * scale * kept[:, None]
    loss = -(shares * scores.log_softmax(1)).sum()
    slope = scores.softmax(1) * shares.sum(1, keepdim=True) - shares
    if reduction == "mean":
        loss, slope = loss / shares.sum(), slope / shares.sum()
    made = slope @ matrix.to(wide), slope.mT @ x.to(wide), slope.sum(0)
    empty = x.new_zeros((0, 0)), x.new_zeros((0, 0)), x.new_zeros((0,))
    chosen = [one if want else none for one, want, none in zip(made, wanted, empty, strict=True)]
    return tuple(one.to(x.dtype) for one in (loss, *chosen))


def _of_each(
    x: Any, matrix: Any, target: Any, bias: Any, weight: Any, ignored: int, *rest: Any
) -> Any:
    """Return the loss of each row."""
    import torch

    scores = _scores(x, matrix, bias, rest[2])
    scale = _scale(weight, scores)
    kept = target != ignored
    place = torch.where(kept, target, 0)
    found = scores.log_softmax(1).gather(1, place[:, None])[:, 0]
    return torch.where(kept, -found * scale[place], 0.0).to(x.dtype)


def _scores(x: Any, matrix: Any, bias: Any, wide: Any) -> Any:
    made = x.to(wide) @ matrix.to(wide).mT
    return made if bias is None else made + bias.to(wide)


def _scale(weight: Any, scores: Any) -> Any:
    return scores.new_ones(scores.shape[1:]) if weight is None else weight.to(scores.dtype)
