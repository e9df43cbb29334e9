"""Check a tree of artifacts against the project's policy.

The policy is portable.toml, or [tool.portable] in pyproject.toml, here or above. Verdicts are
predicted from the bytes and the tables of what has shipped; with --observe the installed
libStablehlo reads each artifact too, in a child process.

Folders are searched by content and by name: MLIR bytecode, containers, and *.mlir.bc, *.mlirbc,
*.exported, *.bytecode. Every other file is accounted for: excluded by the policy or because tools
keep it (.git, .venv, node_modules), or counted, or not judged, which exits with 2.

  portable gate models/
  portable gate models/ --for 'jaxlib>=0.5' 'tensorflow~=2.18'
  portable gate models/ --format junit -o gate.xml
  git diff --name-only main | xargs portable gate --changed --policy release.toml --format github
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import TYPE_CHECKING

from portable.cli.output import all_option, demand_apart, write_report, write_text
from portable.cli.usage import BadUsage, destination
from portable.errors import PortableError
from portable.policy import Depth, GateResult, Policy, PolicyNotFound, Rules, gate, load_policy
from portable.policy.report import as_github, as_json, as_junit, as_text

if TYPE_CHECKING:
    import argparse

    from portable.artifact import Artifact
    from portable.verdict import Verdict

__all__ = ["BadDate", "options", "run"]


class BadDate(PortableError):
    """The text is no date."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="artifacts, or folders of them")
    parser.add_argument("--policy", metavar="FILE", help="the policy (default: look for it)")
    parser.add_argument(
        "--for",
        dest="consumers",
        nargs="+",
        metavar="SPEC",
        help="consumers instead of those of the policy: 'jaxlib>=0.5,<0.11', or a set of it as "
        "'@serving'; the other rules hold, and without a policy this is all of it",
    )
    parser.add_argument(
        "--depth",
        choices=[str(depth) for depth in Depth],
        help="header trusts what artifacts claim, content reads them (default: as the policy says)",
    )
    parser.add_argument(
        "--observe", action="store_true", help="read each with the installed library as well"
    )
    parser.add_argument("--as-of", metavar="DATE", help="judge waivers and ages as of that day")
    parser.add_argument(
        "--no-strict",
        dest="strict",
        action="store_false",
        help="pass although something could not be judged",
    )
    parser.add_argument(
        "--changed",
        action="store_true",
        help="the PATHs are the files of a change: those that are no artifacts are counted, and "
        "there need not be any",
    )
    parser.add_argument(
        "--load-plugins",
        action="store_true",
        help="load shared libraries that the policy names as consumers (plugin:PATH)",
    )
    all_option(parser)
    parser.add_argument(
        "--format",
        choices=("text", "json", "junit", "github"),
        default="text",
        help="github prints workflow annotations",
    )
    parser.add_argument(
        "-o", "--output", type=destination, metavar="FILE", help="write there instead of to stdout"
    )


def run(chosen: argparse.Namespace) -> int:
    """Check a tree of artifacts."""
    if not chosen.paths and not chosen.changed:
        raise BadUsage("no PATH to check", hint="as in: portable gate models/")
    demand_apart(chosen.output, chosen.policy, *chosen.paths)
    policy = _policy(chosen)
    if chosen.depth:
        policy = replace(policy, rules=replace(policy.rules, depth=Depth(chosen.depth)))
    result = gate(
        chosen.paths,
        policy,
        on=_day(chosen.as_of),
        observe=_observe if chosen.observe else None,
        strict=chosen.strict,
        changed=chosen.changed,
    )
    demand_apart(chosen.output, *{str(file.path) for file in result.files})
    _write(result, chosen.format, chosen.output)
    if result.unreadable or result.incomplete or result.undecided:
        return 2
    return 0 if result.passed else 1


def _policy(chosen: argparse.Namespace) -> Policy:
    """Return the policy, for the consumers that were named if any were."""
    consumers = tuple(chosen.consumers or ())
    try:
        return load_policy(chosen.policy, consumers=consumers, load_plugins=chosen.load_plugins)
    except PolicyNotFound:
        if chosen.policy or not consumers:
            raise
        return Policy(rules=Rules(consumers=consumers), where="--for")


def _day(text: str | None) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text) if text else None
    except ValueError as error:
        raise BadDate(f"{text!r} is no date: {error}", hint="write 2027-01-31") from None


def _observe(artifact: Artifact) -> Verdict:
    from portable.runtime.observation import observe  # noqa: PLC0415 - starts a compiler in a child process

    return observe(artifact)


def _write(result: GateResult, style: str, output: str | None) -> None:
    renderers = {"text": as_text, "json": as_json, "junit": as_junit, "github": as_github}
    write = write_report if style == "text" else write_text
    write(output or "-", renderers[style](result))
