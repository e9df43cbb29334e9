"""List, make and remove the environments in which real Releases run.

list shows what is there, what removing it frees, and when it was last used. make installs what is
missing. prune removes the least recently used until --keep is left. clear removes all, or the
names given. Other commands make the environments that they need.

PORTABLE_CACHE is the folder of the environments; with PORTABLE_OFFLINE=1 nothing is downloaded.
Files that an environment shares with uv's cache are not counted: removing it does not free them.
"""

from __future__ import annotations

import contextlib
import datetime
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.cli.making import making
from portable.cli.options import add
from portable.cli.output import complain, note, print_json, print_table, say
from portable.cli.usage import amount, size
from portable.errors import PortableError
from portable.releases import runnable_releases
from portable.runtime.environments import EnvironmentMissing, Environments, Phase

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from portable.releases import Release
    from portable.runtime.environments import Environment

__all__ = ["EXAMPLES", "EXIT_CODES", "BadRequest", "options", "run"]

EXAMPLES = """
portable env list
portable env make 'jaxlib>=0.5' tensorflow==2.18.1
portable env prune --keep 10GB
portable env clear
portable env clear --unused-for 30
"""
EXIT_CODES = {0: "done", 2: "an environment could not be made or is in use, or bad usage"}

_DAY_S = 86400.0


class BadRequest(PortableError):
    """The options do not fit the action."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=sorted(_ACTIONS), help="what to do")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="SPEC",
        help="make: requirement specifiers of Releases; clear: names that list shows",
    )
    parser.add_argument(
        "--to-execute",
        action="store_true",
        help="make: install whole wheels, also where one file of them suffices to read artifacts",
    )
    add(parser, "--require-hashes")
    parser.add_argument(
        "--unused-for",
        type=amount,
        metavar="DAYS",
        help="clear: only what was not used for this many days",
    )
    parser.add_argument("--keep", type=size, metavar="SIZE", help="prune: e.g. 10GB or 500MB")
    add(parser, "--format")


def run(chosen: argparse.Namespace) -> int:
    """Do one of the actions."""
    days = chosen.unused_for
    if chosen.action in {"list", "prune"} and chosen.names:
        raise BadRequest(f"{chosen.action} takes no names", hint="see portable env --help")
    if chosen.action == "make" and not chosen.names:
        raise BadRequest("make needs a specifier", hint="e.g. 'jaxlib>=0.5' or jaxlib==0.4.33")
    if days is not None and (chosen.action != "clear" or not 0 <= days < math.inf):
        raise BadRequest("--unused-for is for clear only")
    if (chosen.keep is not None) != (chosen.action == "prune"):
        raise BadRequest("--keep is required by prune, and for prune only", hint="e.g. --keep 10GB")
    return _ACTIONS[chosen.action](chosen)


def _list(chosen: argparse.Namespace) -> int:
    environments = Environments()
    found, broken = list(_measured(environments.all())), environments.broken()
    total = sum(one.size for one in found)
    if chosen.format == "json":
        records = [one.record() for one in found]
        place = {"directory": str(environments.directory), "bytes": total}
        print_json(place | {"environments": records, "unfinished": list(broken)})
        return 0
    if found:
        print_table(("name", "python", "frees", "last used (UTC)"), [one.row() for one in found])
    for name in broken:
        say(f"{name}: unfinished or broken")
    say(f"{len(found)} environments, {_shown(total)} in {environments.directory}")
    return 0


def _make(chosen: argparse.Namespace) -> int:
    wanted = tuple(dict.fromkeys(runnable_releases(*chosen.names)))
    made: list[Environment] = []
    failed: list[tuple[Release, PortableError]] = []
    with making(len(wanted)) as tell:
        environments = Environments(progress=tell, require_hashes=chosen.require_hashes)
        for release in wanted:
            try:
                made.append(environments.get(release, to_execute=chosen.to_execute))
            except PortableError as error:
                # One Release that cannot be installed must not prevent the others.
                failed.append((release, error))
            else:
                tell(made[-1].name, Phase.READY)
    if chosen.format == "json":
        failures = [{"release": str(release)} | error.record() for release, error in failed]
        ready = [one.record() for one in _measured(made)]
        print_json({"ready": ready, "failed": failures})
    else:
        for environment in made:
            say(f"{environment.name}: ready in {environment.directory}")
        for _, failure in failed:
            complain(failure, as_json=False)
    return 2 if failed else 0


def _clear(chosen: argparse.Namespace) -> int:
    environments = Environments()
    present = {environment.name for environment in environments.all()} | {*environments.broken()}
    for name in chosen.names:
        if name not in present:
            raise EnvironmentMissing(f"no environment {name}", hint="see `portable env list`")
    unused_for = (chosen.unused_for or 0.0) * _DAY_S
    removed = environments.clear(chosen.names or None, unused_for=unused_for)
    # What another run uses is left; names that were given and are in use are reported.
    busy = [name for name in chosen.names if name not in removed] if not unused_for else []
    if chosen.format == "json":
        print_json({"removed": removed, "busy": busy})
    else:
        for name in removed:
            say(f"{name}: removed")
        for name in busy:
            note(f"{name}: in use by another run, left alone")
        say(f"{len(removed)} environments removed")
    return 2 if busy else 0


def _prune(chosen: argparse.Namespace) -> int:
    environments = Environments()
    removed, left = environments.prune(chosen.keep)
    freed = sum(removed.values())
    if chosen.format == "json":
        records = [{"name": name, "bytes": bytes_} for name, bytes_ in removed.items()]
        print_json({"removed": records, "freed": freed, "bytes": left})
        return 0
    for name, bytes_ in removed.items():
        say(f"{name}: removed, {_shown(bytes_)} freed")
    say(
        f"{len(removed)} environments removed, {_shown(freed)} freed,"
        f" {_shown(left)} left in {environments.directory}"
    )
    return 0


_ACTIONS = {"list": _list, "make": _make, "prune": _prune, "clear": _clear}


@dataclass(frozen=True, slots=True)
class _Measured:
    """An environment, the bytes that removing it frees, and when it was last used."""

    environment: Environment
    size: int
    used: datetime.datetime

    def row(self) -> tuple[str, str, str, str]:
        python = self.environment.recipe.python
        return (self.environment.name, python, _shown(self.size), f"{self.used:%Y-%m-%d %H:%M}")

    def record(self) -> dict[str, object]:
        return {
            "name": self.environment.name,
            "release": self.environment.consumer,
            "python": self.environment.recipe.python,
            "bytes": self.size,
            "last_used": self.used.isoformat(timespec="seconds"),
            "directory": str(self.environment.directory),
        }


def _measured(environments: Iterable[Environment]) -> Iterator[_Measured]:
    for one in environments:
        # Another run may be clearing them.
        with contextlib.suppress(OSError):
            used = datetime.datetime.fromtimestamp(one.last_used, datetime.UTC)
            yield _Measured(one, one.size(), used)


def _shown(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
