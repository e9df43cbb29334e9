"""From a program to an artifact: the pipeline, its rewrites, and why a target is out of reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.system.lazy import lazy

if TYPE_CHECKING:
    from portable.pinning import locations as locations
    from portable.pinning import rewrites as rewrites
    from portable.pinning.explanation import Explanation as Explanation
    from portable.pinning.explanation import RewritePlan as RewritePlan
    from portable.pinning.explanation import explain as explain
    from portable.pinning.locations import Locations as Locations
    from portable.pinning.options import PinOptions as PinOptions
    from portable.pinning.pipeline import ForeignDialect as ForeignDialect
    from portable.pinning.pipeline import InvalidTarget as InvalidTarget
    from portable.pinning.pipeline import Minimum as Minimum
    from portable.pinning.pipeline import NotExpressible as NotExpressible
    from portable.pinning.pipeline import Pinned as Pinned
    from portable.pinning.pipeline import minimum as minimum
    from portable.pinning.pipeline import pin as pin
    from portable.pinning.pipeline import retarget as retarget
    from portable.pinning.pipeline import serialize as serialize
    from portable.pinning.program import InvalidProgram as InvalidProgram
    from portable.pinning.program import Program as Program
    from portable.pinning.program import deserialize as deserialize
    from portable.pinning.program import text as text
    from portable.pinning.repinning import NotOpened as NotOpened
    from portable.pinning.repinning import Repinned as Repinned
    from portable.pinning.repinning import pin_all as pin_all
    from portable.pinning.repinning import repin as repin
    from portable.pinning.specialization import specialize as specialize

_HOMES = {
    "Explanation": "portable.pinning.explanation",
    "ForeignDialect": "portable.pinning.pipeline",
    "InvalidProgram": "portable.pinning.program",
    "InvalidTarget": "portable.pinning.pipeline",
    "Locations": "portable.pinning.locations",
    "Minimum": "portable.pinning.pipeline",
    "NotExpressible": "portable.pinning.pipeline",
    "NotOpened": "portable.pinning.repinning",
    "PinOptions": "portable.pinning.options",
    "Pinned": "portable.pinning.pipeline",
    "Program": "portable.pinning.program",
    "Repinned": "portable.pinning.repinning",
    "RewritePlan": "portable.pinning.explanation",
    "deserialize": "portable.pinning.program",
    "explain": "portable.pinning.explanation",
    "locations": "portable.pinning.locations",
    "minimum": "portable.pinning.pipeline",
    "pin": "portable.pinning.pipeline",
    "pin_all": "portable.pinning.repinning",
    "repin": "portable.pinning.repinning",
    "retarget": "portable.pinning.pipeline",
    "rewrites": "portable.pinning.rewrites",
    "serialize": "portable.pinning.pipeline",
    "specialize": "portable.pinning.specialization",
    "text": "portable.pinning.program",
}

__all__ = list(_HOMES)

if not TYPE_CHECKING:  # or every misspelt name would be an object
    __getattr__, __dir__ = lazy(__name__, _HOMES)
