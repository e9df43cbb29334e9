"""Say what stands between a program and a target, and what to do about each.

Ends with the commands that get there, or nearest to it. Exit code 0 when `portable pin` reaches the
target by what it does unasked, 1 when rewrites have to be allowed or it is out of reach.

  portable explain model.mlir --target 1.0.0
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from portable.cli.output import all_option, format_option, print_json, print_table, say
from portable.cli.parts import parts_of
from portable.cli.program import dialects_option, in_child, program_argument
from portable.features.bridges import bridges
from portable.pinning.explanation import explain

if TYPE_CHECKING:
    import argparse

    from portable.pinning.explanation import Explanation

__all__ = ["options", "run"]


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    program_argument(parser)
    parser.add_argument(
        "--target",
        required=True,
        metavar="T",
        help="a Version such as 1.9.0, or consumers as a requirement specifier",
    )
    dialects_option(parser)
    all_option(parser)
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Explain one program, or each in a container."""
    container, parts = parts_of(chosen.program)
    found: dict[str, Explanation] = {
        part.label: in_child(
            explain,
            chosen,
            chosen.target,
            part=part,
            allow_dialects=tuple(chosen.allow_dialects),
        )
        for part in parts
    }
    if chosen.format == "json":
        records = [_record(explanation) for explanation in found.values()]
        if container:
            named = zip((part.name for part in parts), records, strict=True)
            print_json({"artifacts": [{"name": name} | record for name, record in named]})
        else:
            print_json(records[0])
    else:
        for label, explanation in found.items():
            _print(label, chosen.program, explanation)
    return 0 if all(explanation.reachable for explanation in found.values()) else 1


def _record(found: Explanation) -> dict[str, object]:
    return {
        "target": str(found.target),
        "minimum": str(found.pinned) if found.pinned else None,
        "without_rewriting": str(found.minimum) if found.minimum else None,
        "reachable": found.reachable,
        "plans": [
            {"target": str(plan.target), "allow": list(plan.allow), "exact": plan.exact}
            for plan in found.plans
        ],
        "refusals": list(found.refusals),
        "blockers": [feature.record() for feature in found.blockers],
        "caveats": [{"text": caveat.text, "count": caveat.count} for caveat in found.caveats],
    }


def _print(name: str, path: str, found: Explanation) -> None:
    if found.blockers:
        print_table(
            ("feature", "needs", "count", "first at", "why", "what to do"),
            [
                (
                    feature.name,
                    str(feature.version),
                    str(feature.count),
                    feature.locations[0] if feature.locations else "-",
                    feature.reason or "-",
                    feature.workaround or "nothing that portable knows of",
                )
                for feature in found.blockers
            ],
        )
    for caveat in found.caveats:
        say(f"not judged: {caveat.text} ({caveat.count}x)")
    say(f"{name}: minimum target without rewriting: {found.minimum or 'unknown'}")
    for refusal in found.refusals:
        say(f"cannot be rewritten: {refusal}")
    _print_commands(path, found)


def _print_commands(path: str, found: Explanation) -> None:
    """End with what would get there, or nearest to it."""
    pin = f"portable pin {quote(path)} -o FILE --target"
    if found.reachable:
        say(f"{found.target} is reached: {pin} {found.target}")
        return
    for plan in found.plans:
        place = "" if plan.target == found.target else f"instead of {found.target} "
        allow = " ".join(f"--allow {rewrite}" for rewrite in plan.allow)
        say(f"{plan.target} {place}is reached by rewriting: {pin} {plan.target} {allow}")
        for rewrite in plan.allow:
            terms = bridges().rewrites[rewrite]
            say(f"  {rewrite} {terms.does}; {terms.bound}; lost: {terms.loses}")
    if all(plan.target != found.target for plan in found.plans):
        instead = f"; {found.pinned} is reached: {pin} {found.pinned}" if found.pinned else ""
        say(f"{found.target} is out of reach{instead}")
