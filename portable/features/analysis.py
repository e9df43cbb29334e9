"""From an artifact to its required Version and its minimum target."""

from __future__ import annotations

import functools
from heapq import nsmallest
from typing import TYPE_CHECKING

from portable.bytecode.checking import check_entries
from portable.bytecode.entries import ATTRIBUTES, TYPES
from portable.bytecode.layouts import VHLO
from portable.bytecode.nesting import excess
from portable.bytecode.text import location_text
from portable.bytecode.vhlo import current, minimum
from portable.features.bridges import OTHER_DIALECTS, SHARDY, bridges
from portable.features.conditions import TYPED
from portable.features.judge import Judge, Need
from portable.features.model import (
    Analysis,
    Caveat,
    Feature,
    FeatureKind,
    Needs,
    RemovedForm,
    Strictness,
)
from portable.features.rules import rules
from portable.features.verifier import violation
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from portable.bytecode.content import Bytecode
    from portable.bytecode.operations import OpSignature
    from portable.bytecode.scan import Place, Scan

__all__ = ["analyze"]

_EXAMPLES = 3
_NAMED = 10


def analyze(bytecode: Bytecode, *, strictness: Strictness = Strictness.READABLE) -> Analysis:
    """Find what an artifact needs, and how low its program could be pinned.

    Args:
        bytecode: The artifact.
        strictness: Whose judgement counts.

    Returns:
        The required Version and the minimum target, each with what forces it, and everything
        that could not be judged.

    Raises:
        MalformedArtifact: Something in the artifact does not make sense.
    """
    return _Analyst(bytecode, strictness).analysis()


def _asks_operand_types(bytecode: Bytecode) -> list[int]:
    """Return the names of operations whose operand types some rule requires, by number."""
    asking = _asking_of(bytecode.pool.type_names())
    names = enumerate(bytecode.names)
    return [at for at, name in names if name.dialect == VHLO and name.name in asking]


class _Tally:
    """How many operations have each need, and examples of their op signatures."""

    __slots__ = ("counts", "signatures")

    def __init__(self) -> None:
        self.counts: dict[Need, int] = {}
        self.signatures: dict[Need, list[OpSignature]] = {}

    def add(self, needs: Iterable[Need], signature: OpSignature, count: int) -> None:
        for need in needs:
            self.counts[need] = self.counts.get(need, 0) + count
            examples = self.signatures.setdefault(need, [])
            if len(examples) < _EXAMPLES:
                examples.append(signature)

    def arguments(self, needs: Iterable[Need]) -> None:
        """Add what arguments of blocks need, unless operations need it."""
        for need in needs:
            self.counts.setdefault(need, 1)
            self.signatures.setdefault(need, [])


_version = functools.cache(Version.parse)


@functools.cache
def _asking() -> dict[str, set[str]]:
    """Return the ops whose operand types rules require, by how the types begin that matter."""
    found: dict[str, set[str]] = {}
    for op, constraints in rules().constraints.items():
        for when in (when for constraint in constraints for when in constraint.when):
            if when.test in TYPED:
                found.setdefault(when.arguments[0] if when.arguments else "", set()).add(op)
    return found


@functools.lru_cache(maxsize=64)
def _asking_of(types: frozenset[str]) -> frozenset[str]:
    """Return the ops whose operand types rules require where these types occur."""
    found: set[str] = set()
    for prefix, ops in _asking().items():
        if not prefix or any(name.startswith(prefix) for name in types):
            found |= ops
    return frozenset(found)


class _Analyst:
    """Works out the analysis of one artifact."""

    def __init__(self, bytecode: Bytecode, strictness: Strictness) -> None:
        check_entries(bytecode.pool)
        self._bytecode = bytecode
        self._readable = strictness is Strictness.READABLE
        self._judge = Judge(bytecode, readable=self._readable)
        self._scan: Scan = bytecode.scan(_asks_operand_types(bytecode))
        self._required = _Tally()
        self._minimum = _Tally()
        self._located: dict[OpSignature, list[Place]] = {}
        self._places: dict[int, str] = {}
        self._made: dict[tuple[Need, ...], tuple[Sequence[OpSignature], Feature | None]] = {}

    def analysis(self) -> Analysis:
        """Judge everything and put it together."""
        for signature, count in self._scan.signatures.items():
            judgement = self._judge.judge(signature, count)
            if judgement.required:
                self._required.add(judgement.required, signature, count)
            if judgement.minimum:
                self._minimum.add(judgement.minimum, signature, count)
        # No op has them as results: a type may be that of a block's arguments alone.
        for argument in self._scan.arguments:
            needs = self._judge.needed(TYPES, argument)
            self._required.arguments(needs)
            self._minimum.arguments(needs)
        self._locate()
        locations = self._locations()
        required = self._features(self._required) + self._types() + locations + self._format()
        return Analysis(
            required=self._needs(required, targets=False),
            minimum=self._needs(self._features(self._minimum) + locations, targets=True),
            caveats=self._caveats(),
            unknown=tuple(sorted(self._judge.unknown)),
            removed=self._removed(),
            unreadable=excess(self._bytecode)
            or self._scan.invalid
            or violation(self._bytecode, self._scan.signatures),
        )

    def _locate(self) -> None:
        tallies = (self._required, self._minimum)
        wanted = {
            signature
            for tally in tallies
            for signatures in tally.signatures.values()
            for signature in signatures
        }
        self._located = self._scan.locations(wanted | set(self._removed_signatures()))

    def _features(self, tally: _Tally) -> list[Feature]:
        merged: dict[tuple[str, str], list[Need]] = {}
        for need in tally.counts:
            merged.setdefault((need.kind, need.name), []).append(need)
        found = []
        for needs in merged.values():
            # Most of what is needed to read is needed to write, by the same operations.
            signatures = tally.signatures[needs[0]]
            for need in needs[1:]:
                signatures = signatures + tally.signatures[need]
            count = sum([tally.counts[need] for need in needs])
            key = tuple(needs)
            known, feature = self._made.get(key, ((), None))
            if feature is None or known != signatures or feature.count != count:
                reason = "; ".join(dict.fromkeys([need.reason for need in needs]))
                feature = self._feature(needs[0], count, self._examples(signatures), reason)
                self._made[key] = signatures, feature
            found.append(feature)
        return found

    def _examples(self, signatures: Iterable[OpSignature]) -> tuple[str, ...]:
        """Return where the first operations of some op signatures are, with their names."""
        names = self._bytecode.names
        places = (
            (*place, signature.name)
            for signature in signatures
            for place in self._located.get(signature, ())
        )
        return tuple(
            [
                f"{self._place(location)} ({names[name]})"
                for _, location, name in nsmallest(_EXAMPLES, places)
            ]
        )

    def _place(self, location: int) -> str:
        """Return where an operation comes from; what it needs, and could need, ask for it."""
        text = self._places.get(location)
        if text is None:
            self._bytecode.check_attribute(location)
            text = self._places[location] = location_text(self._bytecode.pool, location)
        return text

    def _locations(self) -> list[Feature]:
        """Return the Features of locations; serializers do not look at locations."""
        pool = self._bytecode.pool
        features = []
        for kind, (since, reason) in rules().locations.items() if self._readable else ():
            found = pool.attributes_named(kind)
            if found:
                examples = tuple(location_text(pool, index) for index in found[:_EXAMPLES])
                need = Need(str(FeatureKind.LOCATION), kind, since, reason)
                features.append(self._feature(need, len(found), examples, reason))
        return features

    def _types(self) -> list[Feature]:
        """Return what types need that no operation's result or attribute has."""
        seen = {(need.kind, need.name) for need in self._required.counts}
        features = {}
        for index in range(len(self._bytecode.pool.types)) if self._readable else ():
            for need in self._judge.needed(TYPES, index):
                if (need.kind, need.name) not in seen:
                    features[need.kind, need.name] = self._feature(need, 1, (), need.reason)
        return list(features.values())

    def _format(self) -> list[Feature]:
        number = self._bytecode.header.format
        since = rules().formats[number]
        if since == minimum():
            return []
        reason = f"older readers do not know version {number} of the bytecode format"
        need = Need(str(FeatureKind.FORMAT), f"bytecode_format_{number}", since, reason)
        return [self._feature(need, 1, (), reason)]

    def _needs(self, features: list[Feature], *, targets: bool) -> Needs:
        """Return Features with the Version that they force, or the target."""
        ordered = sorted(features, key=lambda f: (str(f.kind), f.name))
        ordered.sort(key=lambda f: f.version, reverse=True)
        version: Version | None = ordered[0].version if ordered else Version.parse(minimum())
        if version is not None and targets:
            version = version.first_target
        if self._judge.unknown:
            # What is not known is at most as old as the Version that the artifact claims.
            claimed = self._bytecode.header.version
            version = None if claimed is None or version is None else max(version, claimed.target)
        return Needs(version, tuple(ordered))

    def _caveats(self) -> tuple[Caveat, ...]:
        caveats = [Caveat(text, count) for text, count in self._judge.caveats.items()]
        unregistered = [str(name) for name in self._bytecode.names if not name.registered]
        if unregistered:
            text = "operations that their producer did not know: " + ", ".join(
                unregistered[:_NAMED]
            )
            caveats.append(Caveat(text, len(unregistered)))
        claimed = self._bytecode.header.version
        if claimed is not None and claimed.target > Version.parse(current()):
            text = f"the artifact claims {claimed}, newer than {current()}, the newest known here"
            caveats.append(Caveat(text, 1))
        return tuple(caveats)

    def _removed_signatures(self) -> dict[OpSignature, str]:
        """Return the op signatures that newer readers refuse, and the form each has."""
        names, signatures = self._bytecode.names, self._scan.signatures
        removed = {at: n.name for at, n in enumerate(names) if n.name in rules().removed}
        return {
            signature: removed[signature.name]
            for signature in signatures
            if signature.name in removed
        }

    def _removed(self) -> tuple[RemovedForm, ...]:
        forms: dict[str, list[OpSignature]] = {}
        for signature, form in self._removed_signatures().items():
            forms.setdefault(form, []).append(signature)
        found = []
        for form, signatures in sorted(forms.items()):
            removal = rules().removed[form]
            found.append(
                RemovedForm(
                    form,
                    Version.parse(removal.last),
                    Version.parse(removal.refused),
                    sum(self._scan.signatures[signature] for signature in signatures),
                    self._examples(signatures),
                    removal.reason,
                )
            )
        return tuple(found)

    def _feature(self, need: Need, count: int, locations: tuple[str, ...], reason: str) -> Feature:
        foreign = need.kind == "dialect" and need.name != SHARDY
        bridge = bridges().features.get(OTHER_DIALECTS if foreign else need.name)
        return Feature(
            FeatureKind(need.kind),
            need.name,
            _version(need.since),
            count,
            locations,
            reason,
            bridge.workaround if bridge else "",
            bridge is not None
            and bridge.by == "expander"
            and not any(map(self._is_limited, bridge.rewrites)),
        )

    def _is_limited(self, rewrite: str) -> bool:
        """Say whether the program has what upstream's expander leaves to a rewrite."""
        if rewrite == _MESH_NAMES:
            return self._names_a_mesh
        return rewrite == _BATCHES and self._is_dynamic

    @functools.cached_property
    def _names_a_mesh(self) -> bool:
        """Whether a mesh is given by its name, which upstream's expander does not look up."""
        pool = self._bytecode.pool
        for index in range(len(pool.attributes)):
            if pool.outline(ATTRIBUTES, index).name == "replica_group_mesh_axes_v1":
                mesh = pool.attribute(index).fields.get("mesh")
                if isinstance(mesh, int) and pool.attribute(mesh).name != "mesh_v1":
                    return True
        return False

    @functools.cached_property
    def _is_dynamic(self) -> bool:
        """Whether any shape is dynamic, with which upstream's expander may not know the batch."""
        pool = self._bytecode.pool
        shapes = (pool.type(index).fields.get("shape") for index in range(len(pool.types)))
        return any(isinstance(shape, list) and any(size < 0 for size in shape) for shape in shapes)


# The rewrites that do what upstream's expander does not do of a Feature.
_MESH_NAMES = "mesh-names-to-meshes"
_BATCHES = "batching-dims-to-iota"
