"""One artifact, one Consumer: the predicted Verdict, from bytes and tables alone.

A prediction is not an observation. It says what the tables know: the Version that the bytes
require, the floor of their bytecode format, dialects outside StableHLO, ops and forms that were
removed, and Advisories. A compatible prediction has reached Stage `window`; an incompatible one
names the Stage at which the Consumer is expected to fail.

Advisories name a Feature as `kind:name` (`op:vhlo.tan_v1`, `type:i4`, `dialect:sdy`,
`location:file_line_col_range`, `attribute:mesh_v1`), or in the words of a form that
`portable.prediction.forms` finds. In any other words it cannot be found in the bytes and becomes a
warning. Those about a Release as a producer do not concern it as a consumer.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.features import FeatureKind
from portable.features.rules import rules
from portable.prediction.mode import Mode
from portable.prediction.subject import Subject, examine
from portable.releases import (
    Confidence,
    Effect,
    Release,
    advisories_for,
    bytecode_format,
    find_release,
    window,
)
from portable.releases.refusal import dialect_readers, early_features, late_forms, refusals
from portable.verdict import Basis, Diagnostic, Outcome, Severity, Stage, Verdict
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from portable.features import Feature
    from portable.inspection import Inspection

__all__ = ["predict", "predict_all"]


# Which dialects a Release reads, and which bytecode, stands in tables of their own.
_JUDGED_APART = frozenset({FeatureKind.DIALECT, FeatureKind.FORMAT})


@dataclass(frozen=True, slots=True)
class _Finding:
    outcome: Outcome
    stage: Stage
    reason: str
    advised: bool = False


def _rank(finding: _Finding) -> tuple[Stage, bool, Stage]:
    """Order findings: before anything is executed, an Advisory knows better than a rule."""
    return (max(finding.stage, Stage.DECODE), not finding.advised, finding.stage)


def predict(what: Artifact | Inspection | Subject, release: Release | str) -> Verdict:
    """Predict what becomes of an artifact on one Release.

    Args:
        what: The artifact, its Inspection, or what `examine` read of it.
        release: The Consumer, as a Release or `jaxlib 0.4.33`.

    Returns:
        A predicted Verdict. What cannot be judged from the bytes is a warning in its diagnostics.

    Raises:
        UnknownDistribution: The Release is not in the table.
        UnknownRelease: The same.
    """
    subject = _subject(what)
    consumer = find_release(release) if isinstance(release, str) else release
    warnings: list[str] = []
    findings = [
        *_below_minimum(subject, consumer),
        *_required(subject, consumer),
        *_format(subject, consumer),
        *_dialects(subject, consumer, warnings),
        *_refused(subject, consumer, warnings),
        *_advised(subject, consumer, warnings),
    ]
    if not findings:
        _promise(subject, consumer, warnings)
        reason = f"needs {subject.required or 'nothing newer'}, has {_has(consumer)}"
        findings = [_Finding(Outcome.COMPATIBLE, Stage.WINDOW, reason)]
    worst = min(findings, key=_rank)
    others = [finding.reason for finding in findings if finding is not worst]
    return Verdict(
        consumer=str(consumer),
        outcome=worst.outcome,
        stage=worst.stage,
        basis=Basis.PREDICTED,
        reason=worst.reason,
        diagnostics=(
            *(Diagnostic(Severity.ERROR, text) for text in others),
            *(Diagnostic(Severity.WARNING, text) for text in warnings),
        ),
    )


def predict_all(
    what: Artifact | Inspection | Subject,
    releases: Iterable[Release],
    mode: Mode | str = Mode.FULL_TRANSITIVE,
) -> tuple[Verdict, ...]:
    """Predict what becomes of an artifact on a set of Releases.

    Args:
        what: The artifact, its Inspection, or what `examine` read of it.
        releases: The set.
        mode: Which of them count, see `portable.prediction.mode`.

    Returns:
        One Verdict for each Release that counts, in the order of the set.
    """
    subject = _subject(what)
    chosen = tuple(releases)
    written_for = subject.claimed or subject.required
    if written_for is not None:
        chosen = Mode(mode).select(chosen, written_for)
    return tuple(predict(subject, release) for release in chosen)


def _subject(what: Artifact | Inspection | Subject) -> Subject:
    if isinstance(what, Artifact):
        return examine(what)
    return what if isinstance(what, Subject) else Subject.of(what)


def _refuses(stage: Stage, reason: str) -> _Finding:
    return _Finding(Outcome.INCOMPATIBLE, stage, reason)


def _below_minimum(subject: Subject, release: Release) -> Iterator[_Finding]:
    if subject.claimed and release.minimum and subject.claimed < release.minimum.target:
        yield _refuses(
            Stage.WINDOW, f"written for {subject.claimed}, reads from {release.minimum} on"
        )


def _required(subject: Subject, release: Release) -> Iterator[_Finding]:
    early = early_features()
    for feature in subject.features:
        if feature.kind in _JUDGED_APART:
            continue
        known = early.get(_key(feature))
        needed, has = known or feature.version, release.current if known else release.target
        if has < needed:
            what = f"{feature.kind} {feature.name} needs {needed}"
            yield _refuses(Stage.WINDOW, f"{what}, has {_has(release)}")
    explained = max((one.version for one in subject.features), default=None)
    required = subject.required
    if (
        required
        and (explained is None or required > explained)
        and release.target < required.target
    ):
        yield _refuses(Stage.WINDOW, f"needs {required}, has {_has(release)}")
    if subject.unknown and subject.claimed and release.target < subject.claimed.target:
        yield _refuses(
            Stage.WINDOW,
            f"has {subject.unknown[0]}, which the tables do not know, and was written for "
            f"{subject.claimed}; has {_has(release)}",
        )


def _key(feature: Feature) -> str:
    return f"{feature.kind}:{feature.name.removeprefix('location_')}"


def _has(release: Release) -> str:
    if release.confidence is Confidence.BRACKETED:
        return f"at least {release.current}" + (f", below {release.below}" if release.below else "")
    return str(release.current)


def _format(subject: Subject, release: Release) -> Iterator[_Finding]:
    since = rules().formats.get(subject.format)
    if since is None:
        yield _refuses(Stage.DECODE, f"bytecode format {subject.format} is newer than any known")
    elif release.target < Version.parse(since):
        yield _refuses(
            Stage.DECODE,
            f"bytecode format {subject.format} is read from {since} on, has {_has(release)}",
        )


def _dialects(subject: Subject, release: Release, warnings: list[str]) -> Iterator[_Finding]:
    for name in sorted(subject.foreign):
        readers = [one for one in dialect_readers() if one.name == name]
        known = next((one for one in readers if one.applies_to(release)), None)
        if known is None:
            yield _refuses(
                Stage.DECODE,
                f"dialect {name} is not StableHLO, and this Release is not known to read it",
            )
        elif known.form:
            warnings.append(f"dialect {name} is read {known.form}")


def _refused(subject: Subject, release: Release, warnings: list[str]) -> Iterator[_Finding]:
    for form in subject.removed:
        if release.current > form.last:
            yield _refuses(
                Stage.DECODE, f"{form.name} is refused from {form.refused} on: {form.reason}"
            )
    doubtful = [
        (row.op, row.form, f"from {row.since} on: {row.reason}")
        for row in refusals()
        if release.current > row.last
    ] + [
        (row.op, row.form, f"before {row.since}: {row.reason}")
        for row in late_forms()
        if release.current < row.since
    ]
    for op, name, text in doubtful:
        occurs = subject.forms.get(name) if f"op:{op}" in subject.present else False
        if occurs is None:
            warnings.append(f"{name} is refused {text}")
        elif occurs:
            yield _refuses(Stage.DECODE, f"{name} is refused {text}")


_PRODUCER = ", as a producer"
_EFFECTS = {
    Effect.REFUSES: Outcome.INCOMPATIBLE,
    Effect.WRONG_RESULT: Outcome.WRONG_RESULT,
    Effect.CRASHES: Outcome.CRASHED,
}


def _advised(subject: Subject, release: Release, warnings: list[str]) -> Iterator[_Finding]:
    for advisory in advisories_for(release):
        present = _present(advisory.feature, subject)
        if present is None:
            warnings.append(f"{advisory.id} ({advisory.effect}): {advisory.feature}")
        elif present:
            reason = f"{advisory.id}: {advisory.reason or advisory.feature}"
            yield _Finding(_EFFECTS[advisory.effect], advisory.stage, reason, advised=True)


def _present(feature: str, subject: Subject) -> bool | None:
    """Return whether a Feature occurs; None when the bytes that are looked at do not tell."""
    if feature in subject.forms:
        return subject.forms[feature]
    if feature.endswith(_PRODUCER):
        return False
    kind, colon, _ = feature.partition(":")
    return feature in subject.present if colon and kind in subject.kinds else None


def _promise(subject: Subject, release: Release, warnings: list[str]) -> None:
    if subject.claimed and (text := _unpromised(subject.claimed.target, release.current)):
        warnings.append(text)


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
