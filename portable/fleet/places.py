"""Where a fleet lies: a folder, a bucket, a web server or a Hub; listed in order of its keys."""

from __future__ import annotations

import contextlib
import os
import stat
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from portable.containers.finding import EXCLUDED_FOLDERS
from portable.containers.source import Source
from portable.fleet.stores import DEFAULT, Bucket, Object, Place, PlaceError, Politeness
from portable.fleet.web import Hub, Web
from portable.system.files import FileError, InputFile, file_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = [
    "Object",
    "Place",
    "PlaceError",
    "fetch",
    "fetch_if_there",
    "is_remote",
    "open_place",
    "store",
]

_MOST = 8 << 30
"""How long an object may be that is read as a whole."""


def open_place(url: str, limits: Politeness = DEFAULT) -> Place:
    """Return what a URL or a path names.

    Args:
        url: A path or `file://`, a bucket with a prefix (`s3://`, `gs://`, `az://`), a folder or a
            list of a web server (`https://`), or a repository (`hf://`). Where a server is and who
            asks it stands in the environment, as its own tools read it (`AWS_ENDPOINT_URL`,
            `AWS_ACCESS_KEY_ID`, `HF_ENDPOINT`, `HF_TOKEN`, ...).
        limits: How many requests a server gets.

    Raises:
        PlaceError: It is no folder, there is no such scheme, or a library is not installed.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme == "file":
        return _Folder((rest if separator else url).rstrip("/") or "/")
    if scheme not in _SCHEMES:
        valid = ", ".join(f"{one}://" for one in _SCHEMES)
        raise PlaceError(f"cannot list {scheme}://", where=url, hint=f"valid: a path, {valid}")
    return _SCHEMES[scheme](url, limits)


def is_remote(place: str) -> bool:
    """Say whether a place is on a server."""
    return place.partition("://")[0] in _SCHEMES


def fetch(place: str) -> bytes:
    """Return the bytes of one object of a server.

    Args:
        place: Its URL, as an audit has it.

    Raises:
        PlaceError: There is no such place.
        FileError: The object cannot be read.
    """
    prefix, _, key = place.rpartition("/")
    return _SCHEMES[place.partition("://")[0]](prefix, DEFAULT).read(key, _MOST)


def fetch_if_there(place: str) -> bytes | None:
    """Return the bytes of one object of a bucket; None where there is none.

    Args:
        place: Its URL.

    Raises:
        PlaceError: It is in no bucket.
        FileError: It cannot be read.
    """
    bucket, key = _in_bucket(place)
    return bucket.read(key, _MOST) if bucket.has(key) else None


def store(place: str, data: bytes) -> None:
    """Write an object of a bucket that is not there yet.

    Args:
        place: Its URL.
        data: Its bytes.

    Raises:
        PlaceError: It is in no bucket.
        FileError: It cannot be written, or exists.
    """
    bucket, key = _in_bucket(place)
    bucket.write(key, data)


def _in_bucket(place: str) -> tuple[Bucket, str]:
    scheme, _, rest = place.partition("://")
    if _SCHEMES.get(scheme) is not Bucket:
        raise PlaceError(
            "cannot be written to", where=place, hint="valid: a path, s3://, gs://, az://"
        )
    name, _, key = rest.partition("/")
    return _bucket(f"{scheme}://{name}"), key


@lru_cache(maxsize=16)
def _bucket(url: str) -> Bucket:
    return Bucket(url, DEFAULT)


_SCHEMES: Mapping[str, Callable[[str, Politeness], Bucket | Web | Hub]] = {
    "s3": Bucket, "gs": Bucket, "az": Bucket, "http": Web, "https": Web, "hf": Hub
}  # fmt: skip


class _Folder:
    """A folder of this machine. Links are not followed: they would make it another one."""

    remote = False

    def __init__(self, path: str) -> None:
        self.url = path
        if not Path(path).is_dir():
            raise PlaceError("no such folder", where=path)

    def objects(self) -> Iterator[Object]:
        """Yield the files in it, and what else there is with the reason."""
        top = self.url.rstrip("/") + "/"
        below = [""]
        while below:
            key = below.pop()
            if not key or key.endswith("/"):
                # The last first; of a folder only names are kept, which may be a million.
                below += [key + name for name in self._names(top + key)]
            else:
                yield _listed(key, top + key)

    def counts(self) -> Iterator[int]:
        """Yield how many files each folder has."""
        below = [self.url]
        while below:
            files = 0
            with _entries(below.pop()) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        files += 1
                    elif entry.name not in EXCLUDED_FOLDERS:
                        below.append(entry.path)
            yield files

    def _names(self, path: str) -> list[str]:
        """List a folder, the last first; a folder's name is ordered as its keys begin."""
        with _entries(path) as entries:
            names = [
                f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
                for entry in entries
                if entry.name not in EXCLUDED_FOLDERS or not entry.is_dir(follow_symlinks=False)
            ]
        names.sort(reverse=True)
        return names

    def open(self, found: Object) -> Source:
        """Open a file that is what it was when it was listed."""
        file = InputFile(f"{self.url}/{found.key}")
        _, inode, size, time = file.identity
        if _etag(inode, size, time) != found.etag:
            raise FileError("changed since it was listed", where=file.path, hint="audit again")
        return Source(file)


@contextlib.contextmanager
def _entries(path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    try:
        with os.scandir(path) as entries:
            yield entries
    except OSError as error:
        raise PlaceError(file_error("read", error, path).what, where=path) from error


def _listed(key: str, path: str) -> Object:
    try:
        status = os.lstat(path)  # millions of them
    except OSError as error:
        return Object(key, 0, "", file_error("read", error, path).what)
    if not stat.S_ISREG(status.st_mode):
        return Object(
            key, 0, "", "a link" if stat.S_ISLNK(status.st_mode) else "not a regular file"
        )
    size = status.st_size
    return Object(key, size, _etag(status.st_ino, size, status.st_mtime_ns))


def _etag(inode: int, size: int, time: int) -> str:
    return f"{inode:x}-{size:x}-{time:x}"
