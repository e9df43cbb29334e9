"""PyTorch's losses that do not hold all scores at once, as if they held them: compilers split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable.exporters.frameworks import ExportFailed

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["alignment_loss", "loss_ops"]


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


def alignment_loss(
    scores: Any,
    targets: Any,
    lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """Return what `torch.nn.functional.ctc_loss` does, of which PyTorch traces nothing.

    Args:
        scores: Log probabilities `[steps, batch, classes]`, or without the batch.
        targets: Classes `[batch, most]`, or those of all one after the other.
        lengths: How many steps of each count.
        target_lengths: How many targets each has; numbers where targets are in one row.
        blank: The class between targets.
        reduction: `mean`, by the lengths of targets, `sum` or `none`.
        zero_infinity: Whether what cannot be aligned costs nothing.

    Raises:
        ExportFailed: The targets are in one row, and tensors say where each ends.
    """
    import torch

    single = scores.dim() == 2
    scores = scores.unsqueeze(1) if single else scores
    targets = _padded(targets, target_lengths, scores.shape[1])
    lengths, sizes = (_counts(one, scores) for one in (lengths, target_lengths))
    steps, _, classes = scores.shape
    labels = targets.new_full((scores.shape[1], 2 * targets.shape[1] + 1), blank)
    labels[:, 1::2] = targets.clamp(0, classes - 1)  # beyond its length a row may hold anything
    # A blank between two targets may be left out where they differ.
    leaps = labels[:, 2:] != labels[:, :-2]
    leaps = torch.nn.functional.pad(leaps & (labels[:, 2:] != blank), (2, 0))
    emitted = scores.gather(2, labels.expand(steps, -1, -1))
    places = torch.arange(labels.shape[1])
    paths = torch.where(places < 2, emitted[0], -torch.inf)
    for step in range(1, steps):
        one, two = (
            torch.nn.functional.pad(paths, (by, 0), value=-torch.inf)[:, : paths.shape[1]]
            for by in (1, 2)
        )
        arrived = torch.stack([paths, one, torch.where(leaps, two, -torch.inf)])
        paths = torch.where((step < lengths)[:, None], arrived.logsumexp(0) + emitted[step], paths)
    last = 2 * sizes[:, None]
    ended = (places == last) | (places == last - 1)
    costs = -torch.where(ended, paths, -torch.inf).logsumexp(1)
    costs = torch.where(torch.isinf(costs), 0, costs) if zero_infinity else costs
    if reduction == "mean":
        return (costs / sizes.clamp(min=1)).mean()
    costs = costs[0] if single else costs
    return costs.sum() if reduction == "sum" else costs


def _padded(targets: Any, sizes: Any, batch: int) -> Any:
    """Return the targets in rows of one length, as integers of 64 bits."""
    import torch

    targets = targets.to(torch.int64)
    if targets.dim() == 2:
        return targets
    if batch == 1:
        return targets.reshape(1, -1)
    if isinstance(sizes, torch.Tensor):
        raise ExportFailed(
            "targets of ctc_loss are in one row, and a tensor says where each ends",
            hint="pass targets [batch, most], or lengths as numbers",
        )
    rows = targets.split(list(sizes))
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


def _counts(lengths: Any, scores: Any) -> Any:
    import torch

    given = lengths if isinstance(lengths, torch.Tensor) else torch.tensor(lengths)
    return given.reshape(-1).to(torch.int64).expand(scores.shape[1])


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
