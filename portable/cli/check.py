"""Say whether consumers open, read, compile and compute the same as an artifact says.

Predicted, for every Release that a specifier contains, from the bytes and the tables of what has
shipped; no compiler runs. With --observe the installed libStablehlo reads the artifact as well, in
a child process. A prediction and an observation are shown as what they are.

Exit code 0: every consumer gets through the Stage that is asked for, by default it reads the
artifact. 1: an obstacle is known, at that Stage or a later one. 2: up to that Stage something is
not known.

  portable check model.mlir.bc --for 'jaxlib>=0.5' 'tensorflow~=2.18'
  portable check model.mlir.bc --observe
  portable check model.exported --for 'jaxlib>=0.5'
  portable check model.mlir.bc --for 'stablehlo==1.9.0'
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.cli.output import format_option, print_json, print_table, say
from portable.cli.parts import parts_of
from portable.cli.usage import limit
from portable.containers.container import readers_of
from portable.errors import PortableError
from portable.pinning.locations import naming
from portable.prediction import Mode, examine, predict_all
from portable.releases import named_consumers
from portable.verdict import Stage, worst

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from portable.containers import Container
    from portable.releases import Release
    from portable.verdict import Verdict

__all__ = ["NothingToCheck", "options", "run"]


_SCHEMA = 2


class NothingToCheck(PortableError):
    """Neither consumers nor an observation were asked for."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "file", metavar="FILE", help="a portable artifact or a container; - is stdin"
    )
    parser.add_argument(
        "--for",
        dest="consumers",
        nargs="+",
        default=[],
        metavar="SPEC",
        help="consumers, as requirement specifiers: 'jaxlib>=0.5,<0.11' 'tensorflow~=2.18'; "
        "jaxlib alone for every known one, stablehlo==1.9.0 for a runtime without a name",
    )
    parser.add_argument(
        "--stage",
        choices=[str(stage) for stage in Stage],
        default=str(Stage.DECODE),
        help="judge up to: open (it opens the container), decode (it reads the artifact: the "
        "default), roundtrip, compile, execute (it computes the same)",
    )
    parser.add_argument(
        "--mode",
        choices=[str(mode) for mode in Mode],
        default=str(Mode.FULL_TRANSITIVE),
        help="backward: the next newer Release of each distribution; forward: the next older; "
        "transitive: all on that side (default: all there are)",
    )
    parser.add_argument(
        "--observe",
        action="store_true",
        help="read it with the installed libStablehlo, in a child process",
    )
    parser.add_argument(
        "--timeout",
        type=limit,
        metavar="SECONDS",
        help="limit for --observe (default: 60, and 1 more for each MiB)",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="list compatible Releases one by one too, and all text (default: at most 1 MB)",
    )
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Check one artifact, or all in a container."""
    if not chosen.consumers and not chosen.observe:
        raise NothingToCheck("name consumers with --for SPEC, or read it with --observe")
    container, parts = parts_of(chosen.file)
    consumers = named_consumers(*chosen.consumers)
    found = {}
    for part in parts:
        artifact = Artifact.from_bytes(part.data, where=part.label)
        with naming(part.label):
            found[part.name] = _verdicts(chosen, artifact, container, consumers.releases)
    stage = Stage[chosen.stage.upper()]
    held = [verdict.holds(stage) for verdicts in found.values() for verdict in verdicts]
    passes = worst([*held, *(None for _ in consumers.uncovered)])
    if chosen.format == "json":
        record = {
            "schema": _SCHEMA,
            "file": chosen.file,
            "stage": str(stage),
            "compatible": passes,
            "notes": list(consumers.notes),
            "not_covered": list(consumers.uncovered),
        }
        print_json(record | _record(container, found))
    else:
        if container is not None:
            said = "".join(f", {name} {version}" for name, version in container.versions.items())
            say(f"{chosen.file}: {container.kind}{said}")
            for reader in readers_of(container):
                say(f"{chosen.file}: the container itself is opened by {reader}")
        for part in parts:
            _print(part.label, found[part.name], stage, everything=chosen.all)
        for text in consumers.uncovered:
            say(f"not known: {text}")
        if consumers.notes:
            say(f"note: {'; '.join(consumers.notes)}")
    return _EXIT_CODES[passes]


_EXIT_CODES = {True: 0, False: 1, None: 2}


def _record(
    container: Container | None, found: Mapping[str, Sequence[Verdict]]
) -> dict[str, object]:
    if container is None:
        return {"verdicts": [verdict.record() for verdict in found[""]]}
    return {
        "container": {
            "kind": str(container.kind),
            "versions": dict(container.versions),
            "readers": list(readers_of(container)),
        },
        "artifacts": [
            {
                "name": entry.name,
                "versions": dict(entry.versions),
                "verdicts": [verdict.record() for verdict in found[entry.name]],
            }
            for entry in container.artifacts()
        ],
    }


def _verdicts(
    chosen: argparse.Namespace,
    artifact: Artifact,
    container: Container | None,
    releases: Sequence[Release],
) -> list[Verdict]:
    verdicts: list[Verdict] = []
    # Without consumers there is nothing to predict, and a damaged file may still be observed.
    if releases:
        subject = replace(examine(artifact), opener=container.opener if container else None)
        verdicts += predict_all(subject, releases, chosen.mode)
    if chosen.observe:
        from portable.runtime.observation import observe  # noqa: PLC0415 - predicting needs no child process

        verdicts.append(observe(artifact, timeout=chosen.timeout))
    return verdicts


def _print(name: str, verdicts: Sequence[Verdict], stage: Stage, *, everything: bool) -> None:
    shown = [v for v in verdicts if everything or not v.compatible or len(verdicts) == 1]
    if shown:
        print_table(
            ("consumer", "verdict", "basis", "reason"),
            [(v.consumer, v.says, str(v.basis), v.reason or "-") for v in shown],
        )
    counts = Counter((v.says, str(v.basis)) for v in verdicts)
    total = "; ".join(f"{n} {says} ({basis})" for (says, basis), n in counts.items())
    say(f"{name}: {total}")
    beyond = sum(v.compatible and v.stage < stage for v in verdicts)
    if beyond:
        whether = f"whether it {stage.says(passed=True)}"
        say(f"{name}: not known {whether}: only executing it tells ({_consumers(beyond)})")
    for unknown, count in Counter(one for v in verdicts for one in v.not_known).items():
        whether = f"whether it {unknown.stage.says(passed=True)}"
        say(f"{name}: not known {whether}: {unknown.what} ({_consumers(count)})")


def _consumers(count: int) -> str:
    return f"{count} consumer" + "s" * (count != 1)
