"""A web server that leads elsewhere, names what is no name, or sends without an end."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from portable.cli import main
from portable.fleet import stores, web
from portable.fleet.stores import DEFAULT, PlaceError, Remote
from portable.fleet.web import Hub, Web

GOOD = (Path(__file__).parents[1] / "data" / "artifacts" / "add_f32+0.9.0.mlir.bc").read_bytes()
HUGE = 1 << 50
ELSEWHERE = [
    "file:///etc/passwd",
    "ftp://127.0.0.1/x",
    "unix:///x",
    "data:,x",
    "\x01::",
    "x.mlir.bc",
]


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    def do_HEAD(self) -> None:
        self.server.answer(self)

    do_GET = do_HEAD  # noqa: N815 - as above

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    index = b""
    target = ""
    asked: list[str]

    def answer(self, request: _Handler) -> None:
        """Answer with an index, a redirection, an artifact, or an artifact that has no end."""
        self.asked.append(request.path)
        body = self.index if request.path == "/f" else GOOD
        away = request.path == "/f/x.mlir.bc" and self.target
        request.send_response(302 if away else 206 if "Range" in request.headers else 200)
        if away:
            request.send_header("Location", self.target)
            body = b""
        size = HUGE if request.path == "/f/huge.mlir.bc" else len(body)
        if "Range" in request.headers:
            first, last = map(int, request.headers["Range"].removeprefix("bytes=").split("-"))
            last = min(last, size - 1)
            request.send_header("Content-Range", f"bytes {first}-{last}/{size}")
            body, size = (
                body[first : last + 1].ljust(min(last + 1, 1 << 16) - first, b"\0"),
                last + 1,
            )
        request.send_header("Content-Length", str(size))
        request.send_header("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
        request.end_headers()
        if request.command == "GET":
            request.wfile.write(body)


@contextmanager
def _serving(*links: str, target: str = "") -> Iterator[_Server]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.index = "".join(f'<a href="{link}">x</a>' for link in links).encode()
    server.target, server.asked = target, []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def _gated(server: _Server) -> int:
    return main(["gate", f"http://127.0.0.1:{server.server_port}/f", "--for", "jaxlib==0.12.0.1"])


Said = Callable[[], str]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """Return what was printed since the last call, on both streams."""
    return lambda: "".join(capsys.readouterr())


@pytest.mark.parametrize("target", ELSEWHERE)
def test_a_redirection_to_no_server_is_told(target: str, said: Said) -> None:
    """To files, to itself without end, to other schemes; the rest is judged."""
    with _serving("good.mlir.bc", "x.mlir.bc", target=target) as server:
        assert _gated(server) == 2
    told = said()
    assert "/f/x.mlir.bc: not judged" in told
    assert "1 pass" in told
    assert "root:" not in told


@pytest.mark.parametrize("link", ["%1b[31m.mlir.bc", "x%00.mlir.bc", "%0a.mlir.bc", "%7f"])
def test_a_link_that_is_no_name_ends_nothing(link: str, said: Said) -> None:
    """Obstore refuses keys with control characters."""
    with _serving("good.mlir.bc", link) as server:
        assert _gated(server) == 2
    told = said()
    assert "1 pass" in told
    assert "1 not judged" in told
    assert "\x1b" not in told


def test_links_lead_to_what_lies_below_alone() -> None:
    """Whatever they are called, and however that is written."""
    links = [
        "../up",
        "/abs",
        "//127.0.0.1:1/x",
        "http://[::1/",
        "file:///etc/passwd",
        "javascript:1",
    ]
    links += ["%2e%2e/up", "..%2fup", "b%2f..%2f..%2fup", "sub/../../up", "c?x=1", ".", "./"]
    with _serving("good.mlir.bc", *links) as server:
        assert _gated(server) == 0
    assert set(server.asked) == {"/f", "/f/good.mlir.bc"}


def test_an_object_that_does_not_fit_is_not_read(said: Said) -> None:
    """Its size is what the server says."""
    with _serving("good.mlir.bc", "huge.mlir.bc") as server:
        assert _gated(server) == 2
    told = said()
    assert "more than half of the memory" in told
    assert "1 pass" in told


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_https_does_not_lead_to_http(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Obstore follows redirections, and takes a plain server only where it may."""
    seen: list[object] = []
    monkeypatch.setattr(Remote, "__init__", lambda *_, **options: seen.append(options))
    Web(f"{scheme}://127.0.0.1/f", DEFAULT)
    assert seen == [{"client_options": {"allow_http": scheme == "http"}}]


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("url", ["http://{}/f", "s3://bucket/f", "hf://owner/name"])
def test_a_server_that_says_nothing_is_told_after_two_seconds(
    url: str, ending: signal.Signals, tmp_path: Path
) -> None:
    """What is waited for and for how long at most; a signal ends it meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        words = ["audit", url.format(address), "-o", str(tmp_path / "fleet.parquet")]
        names = {
            "AWS_ENDPOINT_URL": f"http://{address}", "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1",
            "HF_ENDPOINT": f"http://{address}",
        }  # fmt: skip
        command = [sys.executable, "-m", "portable", *words]
        with subprocess.Popen(
            command, env=os.environ | names, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            line = process.stderr.readline()
            process.send_signal(ending)
            try:
                assert process.wait(timeout=20) == 128 + ending
            finally:
                process.kill()
    assert url.format(address) in line
    assert re.search(r": no answer for \d+ s; given up after 180 s at most$", line.rstrip())


@pytest.mark.parametrize("answers", [0, 1, 2])
def test_the_hub_is_given_up_in_time(answers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some requests of its library have limits of their own, others none: ours holds for all."""
    constants = pytest.importorskip("huggingface_hub.constants")
    said = json.dumps({"id": "owner/name", "sha": "0" * 40, "siblings": []}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
    answer = head + b"Content-Length: %d\r\n\r\n" % len(said) + said
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for _ in range(answers):
                try:
                    one, _ = server.accept()
                except OSError:  # it was given up before
                    return
                with one:
                    one.recv(1 << 16)
                    one.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(web, "GIVES_UP_S", 1.0)
        began = time.monotonic()
        with pytest.raises(PlaceError, match="no answer for 1 s"):
            list(Hub("hf://owner/name", DEFAULT).objects())
        assert time.monotonic() - began < 8


TRUNCATED = "<ListBucketResult><IsTruncated>true</IsTruncated>{}{}</ListBucketResult>"
NEXT = "<NextContinuationToken>t</NextContinuationToken>"
SAME = (
    "<Contents><Key>k/a</Key><LastModified>2015-10-21T07:28:00.000Z</LastModified>"
    "<ETag>x</ETag><Size>3</Size></Contents>"
)


@pytest.mark.parametrize("found", ["", SAME])
def test_a_listing_that_never_goes_on_is_given_up(
    found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages that are empty, or always the same, each of which says that there are more."""

    class Listing(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(TRUNCATED.format(NEXT, found).encode())

    with ThreadingHTTPServer(("127.0.0.1", 0), Listing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name, value in {
            "ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}", "ALLOW_HTTP": "true",
            "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "REGION": "us-east-1",
        }.items():  # fmt: skip
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setattr(stores, "GIVES_UP_S", 1.0)
        began = time.monotonic()
        # A thousand equal keys are a page, if they come in time.
        with pytest.raises(PlaceError, match=r"no answer for 1 s|lists nothing after a key"):
            list(stores.Bucket("s3://many/k", DEFAULT).pages())
        assert time.monotonic() - began < 60
        server.shutdown()
