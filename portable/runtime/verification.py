"""Whether two artifacts compute the same, and where they begin to differ.

Bit equality is required of one Executor before and after a Version change; a tolerance is for
two Executors, or for programs that are meant to differ.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from portable.artifact import Artifact
from portable.bytecode import read
from portable.errors import PortableError
from portable.features import analyze
from portable.features.rewritten import rewritten
from portable.pinning import program as programs
from portable.prediction import replaced
from portable.runtime.executors import (
    BITS,
    ExecutionFailed,
    Tolerance,
    compare,
    compare_all,
    find_executor,
    random_inputs,
    signature,
)
from portable.system import children
from portable.system.arguments import demand_type
from portable.verdict import Basis, Outcome, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.artifact import ArtifactLike
    from portable.bindings import ReturnedValue
    from portable.features.rewritten import Rewritten
    from portable.runtime.executors import Comparison, Executor
    from portable.runtime.executors.tensors import Array

__all__ = ["NothingCompared", "Trial", "Verification", "locate", "verify"]

SEEDS = (0, 1, 2)
# Preparing a program for `locate`: parsing and printing, no compilation.
_LOCATE_LIMIT_S = 300.0


class NothingCompared(PortableError):
    """There are neither inputs nor seeds, so nothing would be compared."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of one set of inputs.

    Args:
        inputs: Which: `seed 0`, or `the inputs given`.
        comparisons: One for each output.
    """

    inputs: str
    comparisons: tuple[Comparison, ...]

    @property
    def same(self) -> bool:
        """Whether every output is the same."""
        return all(comparison.same for comparison in self.comparisons)


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether two artifacts compute the same.

    Args:
        verdict: Observed, at Stage `execute`.
        trials: The comparisons, one for each set of inputs; empty if none was possible.
        located: The first op whose value differs, if it was found.
        rewrites: If they differ, the rewrites between them that are not exact.
        accepting: The tolerance that the rewrites state, if every difference is within it.
    """

    verdict: Verdict
    trials: tuple[Trial, ...] = ()
    located: str = ""
    rewrites: tuple[Rewritten, ...] = ()
    accepting: Tolerance | None = None

    def __repr__(self) -> str:
        said = f"{self.verdict.consumer}: {self.verdict.says}"
        return f"<Verification {said}, {len(self.trials)} trials>"

    @property
    def explained(self) -> str:
        """The explanation of a difference, and how to accept it; empty if none is known."""
        if self.same or not self.rewrites:
            return ""
        names = "; ".join(f"{one.name}: {one.does}, {one.bound}" for one in self.rewrites)
        if self.accepting is not None:
            options = f"--ulps {self.accepting.ulps}"
            if self.accepting.absolute:
                options += f" --atol {self.accepting.absolute:g}"
            return f"within what rewriting allows ({names}): accept it with {options}"
        return f"more than rewriting one op allows ({names}); later ops may enlarge it"

    @property
    def same(self) -> bool:
        """Whether they compute the same, for all inputs that were tried."""
        return self.verdict.compatible

    def record(self) -> dict[str, object]:
        """Return the verification as plain data for JSON."""
        return {
            "same": self.same,
            "verdict": self.verdict.record(),
            "located": self.located or None,
            "rewrites": [rewrite.record() for rewrite in self.rewrites],
            "explained": self.explained or None,
            "trials": [
                {"inputs": trial.inputs, "outputs": [c.record() for c in trial.comparisons]}
                for trial in self.trials
            ],
        }


def verify(
    expected: ArtifactLike,
    actual: ArtifactLike,
    *,
    executor: str | Executor = "pjrt",
    reference: str | Executor | None = None,
    inputs: Sequence[Array] | None = None,
    seeds: Sequence[int] = SEEDS,
    specials: bool = False,
    tolerance: Tolerance = BITS,
) -> Verification:
    """Execute two artifacts on the same inputs and compare the results.

    Args:
        expected: The artifact with the right results, for example that before pinning: an
            artifact, its bytes or its path.
        actual: The artifact to check, given in the same ways.
        executor: The name of an Executor, or an open one.
        reference: The Executor for `expected`, if another one: the interpreter, or another
            Release; by default `executor`.
        inputs: The inputs; by default random ones from `seeds`.
        seeds: Each gives one set of random inputs.
        specials: Put NaN, infinities and signed zeros among the random floats.
        tolerance: What counts as the same; by default equal bits.

    Returns:
        The Verification. If the results differ and both programs have the same ops, it names the
        first op whose value differs.

    Raises:
        ExecutionFailed: `expected` cannot be executed. If `actual` cannot, that is a Verdict.
        InputMismatch: The inputs do not match the arguments of `expected`.
        ExecutorMissing: The Executor is not installed.
        NothingCompared: There are neither inputs nor seeds.
        NotAnArtifact: `expected` or `actual` is not an artifact.
        FileError: A path cannot be read.
    """
    expected, actual = Artifact.of(expected), Artifact.of(actual)
    demand_type("tolerance", tolerance, Tolerance)
    if inputs is None and not seeds:
        raise NothingCompared("no inputs to compare on", hint="give inputs, or at least one seed")
    with ExitStack() as stack:
        if isinstance(executor, str):
            executor = stack.enter_context(find_executor(executor))
        if isinstance(reference, str):
            reference = stack.enter_context(find_executor(reference))
        reference = reference or executor
        before, after = signature(expected), signature(actual)
        if before != after:
            return _different(executor, "the signatures of main differ")
        sets = (
            {"the inputs given": list(inputs)}
            if inputs is not None
            else {f"seed {seed}": random_inputs(before, seed, specials=specials) for seed in seeds}
        )
        against = f", against {reference.name}" if reference is not executor else ""
        first = reference.compile(expected)
        wanted = {name: first.run(given) for name, given in sets.items()}
        try:
            second = executor.compile(actual)
            found = {name: second.run(given) for name, given in sets.items()}
        except ExecutionFailed as failure:
            return Verification(failure.verdict)
        trials = tuple(
            Trial(name, compare_all(wanted[name], found[name], tolerance)) for name in sets
        )
        for trial in trials:
            if not trial.same:
                reason = "; ".join(str(c) for c in trial.comparisons if not c.same)
                where = locate(
                    expected, actual, sets[trial.inputs], executor, tolerance, reference=reference
                )
                said = f"{trial.inputs}{against}: {reason}"
                verdict = _verdict(executor, Outcome.WRONG_RESULT, said)
                rewrites = _rewrites(expected, actual)
                near = _accepting(rewrites, [(wanted[name], found[name]) for name in sets])
                return Verification(verdict, trials, where, rewrites, near)
        agreed = f"the same outputs for {', '.join(sets)}{against}"
        return Verification(_verdict(executor, Outcome.COMPATIBLE, agreed), trials)


def locate(
    expected: ArtifactLike,
    actual: ArtifactLike,
    inputs: Sequence[Array],
    executor: Executor,
    tolerance: Tolerance = BITS,
    *,
    reference: Executor | None = None,
) -> str:
    """Find the first op whose value differs: both programs return all their values.

    What `main` calls is inlined first. Of an op with regions the values in them are not seen:
    the first op in them that is written otherwise is named.

    Args:
        expected: The one program.
        actual: The other.
        inputs: Inputs for which they differ.
        executor: An open Executor.
        tolerance: What counts as the same.
        reference: The Executor for `expected`, if another one.

    Returns:
        The op of `actual` with its location; empty when the programs have not the same ops, or
        agree when every value is returned, or cannot be prepared.
    """
    expected, actual = Artifact.of(expected), Artifact.of(actual)
    try:
        one, other = (
            children.call(_with_all_values, artifact.data, timeout=_LOCATE_LIMIT_S)
            for artifact in (expected, actual)
        )
        (before, wrote), (after, writes) = one, other
        if signature(before) != signature(after):
            return ""
        first = (reference or executor).compile(before).run(inputs)
        values = (first, executor.compile(after).run(inputs))
        pairs = zip(*values, wrote, writes, strict=True)
        return next(
            (_told(was, now) for a, b, was, now in pairs if not compare(a, b, tolerance).same), ""
        )
    except PortableError:
        # Where it is, is a help; that they differ is what counts, and is known.
        return ""


def _rewrites(expected: Artifact, actual: Artifact) -> tuple[Rewritten, ...]:
    """Return what was rewritten, inexactly, so that readers of the other read and compile it."""
    if actual.version is None:
        return ()
    done = replaced(expected, actual)
    found = rewritten(analyze(read(expected.data)), actual.version, done=done)
    return tuple(one for one in found if not one.exact)


def _accepting(
    rewrites: Sequence[Rewritten], pairs: Sequence[tuple[Sequence[Array], Sequence[Array]]]
) -> Tolerance | None:
    """Return the tolerance that rewrites state, if all outputs are the same within it."""
    stated = [one.near for one in rewrites if one.near is not None]
    wide = [array.dtype for array in pairs[0][0] if array.dtype.kind == "c"]
    near = Tolerance(
        max((one.complex_ulps if wide else one.ulps for one in stated), default=0),
        absolute=max((one.epsilons for one in stated), default=0)
        * max((float(np.finfo(dtype).eps) for dtype in wide), default=0.0),
    )
    same = all(c.same for wanted, found in pairs for c in compare_all(wanted, found, near))
    return near if stated and same else None


def _told(was: ReturnedValue, now: ReturnedValue) -> str:
    """Name an op, and the first op in its regions that is not written as it was."""
    pairs = zip(was.inner, now.inner, strict=False)
    inside = next((b.name for a, b in pairs if a.form != b.form), "")
    return f"{now.name}, in it {inside}" if inside else now.name


def _with_all_values(data: bytes) -> tuple[Artifact, list[ReturnedValue]]:
    """Return an artifact whose `main` returns every value, and what computes it; in a child."""
    library, module = programs.load(data)
    values = library.return_all_values(module)
    written = library.serialize(module, library.current.target, mixed=True)
    return Artifact.from_bytes(written), values


def _different(
    executor: Executor, reason: str, trials: tuple[Trial, ...] = (), located: str = ""
) -> Verification:
    return Verification(_verdict(executor, Outcome.WRONG_RESULT, reason), trials, located)


def _verdict(executor: Executor, outcome: Outcome, reason: str) -> Verdict:
    return Verdict(executor.name, outcome, Stage.EXECUTE, Basis.OBSERVED, reason)
