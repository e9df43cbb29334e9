"""The rewrites by name: which ops they look for, and what they do to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from portable.errors import PortableError
from portable.features.bridges import bridges, since
from portable.pinning.rewrites import (
    accuracy,
    algorithms,
    batching,
    calls,
    collectives,
    composites,
    gspmd,
    promotions,
    quantized,
    rooted,
    shardings,
)
from portable.pinning.rewrites.channels import GROUPED
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from portable.pinning.rewrites.editor import Editor

__all__ = ["EXACT", "EXPANDED", "REWRITES", "Rewrite", "UnknownRewrite", "named"]

EXACT = "exact"
"""Stands for every rewrite that gives equal bits, as far as it is needed."""


class UnknownRewrite(PortableError):
    """There is no rewrite of this name."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A way around Features that the target lacks.

    Args:
        forms: The ops it looks for, each with the Feature that the target lacks if it has to be
            rewritten; none where no Version is what a reader lacks.
        applies_to: Whether such an op has the Feature.
        rewrite: Rewrites those that have, in place.
    """

    forms: Mapping[str, str]
    applies_to: Callable[[Editor, Any], bool]
    rewrite: Callable[[Editor, Sequence[Any]], None]

    def needed(self, target: Version) -> frozenset[str]:
        """Return the names of the ops whose Feature is newer than `target`."""
        return frozenset(
            name
            for name, form in self.forms.items()
            if not form or Version.parse(since()[form]) > target
        )


def _forms(names: Collection[str], form: str) -> dict[str, str]:
    """Give each op the Feature `form`, in which `{}` is the op's own name."""
    return {name: form.format(name.removeprefix("stablehlo.")) for name in names}


def _stablehlo(*names: str) -> frozenset[str]:
    return frozenset(f"stablehlo.{name}" for name in names)


# In the order in which they are applied: what replaces an op comes after what changes it.
REWRITES: dict[str, Rewrite] = {
    "async-to-sync": Rewrite(
        _forms(_stablehlo("async_start"), "{}_v1"), collectives.is_any, collectives.synchronous
    ),
    "composites-to-calls": Rewrite(
        _forms(_stablehlo("composite"), "{}_v2"), composites.is_newer, composites.calls
    ),
    "promotions-to-converts": Rewrite(
        _forms(promotions.OPS, "reduction_promotes"), promotions.promotes, promotions.converts
    ),
    "mesh-names-to-meshes": Rewrite(
        _forms(GROUPED, "replica_group_mesh_axes_v1"),
        collectives.has_mesh_name,
        collectives.meshes,
    ),
    "drop-sharding": Rewrite({"builtin.module": ""}, shardings.is_sharded, shardings.drop),
    "sdy-to-mhlo-sharding": Rewrite({"builtin.module": ""}, gspmd.has_shardy, gspmd.translate),
    "dynamic-roots-to-slices": Rewrite(
        _forms(_stablehlo("collective_broadcast"), "{}_v2"),
        rooted.has_dynamic_root,
        rooted.slices,
    ),
    "broadcasts-to-permutes": Rewrite(
        _forms(_stablehlo("collective_broadcast"), "{}_v1"),
        rooted.has_fixed_root,
        rooted.broadcasts,
    ),
    "reductions-to-all-reduces": Rewrite(
        _forms(_stablehlo("collective_reduce"), "{}_v1"), collectives.is_any, rooted.reductions
    ),
    "split-collectives": Rewrite(
        _forms(_stablehlo("all_gather", "all_reduce", "collective_broadcast"), "{}_v2"),
        collectives.is_variadic,
        collectives.split,
    ),
    "batching-dims-to-iota": Rewrite(
        _forms(_stablehlo("gather", "dynamic_gather", "scatter"), "{}_v2"),
        batching.has_batch,
        batching.indices,
    ),
    "quantized-to-arithmetic": Rewrite(
        {"builtin.module": ""}, quantized.is_quantized, quantized.arithmetic
    ),
    "mhlo-calls-to-ops": Rewrite({calls.CALL: ""}, calls.calls(calls.EQUAL), calls.lower),
    "mhlo-calls-to-approximations": Rewrite(
        {calls.CALL: ""}, calls.calls(calls.APPROXIMATED), calls.lower
    ),
    "drop-result-accuracy": Rewrite(_forms(accuracy.OPS, "{}_v2"), accuracy.asks, accuracy.drop),
    "drop-dot-algorithm": Rewrite(
        _forms(_stablehlo("dot_general"), "dot_algorithm_f8E4M3FN"),
        algorithms.is_too_new,
        algorithms.drop,
    ),
}


EXPANDED: dict[str, frozenset[str]] = {
    "tan_v1": _stablehlo("tan"),
    "gather_v2": _stablehlo("gather"),
    "scatter_v2": _stablehlo("scatter"),
    "replica_group_mesh_axes_v1": GROUPED,
}
"""The ops that upstream's expander may rewrite, by the Feature that the target lacks then."""


def named(names: Collection[str]) -> frozenset[str]:
    """Return the rewrites that are meant.

    Args:
        names: Names of rewrites, and `exact` for all that give equal bits and reach a Version.

    Returns:
        Their names.

    Raises:
        UnknownRewrite: There is none of that name.
    """
    unknown = sorted(set(names) - set(REWRITES) - {EXACT})
    if unknown:
        raise UnknownRewrite(
            f"unknown rewrite {', '.join(unknown)}",
            hint=f"valid names: {', '.join(REWRITES)}, and {EXACT} for all that give equal bits",
        )
    rewrites = bridges().rewrites.items()
    exact = {name for name, terms in rewrites if terms.exact and not terms.helps}
    return frozenset(set(names) - {EXACT} | (exact if EXACT in names else set()))
