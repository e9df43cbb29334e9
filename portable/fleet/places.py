"""Where a fleet lies: a folder, a bucket, a web server or a Hub; listed in order of its keys."""

from __future__ import annotations

import contextlib
import itertools
import operator
import os
import stat
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from portable.containers.finding import EXCLUDED_FOLDERS
from portable.containers.source import Source
from portable.fleet.rows import batched
from portable.fleet.stores import (
    DEFAULT,
    Bucket,
    Object,
    Page,
    Place,
    PlaceError,
    Politeness,
)
from portable.fleet.web import Hub, Web
from portable.system.beneath import opened_folder, place_of
from portable.system.files import FileError, InputFile, file_error, is_folder, is_there

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
        path = rest if separator else url
        if not path:  # which is the working directory to some, and was the root to others
            raise PlaceError("no such folder", where=url or "''")
        return _Folder(path.rstrip("/") or "/")
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
        if not is_folder(path):
            hint = "name the folder that it is in" if is_there(path) else None
            raise PlaceError("not a folder" if hint else "no such folder", where=path, hint=hint)
        self._within = place_of(path)

    def objects(self) -> Iterator[Object]:
        """Yield the files in it, and what else there is with the reason."""
        return itertools.chain.from_iterable(page.objects() for page in self.pages())

    def pages(self) -> Iterator[Page]:
        """Yield the same by columns; neighbours in small folders together."""
        page = Page()
        for some in self._runs():
            page.add(some)
            if len(page.keys) >= _AT_ONCE:
                yield page
                page = Page()
        if page.keys:
            yield page

    def _runs(self) -> Iterator[Page]:
        """Search the folders, the first of which is the last of those that are open."""
        below = [self._inside("")]
        while below:
            found = next(below[-1], None)
            if found is None:
                below.pop()
            elif isinstance(found, str):
                below.append(self._inside(found))
            else:
                yield found

    def _inside(self, folder: str) -> Iterator[str | Page]:
        """Yield in order what is in a folder: some files at a time, and the keys of folders."""
        try:
            # Of a folder only names are kept, which may be a million.
            found = self._names(folder)
        except PlaceError as error:
            if not folder:
                raise
            yield Page([folder], [0], [""], [error.what])
            return
        for are_folders, names in itertools.groupby(found, _ENDS_IN_A_SLASH):
            if are_folders:
                yield from (folder + name for name in names)
            else:
                for some in batched(names, _AT_ONCE):
                    yield from self._files(folder, some)

    def counts(self) -> Iterator[int]:
        """Yield how many files each folder has."""
        below = [self.url]
        while below:
            files = 0
            try:
                here = below.pop()
                with _entries(here, self._within) as entries:
                    for entry in entries:
                        if not entry.is_dir(follow_symlinks=False):
                            files += 1
                        elif entry.name not in EXCLUDED_FOLDERS:
                            below.append(f"{here}/{entry.name}")
            except PlaceError:
                files = 1  # it is one that cannot be read
            yield files

    def _names(self, folder: str) -> list[str]:
        """List a folder; a folder's name is ordered as its keys begin."""
        with _entries(self._path(folder), self._within) as entries:
            names = [
                f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
                for entry in entries
            ]
        return sorted(name for name in names if name not in _EXCLUDED)

    def _files(self, folder: str, names: Sequence[str]) -> Iterator[Page]:
        path = self._path(folder)
        try:
            # By their names in it: a path would be followed again for each of millions.
            with opened_folder(path, self._within) as here:
                look = partial(os.stat, dir_fd=here, follow_symlinks=False)
                found = list(map(_FIELDS, map(look, names)))
        except OSError as error:
            if len(names) == 1:
                why = file_error("read", error, path).what
                yield Page([folder + names[0]], [0], [""], [why])
            else:
                for name in names:
                    yield from self._files(folder, [name])
            return
        modes, *numbers = zip(*found, strict=True)
        page = Page(
            [folder + name for name in names],
            list(numbers[1]),
            list(map(_ETAG, zip(*numbers, strict=True))),
            [_ODD.get(kind, _SPECIAL) for kind in map(stat.S_IFMT, modes)],
        )
        for at, odd in enumerate(page.odd):
            if odd:
                page.sizes[at], page.etags[at] = 0, ""
        yield page

    def _path(self, folder: str) -> str:
        return f"{self.url.rstrip('/')}/{folder}"

    def open(self, found: Object) -> Source:
        """Open a file that is what it was when it was listed."""
        file = InputFile(f"{self.url}/{found.key}", self._within)
        if _ETAG(file.identity[1:]) != found.etag:
            raise FileError("changed since it was listed", where=file.path, hint="audit again")
        return Source(file)

    def read(self, key: str, most: int) -> bytes:
        """Return the bytes of a file.

        Raises:
            FileError: It cannot be read, or is longer than `most`.
        """
        file = InputFile(f"{self.url}/{key}", self._within)
        if len(file) > most:
            raise FileError(f"longer than {most:,} bytes", where=file.path)
        return file.read()


@contextlib.contextmanager
def _entries(path: str, within: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    try:
        with opened_folder(path, within) as here, os.scandir(here) as entries:
            yield entries
    except OSError as error:
        raise PlaceError(file_error("read", error, path).what, where=path) from error


_FIELDS = operator.attrgetter("st_mode", "st_ino", "st_size", "st_mtime_ns")
_ETAG = "%x-%x-%x".__mod__
_ODD = {stat.S_IFREG: "", stat.S_IFLNK: "a link"}
_SPECIAL = "not a regular file"
_EXCLUDED = {f"{name}/" for name in EXCLUDED_FOLDERS}
_ENDS_IN_A_SLASH = operator.methodcaller("endswith", "/")
_AT_ONCE = 1000
"""How many files are listed while their folder is open."""
