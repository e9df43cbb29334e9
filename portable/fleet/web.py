"""Fleets on web servers (an index page, or a list of names) and on Hugging Face's Hub."""

from __future__ import annotations

import codecs
from collections import deque
from html.parser import HTMLParser
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from portable.containers.finding import EXCLUDED_FOLDERS
from portable.containers.source import Source
from portable.errors import PortableError
from portable.fleet.rows import batched
from portable.fleet.stores import (
    GIVES_UP_S,
    Object,
    Pace,
    Page,
    PlaceError,
    Politeness,
    Remote,
    RemoteFile,
    pages_of,
)
from portable.system.files import FileError
from portable.system.shares import Threads
from portable.system.waits import waiting, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Hub", "Web"]

_LISTING = 64 << 20
"""How long an index page or a list may be."""


class Web(Remote):
    """A folder of a web server, as its index pages link to it, or as a list names it.

    Args:
        url: A folder; or a list, whose name ends in `.txt`, of what lies beside it: on each line a
            path or a URL.
        limits: How many requests the server gets.
    """

    def __init__(self, url: str, limits: Politeness) -> None:
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise PlaceError(f"not a URL: {error}", where=url) from None
        if parts.query or parts.fragment:
            raise PlaceError("a URL with ? or # cannot be listed", where=url)
        folder, _, self._list = url.rpartition("/")
        if not self._list.endswith(_ENDING):
            folder, self._list = url.rstrip("/"), ""
        # From https no redirect to another scheme is followed.
        plain = parts.scheme == "http"
        super().__init__(folder, limits, client_options={"allow_http": plain})

    def objects(self) -> Iterator[Object]:
        """Yield the objects, each with the size and the ETag that the server reports."""
        with Threads(self.limits.at_once) as pool:
            for keys in batched(self._keys(), _HEADS):
                yield from pool.map(self._object, keys)

    def pages(self) -> Iterator[Page]:
        """Yield the same by columns."""
        return pages_of(self.objects())

    def counts(self) -> Iterator[int]:
        """Yield how many files each index page or the list has; none of their names is kept."""
        below = [self._list]
        while below and below[-1].count("/") <= _DEEPEST:
            folder, count = below.pop(), _FileCount()
            self._read(folder, count.add)
            yield count.files
            if not self._list:
                below += map(folder.__add__, count.folders)

    def _keys(self) -> Iterator[str]:
        return iter(self._names(self._list)) if self._list else self._linked()

    def _linked(self) -> Iterator[str]:
        """Yield what index pages link to, page by page, as a folder is searched."""
        below = [iter([""])]
        while below:
            key = next(below[-1], None)
            if key is None:
                below.pop()
            elif key and not key.endswith("/"):
                yield key
            elif key.count("/") > _DEEPEST:
                raise PlaceError(f"folders nest deeper than {_DEEPEST}", where=f"{self.url}/{key}")
            else:
                below.append(map(key.__add__, self._names(key)))

    def _names(self, key: str) -> Iterator[str]:
        """Yield in order what a page links to or a list names, each once."""
        found: list[str] = []  # which may be a million
        self._read(key, found.append)
        found.sort()
        return (name for name, _ in groupby(found))

    def _read(self, key: str, add: Callable[[str], object]) -> None:
        """Hand on what a page links to or a list names, one after another."""
        reader = (_Lines if self._list else _Links)(f"{self.url}/{quote(key)}", add)
        # Received first, as the limit of a request holds for its body; then left piece by piece.
        pieces = deque[bytes]()
        try:
            self.receive(key, _LISTING, pieces.append)
        except FileError as error:
            raise PlaceError(f"cannot be listed: {error.what}", where=error.where) from None
        while pieces:
            reader.take(pieces.popleft())
        reader.end()

    def _object(self, key: str) -> Object:
        if "://" in key or not {"", ".", ".."}.isdisjoint(key.split("/")):
            return Object(key, 0, "", "leads out of the folder of its list")
        try:
            found = self.asked(lambda: self.head(key), f"{self.url}/{key}", FileError)
        except FileError as error:
            return Object(key, 0, "", error.what)
        changed = found["last_modified"]
        return Object(
            key, found["size"], found["e_tag"] or (str(changed) if changed.timestamp() else "")
        )


_ENDING = ".txt"
_DEEPEST = 50
_HEADS = 200
_IGNORED = {"", "/", *(f"{name}/" for name in EXCLUDED_FOLDERS)}


def _below(page: str, link: str) -> str:
    """Return the path from a page to what it links to; empty where that is not below it."""
    try:
        here, there = urlsplit(page), urlsplit(urljoin(page, link))
    except ValueError:  # no URL
        return ""
    start, path = unquote(here.path), unquote(there.path)
    if there.query or there[:2] != here[:2] or not path.startswith(start):
        return ""
    return path[len(start) :]


class _FileCount:
    """Counts names that are handed on one after another."""

    def __init__(self) -> None:
        self.files, self.folders, self._last = 0, set[str](), ""

    def add(self, name: str) -> None:
        """Count a file unless it is named twice in a row; keep a folder."""
        if name.endswith("/"):
            self.folders.add(name)
        else:
            self.files += name != self._last
            self._last = name


class _Links(HTMLParser):
    """Hands on what an index page links to beside it.

    Args:
        page: Its URL.
        add: What takes each name; that of a folder ends in a slash.
    """

    def __init__(self, page: str, add: Callable[[str], object]) -> None:
        super().__init__()
        self._page, self._add = page, add
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def take(self, data: bytes) -> None:
        """Take the bytes that follow."""
        self.feed(self._decoder.decode(data))
        _demand_short(self.rawdata, self._page)

    def end(self) -> None:
        """Leave what is no whole link."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Hand on where a link leads."""
        for name, value in attrs:
            if tag == "a" and name == "href" and value:
                found = _below(self._page, value)
                # Links up, to other servers, and those that sort the page are none to objects.
                if found.count("/") == found.endswith("/") and found not in _IGNORED:
                    self._add(found)


class _Lines:
    """Hands on what a list names.

    Args:
        page: Its URL.
        add: What takes each name.
    """

    def __init__(self, page: str, add: Callable[[str], object]) -> None:
        self._page, self._add, self._rest = page, add, b""
        self._base = page[: page.rindex("/") + 1]

    def take(self, data: bytes) -> None:
        """Take the bytes that follow."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        _demand_short(self._rest, self._page)
        for line in lines:
            name = line.decode("utf-8", "replace").strip()
            if name and not name.startswith("#"):
                self._add(_below(self._base, name) or name if "://" in name else name)

    def end(self) -> None:
        """Take the last line, which may have no end."""
        self.take(b"\n")


_LONGEST = 1 << 20
"""How long a link or a line may be, since it is looked at again with all that follows."""


def _demand_short(rest: str | bytes, page: str) -> None:
    if len(rest) > _LONGEST:
        raise PlaceError(f"a link or a line of more than {_LONGEST:,} characters", where=page)


class Hub:
    """A repository of Hugging Face's Hub as it is at one commit, or a folder in it.

    Args:
        url: `hf://OWNER/NAME[@REVISION][/FOLDER]`; of a data set `hf://datasets/OWNER/NAME`.
        limits: How many requests the server gets.
        commit: Which; by default that which the revision stands for now.
    """

    remote = True

    def __init__(self, url: str, limits: Politeness, commit: str = "") -> None:
        self.url, self.limits = url.rstrip("/"), limits
        self._pace = Pace(limits)
        hub = _hub()
        self._files = hub.HfFileSystem(skip_instance_cache=True, use_listings_cache=False)

        def resolve() -> tuple[Any, str]:
            found = self._files.resolve_path(url)
            info = hub.HfApi().repo_info(
                found.repo_id, revision=found.revision, repo_type=found.repo_type
            )
            return found, str(info.sha)

        found, newest = self._asked(resolve, self.url, PlaceError)
        self._commit = commit or newest
        kind = "" if found.repo_type == "model" else f"{found.repo_type}s/"
        folder = f"/{found.path_in_repo}" if found.path_in_repo else ""
        self._root = f"{kind}{found.repo_id}@{self._commit}{folder}"

    def __reduce__(self) -> tuple[type[Hub], tuple[str, Politeness, str]]:
        return Hub, (self.url, self.limits, self._commit)

    def objects(self) -> Iterator[Object]:
        """Yield the files; what tells a change of one is the digest that git or LFS has of it."""
        found = self._find()
        for name in sorted(found):
            large = found[name].get("lfs")
            digest = large["sha256"] if large else found[name]["blob_id"]
            yield Object(name[len(self._root) + 1 :], found[name]["size"], digest)

    def pages(self) -> Iterator[Page]:
        """Yield the same by columns."""
        return pages_of(self.objects())

    def counts(self) -> Iterator[int]:
        """Yield how many files there are."""
        yield len(self._find())

    def _find(self) -> Any:
        return self._asked(lambda: self._files.find(self._root, detail=True), self.url, PlaceError)

    def open(self, found: Object) -> Source:
        """Open a file; nothing is read before it is looked at."""

        def ask(start: int, stop: int) -> bytes:
            return self._read(found.key, start, stop, found.size)

        return Source(RemoteFile(f"{self.url}/{found.key}", found.size, found.etag, ask))

    def read(self, key: str, most: int) -> bytes:
        """Return the bytes of a file.

        Raises:
            FileError: It cannot be read, or is longer than `most`.
        """
        size = self._asked(
            lambda: self._files.size(f"{self._root}/{key}"), f"{self.url}/{key}", FileError
        )
        return self._read(key, 0, min(size, most), size)

    def _read(self, key: str, start: int, stop: int, size: int) -> bytes:
        def read() -> bytes:
            # Without a cache it asks for what is read, and for nothing else.
            with self._files.open(f"{self._root}/{key}", cache_type="none", size=size) as file:
                file.seek(start)
                return bytes(file.read(stop - start))

        data: bytes = self._asked(read, f"{self.url}/{key}", FileError)
        return data

    def _asked(self, ask: Callable[[], Any], where: str, error_type: type[PortableError]) -> Any:
        try:
            # Of the library's own requests some have a limit of ten seconds, others none.
            with self._pace, waiting(where, GIVES_UP_S):
                return within(ask, GIVES_UP_S)
        except PortableError:
            raise
        except Exception as error:  # noqa: BLE001 - of httpx, fsspec, the Hub: all say why
            said = str(error).partition("\n")[0] or type(error).__name__
            raise error_type(said, where=where) from None


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise PlaceError(
            "huggingface_hub is not installed", hint="pip install 'stablehlo-portable[fleet]'"
        ) from None
    return huggingface_hub
