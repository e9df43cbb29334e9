"""What a project requires of its artifacts: consumer sets, rules and waivers, and the gate."""

from __future__ import annotations

from portable.policy.document import (
    Attested,
    ContradictoryPolicy,
    Depth,
    ExpiredWaiver,
    LocationRule,
    Policy,
    PolicyNotFound,
    Rule,
    Rules,
    Waiver,
    find_policy,
    load_policy,
    parse_policy,
)
from portable.policy.gate import Checked, Finding, GateResult, NothingToGate, Recorded, gate
from portable.policy.keys import PolicyError

__all__ = [
    "Attested",
    "Checked",
    "ContradictoryPolicy",
    "Depth",
    "ExpiredWaiver",
    "Finding",
    "GateResult",
    "LocationRule",
    "NothingToGate",
    "Policy",
    "PolicyError",
    "PolicyNotFound",
    "Recorded",
    "Rule",
    "Rules",
    "Waiver",
    "find_policy",
    "gate",
    "load_policy",
    "parse_policy",
]
