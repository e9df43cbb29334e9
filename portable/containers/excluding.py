"""What patterns exclude, as `.gitignore` has them: of files, and of objects by their keys."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

__all__ = ["excluded"]


def excluded(path: str, patterns: tuple[str, ...], *, folder: bool = False) -> str:
    """Return the pattern that excludes a path, or a folder that it is in; nothing without one.

    A pattern without a slash is of a name at any depth, one with a slash of the whole path; a slash
    at its end makes it one of folders. `*`, `?` and `[...]` match no slash, `**` any folders. The
    last pattern that matches decides, and one that begins with `!` excludes not. What is in an
    excluded folder stays excluded.

    Args:
        path: Relative to what the patterns are relative to, with slashes.
        patterns: All of them.
        folder: Whether the path is that of a folder.
    """
    home = path.rpartition("/")[0]
    return (home and _excluded_folder(home, patterns)) or _decided(path, patterns, folder=folder)


@lru_cache(maxsize=256)
def _excluded_folder(path: str, patterns: tuple[str, ...]) -> str:
    parts = path.split("/")
    each = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
    return next(filter(None, (_decided(one, patterns, folder=True) for one in each)), "")


def _decided(path: str, patterns: tuple[str, ...], *, folder: bool) -> str:
    parts = tuple(path.split("/"))
    for pattern in reversed(patterns):
        only_folders, wanted = _parsed(pattern.removeprefix("!"))
        if (folder or not only_folders) and _matches(parts, wanted):
            return "" if pattern.startswith("!") else pattern
    return ""


@lru_cache(maxsize=1024)
def _parsed(pattern: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether a pattern is of folders alone, and what each part of a path has to match."""
    whole = pattern.rstrip("/")
    return whole != pattern, tuple((whole if "/" in whole else f"**/{whole}").strip("/").split("/"))


def _matches(parts: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    # Which parts of the pattern may be next, after so much of the path: there may be many `**`.
    end = len(wanted)
    places = _reached({0}, wanted)
    for part in parts:
        following = set[int]()
        for at in places - {end}:
            if wanted[at] == "**":
                following |= {at, at + 1} if at + 1 == end else {at}
            elif fnmatchcase(part, wanted[at]):
                following.add(at + 1)
        places = _reached(following, wanted)
    return end in places


def _reached(places: set[int], wanted: tuple[str, ...]) -> set[int]:
    """Add what stands behind each `**`, which may be no folder; at the end it is something."""
    found = set(places)
    for start in places:
        at = start
        while at + 1 < len(wanted) and wanted[at] == "**" and at + 1 not in found:
            at += 1
            found.add(at)
    return found
