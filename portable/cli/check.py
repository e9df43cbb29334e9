"""Check whether consumers open, read and compile artifacts, and compute the same.

Verdicts are predicted from the bytes and the tables of Releases, without a compiler, for every
Release that a specifier contains. With --observe the installed libStablehlo reads each artifact
as well, in a child process. Every Verdict is labelled as predicted or observed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.cli.files import Report, report_each
from portable.cli.obstacles import alike
from portable.cli.options import add, files_argument
from portable.cli.output import print_table, say
from portable.cli.parts import parts_of
from portable.containers.container import readers_of
from portable.containers.kind import Kind
from portable.errors import PortableError
from portable.pinning.locations import naming
from portable.prediction import Mode, blamed, combined, examine, predict_all, replacing
from portable.releases import named_consumers
from portable.system.wording import many
from portable.verdict import NotKnown, Stage, worst

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from portable.cli.parts import Part
    from portable.containers import Container
    from portable.prediction import Subject
    from portable.prediction.blame import Blamed
    from portable.releases import Release
    from portable.releases.requests import Consumers
    from portable.verdict import Verdict

__all__ = ["EXAMPLES", "EXIT_CODES", "NothingToCheck", "options", "run"]


EXAMPLES = """
portable check model.mlir.bc --for 'jaxlib>=0.5' 'tensorflow~=2.18'
portable check *.mlir.bc --for jaxlib --all
portable check model.mlir.bc --observe
portable check model.exported --for 'jaxlib>=0.5' --stage execute
portable check model.mlir.bc --for tensorflow --stage execute --assume no-nan in-bounds
portable check model.mlir.bc --for 'stablehlo==1.9.0'
"""
EXIT_CODES = {
    0: "every consumer gets through the Stage (--stage)",
    1: "an obstacle is known, at that Stage or a later one",
    2: "not known up to that Stage, could not check, or bad usage",
}


class NothingToCheck(PortableError):
    """Neither consumers nor --observe were given."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    files_argument(parser)
    add(parser, "--for")
    add(parser, "--stage", choices=[str(stage) for stage in Stage], default=str(Stage.DECODE))
    parser.add_argument(
        "--mode",
        choices=[str(mode) for mode in Mode],
        default=str(Mode.FULL_TRANSITIVE),
        help="which consumers: backward (the next newer Release of each distribution), forward "
        "(the next older), transitive (all on that side) (default: %(default)s)",
    )
    add(parser, "--assume")
    add(parser, "--observe")
    add(parser, "--timeout", default_help="60, and 1 more for each MiB of input")
    add(parser, "--all", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Check each file: one artifact, or all in a container."""
    if not chosen.consumers and not chosen.observe:
        raise NothingToCheck("missing --for or --observe")
    consumers = named_consumers(*chosen.consumers)
    code = report_each(
        chosen,
        lambda path: _check(chosen, path, consumers),
        _SUMMARY,
        stage=chosen.stage,
        assumed=sorted(set(chosen.assume)),
        notes=list(consumers.notes),
        not_covered=list(consumers.uncovered),
    )
    if chosen.format == "text":
        for text in consumers.uncovered:
            say(f"not known: {text}")
        if consumers.notes:
            say(f"note: {'; '.join(consumers.notes)}")
    return code


# How many ops are named of those that an Advisory may be about.
_OPS = 3
_CODES = {True: 0, False: 1, None: 2}
_SUMMARY = {0: "compatible", 1: "incompatible", 2: "not known or not checked"}


def _check(chosen: argparse.Namespace, path: str, consumers: Consumers) -> Report:
    container, parts = parts_of(path)
    bundled = container is not None and container.kind is Kind.BUNDLE
    # Of a bundle a consumer needs one Version, of everything else each artifact.
    groups = {path: parts} if bundled else {part.label: (part,) for part in parts}
    signatures: dict[str, frozenset[str]] = {}
    found = {
        label: _verdicts(chosen, group, consumers.releases, signatures)
        for label, group in groups.items()
    }
    stage = Stage.parse(chosen.stage)
    blames = {
        part.label: _blamed(part, found[label], signatures.get(part.label, frozenset()))
        for label, group in groups.items()
        for part in group
    }
    held = [verdict.holds(stage) for verdicts in found.values() for verdict in verdicts]
    passes = worst([*held, *(None for _ in consumers.uncovered)])

    def show() -> None:
        if container is not None:
            said = "".join(f", {name} {version}" for name, version in container.versions.items())
            say(f"{path}: {container.kind}{said}")
            for reader in readers_of(container):
                say(f"{path}: container opened by {reader}")
        for label, verdicts in found.items():
            _print(label, verdicts, stage, everything=chosen.all)
            for part in groups[label]:
                _print_blamed(part.label, blames[part.label])

    record = {"compatible": passes} | _record(container, parts, found, blames)
    return Report(_CODES[passes], record, show)


def _record(
    container: Container | None,
    parts: Sequence[Part],
    found: Mapping[str, Sequence[Verdict]],
    blames: Mapping[str, Mapping[str, Blamed]],
) -> dict[str, object]:
    records = {label: [one.record() for one in verdicts] for label, verdicts in found.items()}
    places = {
        label: {"blamed": {name: one.record() for name, one in sorted(blamed.items())}}
        for label, blamed in blames.items()
        if blamed
    }
    if container is None:
        return {"verdicts": records[parts[0].label], **places.get(parts[0].label, {})}
    return {
        "container": {
            "kind": str(container.kind),
            "versions": dict(container.versions),
            "readers": list(readers_of(container)),
        },
        "artifacts": [
            {
                "name": part.name,
                "versions": dict(part.entry.versions),
                **places.get(part.label, {}),
                **({"verdicts": records[part.label]} if container.kind is not Kind.BUNDLE else {}),
            }
            for part in parts
        ],
        **({"verdicts": records[container.path]} if container.kind is Kind.BUNDLE else {}),
    }


def _verdicts(
    chosen: argparse.Namespace,
    parts: Sequence[Part],
    releases: Sequence[Release],
    signatures: dict[str, frozenset[str]],
) -> list[Verdict]:
    """Judge artifacts together; note the op signatures of each."""
    pairs = [(part, Artifact.from_bytes(part.data, where=part.label)) for part in parts]
    verdicts: list[Verdict] = []
    # Without consumers there is nothing to predict, and a damaged file may still be observed.
    if releases:
        subjects = {part.name: _subject(part, artifact) for part, artifact in pairs}
        signatures |= {part.label: subjects[part.name].signatures or frozenset() for part in parts}
        verdicts += predict_all(
            subjects, releases, chosen.mode, stage=chosen.stage, assume=chosen.assume
        )
    if chosen.observe:
        observed = [(part.entry.member, _observed(part, one, chosen)) for part, one in pairs]
        verdicts.append(combined(observed))
    return verdicts


def _subject(part: Part, artifact: Artifact) -> Subject:
    with naming(part.label):
        subject = examine(artifact)
    return replace(subject, opener=part.entry.opener, member=part.entry.member)


def _observed(part: Part, artifact: Artifact, chosen: argparse.Namespace) -> Verdict:
    from portable.runtime.observation import observe  # predicting needs no child process

    with naming(part.label):
        return observe(artifact, timeout=chosen.timeout)


def _print(name: str, verdicts: Sequence[Verdict], stage: Stage, *, everything: bool) -> None:
    shown = [v for v in verdicts if everything or not v.compatible or len(verdicts) == 1]
    if shown:
        rows = [(one, *said) for names, *said in alike(shown) for one in names]
        print_table(("consumer", "verdict", "basis", "reason"), rows)
    counts = Counter((v.says, str(v.basis)) for v in verdicts)
    total = "; ".join(f"{n} {says} ({basis})" for (says, basis), n in counts.items())
    say(f"{name}: {total}")
    beyond = sum(v.compatible and v.stage < stage for v in verdicts)
    if beyond:
        unpredicted = NotKnown(stage, "not predicted, execute it")
        say(f"{name}: {unpredicted.says} ({many(beyond, 'consumer')})")
    for unknown, count in Counter(one for v in verdicts for one in v.questions).items():
        say(f"{name}: {unknown.says} ({many(count, 'consumer')})")


def _blamed(
    part: Part, verdicts: Sequence[Verdict], signatures: frozenset[str]
) -> dict[str, Blamed]:
    return blamed(Artifact.from_bytes(part.data, where=part.label), verdicts, signatures)


def _print_blamed(label: str, blames: Mapping[str, Blamed]) -> None:
    for name, blame in sorted(blames.items()):
        more = f" and {blame.more:,} more" if blame.more else ""
        way = "".join(f"; pin --allow {rewrite} replaces it" for rewrite in replacing(name))
        kinds = f"{' or '.join(blame.ops[:_OPS])}{' or others' if blame.ops[_OPS:] else ''}"
        # An op signature begins with its op.
        of = "" if name.startswith(blame.ops) else f" is about {kinds}"
        say(f"{label}: {name}{of} at {', '.join(blame.places)}{more}{way}")
