"""Where a fleet lies: a folder or a bucket, listed in the order of its keys, read by ranges.

Buckets are read by obstore, which signs requests, repeats those that a server throttles (429, 503)
and gives up after three minutes. A listing in order makes an audit resumable with little memory.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from portable.containers.finding import EXCLUDED_FOLDERS
from portable.containers.source import Source
from portable.errors import PortableError
from portable.system.files import FileError, InputFile, file_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Object", "Place", "PlaceError", "fetch", "is_remote", "open_place"]

# How many bytes a first request brings, and each that follows, unless more are wanted.
_BLOCK, _MORE = 64 << 10, 4 << 10


class PlaceError(PortableError):
    """A folder or a bucket cannot be listed or read."""


class Object(NamedTuple):
    """One file or one object of a bucket.

    Args:
        key: Its path inside of the place.
        size: Bytes.
        etag: Changes when the content does: the ETag of a bucket, size and time of a file.
        odd: Why it is not looked into; empty for a regular file.
    """

    key: str
    size: int
    etag: str
    odd: str = ""


class Place(Protocol):
    """A folder or a bucket.

    Attributes:
        url: How it was named, without a slash at its end.
        remote: Whether reading waits for a server, so that several reads at once are faster.
    """

    url: str
    remote: bool

    def objects(self) -> Iterator[Object]:
        """Yield everything in it, in the order of the keys.

        Raises:
            PlaceError: It cannot be listed.
        """

    def open(self, found: Object) -> Source:
        """Open one of its objects; of a bucket's, nothing is read before it is looked at.

        Raises:
            FileError: It cannot be read, or is another than when it was listed.
        """


def open_place(url: str) -> Place:
    """Return what a URL or a path names.

    Args:
        url: A path or `file://`, or a bucket with a prefix: `s3://`, `gs://`, `az://`. Where a
            server is and who asks it stands in the environment, as its own tools read it
            (`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, ...).

    Raises:
        PlaceError: It is no folder, there is no such scheme, or obstore is not installed.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme == "file":
        return _Folder((rest if separator else url).rstrip("/") or "/")
    if scheme not in _SCHEMES:
        raise PlaceError(
            f"cannot list {scheme}://", where=url, hint=f"valid: a path, {', '.join(_SCHEMES)}"
        )
    return _Bucket(url.rstrip("/"))


def is_remote(place: str) -> bool:
    """Say whether a place is in a bucket."""
    return place.partition("://")[0] in _SCHEMES


def fetch(place: str) -> bytes:
    """Return the bytes of one object of a bucket.

    Args:
        place: Its URL, as an audit has it.

    Raises:
        PlaceError: There is no such bucket.
        FileError: The object cannot be read.
    """
    prefix, _, key = place.rpartition("/")
    return _Bucket(prefix).fetch(key)


_SCHEMES = {"s3": "s3://", "gs": "gs://", "az": "az://"}


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

    def _names(self, path: str) -> list[str]:
        """List a folder, the last first; a folder's name is ordered as its keys begin."""
        try:
            with os.scandir(path) as entries:
                names = [
                    f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
                    for entry in entries
                    if entry.name not in EXCLUDED_FOLDERS or not entry.is_dir(follow_symlinks=False)
                ]
        except OSError as error:
            raise PlaceError(file_error("read", error, path).what, where=path) from error
        names.sort(reverse=True)
        return names

    def open(self, found: Object) -> Source:
        """Open a file that is what it was when it was listed."""
        file = InputFile(f"{self.url}/{found.key}")
        _, inode, size, time = file.identity
        if _etag(inode, size, time) != found.etag:
            raise FileError("changed since it was listed", where=file.path, hint="audit again")
        return Source(file)


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


class _Bucket:
    """A bucket, or what is below a prefix in it."""

    remote = True

    def __init__(self, url: str) -> None:
        self.url = url
        self._obstore = _obstore()
        try:
            self._store = self._obstore.store.from_url(url)
        except self._obstore.exceptions.BaseError as error:
            raise PlaceError(_said(error), where=url) from None

    def __reduce__(self) -> tuple[Callable[[str], Place], tuple[str]]:
        return open_place, (self.url,)

    def objects(self) -> Iterator[Object]:
        """Yield the objects, a page of the listing at a time."""
        last = ""
        pages = self._obstore.list(self._store)
        while page := self._asked(lambda: next(pages, None), self.url, PlaceError):
            for found in page:
                key, etag = found["path"], found["e_tag"] or str(found["last_modified"])
                if key < last:
                    raise PlaceError("the listing is not in the order of its keys", where=self.url)
                last = key
                yield Object(key, found["size"], etag)

    def open(self, found: Object) -> Source:
        """Open an object; every read says which ETag it must have."""

        def read(start: int, stop: int) -> bytes:
            options: dict[str, object] = {"range": (start, stop)}
            if found.etag.startswith(('"', "W/")):
                options["if_match"] = found.etag
            answer = self._obstore.get(self._store, found.key, options=options)
            return bytes(answer.bytes())

        where = f"{self.url}/{found.key}"

        def ask(start: int, stop: int) -> bytes:
            data: bytes = self._asked(lambda: read(start, stop), where, FileError)
            return data

        return Source(_Ranges(where, found.size, found.etag, ask))

    def fetch(self, key: str) -> bytes:
        """Return the bytes of one object as it is now."""
        where = f"{self.url}/{key}"
        found = self._asked(lambda: self._obstore.get(self._store, key).bytes(), where, FileError)
        return bytes(found)

    def _asked(self, ask: Callable[[], Any], where: str, error_type: type[PortableError]) -> Any:
        errors = self._obstore.exceptions
        try:
            return ask()
        except errors.PreconditionError:
            raise FileError(
                "changed since it was listed", where=where, hint="audit again"
            ) from None
        except (errors.BaseError, OSError) as error:
            raise error_type(_said(error), where=where) from None


class _Ranges:
    """An object as a file: what is read next to what was read before needs no new request."""

    def __init__(self, path: str, size: int, etag: str, ask: Callable[[int, int], bytes]) -> None:
        self.path, self.identity = path, (path, size, etag)
        self._size, self._ask = size, ask
        self._start, self._block = 0, b""

    def __len__(self) -> int:
        return self._size

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        stop = self._size if stop is None else min(stop, self._size)
        if start >= stop:
            return b""
        if not self._start <= start <= stop <= self._start + len(self._block):
            self._start = start
            least = _MORE if start else _BLOCK
            self._block = self._ask(start, min(self._size, max(stop, start + least)))
        at = start - self._start
        data = self._block[at : at + stop - start]
        if len(data) < stop - start:
            raise FileError("the server sent less than it lists", where=self.path)
        return data


def _obstore() -> Any:
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ImportError:
        raise PlaceError(
            "obstore is not installed", hint="pip install 'stablehlo-portable[fleet]'"
        ) from None
    return obstore


def _said(error: Exception) -> str:
    """Return the first line of what obstore says; the others are for its developers."""
    return str(error).partition("\n")[0] or type(error).__name__
