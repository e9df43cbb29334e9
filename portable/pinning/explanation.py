"""Blockers between a program and a target, and a workaround for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.bindings import find
from portable.features.bridges import bridges
from portable.pinning import pipeline as pin
from portable.pinning.program import apart
from portable.pinning.rewrites import REWRITES, DoesNotApply, NothingToDo
from portable.releases import Target, resolve_target
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from portable.features import Caveat, Feature
    from portable.pinning.program import Program

__all__ = ["Explanation", "RewritePlan", "explain"]


@dataclass(frozen=True, slots=True)
class RewritePlan:
    """Rewrites that take the program to a Version; that they do was tried.

    Args:
        target: The Version that is reached.
        allow: The rewrites that have to be allowed, by name.
    """

    target: Version
    allow: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether every rewrite gives equal bits."""
        return all(bridges().rewrites[name].exact for name in self.allow)


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one program can reach one target.

    Args:
        target: The Version in question.
        minimum: The lowest Version that can express the program without rewriting; None if unknown.
        pinned: The lowest Version that `pin` reaches by default; None if unknown.
        blockers: The Features that need more than `target`, the most demanding first; each says
            in `workaround` how to avoid it.
        caveats: What the tables cannot judge.
        reachable: Whether `pin`, with its expander and location policy, reaches the target.
        plans: Where the rewrites lead that may be allowed, the target itself or the lowest Version
            above it; equal bits first.
        refusals: Why other rewrites that would help are impossible.
    """

    target: Version
    minimum: Version | None
    pinned: Version | None
    blockers: tuple[Feature, ...]
    caveats: tuple[Caveat, ...]
    reachable: bool
    plans: tuple[RewritePlan, ...] = ()
    refusals: tuple[str, ...] = ()

    def __repr__(self) -> str:
        reaches = (
            "reachable" if self.reachable else f"not reachable, pinned at {self.pinned or 'none'}"
        )
        return f"<Explanation {self.target}: {reaches}, {len(self.blockers)} blockers>"


@apart
def explain(
    program: Program,
    target: str | Version | Target | Sequence[str],
    *,
    allow_dialects: tuple[str, ...] = (),
) -> Explanation:
    """Explain which Features prevent a target, and how to reach it.

    Args:
        program: As for `portable.serialize`.
        target: A Version, a Target, or anything `resolve_target` takes; of several the lowest.
        allow_dialects: As for `portable.serialize`.

    Returns:
        The explanation. Whether the target can be reached was tried, not predicted.

    Raises:
        PortableError: The program cannot be read.
    """
    if not isinstance(target, Version | Target):
        library, requests = find(), (target,) if isinstance(target, str) else target
        target = resolve_target(*requests, current=library.current, minimum=library.minimum)
    wanted = target.target if isinstance(target, Version) else target.version
    analysis = pin.minimum(program, allow_dialects=allow_dialects).analysis
    blockers = analysis.minimum.above(wanted)
    search = _PlanSearch(program, wanted, allow_dialects)
    reached = search.reached(wanted)
    reachable = reached == wanted
    if not reachable:
        search.rewrites(blockers)
    return Explanation(
        wanted,
        analysis.minimum.version,
        analysis.pinned.version if reachable else reached,
        blockers,
        analysis.caveats,
        reachable,
        tuple(search.plans),
        tuple(dict.fromkeys(search.refusals)),
    )


class _PlanSearch:
    """Tries what brings one program how far."""

    def __init__(self, program: Program, target: Version, dialects: tuple[str, ...]) -> None:
        self._program = program
        self._target = target
        self._dialects = dialects
        self.plans: list[RewritePlan] = []
        self.refusals: list[str] = []

    def reached(self, target: Version, allow: frozenset[str] = frozenset()) -> Version | None:
        """Try to pin.

        Returns:
            The Version that is reached: `target`, or the lowest that would do instead; None when
            a rewrite cannot be done.
        """
        try:
            pin.serialize(self._program, target, allow=allow, allow_dialects=self._dialects)
        except pin.NotExpressible as error:
            return error.minimum
        except NothingToDo:
            raise
        except DoesNotApply as refusal:
            self.refusals.append(str(refusal))
            return None
        return target

    def rewrites(self, blockers: Iterable[Feature]) -> None:
        """Try the rewrites that the blockers name: those that are exact, then all."""
        known = bridges()
        named = frozenset(
            name
            for feature in blockers
            if feature.name in known.features
            for name in known.features[feature.name].rewrites
        )
        exact = frozenset(name for name in named if known.rewrites[name].exact)
        for names in (exact,) if exact == named else (exact, named):
            plan = self._plan(names, self._target) if names else None
            if plan is not None and plan not in self.plans:
                self.plans.append(plan)

    def _plan(self, names: frozenset[str], target: Version) -> RewritePlan | None:
        """Return how far these rewrites lead, without those that are not needed for it."""
        try:
            reached = self.reached(target, names)
        except NothingToDo as idle:
            needed = names - idle.names
            return self._plan(needed, target) if needed else None
        if reached == target:
            return RewritePlan(target, tuple(name for name in REWRITES if name in names))
        return self._plan(names, reached) if reached is not None and reached > target else None
