"""A registry that keeps the artifacts that it is sent in a folder, as far as `push` needs one."""

from __future__ import annotations

import contextlib
import hashlib
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["serving", "tagged"]

_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


class _Registry(BaseHTTPRequestHandler):
    """Blobs by their digests, tags by their names, and the media types of documents beside both."""

    folder: Path
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self._file()
        if self.path == "/v2/" or not path.is_file():
            self._answer(200 if self.path == "/v2/" else 404)
            return
        data, kind = path.read_bytes(), path.with_suffix(".type")
        said = kind.read_text() if kind.exists() else "application/octet-stream"
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self._answer(200, data, {"Content-Type": said, "Docker-Content-Digest": digest})

    do_HEAD = do_GET  # noqa: N815 - as http.server calls them

    def do_POST(self) -> None:
        self._read()
        self._answer(202, headers={"Location": f"{self.path.rstrip('/')}/1"})

    def do_PUT(self) -> None:
        """Keep what came whole and is what it is called."""
        data = self._read()
        digest = hashlib.sha256(data).hexdigest()
        named = _DIGEST.search(unquote(self.path))
        if len(data) < self._length() or (named and named[1] != digest):
            self.close_connection = True
            return
        self._store(self.folder / "blobs" / digest, data)
        if "/manifests/" in self.path and not named:
            self._store(self._file(), data)
        self._answer(201, headers={"Docker-Content-Digest": f"sha256:{digest}"})

    do_PATCH = do_PUT  # noqa: N815 - as http.server calls them

    def _store(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if "/manifests/" in self.path:
            path.with_suffix(".type").write_text(self.headers["Content-Type"])
        path.write_bytes(data)

    def _file(self) -> Path:
        found = _DIGEST.search(self.path)
        if found:
            return self.folder / "blobs" / found[1]
        return self.folder / "tags" / self.path.rpartition("/")[2]

    def _read(self) -> bytes:
        return self.rfile.read(self._length())

    def _length(self) -> int:
        return int(self.headers.get("Content-Length") or 0)

    def _answer(self, code: int, data: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Say nothing of those that are killed while they speak."""


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[int]:
    """Serve a folder until the block ends; return the port."""
    handler = type("Handler", (_Registry,), {"folder": folder})
    with _Server(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def tagged(path: Path) -> object:
    """Return everything that a tag stands for; None for what its documents name and is not there.

    Args:
        path: The file of the tag.
    """
    found: dict[str, str | None] = {}
    waiting = [hashlib.sha256(path.read_bytes()).hexdigest()]
    while waiting:
        digest = waiting.pop()
        blob = path.parent.parent / "blobs" / digest
        data = blob.read_bytes() if blob.exists() else None
        found[digest] = None if data is None else hashlib.sha256(data).hexdigest()
        if data and blob.with_suffix(".type").exists():
            waiting += set(_DIGEST.findall(data.decode())) - found.keys()
    return sorted(found.items())
