"""Write an artifact that named consumers can read.

The target is the lowest Version among the consumers, or the one given by --target. The result is
read back strictly before it is written. If the program cannot be expressed at the target, nothing
is written and every Feature that prevents it is listed. A container is copied with all of its
programs pinned for the same target, or not at all. What is known to keep a consumer from compiling
the result, or from computing the same, is reported.

Allowed rewrites that are not exact are verified as with --verify: nothing is written if the
results differ by more than --ulps, --rtol and --atol. The exception is quantized-to-arithmetic,
since XLA runs no quantized types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.obstacles import obstacles, show_obstacles
from portable.cli.options import (
    PIPELINE,
    add,
    given_tolerance,
    goal_options,
    pipeline_arguments,
    program_argument,
    tolerance_options,
    wanted,
)
from portable.cli.output import (
    demand_apart,
    note,
    print_json,
    say,
    show_verification,
    write_bytes,
)
from portable.cli.parts import parts_of
from portable.cli.program import in_child
from portable.cli.progress import waiting
from portable.containers import open_container
from portable.containers.container import readers_of
from portable.errors import PortableError
from portable.features.bridges import SHARDY, bridges
from portable.pinning import pipeline as pin
from portable.pinning.locations import named as with_name
from portable.pinning.repinning import perhaps_closed, pin_all
from portable.pinning.rewrites import named
from portable.releases import resolve_target
from portable.system import children
from portable.system.files import demand_new_directory, is_special

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from portable.artifact import Artifact
    from portable.cli.parts import Part
    from portable.containers import Container
    from portable.pinning.pipeline import Pinned
    from portable.pinning.repinning import Repinned
    from portable.runtime.verification import Verification

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable pin model.mlir --for 'jaxlib>=0.5' 'tensorflow~=2.18' -o model.mlir.bc
portable pin model.mlir --target 1.9.0 -o model.mlir.bc
portable pin model.mlir --for 'jaxlib>=0.5' --verify -o model.mlir.bc
portable pin model.exported --target 1.9.0 -o model-1.9.exported
portable pin model.mlir --target 0.9.0 --allow composites-to-calls -o model.mlir.bc
"""
EXIT_CODES = {
    0: "written",
    1: "not written: the results differ (--verify)",
    2: "not written: the target is out of reach, or could not write it, or bad usage",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    program_argument(parser)
    goal_options(parser)
    add(parser, "--verify")
    add(parser, "--output", required=True)
    tolerance_options(parser.add_argument_group("tolerance of --verify"))
    add(parser, *PIPELINE)
    add(parser, "--format")


def run(chosen: argparse.Namespace) -> int:
    """Pin one program, or all in a container."""
    wants = wanted(chosen)
    # Mistakes in the options are reported before anything slow, without the name of the program.
    resolve_target(*wants)
    allowed = [bridges().rewrites[name] for name in named(chosen.allow)]
    lossy = not all(terms.exact for terms in allowed)
    chosen.verify = chosen.verify or (lossy and all(terms.runs for terms in allowed))
    container, parts = parts_of(chosen.program)
    if container is not None and container.files:
        demand_new_directory(chosen.output, origin=container.path)
    else:
        demand_apart(chosen.output, chosen.program)
    if container is not None:
        return _container(chosen, container, parts, wants)
    part = parts[0]
    pinned: Pinned = in_child(pin.pin, chosen, *wants, part=part, **pipeline_arguments(chosen))
    verification = _verified(chosen, part, pinned.artifact) if chosen.verify else None
    if verification is not None and not verification.same:
        _print_verification(verification, chosen.program, chosen)
        return 1
    known = obstacles(chosen, pinned.artifact.data)
    write_bytes(chosen.output, pinned.artifact.data)
    if chosen.output == "-":
        show_obstacles(known, note)
    elif chosen.format == "json":
        found = {"obstacles": [one.record() for one in known]}
        print_json({"output": chosen.output} | _record(pinned, verification) | found)
    else:
        _print(chosen.output, pinned, verification)
        show_obstacles(known, say)
    return 0


def _container(
    chosen: argparse.Namespace,
    container: Container,
    parts: tuple[Part, ...],
    wants: Sequence[str],
) -> int:
    if "-" in {chosen.program, chosen.output} or is_special(chosen.program):
        raise PortableError("a container cannot be streamed", hint="name paths for it and --output")
    seconds = chosen.timeout or children.patience(sum(len(part.data) for part in parts))
    found: Repinned = children.call(
        pin_all, chosen.program, *wants, timeout=seconds, **pipeline_arguments(chosen)
    )
    verified: dict[str, Verification] = {}
    for part in parts if chosen.verify else ():
        artifact = found.pinned[part.name].artifact
        verified[part.name] = verification = _verified(chosen, part, artifact)
        if not verification.same:
            _print_verification(verification, part.label, chosen)
            return 1
    found.write(container, chosen.output)
    written = open_container(chosen.output)
    known = obstacles(chosen, chosen.output)
    if chosen.format == "json":
        records = [
            {"name": name} | _record(pinned, verified.get(name))
            for name, pinned in found.pinned.items()
        ]
        print_json(
            {
                "output": chosen.output,
                "kind": str(container.kind),
                "readers": list(readers_of(written)),
                "widened": found.widen,
                "artifacts": records,
                "obstacles": [one.record() for one in known],
            }
        )
        return 0
    for name, pinned in found.pinned.items():
        _print(f"{chosen.output}: {name}", pinned, verified.get(name))
    how = "its envelope was widened" if found.widen else "as before"
    for reader in readers_of(written):
        say(f"{chosen.output}: container opened by {reader}, {how}")
    if unsure := ", ".join(map(str, perhaps_closed(written, wants))):
        say(f"not known whether it is opened by {unsure}")
    show_obstacles(known, say)
    return 0


def _print_verification(
    verification: Verification, before: str, chosen: argparse.Namespace
) -> None:
    """Print that nothing is written, because the results differ."""
    if chosen.format == "json":
        names = {"expected": before, "actual": chosen.output}
        print_json(names | verification.record())
    else:
        show_verification(verification, before, chosen.output)


def _record(pinned: Pinned, verification: Verification | None) -> dict[str, object]:
    return {
        "size": len(pinned.artifact),
        "digest": pinned.artifact.digest,
        "target": pinned.target.record(),
        "required": str(pinned.analysis.required.version),
        "version": str(pinned.artifact.version),
        "rewrites": [rewrite.record() for rewrite in pinned.rewrites],
        **({"verification": verification.record()} if verification else {}),
    }


def _print(label: str, pinned: Pinned, verification: Verification | None) -> None:
    artifact, target = pinned.artifact, pinned.target
    say(f"{label}: StableHLO {artifact.version}, {len(artifact):,} bytes")
    say(f"  {target.reason} ({target.confidence})")
    for caveat in target.caveats:
        say(f"  not known: {caveat}")
    for rewrite in pinned.rewrites:
        say(f"  rewritten: {rewrite}")
    if verification is not None:
        say(f"  {verification.verdict.consumer}: {verification.verdict.reason}")


def _verified(chosen: argparse.Namespace, part: Part, artifact: Artifact) -> Verification:
    """Execute the program, written for the current Version, and the artifact."""
    # Only here: most pinning executes nothing and needs no numpy.
    from portable.runtime.verification import verify

    options = pipeline_arguments(chosen)
    options["allow"] = ()
    # Shardings that were removed are there before.
    options["allow_dialects"] = {*chosen.allow_dialects, SHARDY}
    before: Artifact = in_child(pin.serialize, chosen, "current", part=part, **options)
    with waiting(f"{part.label}: executing the program and the artifact"):
        return with_name(verify(before, artifact, tolerance=given_tolerance(chosen)), part.label)
