"""Fleets: what there is in a bucket, what stops being readable and when, what to do about it."""

from __future__ import annotations

from portable.fleet.audit import Audit, audit
from portable.fleet.places import PlaceError
from portable.fleet.plan import Expiring, Outlook, Plan, Transition, calendar, plan
from portable.fleet.queries import InvalidQuery, ask, query_names, query_text
from portable.fleet.repinning import CopyOutcome, FleetCopy, repin_all
from portable.fleet.stores import Politeness
from portable.fleet.subjects import FleetError

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
