"""A plan for people: one sentence, the names of what changes, and why, as one static HTML page."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from portable.escaping import line
from portable.fleet.plan import Transition
from portable.releases.assumption import assuming
from portable.system.page import page
from portable.system.wording import many

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator, Sequence

    from portable.fleet.plan import Expiring, Outlook, Plan

__all__ = ["SOON", "as_html", "calendar_conclusion", "calendar_html", "conclusion"]

SOON = 90
"""So many days ahead somebody has to move first."""

# Names that are seen before any click, and those that the page has at all.
_SHOWN = 10
_MOST = 1000
# The colours of the matrix, which stand for all, some and none.
_SHARES = {
    Transition.STOPS: 0,
    Transition.UNKNOWN: 2,
    Transition.FAILS: 1,
    Transition.STARTS: 3,
    Transition.KEEPS: 4,
}
_STYLE = """
section { border-top: 1px solid var(--line); margin-top: 16px; padding-top: 8px; }
ul { margin: 4px 0; padding-left: 20px; }
li, tbody th, td:first-of-type { overflow-wrap: anywhere; }
table { border-collapse: separate; border-spacing: 2px; }
td, th { padding: 3px 8px; text-align: left; font-weight: 400; }
td, thead th + th { text-align: right; }
"""


def conclusion(plan: Plan) -> str:
    """Say in one sentence what a move breaks.

    Args:
        plan: What is predicted.
    """
    if not plan.total:
        return "There is no artifact in the fleet: nothing is planned."
    stops, unknown, every = plan.count(Transition.STOPS), plan.doubtful, plan.total
    move = f"from {_who(plan.before)} to {_who(plan.after)}{assuming(plan.assumed)}"
    if plan.holds and plan.by_claim:
        judged = f"of {every:,} artifacts, {plan.by_claim:,} judged by what they claim alone"
        return f"Nothing is known to stop {judged}, {move}."
    if plan.holds:
        return f"Nothing stops: {many(every, 'artifact')}, {move}."
    known = (
        f"{stops:,} of {every:,} artifacts stop" if stops else "Not known whether anything stops"
    )
    left = f"; not known of {unknown:,}" if unknown else ""
    return f"{known}, {move}{left}."


def as_html(plan: Plan, uncovered: Sequence[str] = (), command: str = "") -> str:
    """Render as one static page that needs no network, in the style of the matrix.

    Args:
        plan: What is predicted.
        uncovered: Consumers about which nothing is known.
        command: What pins again what can be; empty where nothing can.

    Returns:
        The page; of each group a thousand names at most, the others are counted.
    """
    return page("portable plan", "".join(_body(plan, uncovered, command)), style=_STYLE)


def calendar_conclusion(found: Sequence[Expiring], today: datetime.date) -> str:
    """Say in one sentence what leaves its Window soon.

    Args:
        found: As `calendar` returns it.
        today: The day.
    """
    every = sum(one.artifacts for one in found)
    if not every:
        return "No artifact claims a Version."
    left = [(one.artifacts, (one.until - today).days) for one in found if one.until]
    unknown = every - sum(count for count, _ in left)
    ended = sum(count for count, days in left if days < 0)
    soon = sum(count for count, days in left if 0 <= days <= SOON)
    if not ended and not soon:
        within = f"within {SOON} days."
        if not unknown:
            return f"None of {every:,} artifacts leaves its Window {within}"
        which = (
            f"Of {unknown:,} of {every:,} artifacts it is not known when they leave their Window"
        )
        return f"{which}; none of the others leaves it {within}"
    parts = [f"{ended:,} of {every:,} artifacts have left their Window"] if ended else []
    if soon:
        who = "more leave it" if ended else f"of {every:,} artifacts leave their Window"
        parts.append(f"{soon:,} {who} within {SOON} days")
    if unknown:
        parts.append(f"of {unknown:,} it is not known")
    return f"{'; '.join(parts)}."


def calendar_html(found: Sequence[Expiring], today: datetime.date) -> str:
    """Render a calendar as one static page, in the same style.

    Args:
        found: As `calendar` returns it: who has to move first stands first.
        today: The day.
    """
    return page("portable plan", "".join(_calendar(found, today)), style=_STYLE)


def _calendar(found: Sequence[Expiring], today: datetime.date) -> Iterator[str]:
    said = _text(calendar_conclusion(found, today))
    yield f"<header><h1>portable plan</h1>\n<p class=conclusion>{said}</p>\n"
    yield f"<p>What upstream promises to read until when, on {today}.</p></header>\n"
    heads = ("version", "kind", "promised until", "days", "artifacts")
    yield "<main><table><thead><tr>"
    yield "".join(f"<th scope=col>{head}</th>" for head in heads)
    yield "</tr></thead><tbody>\n"
    for one in found:
        days = (one.until - today).days if one.until else None
        share = 2 if days is None else 0 if days < 0 else 1 if days <= SOON else 4
        yield f"<tr><th scope=row>{one.version or 'not known'}</th><td>{_text(one.kind)}</td>"
        yield f"<td>{one.until or 'not known'}</td>"
        yield f"<td class=share-{share}>{'' if days is None else f'{days:,}'}</td>"
        yield f"<td>{one.artifacts:,}</td></tr>\n"
    yield "</tbody></table>\n"
    yield "<p class=quiet>A date counts from the day on which a Version was first available, since "
    yield "no artifact of it is older.</p>\n</main>\n"


def _body(plan: Plan, uncovered: Sequence[str], command: str) -> Iterator[str]:
    yield f"<header><h1>portable plan</h1>\n<p class=conclusion>{_text(conclusion(plan))}</p>\n"
    stage = f"{plan.stage} ({plan.stage.says(passed=True)})"
    yield f"<p>Judged up to {_text(stage)}, and by every obstacle that is known at a later Stage; "
    yield "predicted, from what the audit read.</p></header>\n"
    yield "<main><table><tbody>\n"
    counts = [(str(one), _SHARES[one], plan.count(one)) for one in Transition]
    if plan.damaged:
        counts.append(("not read in the audit", _SHARES[Transition.UNKNOWN], len(plan.damaged)))
    for what, share, count in counts:
        yield f"<tr><th scope=row>{what}</th><td class=share-{share}>{count:,}</td></tr>\n"
    yield "</tbody></table>\n"
    if plan.order:
        yield f"<p>Order: {_text(plan.order)}.</p>\n"
    if command:
        yield f"<p>Pin again: <code>{_text(command)}</code></p>\n"
    for outlook in plan.outlooks:
        yield from _section(outlook)
    if plan.damaged:
        yield "<section><h2>Could not be read in the audit</h2>\n"
        yield from _names(plan.damaged)
        yield "</section>\n"
    yield from _table("Consumers that do not get through", ("consumer", "artifacts"), plan.refused)
    when = [(f"{one.kind}, {one.version or 'not known'}", one.until or "not known", one.artifacts)
            for one in plan.expiring]  # fmt: skip
    yield from _table("Containers", ("kind and version", "promised until", "artifacts"), when)
    notes = [f"not known: {one}" for one in uncovered]
    if plan.by_claim:
        notes.append(
            f"{plan.by_claim:,} are judged by what their headers claim: whether what they hold "
            "compiles and computes the same is not known. Audit with --depth content for that."
        )
    for title, who in (("From", plan.before), ("To", plan.after)):
        notes.append(f"{title}: {', '.join(who)}")
    yield "".join(f"<p class=quiet>{_text(note)}</p>\n" for note in notes)
    yield "</main>\n"


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    if not rows:
        return
    yield f"<section><h2>{title}</h2>\n<table><thead><tr>"
    yield "".join(f"<th scope=col>{head}</th>" for head in heads)
    yield "</tr></thead><tbody>\n"
    for first, *others in rows:
        cells = "".join(f"<td>{_text(str(cell))}</td>" for cell in others)
        yield f"<tr><th scope=row>{_text(str(first))}</th>{cells}</tr>\n"
    yield "</tbody></table></section>\n"


def _section(outlook: Outlook) -> Iterator[str]:
    count = f"{len(outlook.artifacts):,}"
    yield f"<section><h2>{outlook.change}: {count}</h2>\n<p>{_text(outlook.reason)}</p>\n"
    if outlook.remedy:
        yield f"<p>Remedy: {_text(outlook.remedy)}</p>\n"
    yield from _names(outlook.artifacts)
    yield "</section>\n"


def _names(names: Sequence[str]) -> Iterator[str]:
    yield _list(names[:_SHOWN])
    if len(names) > _SHOWN:
        yield f"<details><summary>and {len(names) - _SHOWN:,} more</summary>"
        yield _list(names[_SHOWN:_MOST])
        if len(names) > _MOST:
            yield f"<p>{len(names) - _MOST:,} others are in the output with --format json.</p>"
        yield "</details>\n"


def _list(names: Sequence[str]) -> str:
    items = "".join(f"<li>{_text(name)}</li>" for name in names)
    return f"<ul class=mono>{items}</ul>\n"


def _who(consumers: Sequence[str]) -> str:
    more = f" and {many(len(consumers) - 1, 'more Release')}" if len(consumers) > 1 else ""
    return f"{consumers[0]}{more}" if consumers else "no Release"


def _text(text: str) -> str:
    return html.escape(line(text))
