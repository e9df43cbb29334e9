"""What the gate found, for people: Markdown for a pull request, and one static HTML page."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from portable.escaping import line, markdown, one_line
from portable.policy.report import grouped
from portable.releases.assumption import assuming
from portable.system.page import page
from portable.system.wording import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from portable.policy.gate import Checked, GateResult

__all__ = ["as_html", "as_markdown", "conclusion"]

# A summary on GitHub may have a megabyte, a comment 65,536 characters.
_ROWS = 200
# Of one artifact there may be a reason for each of hundreds of consumers.
_REASONS, _LONGEST_REASON = 5, 400
_STYLE = """
table { table-layout: auto; }
td { height: auto; padding: 3px 8px; font-size: 13px; vertical-align: top; }
td:first-child, td:last-child, li { overflow-wrap: anywhere; }
td:first-child { min-width: 12em; }
thead th { position: static; text-align: left; padding: 3px 8px; height: auto; font-weight: 600; }
td.share-0, td.share-2, td.share-4 { text-align: right; white-space: nowrap; }
h2 { margin-top: 20px; }
"""


def conclusion(result: GateResult) -> str:
    """Say in one sentence what the gate found.

    Args:
        result: What the gate found.
    """
    failed = sum(file.failed for file in result.files)
    artifacts = many(len(result.files), "artifact")
    consumers = many(len(result.consumers), "consumer") + assuming(result.assumed)
    left = f"; {many(len(result.not_judged), 'file')} not judged" if result.not_judged else ""
    if result.passed:
        return f"Passed: {artifacts} for {consumers}{left}."
    if result.undecided:
        return f"Not known: {artifacts} for {consumers}{left}."
    return f"Failed: {failed} of {artifacts} for {consumers}{left}."


def as_markdown(result: GateResult) -> str:
    """Render as Markdown, as GitHub reads it: the conclusion, and a row for each artifact.

    Artifacts that fail come first; what is more than 200 rows, or five reasons in one, is counted.

    Args:
        result: What the gate found.

    Returns:
        The document.
    """
    names = _distributions(result)
    lines = [f"### portable gate: {conclusion(result)}", ""]
    lines += [_row(["artifact", *map(markdown, names), "why"]), _row(["---"] * (len(names) + 2))]
    files = _worst_first(result)
    for file in files[:_ROWS]:
        counts = _counts(file, result)
        figures = [_figure(counts.get(name)) for name in names]
        reasons = [markdown(one_line(one, _LONGEST_REASON)) for one in _reasons(file)]
        shown = reasons[:_REASONS] + [f"and {len(reasons) - _REASONS} more"] * (
            len(reasons) > _REASONS
        )
        lines.append(_row([markdown(file.place), *figures, "; ".join(shown)]))
    if len(files) > _ROWS:
        lines += ["", f"... and {len(files) - _ROWS} more artifacts"]
    lines += [
        f"- not judged: {markdown(str(one.path))}: {markdown(one.why)}"
        for one in result.not_judged[:_ROWS]
    ]
    if len(result.not_judged) > _ROWS:
        lines.append(f"- ... and {len(result.not_judged) - _ROWS:,} more files that are not judged")
    return "\n".join(lines) + "\n"


def as_html(result: GateResult) -> str:
    """Render as one static page that needs no network, in the style of the matrix.

    Args:
        result: What the gate found.

    Returns:
        The page.
    """
    return page("portable gate", "".join(_body(result)), style=_STYLE)


def _body(result: GateResult) -> Iterator[str]:
    names = _distributions(result)
    yield f"<header><h1>portable gate</h1>\n<p class=conclusion>{_text(conclusion(result))}</p>\n"
    stage = f"{result.stage} ({result.stage.says(passed=True)})"
    yield f"<p>Judged up to {_text(stage)}; predicted unless a finding says otherwise. "
    yield "A figure is how many of the known Releases of a distribution get so far: "
    yield "<span class=share-4>all</span>, <span class=share-2>some</span> or "
    yield "<span class=share-0>none</span>.</p></header>\n<main><table>\n<thead><tr>"
    yield "".join(f"<th scope=col>{_text(name)}</th>" for name in ("artifact", *names, "why"))
    yield "</tr></thead>\n<tbody>\n"
    for file in _worst_first(result):
        counts = _counts(file, result)
        yield f"<tr><td class=mono>{_text(file.place)}</td>"
        for name in names:
            yield f"<td class=share-{_share(counts.get(name))}>{_figure(counts.get(name))}</td>"
        yield f"<td>{'<br>'.join(map(_text, _reasons(file)))}</td></tr>\n"
    yield "</tbody></table>\n"
    for title, left in (("Not judged", result.not_judged), ("Excluded", result.excluded)):
        if left:
            items = "".join(f"<li>{_text(f'{one.path}: {one.why}')}</li>" for one in left)
            yield f"<h2>{title}</h2><ul>{items}</ul>\n"
    waivers = [f"{one.rule} {one.path}: {one.reason}" for one in result.unused]
    if waivers:
        items = "".join(f"<li>{_text(one)}</li>" for one in waivers)
        yield f"<h2>Unused waivers</h2><ul>{items}</ul>\n"
    notes = [*(f"not known: {one}" for one in result.uncovered), *result.notes]
    yield "".join(f"<p class=quiet>{_text(note)}</p>\n" for note in notes)
    yield f"<p class=quiet>{result.others} other files are no artifacts.</p></main>\n"


def _text(text: str) -> str:
    return html.escape(line(text))


def _worst_first(result: GateResult) -> list[Checked]:
    return sorted(result.files, key=lambda file: (not file.failed, not file.findings))


def _distributions(result: GateResult) -> list[str]:
    return list(dict.fromkeys(name.rpartition(" ")[0] for name in result.consumers))


def _counts(file: Checked, result: GateResult) -> Mapping[str, tuple[int, int]]:
    """Count for each distribution how many Releases get to the Stage, of how many."""
    counts: dict[str, tuple[int, int]] = {}
    for verdict in file.verdicts:
        name = verdict.consumer.rpartition(" ")[0]
        good, total = counts.get(name, (0, 0))
        counts[name] = (good + (verdict.holds(result.stage) is True), total + 1)
    return counts


def _figure(count: tuple[int, int] | None) -> str:
    return f"{count[0]} of {count[1]}" if count else ""


def _share(count: tuple[int, int] | None) -> str:
    """Return the colour of a count: all, some or none."""
    if not count:
        return "none"
    return "4" if count[0] == count[1] else "2" if count[0] else "0"


def _reasons(file: Checked) -> list[str]:
    """Return each different reason once, with the consumers that it is about."""
    return [
        (f"waived until {first.waiver.expires} ({first.waiver.reason}): " if first.waiver else "")
        + ("" if first.consumer else f"{first.rule}: ")
        + message
        for first, message in grouped(file)
    ]


def _row(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"
