"""Real Releases: environments that hold them, executors, observations, comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.system.lazy import lazy

if TYPE_CHECKING:
    from portable.runtime import environments as environments
    from portable.runtime import executors as executors
    from portable.runtime import measuring as measuring
    from portable.runtime import observation as observation
    from portable.runtime import verification as verification
    from portable.runtime.executors import run as run
    from portable.runtime.observation import observe as observe
    from portable.runtime.verification import NothingCompared as NothingCompared
    from portable.runtime.verification import Verification as Verification
    from portable.runtime.verification import verify as verify

_HOMES = {
    "NothingCompared": "portable.runtime.verification",
    "Verification": "portable.runtime.verification",
    "environments": "portable.runtime.environments",
    "executors": "portable.runtime.executors",
    "measuring": "portable.runtime.measuring",
    "observation": "portable.runtime.observation",
    "observe": "portable.runtime.observation",
    "run": "portable.runtime.executors",
    "verification": "portable.runtime.verification",
    "verify": "portable.runtime.verification",
}

__all__ = list(_HOMES)

if not TYPE_CHECKING:  # or every misspelt name would be an object
    __getattr__, __dir__ = lazy(__name__, _HOMES)
