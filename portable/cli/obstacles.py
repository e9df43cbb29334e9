"""What is known to be in the way of the consumers that an artifact has just been written for."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from portable.prediction import predict_all
from portable.releases import named_consumers, spans
from portable.verdict import Stage

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from portable.verdict import Verdict

__all__ = ["alike", "obstacles", "show_obstacles"]


def obstacles(chosen: argparse.Namespace, written: str | bytes) -> tuple[Verdict, ...]:
    """Return what is predicted of the consumers that read an artifact and get no further.

    It is written for a Version, that consumers read; whether they compile it, and compute the same,
    does not depend on the Version alone.

    Args:
        chosen: Has the consumers, as `--for` takes them; none where a Version was given.
        written: The artifact, or the path of the container.

    Returns:
        The Verdicts of those of which an obstacle is known, in the order of the Releases.
    """
    if not chosen.consumers:
        return ()
    verdicts = predict_all(written, named_consumers(*chosen.consumers).releases)
    return tuple(one for one in verdicts if one.holds(Stage.DECODE) is False)


def show_obstacles(found: Sequence[Verdict], show: Callable[[str], object]) -> None:
    """Tell them in one line for each reason."""
    for names, says, basis, reason in alike(found):
        show(f"  {', '.join(names)}: {says} ({basis}): {reason}")


def alike(verdicts: Iterable[Verdict]) -> Iterator[tuple[Sequence[str], str, str, str]]:
    """Put neighbours together of which the same is said.

    Yields:
        The consumers, as few spans as there are, what the Verdicts say, their basis and reason.
    """
    same = itertools.groupby(verdicts, lambda one: (one.says, str(one.basis), one.reason))
    for said, each in same:
        yield spans(one.consumer for one in each), *said
