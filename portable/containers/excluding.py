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
    if not wanted:
        return not parts
    first, rest = wanted[0], wanted[1:]
    if first == "**":
        # At the end it is everything inside of a folder, and not the folder.
        starts = range(len(parts) + 1 if rest else 0)
        return (bool(parts) and not rest) or any(_matches(parts[at:], rest) for at in starts)
    return bool(parts) and fnmatchcase(parts[0], first) and _matches(parts[1:], rest)
