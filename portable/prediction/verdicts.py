"""One artifact, one Consumer: the predicted Verdict, from bytes and tables alone.

A prediction is not an observation. It says what the tables know: the Version that the bytes
require, the floor of their bytecode format, dialects outside StableHLO, ops and forms that were
removed, who opens the container, Advisories, and what each Release was seen to make of the op
signatures in it. A compatible prediction is valid up to the Stage that was requested, by default
`decode`: the Consumer reads it. An incompatible one names the Stage at which the Consumer is
expected to fail, however late that is. Unknowns that it depends on are listed with it.

Advisories name a Feature as `kind:name` (`op:vhlo.tan_v1`, `type:i4`, `dialect:sdy`,
`location:file_line_col_range`, `attribute:mesh_v1`), or in the words of a form that
`portable.prediction.forms` finds. Where that cannot be told from the bytes it is not known. Those
about a Release as a producer do not concern it as a consumer.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from packaging.version import Version as PackageVersion

from portable.escaping import shortened
from portable.features import FeatureKind
from portable.features.rules import rules
from portable.prediction.blame import blames
from portable.prediction.mode import Mode
from portable.prediction.signatures import CALL
from portable.prediction.subject import subjects
from portable.releases import (
    Release,
    Specifier,
    bytecode_format,
    find_release,
    normalize_name,
    window,
)
from portable.releases.advisory import (
    PRODUCER,
    Effect,
    advised_features,
    advisories_for,
    decided_for,
    unread_for,
    untried_for,
)
from portable.releases.assumption import assuming, assumption_about, find_assumptions
from portable.releases.capability import (
    COMMUNICATING,
    Ability,
    capabilities_of,
    computed_everywhere,
)
from portable.releases.refusal import dialect_readers, refusals
from portable.system.arguments import demand_type
from portable.verdict import Basis, Diagnostic, NotKnown, Outcome, Severity, Stage, Verdict
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from portable.containers.container import Opener
    from portable.features import RemovedForm
    from portable.prediction.subject import Judged, Subject
    from portable.releases.advisory import Advisory
    from portable.releases.refusal import Refusal

__all__ = ["EFFECTS", "combined", "doubt", "gravity", "opening", "predict", "predict_all"]


# Which dialects a Release reads, and which bytecode, stands in tables of their own.
_JUDGED_APART = frozenset({FeatureKind.DIALECT, FeatureKind.FORMAT})


class _Finding(NamedTuple):
    outcome: Outcome
    stage: Stage
    reason: str
    advised: bool = False


class _LeftOut(NamedTuple):
    """What does not count, and by which Assumption."""

    stage: Stage
    by: str
    what: str


# Which framework opens containers for a consumer, in a release of the consumer's own number.
_OPENED_BY = dict.fromkeys(("jaxlib", "jax-cuda12-pjrt", "jax-cuda13-pjrt"), "jax")


def opening(opener: Opener, release: Release) -> tuple[bool | None, str]:
    """Return whether a Release opens a container.

    Args:
        opener: Which Releases open it.
        release: The Consumer.

    Returns:
        Whether it does, None where that is not known, and one line that says why.
    """
    opened = " or ".join(opener.readers)
    reason = f"a {opener.form} is opened by {opened or 'no Release that was tried'}"
    if not _is_framework(opener, release):
        return None if opener.alone else True, reason
    if opener.opens and Specifier.parse(opener.opens).contains(release.version):
        return True, reason
    if opener.refuses and Specifier.parse(opener.refuses).contains(release.version):
        return False, reason
    return None, f"{reason}; others were not tried"


def _is_framework(opener: Opener, release: Release) -> bool:
    """Say whether what opens a container for a Release is what opens the container at all."""
    framework = _OPENED_BY.get(release.distribution, release.distribution)
    return framework == normalize_name(opener.framework)


def _elsewhere(opener: Opener, release: Release) -> Iterator[_Finding]:
    """Yield that a program was exported for other platforms than that of a Release."""
    platform = capabilities_of(release).platform
    if not opener.platforms or not platform or platform in opener.platforms:
        return
    if _is_framework(opener, release):
        text = f"was exported for {' and '.join(opener.platforms)}, and {release} is for {platform}"
        yield _refuses(Stage.COMPILE, f"{text}: export it for {platform} too")


def _rank(finding: _Finding) -> tuple[bool, Stage, bool, Stage]:
    """Order findings: of what is read, an Advisory knows better than a rule."""
    inside = finding.stage is not Stage.OPEN
    return (inside, max(finding.stage, Stage.DECODE), not finding.advised, finding.stage)


# How many op signatures are listed of which something is not known; of the rest, their number.
_LISTED = 20
# The same of dialects, of names that the tables do not know, and of what is not known of several
# artifacts; and how long a line is. There is a Verdict for each of hundreds of consumers.
_MOST, _LONGEST = 100, 2000


def predict(
    what: Judged,
    release: Release | str,
    *,
    stage: Stage | str = Stage.DECODE,
    assume: Iterable[str] = (),
) -> Verdict:
    """Predict the Verdict of one Release on an artifact, or on all artifacts of a container.

    Args:
        what: A path or bytes, an Artifact, an Inspection, or what `examine` read.
        release: The Consumer, as a Release or `jaxlib 0.4.33`.
        stage: How far to judge; obstacles that are known at later Stages count too.
        assume: What is assumed of the values that it is run on, as `no-nan`; see
            docs/explanation/verdicts.md.

    Returns:
        A predicted Verdict: the worst of several artifacts, the best of the Versions of a bundle
        (of equal ones the newest).

    Raises:
        UnknownDistribution: The Release is not in the table.
        UnknownRelease: The same.
        NotAnArtifact: It is something else.
        MalformedArtifact: Its bytes are invalid.
        MalformedContainer: A container is damaged.
        NoArtifact: A container has no artifact.
        FileError: The path cannot be read.
        ValueError: There is no such Stage or Assumption.
    """
    return predict_all(what, (release,), stage=stage, assume=assume)[0]


def _worst(found: Sequence[Verdict]) -> Verdict:
    if len(found) == 1:
        return found[0]
    gravest = min(found, key=gravity)
    everything = dict.fromkeys(unknown for verdict in found for unknown in verdict.not_known)
    return replace(gravest, not_known=tuple(_first_of_each_stage(everything)))


def _first_of_each_stage(unknown: Iterable[NotKnown]) -> Iterator[NotKnown]:
    """Yield as much of what is not known as is listed, and how much more there is at a Stage."""
    seen: Counter[Stage] = Counter()
    for one in unknown:
        seen[one.stage] += 1
        if seen[one.stage] <= _MOST:
            yield one
    for stage, count in seen.items():
        if count > _MOST:
            yield NotKnown(stage, f"{count - _MOST:,} more of the artifacts")


def gravity(verdict: Verdict) -> tuple[bool, bool, Stage]:
    """Order Verdicts of one Consumer, the worst first."""
    return (verdict.compatible, verdict.outcome is Outcome.NOT_KNOWN, verdict.stage)


def predict_all(
    what: Judged,
    releases: Iterable[Release | str],
    mode: Mode | str = Mode.FULL_TRANSITIVE,
    *,
    stage: Stage | str = Stage.DECODE,
    assume: Iterable[str] = (),
) -> tuple[Verdict, ...]:
    """Predict the Verdicts of a set of Releases on an artifact.

    Args:
        what: As for `predict`.
        releases: The set, each as for `predict`.
        mode: Which of them count, see `portable.prediction.mode`.
        stage: As for `predict`.
        assume: The same.

    Returns:
        One Verdict for each Release that counts, in the order of the set.

    Raises:
        PortableError: As `predict`.
        ValueError: There is no such mode, Stage or Assumption.
    """
    found, assumed = subjects(what), find_assumptions(assume)
    chosen = tuple(find_release(one) if isinstance(one, str) else one for one in releases)
    for one in chosen:
        demand_type("release", one, Release)
    written = [one.claimed or one.required for one in found.values()]
    if (newest := max((one for one in written if one), default=None)) is not None:
        chosen = Mode(mode).select(chosen, newest)
    distributions = {release.distribution: None for release in chosen}
    features = {one: None for name in distributions for one in advised_features(name)}
    upto = Stage.parse(stage) if isinstance(stage, str) else Stage(stage)
    facts = (_Facts.of(subject, features, assumed) for subject in found.values())
    each = [_verdicts(one, chosen, upto) for one in facts]
    members = [subject.member for subject in found.values()]
    if members == [""]:
        return each[0]
    return tuple(
        combined(zip(members, verdicts, strict=True)) for verdicts in zip(*each, strict=True)
    )


def combined(each: Iterable[tuple[str, Verdict]]) -> Verdict:
    """Combine the Verdicts of one Consumer on several artifacts.

    Args:
        each: The Version of a bundle that the artifact belongs to, or nothing, and its Verdict.

    Returns:
        The worst one, with what is not known of all. Of the Versions in a bundle that of the best,
        the first among equals; where all are refused that of the last, which needs least.
    """
    members: dict[str, list[Verdict]] = {}
    for member, verdict in each:
        members.setdefault(member, []).append(verdict)
    each_member = [_named(name, _worst(found)) for name, found in members.items()]
    best = max(each_member, key=gravity)
    return each_member[-1] if best.holds(Stage.OPEN) is False else best


def _named(member: str, verdict: Verdict) -> Verdict:
    reason = ": ".join(filter(None, (member, verdict.reason)))
    return replace(verdict, reason=_short(reason))


def _short(text: str) -> str:
    """Return a line, without its middle where names in it are very long."""
    return shortened(text, _LONGEST)


# Of 4,000 artifacts of the corpus 730 differ in what decides; of one producer's there are fewer.
@functools.lru_cache(maxsize=256)
def _verdicts(facts: _Facts, releases: tuple[Release, ...], stage: Stage) -> tuple[Verdict, ...]:
    return tuple(facts.verdict(release, stage) for release in releases)


class _Need(NamedTuple):
    """A Version that readers must have, and the last of the oldest that may read it too."""

    since: Version
    until: Version | None
    what: str

    def is_met(self, current: Version) -> bool:
        return current >= self.since or (self.until is not None and current <= self.until)


class _Facts(NamedTuple):
    """Everything about an artifact that a Verdict depends on; many artifacts have the same."""

    claimed: Version | None
    required: Version | None
    format: int
    opener: Opener | None
    unreadable: str
    needs: tuple[_Need, ...]
    unknown: tuple[str, ...]
    foreign: tuple[str, ...]
    removed: tuple[RemovedForm, ...]
    forms: tuple[tuple[Refusal, bool | None], ...]
    features: tuple[tuple[str, bool | None], ...]
    assumed: tuple[str, ...]  # of the same, what does not count by an Assumption
    ops: frozenset[str]  # whose results need not be the same, by an Assumption, as Features
    signatures: tuple[str, ...] | None
    unused: frozenset[str]
    dropped: tuple[str, ...]
    sheltered: frozenset[str]
    devices: int
    provided_devices: int | None

    @classmethod
    def of(cls, subject: Subject, features: Iterable[str], assume: Collection[str]) -> _Facts:
        """Look an artifact up in the tables.

        Args:
            subject: What is in it.
            features: What the Advisories that count are about.
            assume: The Assumptions.
        """
        occurring = {
            name: occurs for name in features if (occurs := _present(name, subject)) is not False
        }
        signatures = _unsettled(subject.signatures)
        # What certainly occurs does so whatever the values are.
        assumed = {
            name
            for name, occurs in occurring.items()
            if assume and occurs is None and assumption_about(name) in assume
        }
        return cls(
            subject.claimed,
            subject.required,
            subject.format,
            subject.opener,
            subject.unreadable,
            needs=tuple(_needs(subject)),
            unknown=tuple(subject.unknown),
            foreign=tuple(sorted(subject.foreign)),
            removed=tuple(subject.removed),
            forms=tuple(
                (row, occurs)
                for row in refusals(subject.present)
                if (occurs := subject.occurs(row.form)) is not False
            ),
            features=tuple(one for one in occurring.items() if one[0] not in assumed),
            assumed=tuple(sorted(assumed)),
            ops=frozenset(
                op for op in map(_op, signatures or ()) if assume and assumption_about(op) in assume
            ),
            signatures=signatures,
            unused=subject.unused,
            dropped=tuple(sorted(subject.dropped)),
            sheltered=subject.sheltered,
            devices=subject.devices,
            provided_devices=subject.provided_devices,
        )

    def verdict(self, consumer: Release, stage: Stage) -> Verdict:
        """Return the Verdict for one Consumer, up to a Stage."""
        # Whether an artifact is written back as it was is not predicted.
        reached = Stage.DECODE if stage <= Stage.ROUNDTRIP else stage
        own = f"{consumer} stands in your own table: {consumer.evidence}"
        notes = [own] if consumer.own else []
        findings: list[_Finding] = []
        unknown: list[NotKnown] = []
        left_out = [*self._left_out(consumer)]
        for one in self._found(consumer, reached, notes):
            if isinstance(one, NotKnown):
                unknown.append(one)
            else:
                findings.append(one)
        early = min((one.stage for one in unknown if one.stage <= reached), default=None)
        if findings:
            gravest = min(findings, key=_rank)
        elif early is not None:
            reason = next(one.what for one in unknown if one.stage is early)
            gravest = _Finding(Outcome.NOT_KNOWN, early, reason)
        else:
            if self.claimed:
                notes += _unpromised(self.claimed.target, consumer.current)
            old = [need.until for need in self.needs if consumer.current < need.since]
            needs = ", or at most ".join(map(str, [self.required or "nothing newer", *old]))
            names = {one.by for one in left_out if one.stage <= reached}
            reason = f"needs {needs}, {_has(consumer)}{assuming(names)}"
            gravest = _Finding(Outcome.COMPATIBLE, reached, reason)
        notes += [f"assumed {one.by}, so that {one.what}" for one in left_out]
        others = [finding.reason for finding in findings if finding is not gravest]
        return Verdict(
            consumer=str(consumer),
            outcome=gravest.outcome,
            stage=gravest.stage,
            basis=Basis.PREDICTED,
            reason=_short(gravest.reason),
            diagnostics=(
                *(Diagnostic(Severity.ERROR, _short(text)) for text in others),
                *(Diagnostic(Severity.NOTE, _short(text)) for text in notes),
            ),
            not_known=tuple(NotKnown(one.stage, _short(one.what)) for one in unknown),
        )

    def _left_out(self, release: Release) -> Iterator[_LeftOut]:
        for one in (*advisories_for(release, self.assumed), *untried_for(release, self.assumed)):
            what = f"{one.id} ({one.effect}) does not count: {one.feature}"
            yield _LeftOut(one.stage, assumption_about(one.feature), what)
        for signature in self._lowered(release) if self.ops else ():
            if self._may_differ(signature, capabilities_of(release).support(signature)):
                what = f"what {signature} gives need not be the same"
                yield _LeftOut(Stage.EXECUTE, assumption_about(_op(signature)), what)

    def _may_differ(self, signature: str, support: Ability) -> bool:
        return support is Ability.COMPILES and _op(signature) in self.ops

    def _found(
        self, release: Release, reached: Stage, notes: list[str]
    ) -> Iterator[_Finding | NotKnown]:
        if self.opener is not None:
            yield from _opened(self.opener, release)
            yield from _elsewhere(self.opener, release)
        yield from self._outside_window(release)
        yield from self._undecodable(release, notes)
        occurs = dict(self.features)
        advised = advisories_for(release, occurs)
        for advisory in advised:
            if occurs[advisory.feature] is None:
                yield doubt(advisory)
            else:
                reason = f"{advisory.id}: {advisory.reason or advisory.feature}"
                yield _Finding(EFFECTS[advisory.effect], advisory.stage, reason, advised=True)
        for advisory in unread_for(release, occurs):
            yield _untried(advisory, release)
        yield from self._compiled(release, reached, notes, advised)
        yield from self._spread(reached)

    def _outside_window(self, release: Release) -> Iterator[_Finding]:
        # Readers do not look at the claim: what needs more than that is not of that Version.
        claims = self.claimed is not None and (not self.required or self.required <= self.claimed)
        if claims and self.claimed and release.minimum and self.claimed < release.minimum.target:
            yield _refuses(
                Stage.WINDOW, f"written for {self.claimed}, reads from {release.minimum} on"
            )
        for need in self.needs:
            if not need.is_met(release.current):
                yield _refuses(Stage.WINDOW, f"{need.what}, {_has(release)}")

    def _undecodable(self, release: Release, notes: list[str]) -> Iterator[_Finding | NotKnown]:
        if self.unreadable:
            yield _refuses(Stage.DECODE, self.unreadable)
        for name in self.unknown[:_MOST]:
            yield self._not_known(name, release)
        if (more := len(self.unknown) - _MOST) > 0:
            yield self._not_known(f"{more:,} more names", release)
        yield from _format(self.format, release)
        for name in self.foreign[:_MOST]:
            yield from _dialect(name, release, notes)
        if (more := len(self.foreign) - _MOST) > 0:  # more than any Release reads
            yield _refuses(Stage.DECODE, f"{more:,} more dialects that are not StableHLO")
        for removed in self.removed:
            if release.current > removed.last:
                text = f"{removed.name} is refused from {removed.refused} on: {removed.reason}"
                yield _refuses(Stage.DECODE, text)
        for row, occurs in self.forms:
            if row.applies_to(release.current):
                yield _refused(row, occurs=occurs)

    def _not_known(self, name: str, release: Release) -> _Finding | NotKnown:
        what, claimed = f"{name}, which the tables do not know", self.claimed
        if claimed and release.target < claimed.target:
            text = f"has {what}, and was written for {claimed}; {_has(release)}"
            return _refuses(Stage.WINDOW, text)
        return NotKnown(Stage.DECODE, what)

    def _spread(self, reached: Stage) -> Iterator[_Finding | NotKnown]:
        """Yield what follows from the number of devices that the module is for."""
        if self.devices == 1:
            return
        if self.provided_devices is None and reached > Stage.DECODE:
            what = f"whether there are the {self.devices} devices that the module is for"
            yield NotKnown(Stage.COMPILE, what)
        elif self.provided_devices is not None and self.provided_devices < self.devices:
            text = f"is for {self.devices} devices, and there are {self.provided_devices}"
            yield _refuses(Stage.COMPILE, f"{text}: pin --allow drop-sharding writes it for one")

    def _compiled(
        self,
        release: Release,
        reached: Stage,
        notes: list[str],
        advisories: Sequence[Advisory],
    ) -> Iterator[_Finding | NotKnown]:
        """Yield what is known of op signatures, and what is not where it is to be judged."""
        known = capabilities_of(release)
        if reached > Stage.DECODE:
            if not known.source:
                yield NotKnown(Stage.COMPILE, "no program was executed on this Release")
            else:
                notes.append(f"ops that are not listed otherwise compute the same: {known.source}")
                if self.signatures is None:
                    yield NotKnown(Stage.COMPILE, "which ops it has: only the header was read")
                for one in untried_for(release, dict(self.features)):
                    if one.stage <= reached:
                        yield _untried(one, release)
        advised = {one.feature for one in advisories}
        # An op that is computed from constants may be folded away before it is refused.
        perhaps = {name for name, occurs in self.features if occurs is None}
        folded = any(
            one.feature in perhaps
            and one.feature.startswith(_FOLDED)
            and one.stage is Stage.COMPILE
            for one in advisories
        )
        doubts: list[NotKnown] = []
        for signature in self._lowered(release):
            support = known.support(signature)
            perhaps_not = (folded and _FOUR_BITS & {*signature.split()}) or (
                support is Ability.REFUSES
                and release.distribution in _SHELTERING
                and signature in self.sheltered
            )
            if support in _FAILING and not perhaps_not:
                outcome, stage, does = _FAILING[support]
                yield _Finding(
                    outcome, stage, blames(signature, f"{does}, {known.shown_by(signature)}")
                )
            elif (
                support is not Ability.COMPUTES
                and signature.replace(" ", ":", 1) not in advised
                and not self._may_differ(signature, support)
                and not (support is Ability.MIXED and signature in decided_for(release))
            ):
                doubts += _doubts(signature, support, reached if known.source else Stage.DECODE)
        yield from doubts[:_LISTED]
        if len(doubts) > _LISTED:
            yield NotKnown(Stage.COMPILE, f"{len(doubts) - _LISTED} more ops or custom calls")

    def _lowered(self, release: Release) -> Iterator[str]:
        """Yield the op signatures that a Release does not remove before it refuses them."""
        since = _REFUSING_FIRST.get(release.distribution)
        early = since is not None and PackageVersion(release.version) < since
        # What devices tell each other stays for a time, and what that takes with it.
        told = any(one.partition(" ")[0] in COMMUNICATING for one in self.unused)
        removed = {
            one
            for one in self.unused
            if since is None or (early and not told and _QUANTIZED in one.split())
        }
        yield from (one for one in self.signatures or () if one not in removed)
        if release.distribution in _KEEPING:
            yield from (one for one in self.dropped if one.partition(" ")[0] not in COMMUNICATING)


# What of the ops may be folded away, as Advisories put it, and its types.
_FOLDED, _FOUR_BITS = "i4 or ui4", frozenset({"i4", "ui4"})
# What computes constant expressions for its own host, and bodies by other code: some of the ops
# that it refuses elsewhere it compiles there, as ceil of f64 and conversions of integers to bf16.
_SHELTERING = frozenset({"iree-base-compiler"})
# What translates all ops before it removes those that nothing uses, but for what devices tell each
# other: 224 of 258 that torch_xla 2.5.1 refuses it refuses unused too.
_KEEPING = frozenset({"torch-xla"})
# What refuses some ops before it removes those that nothing uses, and since when quantized ones.
_REFUSING_FIRST = {"iree-base-compiler": PackageVersion("3.12")}
_QUANTIZED = "quant"
# What a failing op signature leads to, and in words.
_FAILING = {
    Ability.REFUSES: (Outcome.INCOMPATIBLE, Stage.COMPILE, "refused"),
    Ability.CRASHES: (Outcome.CRASHED, Stage.COMPILE, "crashed"),
    Ability.WRONG: (Outcome.WRONG_RESULT, Stage.EXECUTE, "computed something else"),
}


def _doubts(signature: str, support: Ability, reached: Stage) -> Iterator[NotKnown]:
    """Yield what is not known of an op signature; of one that is no custom call only if asked."""
    op, _, target = signature.partition(" ")
    stage = Stage.EXECUTE if support is Ability.COMPILES else Stage.COMPILE
    if op == CALL:
        yield NotKnown(stage, f"custom call {target!r}")
    elif stage <= reached:
        unless = _unless(_op(signature)) if support is Ability.COMPILES else ""
        yield NotKnown(stage, f"{signature} ({support.says}){unless}")


def _op(signature: str) -> str:
    """Return the op of a signature, as Advisories and Assumptions name Features."""
    return f"op:vhlo.{signature.partition(' ')[0]}_v1"


@functools.lru_cache(maxsize=64)
def _unsettled(signatures: frozenset[str] | None) -> tuple[str, ...] | None:
    """Return custom calls, and what not every Release is known to compute, sorted."""
    if signatures is None:
        return None
    calls = {one for one in signatures if one.startswith(f"{CALL} ")}
    return tuple(sorted(calls | {one for one in signatures if not computed_everywhere(one)}))


def _has(release: Release) -> str:
    """Say which Version a Release has, and how that is known where it was not measured."""
    return f"has {release.has}" + ("" if release.exact else f" ({release.confidence})")


def _refuses(stage: Stage, reason: str) -> _Finding:
    return _Finding(Outcome.INCOMPATIBLE, stage, reason)


def _opened(opener: Opener, release: Release) -> Iterator[_Finding | NotKnown]:
    opens, why = opening(opener, release)
    if opens is None:
        yield NotKnown(Stage.OPEN, why)
    elif not opens:
        yield _refuses(Stage.OPEN, why)


def _needs(subject: Subject) -> Iterator[_Need]:
    """Yield each Version that readers must have, and for what."""
    for feature in subject.features:
        if feature.kind not in _JUDGED_APART:
            what = f"{feature.kind} {feature.name} needs {feature.version}"
            yield _Need(feature.version, _until().get(feature.name), what)
    explained = max((one.version for one in subject.features), default=None)
    required = subject.required
    if required and (explained is None or required > explained):
        yield _Need(required, None, f"needs {required}")


@functools.cache
def _until() -> dict[str, Version]:
    """Return the Features that the oldest readers know too, and the last of these."""
    constraints = (one for rows in rules().constraints.values() for one in rows)
    return {one.name: Version.parse(one.until) for one in constraints if one.until}


# What takes a dialect out of a program.
_WITHOUT = {"sdy": "pin --allow drop-sharding"}


def _dialect(name: str, release: Release, notes: list[str]) -> Iterator[_Finding]:
    readers = [one for one in dialect_readers() if one.name == name]
    known = next((one for one in readers if one.applies_to(release)), None)
    if known is None:
        text = f"dialect {name} is not StableHLO, and this Release is not known to read it"
        without = _WITHOUT.get(name)
        yield _refuses(Stage.DECODE, f"{text}: {without} writes it without" if without else text)
    elif known.form:
        notes.append(f"dialect {name} is read {known.form}")


def _format(number: int, release: Release) -> Iterator[_Finding]:
    since = _format_since(number)
    if since is None:
        yield _refuses(Stage.DECODE, f"bytecode format {number} is newer than any known")
    elif release.target < since:
        text = f"bytecode format {number} is read from {since} on, {_has(release)}"
        yield _refuses(Stage.DECODE, text)


@functools.lru_cache(maxsize=64)
def _format_since(number: int) -> Version | None:
    since = rules().formats.get(number)
    return None if since is None else Version.parse(since)


def _refused(row: Refusal, *, occurs: bool | None) -> _Finding | NotKnown:
    """Return what it means for a reader that refuses a form that it occurs, or perhaps does."""
    text = f"is refused {row.when}: {row.reason}"
    if occurs:
        return _refuses(Stage.DECODE, f"{row.form} {text}")
    return NotKnown(Stage.DECODE, f"whether it has a {row.form}, which {text}")


EFFECTS = {
    Effect.REFUSES: Outcome.INCOMPATIBLE,
    Effect.WRONG_RESULT: Outcome.WRONG_RESULT,
    Effect.CRASHES: Outcome.CRASHED,
}


def doubt(advisory: Advisory) -> NotKnown:
    """Return what a Verdict lists where an Advisory may apply."""
    what = f"{advisory.id} ({advisory.effect}): {advisory.feature}"
    return NotKnown(advisory.stage, what + _unless(advisory.feature))


def _untried(advisory: Advisory, release: Release) -> NotKnown:
    """Return what a Verdict lists where only another Release with that compiler was tried."""
    name = f"{advisory.distribution} {advisory.specifier.text}"
    what = f"{advisory.feature}: not tried on {release.distribution}; {name}: {advisory.effect}"
    return NotKnown(advisory.stage, what + _unless(advisory.feature))


def _unless(feature: str) -> str:
    """Say by which Assumption Advisories about a Feature do not count."""
    name = assumption_about(feature)
    return f"; does not count if you assume {name}" if name else ""


def _present(feature: str, subject: Subject) -> bool | None:
    """Return whether a Feature occurs; None when the bytes that are looked at do not show it."""
    if feature in subject.searched:
        return subject.occurs(feature)
    if feature.endswith(PRODUCER):
        return False
    kind, colon, _ = feature.partition(":")
    return feature in subject.present if colon and kind in subject.kinds else None


@functools.lru_cache(maxsize=4096)
def _unpromised(claimed: Version, current: Version) -> list[str]:
    """Say that a Release reads what upstream no longer promises that it does."""
    if bytecode_format(claimed) is None or bytecode_format(current) is None:
        return []
    written, read = window(claimed), window(current)
    promised = window(claimed, on=read.since)
    if promised.readable:
        return []
    text = (
        f"upstream does not promise it: {claimed} of {written.since} is promised to readers "
        f"built up to {written.readable_until}, this one is of {read.since}"
    )
    return [text]
