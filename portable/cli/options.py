"""Every option that more than one command has: one spelling, one meaning, one help text.

A command names those that it takes: `add(parser, "--for", "--timeout")`. Only what differs between
commands is passed with it: the default, the choices, whether it is required.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable.cli.usage import amount, assumption, count, destination, limit, natural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from portable.pinning.options import PinOptions
    from portable.runtime.executors import Tolerance

__all__ = [
    "EXECUTION",
    "FRAMEWORK",
    "PIPELINE",
    "add",
    "files_argument",
    "given_tolerance",
    "goal_options",
    "pipeline_arguments",
    "program_argument",
    "tolerance_options",
    "wanted",
]

_FLAG = {"action": "store_true"}
_REPEATED = {"action": "append", "default": []}
# What completes the word behind an option or an operand.
COMPLETES = {"FILE": "file", "PATH": "file", "PROGRAM": "file", "DIRECTORY": "directory"}

_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    # Every command.
    "--quiet": _FLAG | {"help": "print no progress and no notes on standard error, only errors"},
    "--format": {
        "choices": ("text", "json"),
        "default": "text",
        "help": "format of the report; json is for machines",
    },
    "--all": _FLAG | {"help": "print everything instead of a summary of at most 1 MB of text"},
    "--output": {
        "type": destination,
        "metavar": "PATH",
        "help": "where to write the result; - is standard output, possible for a result of one "
        "file that the command does not read back",
    },
    "--verify": _FLAG
    | {"help": "execute the program and the artifact, and write nothing if the results differ"},
    "--attestation": {
        "metavar": "FILE.json",
        "help": "the file that attest sign wrote",
    },
    "--report": _REPEATED
    | {
        "type": destination,
        "metavar": "FILE",
        "help": "also write a report; its suffix selects the format: .json or .html, for gate "
        "also .xml and .md (repeatable)",
    },
    "--timeout": {
        "type": limit,
        "metavar": "SECONDS",
        "help": "time limit of each step that runs in a child process",
    },
    "--cluster": {"metavar": "ADDRESS", "help": "run on a Dask scheduler, e.g. tcp://host:8786"},
    # Who has to read the artifact.
    "--for": {
        "dest": "consumers",
        "action": "extend",
        "nargs": "+",
        "default": [],
        "metavar": "SPEC",
        "help": "the consumers: requirement specifiers such as 'jaxlib>=0.5,<0.11' or jaxlib "
        "(every known Release); stablehlo==1.9.0 for a runtime known by its Version alone",
    },
    "--target": {
        "metavar": "VERSION",
        "help": "the Version to write for: 1.9.0, current, minimum, WEEK_4, WEEK_12 or MAX",
    },
    "--stage": {
        "help": "the Stage to judge up to, for example decode (reads the artifact), roundtrip "
        "(writes back what it read) or execute (computes the same)",
    },
    "--assume": {
        "type": assumption,
        "action": "extend",
        "nargs": "+",
        "default": [],
        "metavar": "NAME",
        "help": "what you know of the values that the program is run on: no-nan, in-bounds, "
        "in-range, no-ties, small-angles, moderate, off-axes, positive-bases, small-exponents, "
        "any-random, any-rounding or no-negative-zero; what is wrong only otherwise does not "
        "count, and the Verdict says so",
    },
    "--depth": {
        "choices": ("header", "content"),
        "help": "what to read of artifacts: header (the Version they claim) or content",
    },
    "--policy": {"metavar": "FILE", "help": "the policy; '@NAME' names one of its consumer sets"},
    "--observe": _FLAG
    | {"help": "also read each artifact with the installed libStablehlo, in a child process"},
    "--strictness": {
        "choices": ("readable", "upstream"),
        "default": "readable",
        "help": "what an older Version allows: readable (what its real readers accept) or upstream "
        "(what upstream's serializer accepts)",
    },
    # How a program is written.
    "--locations": {
        "choices": ("downgrade", "keep", "strip"),
        "default": "downgrade",
        "help": "source locations: replace ranges by points where the target requires it "
        "(downgrade), keep all, or strip all",
    },
    "--no-expand": {
        "dest": "expand",
        "action": "store_false",
        "help": "do not let upstream's expander rewrite newer ops into older ones",
    },
    "--allow": _REPEATED
    | {
        "metavar": "REWRITE",
        "help": "allow a rewrite: a name that explain or check lists, or exact for all that give "
        "equal bits where the target requires them (repeatable)",
    },
    "--allow-dialect": _REPEATED
    | {
        "dest": "allow_dialects",
        "metavar": "DIALECT",
        "help": "accept ops of a dialect outside StableHLO, for example sdy (repeatable)",
    },
    # How a framework's program is lowered.
    "--args": {
        "action": "extend",
        "nargs": "*",
        "metavar": "[NAME=]TYPE[SIZES]",
        "help": "the types of the inputs: 'f32[2,3]' 'mask=i1[batch]' i64",
    },
    "--eval": _FLAG | {"help": "torch: call .eval() on the model first"},
    "--backend": {"help": "torch: the library that lowers the model"},
    # How a program is executed.
    "--executor": {"default": "pjrt", "help": "the Executor of the program"},
    "--on": {
        "metavar": "RELEASE",
        "help": "execute on this Release, such as 'jaxlib 0.4.33', in its own environment, which "
        "is made if missing (default: what is installed)",
    },
    "--platform": {
        "metavar": "PLATFORM",
        "default": "cpu",
        "help": "where pjrt executes: cpu, cuda, tpu, or the path of a PJRT plugin",
    },
    "--jobs": {
        "type": count,
        "metavar": "N",
        "help": "how many programs or commands to run at a time",
    },
    "--memory": {
        "type": limit,
        "metavar": "GIB",
        "help": "memory limit of the process that executes (default: 3/4 of the machine's)",
    },
    "--require-hashes": _FLAG
    | {
        "help": "install only files with a recorded digest, dependencies included "
        "(also PORTABLE_REQUIRE_HASHES=1)",
    },
    "--inputs": {"metavar": "FILE.npz", "help": "the inputs: arrays named 0, 1, ..."},
    "--random": {
        "type": natural,
        "metavar": "SEED",
        "help": "generate the inputs from this seed",
    },
    "--seeds": {"type": count, "metavar": "N", "help": "number of sets of random inputs"},
    "--specials": _FLAG | {"help": "include NaN, infinities and -0 in random inputs"},
    # How results are compared; one tolerance that is met is enough.
    "--ulps": {
        "type": natural,
        "default": 0,
        "metavar": "N",
        "help": "accept results at most this many ulps apart",
    },
    "--rtol": {
        "type": amount,
        "default": 0.0,
        "metavar": "R",
        "help": "or apart by at most this fraction of the larger one",
    },
    "--atol": {
        "type": amount,
        "default": 0.0,
        "metavar": "A",
        "help": "or apart by at most this much; one of the three suffices",
    },
}
_SHORT = {"--output": "-o", "--quiet": "-q"}

PIPELINE = ("--locations", "--no-expand", "--allow", "--allow-dialect")
"""What `portable.serialize` takes besides the program and its target."""

EXECUTION = ("--on", "--platform", "--inputs", "--memory", "--require-hashes")
"""Where a program is executed, and on what."""

FRAMEWORK = ("--args", "--eval", "--backend")
"""How a framework's program is lowered."""


def add(
    parser: argparse._ActionsContainer, *names: str, default_help: str = "", **changes: Any
) -> None:
    """Add shared options to a command.

    Args:
        parser: Its parser, or a group of it.
        names: Which options.
        default_help: What the help says of the default, where the value does not.
        changes: What this command has different: `default`, `choices` or `required`.
    """
    for name in names:
        declared = dict(_OPTIONS[name]) | changes
        default = declared.get("default")
        if said := default_help or ("%(default)s" if default not in (None, []) else ""):
            declared["help"] += f" (default: {said})"
        spellings = (_SHORT[name], name) if name in _SHORT else (name,)
        parser.add_argument(*spellings, **declared)


def program_argument(parser: argparse.ArgumentParser, *, nargs: str | None = None) -> None:
    """Add the operand PROGRAM, one or several, and the time limit of the compiler.

    Args:
        parser: Of the command.
        nargs: `+` for several.
    """
    parser.add_argument(
        "program" if nargs is None else "files",
        nargs=nargs,
        metavar="PROGRAM",
        help="StableHLO as MLIR text, MLIR bytecode, portable artifact, or a container of programs "
        "(Exported, SavedModel, torch_xla directory); - is standard input",
    )
    add(parser, "--timeout", default_help="60, and 1 more for each MiB of input")


def files_argument(parser: argparse.ArgumentParser) -> None:
    """Add the operand FILE..."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="portable artifacts, or containers of them; - is standard input",
    )


def goal_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add `--for` and `--target`, one of which says who has to read an artifact."""
    goal = parser.add_mutually_exclusive_group(required=required)
    add(goal, "--for", "--target")


def wanted(chosen: argparse.Namespace) -> tuple[str, ...]:
    """Return what `goal_options` were given, as `resolve_target` takes it."""
    return tuple(chosen.consumers) or ((chosen.target,) if chosen.target is not None else ())


def pipeline_arguments(chosen: argparse.Namespace) -> PinOptions:
    """Return what the options of `PIPELINE` were given, as `portable.serialize` takes it."""
    return {
        "locations": chosen.locations,
        "expand": chosen.expand,
        "allow": chosen.allow,
        "allow_dialects": chosen.allow_dialects,
    }


def tolerance_options(
    parser: argparse._ActionsContainer, *, ulps: int = 0, rtol: float = 0, atol: float | None = 0
) -> None:
    """Add `--ulps`, `--rtol` and `--atol`.

    Args:
        parser: Where.
        ulps: The default.
        rtol: The default.
        atol: The default; None where it depends on the expected results.
    """
    add(parser, "--ulps", default=ulps)
    add(parser, "--rtol", default=rtol, default_help="%(default)g")
    largest = "1e-6 of the largest expected value, at least 1e-5"
    add(parser, "--atol", default=atol, default_help=largest if atol is None else "%(default)g")


def given_tolerance(chosen: argparse.Namespace) -> Tolerance:
    """Return what `tolerance_options` were given."""
    # Only here: most commands execute nothing and need no numpy.
    from portable.runtime.executors import Tolerance

    return Tolerance(chosen.ulps, chosen.rtol, chosen.atol)
