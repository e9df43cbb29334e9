"""Predict what breaks when other consumers have to read a fleet, or when a Window ends.

FLEET is what `portable audit` wrote. An artifact stops if the consumers of --from read it, and one
of --to does not, or is known not to compile it or to compute something else. Artifacts that pass
everywhere are only counted. Verdicts are predicted from the audit and today's tables. An audit
without --depth content gives only the Versions that artifacts claim.

--today shows a calendar instead: until when upstream promises that artifacts are read. It counts
from the day on which their Version was first available, since no artifact of it is older. The
promise for an artifact that was written later lasts longer.
"""

from __future__ import annotations

import datetime
import shlex
from typing import TYPE_CHECKING

from portable.cli.options import add
from portable.cli.output import demand_apart, print_json, print_table, say, write_text
from portable.cli.usage import BadUsage, format_of
from portable.escaping import json_text
from portable.fleet import Plan, Transition, calendar, plan
from portable.fleet.report import SOON, as_html, calendar_html, conclusion
from portable.policy import load_policy
from portable.releases import named_consumers
from portable.system.wording import many, path_word
from portable.verdict import Stage

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from portable.releases import Release

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable plan fleet.parquet --from 'jaxlib==0.9.1' --to 'jaxlib==0.12.0.1'
portable plan fleet.parquet --from 'jaxlib>=0.5' --to 'jaxlib>=0.5' 'tensorflow~=2.18' --all
portable plan fleet.parquet --from 'jaxlib==0.9.1' --to 'jaxlib==0.4.33' --stage open --format json
portable plan fleet.parquet --from 'jaxlib==0.9.1' --to 'jaxlib==0.12.0.1' --report plan.html
portable plan fleet.parquet --from @serving --to @next --policy portable.toml
portable plan fleet.parquet --today --report calendar.html
"""
EXIT_CODES = {
    0: "nothing stops, as far as the audit went; or nothing ends within 90 days (--today)",
    1: "something stops; or ends within 90 days (--today)",
    2: "not known whether something stops or ends, or bad usage",
}
_ENDINGS = {".json": "json", ".html": "html"}
_VERBS = {
    Transition.STOPS: "stop",
    Transition.STARTS: "start",
    Transition.FAILS: "fail before and after",
    Transition.UNKNOWN: "not known",
}
_DAYS = (30, SOON, 365)
_SHOWN = 5


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("fleet", metavar="FLEET", help="what portable audit wrote")
    for name, who in (("--from", "the consumers now"), ("--to", "the new consumers")):
        parser.add_argument(
            name,
            dest=name[2:],
            action="extend",
            nargs="+",
            default=[],
            metavar="SPEC",
            help=f"{who}, as for check; '@NAME' for a set of the policy",
        )
    add(parser, "--policy", default_help="in this folder or one above")
    parser.add_argument(
        "--today", action="store_true", help="show when artifacts leave their Windows"
    )
    add(parser, "--stage", choices=[str(stage) for stage in Stage], default=str(Stage.DECODE))
    add(parser, "--assume")
    add(parser, "--report")
    add(parser, "--all", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Plan a move, or show the calendar."""
    moves = bool(getattr(chosen, "from")), bool(chosen.to)
    if any(moves) == chosen.today or len(set(moves)) > 1:
        raise BadUsage("either --from and --to, or --today")
    for report in chosen.report:
        format_of(report, _ENDINGS)
        demand_apart(report, chosen.fleet)
    return _calendar(chosen) if chosen.today else _move(chosen)


def _move(chosen: argparse.Namespace) -> int:
    specs = getattr(chosen, "from"), chosen.to
    sets = _sets(chosen)
    before, after = (named_consumers(*each, consumers=sets) for each in specs)
    stage = Stage.parse(chosen.stage)
    found = plan(chosen.fleet, before.releases, after.releases, stage=stage, assume=chosen.assume)
    uncovered = [*before.uncovered, *after.uncovered]
    holds = found.holds if found.holds is False or not uncovered else None
    command = _command(chosen.fleet, after.releases, chosen.to) if found.mendable else ""
    record = {"schema": 1, "compatible": holds, "not_covered": uncovered} | found.record()
    record["command"] = command
    _write(chosen.report, record, lambda: as_html(found, uncovered, command))
    if chosen.format == "json":
        print_json(record)
    else:
        _say(found, command, shown=None if chosen.all else _SHOWN)
        for text in uncovered:
            say(f"not known: {text}")
    return {True: 0, False: 1, None: 2}[holds]


def _write(reports: Sequence[str], record: Mapping[str, object], render: Callable[[], str]) -> None:
    for report in reports:
        as_page = format_of(report, _ENDINGS) == "html"
        write_text(report, render() if as_page else json_text(record, indent=2) + "\n")


def _sets(chosen: argparse.Namespace) -> Mapping[str, Sequence[str]] | None:
    """Return the consumer sets of the policy, where one is named."""
    named = any(spec.startswith("@") for spec in (*getattr(chosen, "from"), *chosen.to))
    return load_policy(chosen.policy).consumers if named or chosen.policy else None


def _command(fleet: str, releases: Sequence[Release], specs: Sequence[str]) -> str:
    """Return what pins again for the new consumers; sets of a policy by their Releases."""
    if any(spec.startswith("@") for spec in specs):
        specs = [f"{one.distribution}=={one.version}" for one in releases]
    consumers = shlex.join(specs)
    return f"portable repin-all {path_word(fleet)} --for {consumers} -o DIRECTORY"


def _say(found: Plan, command: str, shown: int | None) -> None:
    for outlook in found.outlooks:
        say(f"{outlook.change}: {many(len(outlook.artifacts), 'artifact')}: {outlook.reason}")
        if outlook.remedy:
            say(f"  remedy: {outlook.remedy}")
        for name in outlook.artifacts[:shown]:
            say(f"  {name}")
        if shown is not None and len(outlook.artifacts) > shown:
            say(f"  and {len(outlook.artifacts) - shown:,} more; --all prints them")
    for consumer, count in found.refused[:shown] if len(found.refused) > 1 else ():
        say(f"{consumer}: an obstacle for {many(count, 'artifact')}")
    _say_when(found)
    if found.order:
        say(found.order)
    if command:
        say(f"pin again: {command}")
    counts = [f"{found.count(one):,} {verb}" for one, verb in _VERBS.items() if found.count(one)]
    if found.damaged:
        counts.append(f"{len(found.damaged):,} could not be read in the audit")
    if found.by_claim:
        say(
            f"{found.by_claim:,} are judged by what they claim, not by what they hold; "
            "audit with --depth content for that"
        )
    does = found.stage.says(passed=True)
    say("; ".join([*counts, f"{found.kept:,} unchanged (each new consumer {does}, predicted)"]))
    say(conclusion(found))


def _say_when(found: Plan) -> None:
    today = datetime.date.today()
    for one in found.expiring:
        if one.until is None or (one.until - today).days <= SOON:
            when = f"promised until {one.until}" if one.until else "not known how long promised"
            say(f"{one.artifacts:,} in {one.kind}, {one.version or 'Version not known'}: {when}")


def _calendar(chosen: argparse.Namespace) -> int:
    today = datetime.date.today()
    found = calendar(chosen.fleet)
    left = {one: (one.until - today).days for one in found if one.until}
    windows = [one.record(today) for one in found]
    record = {"schema": 1, "on": today.isoformat(), "windows": windows}
    _write(chosen.report, record, lambda: calendar_html(found, today))
    if chosen.format == "json":
        print_json(record)
    else:
        rows = [
            (str(one.version or "not known"), one.kind, str(one.until or "not known"),
             _when(left.get(one)), f"{one.artifacts:,}")
            for one in found
        ]  # fmt: skip
        print_table(("version", "kind", "promised until", "when", "artifacts"), rows)
        for days in _DAYS:
            ending = sum(one.artifacts for one, rest in left.items() if 0 <= rest <= days)
            say(f"within {days} days: {many(ending, 'artifact')}")
    if any(rest <= SOON for rest in left.values()):
        return 1
    return 2 if len(left) < len(found) else 0


def _when(days: int | None) -> str:
    if days is None:
        return ""
    return f"in {days:,} days" if days >= 0 else f"{-days:,} days ago"
