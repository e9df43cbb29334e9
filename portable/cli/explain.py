"""Show what keeps programs from a target, with a workaround for each Feature.

The last lines are the commands that reach the target, or the nearest one that can be reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.files import Report, report_each
from portable.cli.options import add, goal_options, program_argument, wanted
from portable.cli.output import print_table, say
from portable.cli.parts import parts_of
from portable.cli.program import in_child
from portable.features.bridges import bridges
from portable.pinning.explanation import explain
from portable.system.wording import path_word

if TYPE_CHECKING:
    import argparse

    from portable.pinning.explanation import Explanation

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable explain model.mlir --target 1.0.0
portable explain *.mlir.bc --for 'jaxlib>=0.4.20'
"""
EXIT_CODES = {
    0: "portable pin reaches the target by default",
    1: "rewrites have to be allowed, or the target is out of reach",
    2: "could not check, or bad usage",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    program_argument(parser, nargs="+")
    goal_options(parser)
    add(parser, "--allow-dialect", "--all", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Explain each program; of a container, each inside."""
    return report_each(chosen, lambda path: _explain(chosen, path), _SUMMARY)


_SUMMARY = {0: "reachable", 1: "not reachable as it is", 2: "failed"}


def _explain(chosen: argparse.Namespace, path: str) -> Report:
    container, parts = parts_of(path)
    dialects = tuple(chosen.allow_dialects)
    found: list[Explanation] = [
        in_child(explain, chosen, wanted(chosen), part=part, allow_dialects=dialects)
        for part in parts
    ]

    def show() -> None:
        for part, explanation in zip(parts, found, strict=True):
            _print(part.label, path, explanation)

    records = [_record(explanation) for explanation in found]
    named = [{"name": part.name} | one for part, one in zip(parts, records, strict=True)]
    reachable = all(explanation.reachable for explanation in found)
    return Report(0 if reachable else 1, {"artifacts": named} if container else records[0], show)


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
            ("feature", "requires", "count", "first at", "why", "workaround"),
            [
                (
                    feature.name,
                    str(feature.version),
                    str(feature.count),
                    feature.locations[0] if feature.locations else "",
                    feature.reason,
                    feature.workaround or "none known",
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
    pin = f"portable pin {path_word(path)} -o FILE --target"
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
