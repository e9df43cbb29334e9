"""What the gate found, as text, JSON, JUnit XML and GitHub annotations."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from portable.escaping import json_text, line
from portable.policy.gate import Url, with_sets
from portable.releases import spans
from portable.releases.assumption import assuming
from portable.system.junit import Problem, Suite, TestCase, as_xml
from portable.system.wording import many

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from portable.policy.gate import Checked, Finding, GateResult

__all__ = ["SCHEMA", "as_github", "as_json", "as_junit", "as_record", "as_text", "grouped"]

SCHEMA = 2
_GROUP = "portable.gate"


def as_text(result: GateResult) -> str:
    """Render for people: one line for each reason of an artifact, then the sum.

    Args:
        result: What the gate found.

    Returns:
        Lines, each ended by a newline.
    """
    lines = [
        f"{file.place}: {_label(first)}: {message}"
        for file in result.files
        for first, message in grouped(file)
    ]
    lines += [
        f"unused waiver: {waiver.rule} {waiver.path} ({waiver.reason})" for waiver in result.unused
    ]
    lines += [f"{left.path}: not judged: {left.why}" for left in result.not_judged]
    lines += [f"{left.path}: excluded ({left.why})" for left in result.excluded]
    lines += [f"not known: {text}" for text in result.uncovered]
    lines += [
        f"{file.place}: {one.says} ({many(count, 'consumer')})"
        for file in result.files
        for one, count in Counter(u for v in file.verdicts for u in v.questions).items()
        if not any(one.what in finding.reason for finding in file.findings)
    ]
    lines += [f"note: {'; '.join(result.notes)}"] if result.notes else []
    lines.append(_sum(result))
    return "".join(f"{line(one)}\n" for one in lines)


def grouped(file: Checked) -> list[tuple[Finding, str]]:
    """Return why an artifact breaks the policy, each reason once.

    Args:
        file: The artifact.

    Returns:
        The first finding of each reason, and one line that names all its consumers.
    """
    same: dict[tuple[object, ...], list[Finding]] = {}
    for finding in file.findings:
        key = (finding.rule, finding.waiver, finding.known, finding.reason)
        same.setdefault(key, []).append(finding)
    return [(found[0], f"{_consumers(found)}{found[0].reason}") for found in same.values()]


def _consumers(findings: Sequence[Finding]) -> str:
    """Name the consumers of findings, with what leads over to the reason; nothing if none has."""
    named: dict[tuple[str, ...], list[str]] = {}
    for finding in findings:
        if finding.consumer:
            named.setdefault(finding.sets, []).append(finding.consumer)
    texts = [with_sets(one, sets) for sets, names in named.items() for one in spans(names)]
    return f"{', '.join(texts)}: " if texts else ""


def _sum(result: GateResult) -> str:
    failed = sum(file.failed for file in result.files)
    waived = sum(bool(file.findings) and not file.failed for file in result.files)
    passed = len(result.files) - failed - waived
    return (
        f"{many(len(result.files), 'artifact')}, {many(len(result.consumers), 'consumer')}, "
        f"up to {result.stage} ({result.stage.says(passed=True)}){assuming(result.assumed)}: "
        f"{passed} pass, {waived} waived, {failed} fail; {len(result.not_judged)} not judged, "
        f"{len(result.excluded)} excluded, {many(result.others, 'other file')}"
    )


def as_json(result: GateResult) -> str:
    """Render the record as JSON.

    Args:
        result: What the gate found.

    Returns:
        The document, ended by a newline.
    """
    return json_text(as_record(result), indent=2) + "\n"


def as_record(result: GateResult) -> dict[str, object]:
    """Return plain data for JSON, with the version of its schema.

    Args:
        result: What the gate found.
    """
    outcomes = Counter(verdict.says for file in result.files for verdict in file.verdicts)
    return {
        "schema": SCHEMA,
        "passed": result.passed,
        "stage": str(result.stage),
        "assumed": sorted(result.assumed),
        "notes": list(result.notes),
        "not_covered": list(result.uncovered),
        "artifacts": len(result.files),
        "consumers": list(result.consumers),
        "verdicts": dict(sorted(outcomes.items())),
        "findings": [finding.record() for finding in result.findings],
        "not_judged": [{"path": str(left.path), "reason": left.why} for left in result.not_judged],
        "excluded": [{"path": str(left.path), "rule": left.why} for left in result.excluded],
        "other_files": result.others,
        "unused_waivers": [
            {"rule": str(waiver.rule), "path": waiver.path, "reason": waiver.reason}
            for waiver in result.unused
        ],
    }


def as_junit(result: GateResult) -> str:
    """Render as JUnit XML: one test case for each artifact, and for what was not judged.

    Args:
        result: What the gate found.

    Returns:
        The document.
    """
    problem = Problem.ERROR if result.strict else Problem.SKIPPED
    left = [
        TestCase(_GROUP, str(left.path), problem, "not-judged", f"not judged: {left.why}")
        for left in result.not_judged
    ]
    return as_xml([Suite("portable gate", [*map(_case, result.files), *left])])


def _case(file: Checked) -> TestCase:
    found = grouped(file)
    shown = "\n".join(f"{_label(first)}: {message}" for first, message in found)
    group, name = _GROUP, file.place
    if file.failed:
        first, message = next(one for one in found if not one[0].waiver)
        return TestCase(group, name, Problem.FAILURE, str(first.rule), message, shown)
    if file.findings:
        return TestCase(group, name, Problem.SKIPPED, message=shown)
    return TestCase(group, name)


def as_github(result: GateResult) -> str:
    """Render as workflow commands: an error for each reason, a warning for each waived one.

    GitHub shows ten errors of a step, so that one for each consumer would hide other artifacts.

    What was not judged is an error as well, or a warning when it does not count; the rest is in
    one notice. The sum comes last, so that a gate that passes does not pass in silence.

    Args:
        result: What the gate found.

    Returns:
        Lines, each ended by a newline.
    """
    lines = []
    for file in result.files:
        inside = f"{file.inside}: " if file.inside else ""
        for first, message in grouped(file):
            level = "warning" if first.waiver else "error"
            lines.append(_annotation(level, first.path, str(first.rule), f"{inside}{message}"))
    level = "error" if result.strict else "warning"
    lines += [_annotation(level, left.path, "not judged", left.why) for left in result.not_judged]
    lines += [
        f"::notice title=portable%3A unused waiver::{_data(f'{w.rule} {w.path}: {w.reason}')}"
        for w in result.unused
    ]
    if result.excluded or result.others:
        excluded = ", ".join(f"{left.path} ({left.why})" for left in result.excluded)
        told = f"{many(result.others, 'other file')}; {len(result.excluded)} excluded: {excluded}"
        lines.append(f"::notice title=portable%3A not looked at::{_data(told.rstrip(': '))}")
    lines.append(line(_sum(result)))
    return "".join(f"{one}\n" for one in lines)


def _annotation(level: str, path: Path, title: str, message: str) -> str:
    place = _property(str(path) if isinstance(path, Url) else os.path.relpath(path))
    return f"::{level} file={place},title={_property(f'portable: {title}')}::{_data(message)}"


def _label(finding: Finding) -> str:
    if finding.waiver is None:
        return str(finding.rule)
    return f"{finding.rule} (waived until {finding.waiver.expires}: {finding.waiver.reason})"


def _data(text: str) -> str:
    return line(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
