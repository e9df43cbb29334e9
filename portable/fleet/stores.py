"""What asks servers for a fleet: listings in the order of their keys, and ranges of objects.

obstore signs requests, repeats those that a server throttles (429, 503) and gives up after three
minutes. A listing in order makes an audit resumable with little memory.
"""

from __future__ import annotations

import operator
import re
import threading
import time
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from portable.containers.source import Source
from portable.fleet.keys import STARTS_ANYWHERE, PlaceError, listed_keys
from portable.fleet.rows import batched
from portable.system.files import FileError, demand_room, file_error
from portable.system.waits import waiting, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from portable.errors import PortableError

__all__ = [
    "DEFAULT",
    "GIVES_UP_S",
    "Bucket",
    "Object",
    "Pace",
    "Page",
    "Place",
    "PlaceError",
    "Politeness",
    "Remote",
    "RemoteFile",
    "pages_of",
]

# How many bytes a first request brings; each that follows, unless more are wanted; and what those
# grow to that follow one another without a gap.
_BLOCK, _MORE, _MOST = 32 << 10, 1 << 10, 64 << 10

GIVES_UP_S = 180.0
"""After how long obstore gives up, each time it is tried."""


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


@dataclass(frozen=True, slots=True)
class Page:
    """Neighbours in a listing, by columns: of what has not changed no object is made.

    Args:
        keys: As of `Object`, and so are the others.
        sizes: One for each key.
        etags: One for each key.
        odd: One for each key.
    """

    keys: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    etags: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)

    def add(self, other: Page) -> None:
        """Add those that follow."""
        self.keys.extend(other.keys)
        self.sizes.extend(other.sizes)
        self.etags.extend(other.etags)
        self.odd.extend(other.odd)

    def objects(self, start: int = 0, stop: int | None = None) -> list[Object]:
        """Return some of them, all by default."""
        some = slice(start, stop)
        return list(
            map(Object, self.keys[some], self.sizes[some], self.etags[some], self.odd[some])
        )


def pages_of(objects: Iterable[Object]) -> Iterator[Page]:
    """Yield objects by columns."""
    for some in batched(objects, _PAGE):
        yield Page(*map(list, zip(*some, strict=True)))


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

    def pages(self) -> Iterator[Page]:
        """Yield the same by columns, some at a time.

        Raises:
            PlaceError: It cannot be listed.
        """

    def counts(self) -> Iterator[int]:
        """Yield how many objects there are, some at a time; without a request for each.

        Raises:
            PlaceError: It cannot be listed.
        """

    def open(self, found: Object) -> Source:
        """Open one of its objects; of a bucket's, nothing is read before it is looked at.

        Raises:
            FileError: It cannot be read, or is another than when it was listed.
        """

    def read(self, key: str, most: int) -> bytes:
        """Return the bytes of an object.

        Raises:
            FileError: It cannot be read, or is longer than `most`.
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
        except (self._obstore.exceptions.BaseError, ValueError) as error:  # the latter: no URL
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
            return self.read(
                found.key, stop - start, {"range": (start, stop)} | options, found.size
            )

        return Source(RemoteFile(where, found.size, found.etag, ask))

    def read(
        self,
        key: str,
        most: int,
        options: dict[str, object] | None = None,
        size: int | None = None,
    ) -> bytes:
        """Return the bytes of an object, or of a range of it.

        Raises:
            FileError: It cannot be read, is longer than `most`, or has not the size that it had.
        """
        found = bytearray()
        self.receive(key, most, found.extend, options, size)
        return bytes(found)

    def receive(
        self,
        key: str,
        most: int,
        take: Callable[[bytes], object],
        options: dict[str, object] | None = None,
        size: int | None = None,
    ) -> None:
        """Hand on the bytes of an object, or of a range of it, as they come.

        Raises:
            FileError: As `read`.
        """
        where = f"{self.url}/{key}"
        try:
            demand_room(most)
        except OSError as error:
            raise file_error("read", error, where) from None

        def receive() -> None:
            answer = self._obstore.get(self._store, key, options=options or {})
            # Not every server has ETags, or takes them for a condition.
            if size not in {None, answer.meta["size"]}:
                raise FileError(_CHANGED, where=where, hint="audit again")
            # A server may send more than was requested, without end.
            left = most
            for chunk in answer.stream(_CHUNK):
                left -= len(chunk)
                if left < 0:
                    raise FileError(f"the server sends more than {most:,} bytes", where=where)
                take(bytes(chunk))

        self.asked(receive, where, FileError)

    def head(self, key: str) -> Any:
        """Return size, ETag and date of an object, as obstore has them."""
        return self._obstore.head(self._store, key)

    def asked(self, ask: Callable[[], Any], where: str, error_type: type[PortableError]) -> Any:
        """Ask, in turn, and say in one line what went wrong."""
        errors = self._obstore.exceptions
        try:
            with self._pace, waiting(where, GIVES_UP_S):
                return ask()
        except errors.PreconditionError:
            raise FileError(_CHANGED, where=where, hint="audit again") from None
        except (errors.BaseError, OSError, ValueError) as error:  # the last: a key that is none
            said = _said(error)
            text = str(error)
            hint = next((hint for path, hint in _NO_CREDENTIALS.items() if path in text), None)
            what = "no credentials, neither in the environment nor of this machine"
            raise error_type(what if hint else said, where=where, hint=hint) from None


class Bucket(Remote):
    """A bucket, or what is below a prefix in it."""

    _creates = True

    @property
    def _resumes(self) -> bool:
        return self.url.partition("://")[0] in STARTS_ANYWHERE

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
        """Write an object that is not there yet, or that is there with these bytes.

        It is there so when the server wrote it, and its answer was lost: obstore tries again.

        Raises:
            FileError: It cannot be written, exists, or is not as long as what was sent.
        """
        where = f"{self.url}/{key}"
        exists = False

        def create() -> None:
            nonlocal exists
            try:
                self._obstore.put(self._store, key, data, mode="create")
            except self._obstore.exceptions.AlreadyExistsError:
                exists = True
            except self._obstore.exceptions.BaseError as error:
                # Swift and older servers of S3 cannot write under a condition.
                if _NOT_IMPLEMENTED not in str(error):
                    raise
                self._creates = False

        if self._creates:
            self.asked(create, where, FileError)
        if not self._creates:
            exists = self.has(key)
            if not exists:
                self.asked(lambda: self._obstore.put(self._store, key, data), where, FileError)
        size = self.asked(lambda: self.head(key)["size"], where, FileError)
        if exists and (size != len(data) or self.read(key, size) != data):
            raise FileError("destination exists", where=where)
        if size != len(data):
            raise FileError(f"{len(data):,} bytes were sent, {size:,} are there", where=where)

    def objects(self) -> Iterator[Object]:
        """Yield the objects, a page of the listing at a time."""
        return chain.from_iterable(self._listing())

    def counts(self) -> Iterator[int]:
        """Yield how many objects each page of the listing has."""
        return map(len, self._listing())

    def pages(self) -> Iterator[Page]:
        """Yield the objects by columns."""
        return pages_of(self.objects())

    def _listing(self) -> Iterator[list[Object]]:
        pages = self._pages()

        def following() -> list[Object] | None:
            # Of a page that says only that there are more the next one is requested, without end.
            return within(lambda: next(pages, None), GIVES_UP_S)

        while (page := self.asked(following, self.url, PlaceError)) is not None:
            yield page

    def _pages(self) -> Iterator[list[Object]]:
        """Yield the pages, in the order of the keys; what obstore cannot list, by botocore."""
        last, why = "", "the listing is not in the order of its keys"
        while True:
            try:
                for page in self._paths(last):
                    if not _ordered(last, page):
                        break
                    last = page[-1].key
                    yield page
                else:
                    return
            except self._obstore.exceptions.InvalidPathError as error:
                why = _said(error)
            for page in self._keys(last):
                if not _ordered(last, page):
                    raise PlaceError(why, where=self.url)
                last = page[-1].key
                # One that stands for a folder is none, as there is none for other folders.
                yield [one for one in page if one.size or not one.key.endswith("/")]
                if self._resumes and not page[-1].odd:
                    break
            else:
                return

    def _paths(self, after: str) -> Iterator[list[Object]]:
        """Yield what obstore lists after a key; it takes the slashes off the ends of a key."""
        for page in self._obstore.list(self._store, offset=after or None, chunk_size=_PAGE):
            yield [
                Object(one["path"], one["size"], _quoted(one["e_tag"]) or str(one["last_modified"]))
                for one in page
            ]

    def _keys(self, after: str) -> Iterator[list[Object]]:
        """Yield the keys after one of them, as they are."""
        for page in listed_keys(self.url, self._store.config, after):
            yield [_object(one.key, one.size, _quoted(one.etag) or "") for one in page]


def _quoted(etag: str | None) -> str | None:
    """Return an ETag as it is in a header; Azure lists it without quotes."""
    return f'"{etag}"' if etag and not etag.startswith(('"', "W/")) else etag


def _ordered(last: str, page: list[Object]) -> bool:
    keys = [last, *(one.key for one in page)]
    return all(map(operator.lt, keys, keys[1:]))


def _object(key: str, size: int, etag: str) -> Object:
    if {"", ".", ".."}.isdisjoint(key.split("/")) and not _CONTROL.search(key):
        return Object(key, size, etag)
    return Object(key, size, "", "its key is no path, as obstore demands: copy it to another key")


# What a machine in a cloud provides, used where the environment has no credentials.
_NO_CREDENTIALS = {
    "/latest/api/token": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, as `aws configure "
    "export-credentials --format env` prints them, or AWS_SKIP_SIGNATURE=true for a public bucket",
    "/computeMetadata/": "set GOOGLE_SERVICE_ACCOUNT to the file of a key, or "
    "GOOGLE_SKIP_SIGNATURE=true for a public bucket",
    "/metadata/identity/": "set AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_KEY, or "
    "AZURE_SKIP_SIGNATURE=true for a public container",
}
_PAGE = 1000
_CHUNK = 64 << 10
_CHANGED = "changed since it was listed"
_NOT_IMPLEMENTED = "501 Not Implemented"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


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
    """Return what the server says, else the first line of what obstore says."""
    text = str(error)
    if answer := _ANSWER.search(text):
        return ": ".join(answer.groups())
    return text.partition("\n")[0] or type(error).__name__  # the others are for its developers


# How S3 and those who speak as it say what is wrong, in the middle of what obstore says.
_ANSWER = re.compile(
    r"status code: (\d{3} [\w ]+): .{0,99}?<Error>.{0,99}?<Code>([^<]{1,99})</Code>.{0,99}?"
    r"<Message>([^<]{1,999})</Message>",
    re.DOTALL,
)
