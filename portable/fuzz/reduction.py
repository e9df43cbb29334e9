"""The smallest program that a condition still holds of.

Kinds of edits (`portable.fuzz.edits`) are tried one after the other, many edits at a time and then
fewer, until none is left that the condition allows. What is native is done by a child process.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portable.errors import PortableError
from portable.fuzz import edits
from portable.fuzz.forms import split
from portable.fuzz.generation import Parameter
from portable.fuzz.inputs import inputs_for
from portable.runtime.executors.tensors import dtype_of
from portable.system import children
from portable.system.shares import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from portable.fuzz.edits import Edited
    from portable.pinning.program import Program
    from portable.runtime.executors.tensors import Array

__all__ = ["Candidate", "ConditionNeverHolds", "ConditionNotStable", "Reduced", "reduce"]

TRIALS = 3
_PATIENCE_S = 60.0


class ConditionNeverHolds(PortableError):
    """The condition does not hold of the program that is to be reduced."""


class ConditionNotStable(PortableError):
    """The condition holds of a program at one time and not at another."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A program that may be smaller.

    Args:
        text: The program, as MLIR.
        inputs: An array for each argument of `main`; None where none were given.
        ops: How many ops it has.
    """

    text: str
    inputs: tuple[Array, ...] | None
    ops: int


@dataclass(frozen=True, slots=True)
class Reduced:
    """The result of a reduction.

    Args:
        smallest: The smallest one that the condition holds of.
        ops: How many ops the program had before.
        tried: How many programs were tried.
    """

    smallest: Candidate
    ops: int
    tried: int


def reduce(
    program: Program,
    holds: Callable[[Candidate], bool],
    *,
    inputs: Sequence[Array] | None = None,
    bodies: bool = True,
    workers: int = 0,
    keep: Callable[[Candidate], None] = lambda _: None,
) -> Reduced:
    """Make a program smaller as long as a condition holds of it.

    Args:
        program: What to reduce.
        holds: The condition. It is called from several threads.
        inputs: What `main` takes; arguments that are added get arrays of their own.
        bodies: Whether the bodies of `reduce` and its like may change, which may change what they
            mean: not every body gives the same in any order.
        workers: How many programs to try at a time; by default as many as there are cores.
        keep: Called with each program that is smaller than all before, and of which it holds.

    Returns:
        The smallest program.

    Raises:
        ConditionNeverHolds: It does not hold of the program itself.
        ConditionNotStable: It holds of the program itself, or of the smallest, only sometimes.
        PortableError: The program cannot be read.
    """
    text: str = _apart(edits.opened, program)
    ops = _apart(edits.counts, text)["constants"]
    first = Candidate(text, None if inputs is None else tuple(inputs), ops)
    if not _held(holds, first):
        raise ConditionNeverHolds(
            "the condition does not hold of the program itself",
            hint="run the command on it; it holds when that exits with 0",
        )
    cores = workers or len(os.sched_getaffinity(0))
    search = _Reduction(first, holds, keep, bodies=bodies, workers=cores)
    search.run()
    _held(holds, search.best)
    return Reduced(search.best, ops, search.tried)


def _held(holds: Callable[[Candidate], bool], candidate: Candidate) -> bool:
    """Return whether the condition holds, always."""
    found = [holds(candidate) for _ in range(TRIALS)]
    if len(set(found)) > 1:
        raise ConditionNotStable(
            f"the condition held {found.count(True)} of {TRIALS} times of the same program",
            hint="repeat what is random inside the condition, so that it holds always or never",
        )
    return found[0]


def _apart(function: Callable[..., Any], *arguments: object, **keywords: Any) -> Any:
    return children.call(function, *arguments, timeout=_PATIENCE_S, **keywords)


def _inputs(before: tuple[Array, ...] | None, made: Edited) -> tuple[Array, ...] | None:
    """Return arrays for the arguments that are left, those that there were as far as they fit."""
    if before is None:
        return None
    pairs = zip(made.takes, made.kept, strict=True)
    return tuple(
        inputs_for([Parameter(kind)], f"{kind} {number}")[0]
        if one is None
        else _fitting(before[one], kind)
        for number, (kind, one) in enumerate(pairs)
    )


def _fitting(array: Array, kind: str) -> Array:
    """Return an array as one of a smaller or plainer type."""
    sizes, element = split(kind)
    dtype = dtype_of(element)
    if dtype is None or len(sizes) != array.ndim:
        return inputs_for([Parameter(kind)], kind)[0]
    part = array[tuple(slice(size) for size in sizes)]
    with np.errstate(all="ignore"):
        return part if part.dtype == dtype else part.astype(dtype)


class _Reduction:
    """A reduction under way.

    Args:
        best: The smallest program up to now.
        holds: The condition.
        keep: Told of each smaller one.
        bodies: Whether the bodies of `reduce` and its like may change.
        workers: How many to try at a time.
    """

    def __init__(
        self,
        best: Candidate,
        holds: Callable[[Candidate], bool],
        keep: Callable[[Candidate], None],
        *,
        bodies: bool,
        workers: int,
    ) -> None:
        self._bodies = bodies
        self.best = best
        self.tried = 0
        self._holds = holds
        self._keep = keep
        self._workers = workers
        self._seen: set[str] = {best.text}

    def run(self) -> None:
        """Try all kinds of edits until none helps."""
        with Threads(self._workers) as pool:
            before = ""
            while before != self.best.text:
                before = self.best.text
                for kind in edits.KINDS:
                    self._exhaust(kind, pool)

    def _exhaust(self, kind: str, pool: Threads) -> None:
        """Make all edits of one kind that the condition allows, from many at a time to one."""
        together = edits.KINDS[kind].together
        count = self._count(kind)
        size = count if together else 1
        while size:
            start = 0
            while start < count:
                parts = [
                    range(at, min(at + size, count))
                    for at in range(start, count, size)[: self._workers]
                ]
                found = list(pool.map(lambda part: self._tried(kind, part), parts))
                good = next((one for one in found if one is not None), None)
                if good is None:
                    start += size * len(parts)
                    continue
                # What was left alone stands before what comes next.
                start += size * found.index(good)
                self.best = good
                self._keep(good)
                count = self._count(kind)
            size = min(size, count) // 2

    def _count(self, kind: str) -> int:
        return int(_apart(edits.counts, self.best.text, bodies=self._bodies)[kind])

    def _tried(self, kind: str, numbers: Sequence[int]) -> Candidate | None:
        base = self.best
        made: Edited | None = _apart(
            edits.edited, base.text, kind, list(numbers), bodies=self._bodies
        )
        if made is None or made.text in self._seen:
            return None
        self._seen.add(made.text)
        candidate = Candidate(made.text, _inputs(base.inputs, made), made.ops)
        self.tried += 1
        return candidate if self._holds(candidate) else None
