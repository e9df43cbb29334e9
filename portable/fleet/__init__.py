"""Fleets: the artifacts of buckets, when they stop being readable, and how to prevent it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.fleet.audit import Audit, audit
from portable.fleet.places import PlaceError
from portable.fleet.plan import Expiring, Outlook, Plan, Transition, calendar, plan
from portable.fleet.queries import InvalidQuery, ask, query_names, query_text
from portable.fleet.stores import Politeness
from portable.fleet.subjects import FleetError
from portable.system.lazy import lazy

if TYPE_CHECKING:
    from portable.fleet.repinning import CopyOutcome as CopyOutcome
    from portable.fleet.repinning import FleetCopy as FleetCopy
    from portable.fleet.repinning import repin_all as repin_all

__all__ = [
    "Audit",
    "CopyOutcome",
    "Expiring",
    "FleetCopy",
    "FleetError",
    "InvalidQuery",
    "Outlook",
    "PlaceError",
    "Plan",
    "Politeness",
    "Transition",
    "ask",
    "audit",
    "calendar",
    "plan",
    "query_names",
    "query_text",
    "repin_all",
]

if not TYPE_CHECKING:  # or every misspelt name would be an object
    # Audits and plans pin nothing, and what pins takes as long to import as all the others.
    _PINS = dict.fromkeys(("CopyOutcome", "FleetCopy", "repin_all"), f"{__name__}.repinning")
    __getattr__, __dir__ = lazy(__name__, _PINS)
