"""One artifact, one Consumer: the predicted Verdict, from bytes and tables alone.

A prediction is not an observation. It says what the tables know: the Version that the bytes
require, the floor of their bytecode format, dialects outside StableHLO, ops and forms that were
removed, who opens the container, and Advisories. A compatible prediction is valid up to Stage
`decode`, in words: the Consumer reads it. An incompatible one names the Stage at which the Consumer
is expected to fail, however late that is. Unknowns that it depends on are listed with it.

Advisories name a Feature as `kind:name` (`op:vhlo.tan_v1`, `type:i4`, `dialect:sdy`,
`location:file_line_col_range`, `attribute:mesh_v1`), or in the words of a form that
`portable.prediction.forms` finds. Where that cannot be told from the bytes it is not known. Those
about a Release as a producer do not concern it as a consumer.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from portable.features import FeatureKind
from portable.features.rules import rules
from portable.prediction.mode import Mode
from portable.prediction.subject import subjects
from portable.prediction.tables import PRODUCER
from portable.releases import (
    Effect,
    Release,
    Specifier,
    advisories_for,
    bytecode_format,
    find_release,
    normalize_name,
    window,
)
from portable.releases.refusal import dialect_readers, late_forms, refusals
from portable.verdict import Basis, Diagnostic, NotKnown, Outcome, Severity, Stage, Verdict
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from portable.containers.container import Opener
    from portable.prediction.subject import Judged, Subject
    from portable.releases import Advisory

__all__ = ["EFFECTS", "doubt", "opening", "predict", "predict_all"]


# Which dialects a Release reads, and which bytecode, stands in tables of their own.
_JUDGED_APART = frozenset({FeatureKind.DIALECT, FeatureKind.FORMAT})


@dataclass(frozen=True, slots=True)
class _Finding:
    outcome: Outcome
    stage: Stage
    reason: str
    advised: bool = False


# Which framework opens containers for a consumer, in a release of the consumer's own number.
_OPENED_BY = dict.fromkeys(("jaxlib", "jax-cuda12-pjrt", "jax-cuda13-pjrt"), "jax")


def opening(opener: Opener, release: Release) -> tuple[bool | None, str]:
    """Say whether a Release opens a container.

    Args:
        opener: Which Releases open it.
        release: The Consumer.

    Returns:
        Whether it does, None where that is not known, and one line that says why.
    """
    framework, opened = normalize_name(opener.framework), " or ".join(opener.readers)
    reason = f"a {opener.form} is opened by {opened or 'no Release that was tried'}"
    if _OPENED_BY.get(release.distribution, release.distribution) != framework:
        return None if opener.alone else True, reason
    if opener.opens and Specifier.parse(opener.opens).contains(release.version):
        return True, reason
    if opener.refuses and Specifier.parse(opener.refuses).contains(release.version):
        return False, reason
    return None, f"{reason}; others were not tried"


def _rank(finding: _Finding) -> tuple[bool, Stage, bool, Stage]:
    """Order findings: of what is read, an Advisory knows better than a rule."""
    inside = finding.stage is not Stage.OPEN
    return (inside, max(finding.stage, Stage.DECODE), not finding.advised, finding.stage)


_REACHED = Stage.DECODE
"""The Stage of a prediction in which nothing is found."""


def predict(what: Judged, release: Release | str) -> Verdict:
    """Predict what becomes of an artifact, or of all in a container, on one Release.

    Args:
        what: A path or bytes, an Artifact, an Inspection, or what `examine` read.
        release: The Consumer, as a Release or `jaxlib 0.4.33`.

    Returns:
        A predicted Verdict; of several artifacts the worst one's.

    Raises:
        UnknownDistribution: The Release is not in the table.
        UnknownRelease: The same.
        NotAnArtifact: It is something else.
        MalformedArtifact: Its bytes do not make sense.
        MalformedContainer: Those of a container do not.
        NoArtifact: A container holds none.
        FileError: The path cannot be read.
    """
    consumer = find_release(release) if isinstance(release, str) else release
    return _worst(subjects(what), consumer)


def _worst(subjects_: Mapping[str, Subject], consumer: Release) -> Verdict:
    found = [_predict(subject, consumer) for subject in subjects_.values()]
    if len(found) == 1:
        return found[0]
    gravest = min(found, key=_gravity)
    everything = dict.fromkeys(unknown for verdict in found for unknown in verdict.not_known)
    return replace(gravest, not_known=tuple(everything))


def _gravity(verdict: Verdict) -> tuple[bool, bool, Stage]:
    return (verdict.compatible, verdict.outcome is Outcome.NOT_KNOWN, verdict.stage)


def _predict(subject: Subject, consumer: Release) -> Verdict:
    notes = [f"{consumer} stands in your own table: {consumer.evidence}"] if consumer.own else []
    findings: list[_Finding] = []
    unknown: list[NotKnown] = []
    for one in (
        *_opened(subject, consumer),
        *_nesting(subject),
        *_below_minimum(subject, consumer),
        *_required(subject, consumer),
        *_format(subject, consumer),
        *_dialects(subject, consumer, notes),
        *_refused(subject, consumer),
        *_advised(subject, consumer),
        *_called(subject, consumer),
    ):
        if isinstance(one, NotKnown):
            unknown.append(one)
        else:
            findings.append(one)
    early = min((one.stage for one in unknown if one.stage <= _REACHED), default=None)
    if findings:
        gravest = min(findings, key=_rank)
    elif early is not None:
        reason = next(one.what for one in unknown if one.stage is early)
        gravest = _Finding(Outcome.NOT_KNOWN, early, reason)
    else:
        _promise(subject, consumer, notes)
        reason = f"needs {subject.required or 'nothing newer'}, has {consumer.has}"
        gravest = _Finding(Outcome.COMPATIBLE, _REACHED, reason)
    others = [finding.reason for finding in findings if finding is not gravest]
    return Verdict(
        consumer=str(consumer),
        outcome=gravest.outcome,
        stage=gravest.stage,
        basis=Basis.PREDICTED,
        reason=gravest.reason,
        diagnostics=(
            *(Diagnostic(Severity.ERROR, text) for text in others),
            *(Diagnostic(Severity.NOTE, text) for text in notes),
        ),
        not_known=tuple(unknown),
    )


def predict_all(
    what: Judged,
    releases: Iterable[Release],
    mode: Mode | str = Mode.FULL_TRANSITIVE,
) -> tuple[Verdict, ...]:
    """Predict what becomes of an artifact on a set of Releases.

    Args:
        what: As for `predict`.
        releases: The set.
        mode: Which of them count, see `portable.prediction.mode`.

    Returns:
        One Verdict for each Release that counts, in the order of the set.
    """
    found, chosen = subjects(what), tuple(releases)
    written = [one.claimed or one.required for one in found.values()]
    if (newest := max((one for one in written if one), default=None)) is not None:
        chosen = Mode(mode).select(chosen, newest)
    return tuple(_worst(found, release) for release in chosen)


def _refuses(stage: Stage, reason: str) -> _Finding:
    return _Finding(Outcome.INCOMPATIBLE, stage, reason)


def _opened(subject: Subject, release: Release) -> Iterator[_Finding | NotKnown]:
    if subject.opener is not None:
        opens, why = opening(subject.opener, release)
        if opens is None:
            yield NotKnown(Stage.OPEN, why)
        elif not opens:
            yield _refuses(Stage.OPEN, why)


def _nesting(subject: Subject) -> Iterator[_Finding]:
    if subject.too_deep:
        yield _refuses(Stage.DECODE, subject.too_deep)


def _called(subject: Subject, release: Release) -> Iterator[NotKnown]:
    if not subject.custom_calls:
        return
    told = {advisory.feature for advisory in advisories_for(release)}
    for name in sorted(subject.custom_calls):
        if f"custom_call:{name}" not in told:
            yield NotKnown(Stage.COMPILE, f"custom call {name!r}")


def _below_minimum(subject: Subject, release: Release) -> Iterator[_Finding]:
    if subject.claimed and release.minimum and subject.claimed < release.minimum.target:
        yield _refuses(
            Stage.WINDOW, f"written for {subject.claimed}, reads from {release.minimum} on"
        )


def _required(subject: Subject, release: Release) -> Iterator[_Finding | NotKnown]:
    for feature in subject.features:
        if feature.kind in _JUDGED_APART:
            continue
        if release.current < feature.version:
            what = f"{feature.kind} {feature.name} needs {feature.version}"
            yield _refuses(Stage.WINDOW, f"{what}, has {release.has}")
    explained = max((one.version for one in subject.features), default=None)
    required = subject.required
    if required and (explained is None or required > explained) and release.current < required:
        yield _refuses(Stage.WINDOW, f"needs {required}, has {release.has}")
    for name in subject.unknown:
        what = f"{name}, which the tables do not know"
        if subject.claimed and release.target < subject.claimed.target:
            written = f"and was written for {subject.claimed}; has {release.has}"
            yield _refuses(Stage.WINDOW, f"has {what}, {written}")
        else:
            yield NotKnown(Stage.DECODE, what)


def _format(subject: Subject, release: Release) -> Iterator[_Finding]:
    since = rules().formats.get(subject.format)
    if since is None:
        yield _refuses(Stage.DECODE, f"bytecode format {subject.format} is newer than any known")
    elif release.target < _parsed(since):
        yield _refuses(
            Stage.DECODE,
            f"bytecode format {subject.format} is read from {since} on, has {release.has}",
        )


_parsed = functools.cache(Version.parse)


def _dialects(subject: Subject, release: Release, notes: list[str]) -> Iterator[_Finding]:
    for name in sorted(subject.foreign):
        readers = [one for one in dialect_readers() if one.name == name]
        known = next((one for one in readers if one.applies_to(release)), None)
        if known is None:
            yield _refuses(
                Stage.DECODE,
                f"dialect {name} is not StableHLO, and this Release is not known to read it",
            )
        elif known.form:
            notes.append(f"dialect {name} is read {known.form}")


def _refused(subject: Subject, release: Release) -> Iterator[_Finding | NotKnown]:
    for form in subject.removed:
        if release.current > form.last:
            yield _refuses(
                Stage.DECODE, f"{form.name} is refused from {form.refused} on: {form.reason}"
            )
    for op, name, text in _doubtful(release.current):
        occurs = subject.forms.get(name) if op in subject.present else False
        if occurs is None:
            yield NotKnown(Stage.DECODE, f"whether it has a {name}, which is refused {text}")
        elif occurs:
            yield _refuses(Stage.DECODE, f"{name} is refused {text}")


@functools.cache
def _doubtful(current: Version) -> list[tuple[str, str, str]]:
    """Return what readers of a Version refuse: `op:NAME`, form, and since when and why."""
    return [
        (f"op:{row.op}", row.form, f"from {row.since} on: {row.reason}")
        for row in refusals()
        if current > row.last
    ] + [
        (f"op:{row.op}", row.form, f"before {row.since}: {row.reason}")
        for row in late_forms()
        if current < row.since
    ]


EFFECTS = {
    Effect.REFUSES: Outcome.INCOMPATIBLE,
    Effect.WRONG_RESULT: Outcome.WRONG_RESULT,
    Effect.CRASHES: Outcome.CRASHED,
}


def doubt(advisory: Advisory) -> NotKnown:
    """Return what a Verdict lists where an Advisory may apply."""
    what = f"{advisory.id} ({advisory.effect}): {advisory.feature}"
    return NotKnown(advisory.stage, what)


def _advised(subject: Subject, release: Release) -> Iterator[_Finding | NotKnown]:
    for advisory in advisories_for(release):
        present = _present(advisory.feature, subject)
        if present is None:
            yield doubt(advisory)
        elif present:
            reason = f"{advisory.id}: {advisory.reason or advisory.feature}"
            yield _Finding(EFFECTS[advisory.effect], advisory.stage, reason, advised=True)


def _present(feature: str, subject: Subject) -> bool | None:
    """Return whether a Feature occurs; None when the bytes that are looked at do not show it."""
    if feature in subject.forms:
        return subject.forms[feature]
    if feature.endswith(PRODUCER):
        return False
    kind, colon, _ = feature.partition(":")
    return feature in subject.present if colon and kind in subject.kinds else None


def _promise(subject: Subject, release: Release, notes: list[str]) -> None:
    if subject.claimed and (text := _unpromised(subject.claimed.target, release.current)):
        notes.append(text)


@functools.cache
def _unpromised(claimed: Version, current: Version) -> str:
    """Say that a Release reads what upstream no longer promises that it does."""
    if bytecode_format(claimed) is None or bytecode_format(current) is None:
        return ""
    written, read = window(claimed), window(current)
    promised = window(claimed, on=read.since)
    if promised.readable:
        return ""
    return (
        f"upstream does not promise it: {claimed} of {written.since} is promised to readers "
        f"built up to {written.readable_until}, this one is of {read.since}"
    )
