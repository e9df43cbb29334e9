"""Generate StableHLO programs that are always valid, or hunt with them for what Releases get wrong.

generate writes COUNT programs as MLIR text, each with a function main, and their inputs as archives
of arrays named 0, 1, ... Together they reach every op, attribute form and element type. The same
seed gives the same programs; program N of a seed does not depend on how many there are, and another
--size or --target changes it only in part. No compiler is needed.

hunt executes such programs on the consumers for some hours. The reference is StableHLO's
interpreter in the newest jaxlib among them (for ops that it lacks, XLA in the same jaxlib); it also
decides how much of a difference is rounding. What earlier programs seldom had is generated more
often. Each difference beyond rounding is confirmed, reduced to a few ops, grouped by its cause, and
dated over all Releases by bisection. --output is a directory with the causes and a page about them
(README.md); the same command continues there.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from portable.cli.making import tell_line
from portable.cli.matrix import cluster, newest_jaxlib
from portable.cli.options import add
from portable.cli.output import note, print_json, say
from portable.cli.progress import counting
from portable.cli.usage import BadUsage, count, demand_name, limit, natural
from portable.fuzz import generate, inputs_for, language
from portable.fuzz.campaign import Campaign
from portable.fuzz.causes import grouped
from portable.fuzz.generation import OPS
from portable.fuzz.hunted import page as hunted_page
from portable.fuzz.hunting import ELEMENTS, SIZE, Hunt
from portable.matrix import Store
from portable.releases import resolve_target, runnable_releases, window
from portable.runtime.environments import Environments
from portable.runtime.executors.tensors import stored_arrays
from portable.system.files import file_error, new_directory, write_file
from portable.system.holding import held

if TYPE_CHECKING:
    import argparse
    from contextlib import AbstractContextManager

    from portable.fuzz.campaign import Progress

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable fuzz generate --seed 7 --count 100 -o programs
portable fuzz generate --seed 7 --count 100 --target 1.0.0 --only reduce add -o programs
portable fuzz hunt --for 'jaxlib>=0.9' --hours 2 -o hunted
"""
EXIT_CODES = {
    0: "done; no difference was found that the specification does not leave open (hunt)",
    1: "differences were found (hunt)",
    2: "could not do it, or bad usage",
}


_COUNT, _HOURS = 10, 1.0
# What does nothing for the other action: the option, where it is parsed to, and whose it is.
_ALONE = {
    "--for": ("consumers", "hunt"),
    "--hours": ("hours", "hunt"),
    "--cluster": ("cluster", "hunt"),
    "--count": ("count", "generate"),
    "--target": ("target", "generate"),
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=sorted(_ACTIONS), help="what to do")
    parser.add_argument(
        "--seed",
        type=natural,
        default=0,
        metavar="N",
        help="what to make the programs from (default: %(default)s)",
    )
    parser.add_argument(
        "--count",
        type=count,
        metavar="K",
        help=f"generate: how many programs to make (default: {_COUNT})",
    )
    parser.add_argument(
        "--size",
        type=count,
        metavar="N",
        help=f"how many ops each has, without constants (default: {OPS}; hunt: {SIZE})",
    )
    parser.add_argument(
        "--only",
        action="extend",
        nargs="+",
        default=[],
        metavar="OP",
        help="use only these ops, such as reduce",
    )
    parser.add_argument(
        "--hours",
        type=limit,
        metavar="H",
        help=f"hunt: for how many hours to start new rounds (default: {_HOURS:g})",
    )
    add(parser, "--for", "--target", "--cluster", "--output", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Generate programs, or hunt with them."""
    demand_name(chosen.output)
    if chosen.output is None:
        raise BadUsage("missing --output", hint="name a directory: -o programs")
    for option, (name, action) in _ALONE.items():
        if getattr(chosen, name) and chosen.action != action:
            raise BadUsage(f"{option} is only for {action}")
    if chosen.action == "hunt" and not chosen.consumers:
        raise BadUsage("--for is required by hunt")
    ops = {form.op for form in language()}
    for op in chosen.only:
        if op not in ops:
            near = difflib.get_close_matches(op, sorted(ops), 1)
            known = f"did you mean {near[0]!r}?" if near else "ops are those of StableHLO, as add"
            raise BadUsage(f"unknown op {op!r}", hint=known)
    return _ACTIONS[chosen.action](chosen)


def _generate(chosen: argparse.Namespace) -> int:
    # Of a Version that never was, the Window says so.
    version = window(resolve_target(chosen.target).version).version if chosen.target else None
    wanted, written = chosen.count or _COUNT, []
    with new_directory(chosen.output) as folder, counting("programs") as tell:
        for number in range(wanted):
            seed = f"{chosen.seed}/{number}"
            made = generate(seed, ops=chosen.size or OPS, version=version, only=chosen.only)
            name = f"{chosen.seed}-{number:06}"
            write_file(Path(folder, f"{name}.mlir"), made.text.encode())
            write_file(Path(folder, f"{name}.npz"), stored_arrays(inputs_for(made.arguments, seed)))
            written.append({"name": name, "since": str(made.since), "forms": made.forms})
            tell(number + 1, wanted)
    if chosen.format == "json":
        print_json({"directory": chosen.output, "programs": written})
    else:
        say(f"{chosen.output}: {wanted} programs, with inputs")
    return 0


def _alone(folder: Path) -> AbstractContextManager[None]:
    """Hold the folder of a hunt: two would do the same rounds, and write over what they find."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise file_error("write", error, folder) from error
    return held(folder)


def _hunt(chosen: argparse.Namespace) -> int:
    releases = list(dict.fromkeys(runnable_releases(*chosen.consumers)))
    judge = newest_jaxlib(releases)
    if judge is None:
        raise BadUsage("no jaxlib among the consumers", hint="its interpreter is the reference")
    page = Path(chosen.output, "README.md")

    def tell(progress: Progress) -> None:
        write_file(page, hunted_page([campaign.hunted()], ELEMENTS).encode())
        note(f"{progress.programs} programs, {len(progress.causes)} causes")

    with contextlib.ExitStack() as stack:
        # Before anything is written.
        executor = stack.enter_context(cluster(chosen.cluster)) if chosen.cluster else None
        stack.enter_context(_alone(Path(chosen.output)))
        campaign = Campaign(Path(chosen.output), chosen.seed)
        store = stack.enter_context(Store(Path(chosen.output, "observations.sqlite")))
        seconds = (chosen.hours or _HOURS) * _HOUR_S
        count = stack.enter_context(counting("executions", lasting=seconds))
        hunt = Hunt(
            campaign,
            releases,
            judge,
            store,
            Environments(progress=tell_line),
            seed=chosen.seed,
            size=chosen.size or SIZE,
            only=chosen.only,
            executor=executor,
            progress=lambda executed: count(executed, None),
        )
        before = sum(os.times()[:4])
        try:
            hunt.run(time.monotonic() + seconds, tell)
        finally:  # one that was interrupted goes on from there
            campaign.add_cpu(sum(os.times()[:4]) - before)
    hunted = campaign.hunted()
    write_file(page, hunted_page([hunted], ELEMENTS).encode())
    groups = grouped(hunted.causes)
    found = [one for one in groups if not one.open]
    if chosen.format == "json":
        causes = [cause.record() for cause, _ in hunted.causes]
        print_json(campaign.progress.record() | {"found": causes})
    else:
        say(
            f"{page}: {campaign.progress.programs} programs, {len(found)} causes of differences, "
            f"{len(groups) - len(found)} more that the specification leaves open"
        )
    return 1 if found else 0


_ACTIONS = {"generate": _generate, "hunt": _hunt}
_HOUR_S = 3600.0
