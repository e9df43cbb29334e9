"""Advisories that name the Case which shows them: how it ends at the edges of their Releases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from compat_tests.helpers.sealed import CASES
from portable.corpus.execution import Ending
from portable.releases import runnable_releases
from portable.releases.advisory import Effect, advisories
from portable.runtime.executors import EXECUTORS as KINDS
from portable.verdict import Stage
from tools.execute_corpus import Run, execute

if TYPE_CHECKING:
    from portable.releases.advisory import Advisory

__all__ = ["edges", "ending", "endings", "shown"]

EXECUTORS = {
    "jaxlib": "pjrt",
    "iree-base-compiler": "iree",
    "tensorflow": "tensorflow",
    "torch-xla": "torch_xla",
}
_ENDINGS = {
    Effect.REFUSES: Ending.REFUSED,
    Effect.WRONG_RESULT: Ending.WRONG,
    Effect.CRASHES: Ending.CRASHED,
}


def shown(distribution: str) -> list[Advisory]:
    """Return the Advisories of a distribution that only executing shows, each by its Cases."""
    return [
        advisory
        for advisory in advisories()
        if advisory.distribution == distribution
        and advisory.stage >= Stage.COMPILE
        and _cases(advisory)
    ]


def edges(advisory: Advisory) -> tuple[list[str], list[str]]:
    """Return the first and last Release that it speaks of, and the neighbours it does not.

    Only Releases that can be made to run: others were read statically.
    """
    rows = runnable_releases(advisory.distribution)
    concerned = [advisory.applies_to(row) for row in rows]
    first, last = concerned.index(True), len(rows) - 1 - concerned[::-1].index(True)
    inside = [str(rows[index]) for index in dict.fromkeys((first, last))]
    outside = [str(rows[index]) for index in (first - 1, last + 1) if 0 <= index < len(rows)]
    return inside, outside


def ending(advisory: Advisory) -> tuple[Ending, Stage]:
    """Return how the Cases of an Advisory have to end, and where."""
    ahead = KINDS[EXECUTORS[advisory.distribution]].capabilities.ahead
    return _ENDINGS[advisory.effect], advisory.stage if ahead else Stage.EXECUTE


def endings(advisory: Advisory, release: str) -> set[tuple[Ending, Stage]]:
    """Execute the Cases of an Advisory on one Release; return how they ended, and where.

    Without those that it cannot be given: PyTorch had no unsigned integers for years.
    """
    run = Run(EXECUTORS[advisory.distribution], release)
    became = execute(run, [CASES[name] for name in _cases(advisory)])
    return {
        (one.ending, one.stage or Stage.EXECUTE)
        for one in became.values()
        if one.ending is not Ending.EXCLUDED
    }


def _cases(advisory: Advisory) -> list[str]:
    named = re.search(r"\bCases? (\w+)(?: and (\w+))?", advisory.reproducer)
    return [name for name in (named.groups() if named else ()) if name]
