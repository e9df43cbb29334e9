"""List every artifact of folders and buckets, with what it claims and needs, as Parquet.

URLs are folders, buckets with a prefix (s3://, gs://, az://), folders of web servers and lists of
what they hold (https://HOST/FOLDER/NAME.txt), and repositories (hf://OWNER/NAME). Servers and
credentials are taken from the environment variables of their own tools (AWS_ENDPOINT_URL,
AWS_ACCESS_KEY_ID, HF_ENDPOINT, ...). Artifacts and containers are found by content and by name. An
object that the fleet file has from an earlier audit is read again only if it changed; an audit that
was killed continues where it stopped.

With --query or --sql an existing FLEET is queried instead, in SQL, over the views fleet,
everything, windows and (with --for) verdicts. The queries that ship with portable:

QUERIES
"""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING

from portable.cli.matrix import cluster
from portable.cli.options import add
from portable.cli.output import demand_apart, print_json, print_table, say
from portable.cli.progress import counting
from portable.cli.usage import BadUsage, amount, count, date, demand_name
from portable.fleet import Audit, Politeness, ask, audit, query_names, query_text
from portable.releases import named_consumers
from portable.system.wording import many, path_word

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

__doc__ = __doc__.replace(  # the table of queries is its one place
    "QUERIES", "\n".join(f"  {name:<12} {asks}" for name, asks in query_names().items())
)

EXAMPLES = """
portable audit models/ -o fleet.parquet --depth content
portable audit models/ s3://serving/models -o fleet.parquet
portable audit fleet.parquet --query expiring --by 2027-06-30
portable audit fleet.parquet --query unread --for 'jaxlib==0.5.3'
portable audit fleet.parquet --sql 'SELECT kind, count(*) FROM fleet GROUP BY kind'
"""
EXIT_CODES = {
    0: "done",
    2: "something could not be read (it is in the file, with the reason), or bad usage",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "places",
        nargs="+",
        metavar="URL",
        help="folders, buckets and other places; FLEET with --query, --sql",
    )
    add(parser, "--output", default_help="required, unless a FLEET is queried")
    add(parser, "--depth", default="header")
    parser.add_argument(
        "--at-once",
        type=count,
        default=16,
        metavar="N",
        help="requests to one server at a time, at most (default: %(default)s)",
    )
    parser.add_argument(
        "--per-second",
        type=amount,
        default=0.0,
        metavar="N",
        help="requests to one server per second, at most (default: no limit)",
    )
    add(parser, "--cluster")
    question = parser.add_mutually_exclusive_group()
    question.add_argument("--query", metavar="NAME", help="query FLEET with one of the above")
    question.add_argument("--sql", metavar="STATEMENT", help="query FLEET with this SQL")
    parser.add_argument(
        "--by",
        type=date,
        metavar="DATE",
        help="the date of --query expiring, e.g. 2027-06-30 (default: in 90 days)",
    )
    add(parser, "--for")
    add(parser, "--all", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Audit, or ask what an audit wrote."""
    asked = chosen.query is not None or chosen.sql is not None
    if asked == (chosen.output is not None) or (asked and len(chosen.places) > 1):
        raise BadUsage(
            "missing --output" if not asked else "--query and --sql take one FLEET, no --output",
            hint="e.g. portable audit models/ -o fleet.parquet, and then "
            "portable audit fleet.parquet --query by-version",
        )
    if asked and chosen.cluster:
        raise BadUsage("--cluster is for an audit", hint="a FLEET is queried on this machine")
    if chosen.consumers and not asked:
        raise BadUsage("--for is for --query and --sql", hint="portable plan judges a fleet")
    if chosen.by and not asked:
        raise BadUsage("--by is for --query and --sql")
    return _ask(chosen) if asked else _audit(chosen)


def _audit(chosen: argparse.Namespace) -> int:
    demand_name(chosen.output)
    demand_apart(chosen.output, *chosen.places)
    with contextlib.ExitStack() as stack:
        tell = stack.enter_context(counting("objects"))
        executor = stack.enter_context(cluster(chosen.cluster)) if chosen.cluster else None
        done = audit(
            chosen.places,
            chosen.output,
            depth=chosen.depth,
            limits=Politeness(chosen.at_once, chosen.per_second),
            executor=executor,
            tell=lambda done: tell(done.objects, done.expected),
        )
    if chosen.format == "json":
        print_json(done.record())
    else:
        _say(done, chosen.output)
    return 2 if done.damaged else 0


def _say(done: Audit, output: str) -> None:
    print_table(
        ("kind", "count"), [(kind, f"{n:,}") for kind, n in Counter(done.kinds).most_common()]
    )
    say(
        f"{output}: {many(done.artifacts, 'artifact')} in {many(done.objects, 'object')}, of which "
        f"{done.unchanged:,} are unchanged"
    )
    if done.damaged:
        question = f"portable audit {path_word(output)} --query damaged"
        say(f"{done.damaged:,} could not be read: {question}")


def _ask(chosen: argparse.Namespace) -> int:
    sql = chosen.sql if chosen.sql is not None else query_text(chosen.query)
    consumers = named_consumers(*chosen.consumers).releases
    names, rows = ask(chosen.places[0], sql, consumers, by=chosen.by)
    if chosen.format == "json":
        found = [dict(zip(names, map(_plain, row), strict=True)) for row in rows]
        print_json({"columns": list(names), "rows": found})
    else:
        print_table(names, [[_text(cell) for cell in row] for row in rows])
    return 0


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)


def _plain(cell: object) -> object:
    return cell if isinstance(cell, (str, int, float, list)) or cell is None else str(cell)
