"""Write an artifact that named consumers can read.

The target is the lowest Version among the consumers (or the one you name), so every one of them
reads the result. The result is read back strictly before it is written; when the program needs
more than the target, nothing is written and every reason is named.

  portable pin model.mlir --for 'jaxlib>=0.5' 'tensorflow~=2.18' -o model.mlir.bc
  portable pin model.mlir --target 1.9.0 -o model.mlir.bc
  portable pin model.mlir --for 'jaxlib>=0.5' --verify -o model.mlir.bc
  portable pin model.mlir --target 0.9.0 --allow composites-to-calls -o model.mlir.bc

Rewrites that are not exact are verified as if by --verify: beyond --ulps nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable import pin
from portable.cli.output import format_option, print_json, print_verification, write_bytes
from portable.cli.program import (
    in_child,
    pipeline_arguments,
    pipeline_options,
    program_argument,
)
from portable.downgrade import named
from portable.errors import PortableError
from portable.features.bridges import bridges
from portable.releases import resolve_target

if TYPE_CHECKING:
    import argparse

    from portable.artifact import Artifact
    from portable.pin import Pinned
    from portable.verification import Verification

__all__ = ["options", "run"]


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    program_argument(parser)
    goal = parser.add_mutually_exclusive_group(required=True)
    goal.add_argument(
        "--target",
        metavar="T",
        help="a Version such as 1.9.0, current, minimum, WEEK_4, WEEK_12 or MAX",
    )
    goal.add_argument(
        "--for",
        dest="consumers",
        nargs="+",
        metavar="SPEC",
        help="consumers, as requirement specifiers: 'jaxlib>=0.5,<0.11' 'tensorflow~=2.18'",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="execute the program before and after, and write nothing unless the bits are equal",
    )
    parser.add_argument(
        "--ulps",
        type=int,
        default=0,
        metavar="N",
        help="with --verify: write it although results are up to this far apart",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="- is stdout")
    pipeline_options(parser)
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Pin one program."""
    wants = chosen.consumers or [chosen.target]
    # A mistake in the options is told before anything slow, and is none of the program's.
    resolve_target(*wants)
    lossy = not all(bridges().rewrites[name].exact for name in named(chosen.allow))
    pinned: Pinned = in_child(pin.pin, chosen, *wants, **pipeline_arguments(chosen))
    artifact, target = pinned.artifact, pinned.target
    verification = _verified(chosen, artifact) if chosen.verify or lossy else None
    if verification is not None and not verification.same:
        print_verification(verification, chosen.program, chosen.output, chosen.format)
        return 1
    write_bytes(chosen.output, artifact.data)
    if chosen.output == "-":
        return 0
    if chosen.format == "json":
        print_json(
            {
                "output": chosen.output,
                "size": len(artifact),
                "digest": artifact.digest,
                "target": target.record(),
                "required": str(pinned.analysis.required.version),
                "version": str(artifact.version),
                **({"verification": verification.record()} if verification else {}),
            }
        )
    else:
        print(f"{chosen.output}: StableHLO {artifact.version}, {len(artifact):,} bytes")
        print(f"  {target.reason} ({target.confidence})")
        if verification is not None:
            print(f"  {verification.verdict.consumer}: {verification.verdict.reason}")
    return 0


def _verified(chosen: argparse.Namespace, artifact: Artifact) -> Verification:
    """Execute the program as it is, at the current Version, and as it was pinned."""
    # Only here: most pinning executes nothing and needs no numpy.
    from portable.executors import Tolerance  # noqa: PLC0415 - see above
    from portable.verification import verify  # noqa: PLC0415 - see above

    if chosen.program == "-":
        raise PortableError("standard input can be read once only", hint="--verify needs a file")
    arguments = pipeline_arguments(chosen) | {"allow": ()}
    before: Artifact = in_child(pin.serialize, chosen, "current", **arguments)
    return verify(before, artifact, tolerance=Tolerance(chosen.ulps))
