"""Where this package keeps what it made for a user: environments, and what he measured himself."""

from __future__ import annotations

import os
from contextvars import ContextVar
from typing import NamedTuple

from portable.errors import PortableError

__all__ = ["ForeignCache", "NamedTable", "cache_folder", "demand_own", "named_table"]

TRUSTED = "PORTABLE_TRUST_CACHE"
"""The variable that lets a folder be used which somebody else can write to."""


class NamedTable(NamedTuple):
    """The table of Releases that a policy names, as it was read.

    Args:
        path: Where it stands.
        text: What it says, in TOML.
    """

    path: str
    text: bytes


named_table: ContextVar[NamedTable | None] = ContextVar("named_table", default=None)
"""The table that the policy in use names: of this thread, and of the children that it calls."""

# With the second bit set, as on /tmp, only owners replace their files.
_OTHERS_WRITE, _ONLY_OWN = 0o002, 0o1000


class ForeignCache(PortableError):
    """What is kept in a folder could be somebody else's."""


def demand_own(*paths: str | os.PathLike[str]) -> None:
    """Refuse folders and files that somebody else owns, or that everybody may write to.

    What is in the cache is executed, or decides Verdicts. The superuser is trusted, and so is the
    group. What is not there is passed over.

    Args:
        paths: Which.

    Raises:
        ForeignCache: One is another user's, and `PORTABLE_TRUST_CACHE` is not set.
    """
    if os.environ.get(TRUSTED, "0") not in {"", "0"}:
        return
    for path in paths:
        try:
            link, found = os.lstat(path), os.stat(path)
        except OSError:  # whoever opens it reports this
            continue
        if not {link.st_uid, found.st_uid} <= {0, os.geteuid()}:
            raise ForeignCache("belongs to another user", where=os.fspath(path), hint=_HINT)
        if found.st_mode & _OTHERS_WRITE and not found.st_mode & _ONLY_OWN:
            raise ForeignCache("everybody may write to it", where=os.fspath(path), hint=_HINT)


_HINT = f"set PORTABLE_CACHE to a folder of your own, or {TRUSTED}=1 to use it all the same"


def cache_folder() -> str:
    """Return the folder: `PORTABLE_CACHE`, else `stablehlo-portable` in the user's cache folder."""
    chosen = os.environ.get("PORTABLE_CACHE")
    if chosen:
        return chosen
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # never raises
    return os.path.join(base, "stablehlo-portable")
