"""A server that speaks S3, on this machine.

moto is a stand-in, for tests alone: it starts in a second, and refuses, lists and reads by ranges
as S3 does. What it cannot show (throttling, a real ETag of a multipart upload) is not claimed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import obstore
import obstore.store
import pytest


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket of the server.

    Args:
        url: `s3://NAME`.
        store: To write into it.
    """

    url: str
    store: obstore.store.ObjectStore

    def fill(self, root: Path) -> None:
        """Upload every file of a folder, under its path inside."""
        for path in root.rglob("*"):
            if path.is_file():
                obstore.put(self.store, str(path.relative_to(root)), path.read_bytes())


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that is ended with the tests."""
    log = tmp_path_factory.mktemp("s3") / "log"
    with (
        log.open("w") as stream,
        subprocess.Popen(
            [sys.executable, "-I", "-c", _SERVE], stdout=subprocess.PIPE, stderr=stream, text=True
        ) as child,
    ):
        assert child.stdout
        yield f"http://127.0.0.1:{int(child.stdout.readline())}"
        child.kill()


# The kernel chooses the port, and says which before the first request can come.
_SERVE = """
import socket
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
app = DomainDispatcherApplication(create_backend_app)
server = make_server("127.0.0.1", 0, app, threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Bucket:
    """An empty bucket, and an environment that says where it is."""
    for name, value in {
        "AWS_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }.items():
        monkeypatch.setenv(name, value)
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:50].strip("-")
    import urllib.request

    made = urllib.request.Request(f"{server}/{name}", method="PUT")  # noqa: S310 - on this machine
    urllib.request.urlopen(made).close()  # noqa: S310 - the same
    return Bucket(f"s3://{name}", obstore.store.from_url(f"s3://{name}"))


def killed_audit(place: str, fleet: Path, parts: int, cluster: str = "") -> int:
    """Audit in a process that is killed once so many parts are kept; return its exit status."""
    words = [sys.executable, "-I", "-c", _KILLED, place, str(fleet), str(parts), cluster]
    return subprocess.run(words, check=False).returncode


_KILLED = """
import os, signal, sys
from portable.fleet import audit
place, fleet, parts, cluster = sys.argv[1:]
seen = []
def kill(done):
    seen.append(done)
    if len(seen) == int(parts):
        os.kill(os.getpid(), signal.SIGKILL)
executor = None
if cluster:
    import distributed
    executor = distributed.Client(cluster).get_executor()
audit([place], fleet, executor=executor, tell=kill)
"""
