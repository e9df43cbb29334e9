"""Verify, measure, execute and show a corpus of sealed artifacts, ours or your own.

verify compares every file with its seal; seal seals new files, and never changes sealed ones.
new makes a Case of an MLIR file: artifacts for its minimum target and the newest, random inputs,
and the outputs on which the interpreter and XLA agree. It creates --corpus where there is none;
run seal after it. coverage lists what in VHLO no sealed artifact contains, and why. list shows one
line for each Case, show everything about one. run executes every Case, or those whose name contains
CASE, on --platform and on the CPU of the same jaxlib, and reports where results differ.

The corpus is the folder `corpus` in this folder or one above, or --corpus.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from portable.cli.options import add
from portable.cli.output import demand_apart, print_json, print_table, say, write_text
from portable.cli.progress import counting
from portable.corpus import Case, CorpusError, Seals, find_case, load_corpus
from portable.escaping import block
from portable.releases import find_release
from portable.system.wording import many

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable corpus verify
portable corpus coverage
portable corpus list --format json
portable corpus show tanh_f32
portable corpus run --platform cuda --jobs 8 -o page.md
portable corpus run tanh --platform ./plugin.so --on 'jaxlib 0.10.2'
portable corpus new my_model --program my_model.mlir --corpus ours
portable corpus seal --corpus ours
"""
EXIT_CODES = {
    0: "intact, or done",
    1: "damaged, coverage is incomplete, or results differ (run)",
    2: "could not check, or bad usage",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=sorted(_ACTIONS), help="what to do")
    parser.add_argument(
        "case",
        nargs="?",
        metavar="CASE",
        help="name of a Case (show, new); part of names (run)",
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        metavar="DIRECTORY",
        help="the corpus (default: corpus, in this folder or one above)",
    )
    parser.add_argument("--program", type=Path, metavar="FILE.mlir", help="new: the program")
    parser.add_argument(
        "--family",
        metavar="NAME",
        help="new: the folder it is put in (default: own)",
    )
    add(parser, "--jobs", default_help="1")
    add(parser, "--platform", "--on", "--output", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Do one of the actions."""
    if (chosen.action == "new") != (chosen.program is not None):
        raise CorpusError("new requires --program, and no other action takes it")
    if chosen.family is not None and chosen.action != "new":
        raise CorpusError("--family is for new")
    named = chosen.action in {"show", "new"}
    if (chosen.case is None) == named and chosen.action != "run":
        raise CorpusError(
            f"{chosen.action} requires the name of a Case"
            if chosen.case is None
            else f"{chosen.action} takes no Case",
            hint="see 'portable corpus list'",
        )
    alone = chosen.platform != "cpu" or chosen.on or chosen.output or chosen.jobs
    if chosen.action != "run" and alone:
        raise CorpusError("--platform, --on, --jobs and --output are for run")
    return _ACTIONS[chosen.action](chosen.corpus or _find(Path.cwd()), chosen)


def _find(start: Path) -> Path:
    for folder in (start, *start.parents):
        for candidate in (folder, folder / "corpus"):
            if (candidate / "SEALS").is_file():
                return candidate
    raise CorpusError(
        "no corpus found here or above", where=str(start), hint="name it with --corpus"
    )


def _new(corpus: Path, chosen: argparse.Namespace) -> int:
    from portable.corpus.making import make_case

    case = make_case(corpus, chosen.family or "own", chosen.case, chosen.program)
    if chosen.format == "json":
        print_json(_record(case))
    else:
        computed = f"expected outputs by {case.oracle}" if case.expected else case.reason
        say(f"{case.directory}: {many(len(case.artifacts), 'artifact')}, {computed}")
        say("seal it: portable corpus seal")
    return 0


def _verify(corpus: Path, chosen: argparse.Namespace) -> int:
    seals = Seals.load(corpus)
    if not seals.digests:
        raise CorpusError("no sealed files", where=str(corpus), hint="name another --corpus")
    broken = list(seals.verify())
    if chosen.format == "json":
        defects = [{"path": each.path, "defect": str(each.defect)} for each in broken]
        print_json({"sealed": len(seals.digests), "broken": defects})
    elif broken:
        print_table(("file", "defect"), [(each.path, str(each.defect)) for each in broken])
    else:
        say(f"{len(seals.digests)} files match their seals")
    return 1 if broken else 0


def _seal(corpus: Path, chosen: argparse.Namespace) -> int:
    load_corpus(corpus)  # what is no Case must not be sealed
    whole, added = Seals.complete(corpus)
    if chosen.format == "json":
        print_json({"sealed": len(whole.digests), "added": added})
    else:
        say(f"{many(len(added), 'file')} sealed, {len(whole.digests)} in all")
    return 0


def _run(corpus: Path, chosen: argparse.Namespace) -> int:
    from portable.corpus.observed import observe_platform, page  # executes
    from portable.runtime.executors import check_executor

    cases = [case for case in load_corpus(corpus) if (chosen.case or "") in case.name]
    if not cases:
        raise CorpusError(f"no Case has {chosen.case!r} in its name", where=str(corpus))
    on = find_release(chosen.on) if chosen.on else None
    check_executor("pjrt", chosen.platform, on)
    demand_apart(chosen.output)
    with counting("Cases") as tell:
        host, counts, differences = observe_platform(
            chosen.platform, cases, on, jobs=chosen.jobs or 1, progress=tell
        )
    if chosen.output:
        write_text(chosen.output, page(host, counts, differences))
    if chosen.format == "json":
        print_json(
            {
                "platform": host.platform,
                "device": host.device,
                "driver": host.driver,
                "release": host.release,
                "cases": {str(ending): count for ending, count in counts.items()},
                "differences": [one.record() for one in differences],
            }
        )
    else:
        for one in differences:
            say(f"{one.case}: {one.there.ending}, on the CPU {one.here.ending}: {one.why}")
        ended = ", ".join(f"{count} {ending}" for ending, count in counts.most_common())
        say(f"{host.device}, {host.release}: {ended}; {len(differences)} differ from the CPU")
    return 1 if any(one.there.ending is not one.here.ending for one in differences) else 0


def _coverage(corpus: Path, chosen: argparse.Namespace) -> int:
    from portable.corpus.coverage import measure  # reads every artifact

    found = measure(corpus, load_corpus(corpus))
    if chosen.format == "json":
        print_json(
            {
                "complete": found.complete,
                "missing": [str(subject) for subject in found.missing],
                "stale": [str(subject) for subject in found.stale],
                "excluded": {str(s): reason for s, reason in found.excluded.items()},
                "shown": {str(s): list(cases) for s, cases in found.shown.items()},
            }
        )
        return 0 if found.complete else 1
    rows = [("missing", str(subject), "") for subject in found.missing]
    rows += [("stale exclusion", str(subject), "") for subject in found.stale]
    rows += [("excluded", str(subject), reason) for subject, reason in found.excluded.items()]
    if rows:
        print_table(("state", "subject", "reason"), rows)
    total = len(found.shown) + len(found.missing) + len(found.excluded)
    say(f"{len(found.shown)} of {total} shown, {len(found.excluded)} excluded with a reason")
    return 0 if found.complete else 1


def _list(corpus: Path, chosen: argparse.Namespace) -> int:
    cases = load_corpus(corpus)
    if chosen.format == "json":
        print_json({"cases": [_record(case) for case in cases]})
        return 0
    print_table(
        ("case", "family", "first", "oracle", "artifacts"),
        [
            (case.name, case.family, str(case.first), str(case.oracle), str(len(case.artifacts)))
            for case in cases
        ],
    )
    return 0


def _show(corpus: Path, chosen: argparse.Namespace) -> int:
    case = find_case(corpus, chosen.case)
    if chosen.format == "json":
        print_json(_record(case))
        return 0
    facts = {
        "case": case.name,
        "feature": case.feature,
        "family": case.family,
        "first": str(case.first),
        "provenance": case.provenance,
        "oracle": str(case.oracle),
        "expression": case.expression,
        "agreeing": ", ".join(case.agreeing),
        "reason": case.reason,
        "tolerance": f"{case.tolerance.relative:g} relative, {case.tolerance.absolute:g} absolute",
        "inputs": ", ".join(f"{tensor.name} {tensor.dtype}" for tensor in case.inputs),
        "expected": ", ".join(tensor.dtype for tensor in case.expected),
    }
    for name, value in facts.items():
        if value:
            say(f"{name + ':':<12} {value}")
    for known in case.exceptions:
        say(f"exception:   {known.consumer} at {known.stage}: {known.reason} ({known.link})")
    say()
    write_text("-", block(case.program) + "\n")
    print_table(
        ("target", "producer", "bytes"),
        [(str(a.target), a.producer, str(a.path.stat().st_size)) for a in case.artifacts],
    )
    return 0


def _record(case: Case) -> dict[str, object]:
    return {
        "name": case.name,
        "feature": case.feature,
        "family": case.family,
        "first": str(case.first),
        "provenance": case.provenance,
        "oracle": str(case.oracle),
        "expression": case.expression,
        "agreeing": list(case.agreeing),
        "reason": case.reason,
        "every_minor": case.every_minor,
        "tolerance": {"relative": case.tolerance.relative, "absolute": case.tolerance.absolute},
        "inputs": {tensor.name: tensor.dtype for tensor in case.inputs},
        "expected": {tensor.name: tensor.dtype for tensor in case.expected},
        "exceptions": [
            {"consumer": e.consumer, "stage": str(e.stage), "reason": e.reason, "link": e.link}
            for e in case.exceptions
        ],
        "artifacts": [{"target": str(a.target), "producer": a.producer} for a in case.artifacts],
    }


_ACTIONS: dict[str, Callable[[Path, argparse.Namespace], int]] = {
    "verify": _verify,
    "coverage": _coverage,
    "list": _list,
    "new": _new,
    "run": _run,
    "seal": _seal,
    "show": _show,
}
