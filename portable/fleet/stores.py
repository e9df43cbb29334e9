"""What asks servers for a fleet: listings in the order of their keys, and ranges of objects.

obstore signs requests, repeats those that a server throttles (429, 503) and gives up after three
minutes. A listing in order makes an audit resumable with little memory.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from portable.containers.source import Source
from portable.errors import PortableError
from portable.system.files import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "DEFAULT",
    "Bucket",
    "Object",
    "Pace",
    "Place",
    "PlaceError",
    "Politeness",
    "Remote",
    "RemoteFile",
]

# How many bytes a first request brings; each that follows, unless more are wanted; and what those
# grow to that follow one another without a gap.
_BLOCK, _MORE, _MOST = 32 << 10, 1 << 10, 64 << 10


@dataclass(frozen=True, slots=True)
class Politeness:
    """How many requests a server gets.

    Args:
        at_once: How many requests it has to answer at once.
        per_second: How many requests a second; 0 for as many as it answers.
    """

    at_once: int = 16
    per_second: float = 0.0


DEFAULT = Politeness()


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


class Pace:
    """Lets requests through within the limits, whichever thread asks.

    Args:
        limits: How many at once, and how many a second.
    """

    def __init__(self, limits: Politeness) -> None:
        self._every = 1 / limits.per_second if limits.per_second else 0.0
        self._slots = threading.BoundedSemaphore(limits.at_once)
        self._lock, self._next = threading.Lock(), 0.0

    def __enter__(self) -> None:
        self._slots.acquire()
        if self._every:
            with self._lock:
                now = time.monotonic()
                start = max(now, self._next)
                self._next = start + self._every
            time.sleep(start - now)

    def __exit__(self, *_: object) -> None:
        self._slots.release()


class Remote:
    """What is read through obstore.

    Args:
        url: The bucket and a prefix, or a folder of a web server; without a slash at its end.
        limits: How many requests the server gets.
    """

    remote = True

    def __init__(self, url: str, limits: Politeness, **options: object) -> None:
        self.url, self.limits = url, limits
        self._pace, self._obstore = Pace(limits), _obstore()
        try:
            self._store = self._obstore.store.from_url(url, **options)
        except self._obstore.exceptions.BaseError as error:
            raise PlaceError(_said(error), where=url) from None

    def __reduce__(self) -> tuple[type[Remote], tuple[str, Politeness]]:
        return type(self), (self.url, self.limits)

    def open(self, found: Object) -> Source:
        """Open an object; every read says which ETag it must have."""
        where = f"{self.url}/{found.key}"
        options: dict[str, object] = {}
        if found.etag.startswith(('"', "W/")):
            options["if_match"] = found.etag

        def ask(start: int, stop: int) -> bytes:
            return self.read(found.key, stop - start, {"range": (start, stop)} | options)

        return Source(RemoteFile(where, found.size, found.etag, ask))

    def read(self, key: str, most: int, options: dict[str, object] | None = None) -> bytes:
        """Return the bytes of an object, or of a range of it.

        Raises:
            FileError: It cannot be read, or is longer than `most`.
        """
        where = f"{self.url}/{key}"

        def read() -> bytes:
            found = bytearray()
            # A server may send more than was requested, without end.
            for chunk in self._obstore.get(self._store, key, options=options or {}):
                found += chunk
                if len(found) > most:
                    raise FileError(f"the server sends more than {most:,} bytes", where=where)
            return bytes(found)

        data: bytes = self.asked(read, where, FileError)
        return data

    def head(self, key: str) -> Any:
        """Return size, ETag and date of an object, as obstore has them."""
        return self._obstore.head(self._store, key)

    def asked(self, ask: Callable[[], Any], where: str, error_type: type[PortableError]) -> Any:
        """Ask, in turn, and say in one line what went wrong."""
        errors = self._obstore.exceptions
        try:
            with self._pace:
                return ask()
        except errors.PreconditionError:
            raise FileError(
                "changed since it was listed", where=where, hint="audit again"
            ) from None
        except (errors.BaseError, OSError) as error:
            said = _said(error)
            hint = "audit the prefixes beside it" if "invalid path" in said else None
            raise error_type(said, where=where, hint=hint) from None


class Bucket(Remote):
    """A bucket, or what is below a prefix in it."""

    def has(self, key: str) -> bool:
        """Say whether there is such an object.

        Raises:
            FileError: It is not known.
        """

        def look() -> bool:
            try:
                self.head(key)
            except FileNotFoundError:
                return False
            return True

        found: bool = self.asked(look, f"{self.url}/{key}", FileError)
        return found

    def write(self, key: str, data: bytes) -> None:
        """Write an object that is not there yet.

        Raises:
            FileError: It cannot be written, or exists.
        """
        where = f"{self.url}/{key}"

        def write() -> None:
            try:
                self._obstore.put(self._store, key, data, mode="create")
            except self._obstore.exceptions.AlreadyExistsError:
                raise FileError("destination exists", where=where) from None

        self.asked(write, where, FileError)

    def objects(self) -> Iterator[Object]:
        """Yield the objects, a page of the listing at a time."""
        last = ""
        pages = self._obstore.list(self._store)
        while page := self.asked(lambda: next(pages, None), self.url, PlaceError):
            for found in page:
                key, etag = found["path"], found["e_tag"] or str(found["last_modified"])
                if key < last:
                    raise PlaceError("the listing is not in the order of its keys", where=self.url)
                last = key
                yield Object(key, found["size"], etag)


class RemoteFile:
    """An object as a file: what is read next to what was read before needs no new request."""

    def __init__(self, path: str, size: int, etag: str, ask: Callable[[int, int], bytes]) -> None:
        self.path, self.identity = path, (path, size, etag)
        self._size, self._ask = size, ask
        self._start, self._block, self._least = 0, b"", _BLOCK

    def __len__(self) -> int:
        return self._size

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return some of the bytes, all of them by default."""
        stop = self._size if stop is None else min(stop, self._size)
        if start >= stop:
            return b""
        if not self._start <= start <= stop <= self._start + len(self._block):
            follows = start == self._start + len(self._block)
            if self._block:
                self._least = min(2 * self._least, _MOST) if follows else _MORE
            self._start = start
            self._block = self._ask(start, min(self._size, max(stop, start + self._least)))
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
