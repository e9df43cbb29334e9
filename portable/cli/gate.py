"""Check a tree of artifacts against the project's policy.

The policy is portable.toml, or [tool.portable] in pyproject.toml, in this folder or one above.
Verdicts are predicted from the bytes and the tables of Releases; with --observe the installed
libStablehlo reads each artifact too, in a child process.

In folders, artifacts are recognized by content (MLIR bytecode, containers) and by name (*.mlir.bc,
*.mlirbc, *.exported, *.bytecode). Every other file is listed as excluded (by the policy, or in a
folder of tools such as .git, .venv, node_modules), listed as not judged, or counted. Buckets and
the other places of portable audit are searched in the same way. An audit (FLEET.parquet) is judged
by its rows; the artifacts are not read again.
"""

from __future__ import annotations

import datetime
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from portable.cli.options import add
from portable.cli.output import demand_apart, write_report, write_text
from portable.cli.usage import BadUsage, format_of
from portable.errors import PortableError
from portable.policy import Depth, Policy, PolicyNotFound, Rules, gate, load_policy
from portable.policy.report import as_github, as_json, as_junit, as_text
from portable.policy.summary import as_html, as_markdown

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from portable.artifact import Artifact
    from portable.containers.finding import Found
    from portable.policy import Recorded
    from portable.verdict import Verdict

__all__ = ["EXAMPLES", "EXIT_CODES", "BadDate", "options", "run"]

EXAMPLES = """
portable gate models/
portable gate models/ --for 'jaxlib>=0.5' 'tensorflow~=2.18'
portable gate models/ --report gate.html --report gate.xml
portable gate s3://serving/models fleet.parquet --for 'jaxlib>=0.5'
portable gate --changed a.mlir.bc b.mlir.bc --policy release.toml --format github
"""
_RENDERERS = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "github": as_github,
    "markdown": as_markdown,
    "html": as_html,
}
# What the ending of a report's name stands for.
_ENDINGS = {".json": "json", ".xml": "junit", ".md": "markdown", ".html": "html"}
EXIT_CODES = {
    0: "every artifact passes",
    1: "an artifact violates the policy",
    2: "a file could not be judged (--no-strict), or bad usage",
}


class BadDate(PortableError):
    """The text is not a date."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="artifacts, folders and buckets (s3://...) that are "
        "searched for them, and audits (*.parquet)",
    )
    add(parser, "--for", default_help="those of the policy; '@NAME' for a set of it")
    add(parser, "--policy", default_help="in this folder or one above")
    add(parser, "--depth", default_help="that of the policy")
    add(parser, "--observe")
    parser.add_argument(
        "--as-of", metavar="DATE", help="judge waivers and ages as of this day (default: today)"
    )
    parser.add_argument(
        "--no-strict",
        dest="strict",
        action="store_false",
        help="pass although some files could not be judged",
    )
    parser.add_argument(
        "--changed",
        action="store_true",
        help="the PATHs are the files of a change: there may be none, and files that are not "
        "artifacts are counted",
    )
    parser.add_argument(
        "--load-plugins",
        action="store_true",
        help="load shared libraries that the policy names as consumers (plugin:PATH)",
    )
    add(parser, "--all")
    add(parser, "--output", default="-")
    add(parser, "--format", choices=tuple(_RENDERERS))
    add(parser, "--report")


def run(chosen: argparse.Namespace) -> int:
    """Check a tree of artifacts."""
    if not chosen.paths and not chosen.changed:
        raise BadUsage("missing PATH", hint="e.g. portable gate models/")
    styles = [format_of(path, _ENDINGS) for path in chosen.report]
    for output in (chosen.output, *chosen.report):
        demand_apart(output, chosen.policy, *chosen.paths)
    elsewhere = [
        path
        for path in chosen.paths
        if "://" in path or (path.endswith(_FLEET) and not chosen.changed)
    ]
    if elsewhere and chosen.changed:
        raise BadUsage("--changed takes files of this machine", hint=elsewhere[0])
    policy = _policy(chosen)
    if chosen.depth:
        policy = replace(policy, rules=replace(policy.rules, depth=Depth(chosen.depth)))
    result = gate(
        [path for path in chosen.paths if path not in elsewhere],
        policy,
        on=_day(chosen.as_of),
        observe=_observe if chosen.observe else None,
        strict=chosen.strict,
        changed=chosen.changed,
        elsewhere=itertools.chain.from_iterable(_found(one, policy.rules) for one in elsewhere),
    )
    judged = {str(file.path) for file in result.files}
    for output in (chosen.output, *chosen.report):
        demand_apart(output, *judged)
    for output, style in zip(chosen.report, styles, strict=True):
        write_text(output, _RENDERERS[style](result))
    write = write_report if chosen.format == "text" else write_text
    write(chosen.output, _RENDERERS[chosen.format](result))
    if result.unreadable or result.incomplete or result.undecided:
        return 2
    return 0 if result.passed else 1


def _found(name: str, rules: Rules) -> Iterator[Found | Sequence[Recorded]]:
    """Find what is at a URL, or what an audit has read."""
    from portable.fleet.gating import find_at, recorded  # an extra

    yield from recorded(name) if name.endswith(_FLEET) else find_at(name, rules)


_FLEET = ".parquet"


def _policy(chosen: argparse.Namespace) -> Policy:
    """Return the policy, with the consumers of --for instead of its own if there are any."""
    consumers = tuple(chosen.consumers)
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
        raise BadDate(f"{text!r} is not a date: {error}", hint="e.g. 2027-01-31") from None


def _observe(artifact: Artifact) -> Verdict:
    from portable.runtime.observation import observe  # starts a compiler in a child process

    return observe(artifact)
