"""A proxy on this machine before the server that speaks S3, for what that server does not do.

Started as `python throttling.py URL`: it prints its port, and hands requests on. Every third GET of
an object is answered 503 SlowDown and every fifth 429, as S3 does when it is asked too much; what
is below `cut/` is sent with the right length and then broken off.
"""

import http.client
import itertools
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

SERVER = urlsplit(sys.argv[1])
COUNTED = itertools.count(1)
SLOW = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


class _Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_object = self.command == "GET" and "list-type" not in self.path
        number = next(COUNTED) if is_object else 1
        if is_object and (number % 3 == 0 or number % 5 == 0):
            self._send(503 if number % 3 == 0 else 429, {"Content-Type": "text/xml"}, SLOW)
            return
        server = http.client.HTTPConnection(str(SERVER.hostname), SERVER.port, timeout=60)
        server.request(self.command, self.path, body, dict(self.headers))
        found = server.getresponse()
        data = found.read()
        headers = {name: value for name, value in found.getheaders() if name not in _OWN}
        if "/cut/" in self.path and is_object:
            self.close_connection = True
            headers["Content-Length"] = str(len(data))
            data = data[: len(data) // 2]
        self._send(found.status, headers, data)

    def _send(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self.send_response_only(status)
        for name, value in ({"Content-Length": str(len(data))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _answer  # noqa: N815 - as http.server calls them


_OWN = {"Content-Length", "Connection", "Transfer-Encoding"}


if __name__ == "__main__":
    listening = ThreadingHTTPServer(("127.0.0.1", 0), _Proxy)
    print(listening.server_port, flush=True)
    listening.serve_forever()
