"""A server on this machine of any number of objects, which are nowhere but in their numbers.

Started as `python numbered.py COUNT FILE...`: it prints its port. As S3 it lists `s3://many/k`,
page by page; as a web server it has the index page `/web/` and the list `/web/all.txt`. Each
object is one of the files. Every hundredth name has characters that have to be escaped.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from functools import lru_cache
from html import escape
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote

PAGE = 1000
ODD = " ü&+%20<#\U0001f600"
_DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
_ISO = "2015-10-21T07:28:00.000Z"


def numbered_name(number: int) -> str:
    """Return the name of an object; names are in the order of their numbers."""
    return f"{number:07}{ODD * (number % 100 == 7)}.mlir.bc"


class _Server(asyncio.Protocol):
    count: int
    files: list[bytes]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for requests."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport, self._data = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole; none of them has a body."""
        *heads, self._data = (self._data + data).split(b"\r\n\r\n")
        for head in heads:
            start, *lines = head.decode("latin-1").split("\r\n")
            method, target, _ = start.split(" ")
            fields = dict(line.lower().split(": ", 1) for line in lines)
            status, said, body = self._answer(target, fields)
            said.setdefault("Content-Length", str(len(body)))
            told = "".join(f"{key}: {value}\r\n" for key, value in said.items())
            self._transport.write(f"HTTP/1.1 {status}\r\n{told}\r\n".encode())
            self._transport.write(b"" if method == "HEAD" else body)

    def _answer(self, target: str, fields: dict[str, str]) -> tuple[str, dict[str, str], bytes]:
        path, _, query = target.partition("?")
        match [unquote(word) for word in path.split("/")[1:]]:
            case ["many"] | ["many", ""]:
                return "200 OK", {"Content-Type": "application/xml"}, self._page(parse_qs(query))
            case ["web"] | ["web", ""]:
                return "200 OK", {"Content-Type": "text/html"}, _index(self.count)
            case ["web", "all.txt"]:
                return self._ranged(_list(self.count), "list", fields)
            case ["many", "k", found] | ["web", found]:
                number = int(found[:7]) if found[:7].isdigit() else self.count
                if number < self.count and found == numbered_name(number):
                    return self._ranged(self.files[number % len(self.files)], found[:7], fields)
        return "404 Not Found", {}, b""

    def _page(self, query: dict[str, list[str]]) -> bytes:
        after = query.get("continuation-token", query.get("start-after", ["k/"]))[0]
        start = int(after[2:9]) + 1 if len(after) > len("k/") else 0
        stop = min(start + PAGE, self.count)
        more = stop < self.count
        next_ = f"<NextContinuationToken>k/{stop - 1:07}</NextContinuationToken>" * more
        found = "".join(map(self._contents, range(start, stop)))
        return (
            f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{next_}{found}"
            "</ListBucketResult>"
        ).encode()

    def _contents(self, number: int) -> str:
        size = len(self.files[number % len(self.files)])
        return (
            f"<Contents><Key>k/{escape(numbered_name(number))}</Key><LastModified>{_ISO}</LastModified>"
            f"<ETag>&quot;{number:07}&quot;</ETag><Size>{size}</Size></Contents>"
        )

    def _ranged(
        self, data: bytes, etag: str, fields: dict[str, str]
    ) -> tuple[str, dict[str, str], bytes]:
        said = {"ETag": f'"{etag}"', "Last-Modified": _DATE, "Accept-Ranges": "bytes"}
        if "range" not in fields:
            return "200 OK", said, data
        first, last = fields["range"].removeprefix("bytes=").split("-")
        some = data[int(first) : int(last) + 1]
        said["Content-Range"] = f"bytes {first}-{int(first) + len(some) - 1}/{len(data)}"
        return "206 Partial Content", said, some


def _lines(count: int, line: str) -> Iterator[str]:
    for number in range(count):
        found = numbered_name(number)
        yield line.format(quote(found), escape(found), found)


@lru_cache
def _index(count: int) -> bytes:
    return "".join(["<pre><a href='../'>up</a>", *_lines(count, '<a href="{}">{}</a>\n')]).encode()


@lru_cache
def _list(count: int) -> bytes:
    return "".join(_lines(count, "{2}\n")).encode()


async def _serve(count: int, files: list[str]) -> None:
    _Server.count, _Server.files = count, [Path(one).read_bytes() for one in files]
    server = await asyncio.get_running_loop().create_server(_Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), sys.argv[2:]))
