"""Say whether consumers read an artifact.

Predicted, for every Release that a specifier admits, from the bytes and the tables of what has
shipped; no compiler runs. With --observe the installed libStablehlo reads the artifact as well, in
a child process. A prediction and an observation are shown as what they are.

  portable check model.mlir.bc --for 'jaxlib>=0.5' 'tensorflow~=2.18'
  portable check model.mlir.bc --observe
  portable check model.exported --for 'jaxlib>=0.5'
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.cli.output import format_option, print_json, print_table, say
from portable.cli.parts import naming, parts_of
from portable.cli.usage import limit
from portable.errors import PortableError
from portable.prediction import Mode, predict_all
from portable.releases import matching_releases

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping, Sequence

    from portable.containers import Container
    from portable.releases import Release
    from portable.verdict import Verdict

__all__ = ["NothingToCheck", "options", "run"]


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
        help="consumers, as requirement specifiers: 'jaxlib>=0.5,<0.11' 'tensorflow~=2.18'",
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
        "--timeout", type=limit, default=60.0, metavar="SECONDS", help="limit for --observe"
    )
    parser.add_argument(
        "--all", action="store_true", help="list compatible Releases one by one too"
    )
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Check one artifact."""
    if not chosen.consumers and not chosen.observe:
        raise NothingToCheck("name consumers with --for SPEC, or read it with --observe")
    container, parts = parts_of(chosen.file)
    artifacts = [Artifact.from_bytes(part.data, where=part.label) for part in parts]
    admitted = {
        str(release): release for spec in chosen.consumers for release in matching_releases(spec)
    }
    found = {}
    for part, artifact in zip(parts, artifacts, strict=True):
        with naming(part.label):
            found[part.name] = _verdicts(chosen, artifact, admitted.values())
    compatible = all(verdict.compatible for verdicts in found.values() for verdict in verdicts)
    if chosen.format == "json":
        print_json({"file": chosen.file, "compatible": compatible} | _record(container, found))
    else:
        if container is not None:
            said = "".join(f", {name} {version}" for name, version in container.versions.items())
            say(f"{chosen.file}: {container.kind}{said}")
            for reader in container.readers:
                say(f"{chosen.file}: the container itself is opened by {reader}")
        for part in parts:
            _print(part.label, found[part.name], everything=chosen.all)
    return 0 if compatible else 1


def _record(
    container: Container | None, found: Mapping[str, Sequence[Verdict]]
) -> dict[str, object]:
    if container is None:
        return {"verdicts": [verdict.record() for verdict in found[""]]}
    return {
        "container": {
            "kind": str(container.kind),
            "versions": dict(container.versions),
            "readers": list(container.readers),
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
    chosen: argparse.Namespace, artifact: Artifact, admitted: Collection[Release]
) -> list[Verdict]:
    # Without consumers there is nothing to predict, and a damaged file may still be observed.
    verdicts = [*predict_all(artifact, admitted, chosen.mode)] if admitted else []
    if chosen.observe:
        from portable.check import observe  # noqa: PLC0415 - predicting needs no child process

        verdicts.append(observe(artifact, timeout=chosen.timeout))
    return verdicts


def _print(name: str, verdicts: Sequence[Verdict], *, everything: bool) -> None:
    shown = [v for v in verdicts if everything or not v.compatible or len(verdicts) == 1]
    if shown:
        print_table(
            ("consumer", "outcome", "stage", "basis", "reason"),
            [
                (v.consumer, str(v.outcome), str(v.stage), str(v.basis), v.reason or "-")
                for v in shown
            ],
        )
    counts = Counter((str(v.outcome), str(v.basis)) for v in verdicts)
    total = ", ".join(f"{n} {outcome} ({basis})" for (outcome, basis), n in counts.items())
    say(f"{name}: {total}")
