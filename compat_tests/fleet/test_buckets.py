"""An audit of a bucket: what a folder with the same files says, by small reads."""

from __future__ import annotations

import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import threading
from collections import Counter
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import cryptography.hazmat.primitives.asymmetric.rsa
import cryptography.hazmat.primitives.serialization
import obstore
import pyarrow.parquet
import pytest

from compat_tests.fleet.conftest import S3, Bucket, numbered, refusing
from compat_tests.fleet.numbered import numbered_name
from compat_tests.helpers import bytecode_writer
from compat_tests.helpers.bytecode_writer import UNKNOWN_LOCATION, entry
from portable.bytecode import read
from portable.bytecode.view import View
from portable.containers.finding import find
from portable.features import analyze
from portable.fleet import PlaceError, audit, places, stores
from portable.fleet.keys import listed_keys
from portable.policy import Depth
from portable.prediction import subject_of
from portable.prediction.forms import Reading

FAMILY = Path(__file__).parents[2] / "corpus" / "control_flow"
CONTAINERS = Path(__file__).parents[1] / "data" / "containers"
# As layouts.ini numbers them.
TENSOR, F32, RANKED = 15, 4, 20
SAME = ("inside", "kind", "claimed", "producer", "required", "minimum", "signatures", "subject")


def _said(path: Path, root: str) -> dict[str, dict[str, object]]:
    rows = pyarrow.parquet.read_table(path).to_pylist()
    return {
        row["place"].removeprefix(root): {name: row[name] for name in (*SAME, "size", "error")}
        for row in rows
    }


@pytest.mark.parametrize("depth", Depth)
def test_a_bucket_says_what_its_folder_says(bucket: Bucket, tmp_path: Path, depth: Depth) -> None:
    """And a second audit reads nothing of what is the same."""
    bucket.fill(FAMILY)
    fleet, here = tmp_path / "bucket.parquet", tmp_path / "folder.parquet"
    done = audit([bucket.url], fleet, depth=depth)
    audit([str(FAMILY)], here, depth=depth)
    assert _said(fleet, bucket.url) == _said(here, str(FAMILY))
    bucket.put("new.mlir.bc", next(FAMILY.rglob("*.mlir.bc")).read_bytes())
    again = audit([bucket.url], fleet, depth=depth)
    assert (again.objects, again.unchanged) == (done.objects + 1, done.objects)


@pytest.mark.parametrize("remote", [True, False])
def test_every_artifact_in_a_container_has_a_row(
    bucket: Bucket, tmp_path: Path, remote: bool
) -> None:
    """The same that the gate finds, by their digests."""
    expected = Counter(
        hashlib.sha256(entry.data).hexdigest()
        for found in find([CONTAINERS])
        if found.container
        for entry in found.container.artifacts()
    )
    bucket.fill(CONTAINERS)
    place = bucket.url if remote else str(CONTAINERS)
    audit([place], tmp_path / "fleet.parquet", depth="content")
    rows = pyarrow.parquet.read_table(tmp_path / "fleet.parquet").to_pylist()
    assert Counter(row["digest"] for row in rows if row["digest"]) == expected
    assert {"TensorFlow SavedModel", "jax.export.Exported"} <= {row["kind"] for row in rows}


def test_what_happens_between_listing_and_reading_is_told(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object that vanishes, and one that is replaced, are rows with the reason."""
    good = next(FAMILY.rglob("*.mlir.bc")).read_bytes()
    for name in ("a.mlir.bc", "b.mlir.bc", "c.mlir.bc"):
        bucket.put(name, good)
    listed = list(places.open_place(bucket.url).objects())
    obstore.delete(bucket.store, "a.mlir.bc")
    bucket.put("b.mlir.bc", good + b"more")
    monkeypatch.setattr(stores.Bucket, "objects", lambda _: iter(listed))
    done = audit([bucket.url], tmp_path / "fleet.parquet")
    said = _said(tmp_path / "fleet.parquet", bucket.url + "/")
    assert done.damaged == 2
    # Azure answers that no condition holds of an object that is not there.
    assert re.search("(?i)not found|changed since", str(said["a.mlir.bc"]["error"]))
    assert "changed since it was listed" in str(said["b.mlir.bc"]["error"])
    assert said["c.mlir.bc"]["error"] is None


def test_large_objects_are_not_read_whole(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header is in the first 64 KB, which one request brings."""
    good = next(FAMILY.rglob("*.mlir.bc")).read_bytes()
    for number in range(3):
        bucket.put(f"{number}.mlir.bc", good + bytes(5_000_000))
    asked: list[tuple[int, int]] = []
    plain = obstore.get

    def counting(*arguments: object, options: dict[str, object]) -> object:
        asked.append(options["range"])  # type: ignore[arg-type]  # as `open` asks
        return plain(*arguments, options=options)

    monkeypatch.setattr(obstore, "get", counting)
    assert audit([bucket.url], tmp_path / "fleet.parquet").artifacts == 3
    assert asked == [(0, 32768)] * 3


def _with_constants(size: int) -> bytes:
    """Return an artifact with twenty constants, which are nearly all of it."""
    return bytes(
        bytecode_writer.Artifact(
            attributes=[
                ("builtin", entry(UNKNOWN_LOCATION)),
                *(("vhlo", entry(TENSOR, 1, size) + bytes(size)) for _ in range(20)),
            ],
            types=[("vhlo", entry(F32)), ("vhlo", entry(RANKED, 1, size // 4 << 1, 0))],
        )
    )


def test_constants_are_not_read(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 20 MB a hundredth; the rows are those of a folder but for what digests every byte."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "large.mlir.bc").write_bytes(_with_constants(1 << 20))
    bucket.fill(folder)
    read: list[int] = []
    plain = stores.RemoteFile.__init__

    def counting(self: Any, path: str, size: int, etag: str, ask: Any) -> None:
        def counted(start: int, stop: int) -> bytes:
            read.append(stop - start)
            return bytes(ask(start, stop))

        plain(self, path, size, etag, counted)

    monkeypatch.setattr(stores.RemoteFile, "__init__", counting)
    fleet, here = tmp_path / "bucket.parquet", tmp_path / "folder.parquet"
    assert audit([bucket.url], fleet, depth="content").artifacts == 1
    assert sum(read) < 200_000
    audit([str(folder)], here, depth="content")
    assert _said(fleet, bucket.url) == _said(here, str(folder))


def _cut(data: bytes, start: int, stop: int) -> bytes:
    return data[start:stop]


def test_what_is_read_by_blocks_is_what_is_read_whole() -> None:
    """Every artifact of a family: the same features, forms and signatures."""
    for path in sorted(FAMILY.rglob("*.mlir.bc")):
        data = path.read_bytes()
        view = View(len(data), partial(_cut, data))
        whole, blocks = (Reading(read(what), what) for what in (data, view))
        found, expected = (subject_of(each, analyze(each.content)) for each in (blocks, whole))
        assert found == expected


def test_a_bucket_that_cannot_be_listed_is_an_error(bucket: Bucket, tmp_path: Path) -> None:
    """One that is not there, in words of the server; nothing is written."""
    with pytest.raises(PlaceError, match=r"(?i)bucket|container|not.?found") as raised:
        audit([bucket.url + "-missing"], tmp_path / "fleet.parquet")
    assert "xml" not in str(raised.value)
    assert not (tmp_path / "fleet.parquet").exists()


@pytest.mark.parametrize("bucket", S3, indirect=True)
def test_a_server_that_throttles_is_asked_again(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are those of one that answers at once; an object that is cut short is reported."""
    bucket.fill(FAMILY)
    whole, fleet = tmp_path / "whole.parquet", tmp_path / "fleet.parquet"
    audit([bucket.url], whole)
    good = next(FAMILY.rglob("*.mlir.bc")).read_bytes()
    bucket.put("cut/x.mlir.bc", good)
    server = bucket.server.environment["AWS_ENDPOINT_URL"]
    command = [sys.executable, "-I", str(Path(__file__).with_name("throttling.py")), server]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{int(child.stdout.readline())}")
        done = audit([bucket.url], fleet)
        child.kill()
    assert done.damaged == 1
    said = _said(fleet, bucket.url)
    assert said.pop("/cut/x.mlir.bc")["error"]
    assert said == _said(whole, bucket.url)


ODD = [
    "a b", "ü", "100%", "a+b", "a%20b", "#x", "?y=1", "&amp;", "<x>", "'q'", '"d"', "~", "(1)",
    "=", "a\\b", "e\u0301", "\U0001f600", "*", ":",
]  # fmt: skip


@pytest.mark.parametrize("bucket", S3, indirect=True)
def test_keys_may_have_any_characters(bucket: Bucket, tmp_path: Path) -> None:
    """S3 allows them all: each is read, and is in the file under its name."""
    good = next(FAMILY.rglob("*.mlir.bc")).read_bytes()
    client = boto3.client("s3")
    name = bucket.url.removeprefix("s3://")
    for odd in ODD:
        client.put_object(Bucket=name, Key=f"k/{odd}.mlir.bc", Body=good)
    audit([f"{bucket.url}/k"], tmp_path / "fleet.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "fleet.parquet").to_pylist()
    said = {row["place"].removeprefix(f"{bucket.url}/k/"): row["error"] for row in rows}
    assert said == {f"{odd}.mlir.bc": None for odd in ODD}
    assert audit([f"{bucket.url}/k"], tmp_path / "fleet.parquet").unchanged == len(ODD)


NO_PATHS = ["./dot", "two//slashes", "delete\x7f", "a/../b", "/first", "end/", "k//x"]


def test_keys_that_are_no_path_are_rows_and_end_nothing(bucket: Bucket, tmp_path: Path) -> None:
    """Each is a row with the reason, wherever it lies; the mark of a folder is none."""
    good = next(FAMILY.rglob("*.mlir.bc")).read_bytes()
    keys = [f"{folder}{number:03}" for folder in ("-", "a/", "k/", "z") for number in range(300)]
    # Azure's client takes the dots out of a path, as browsers do.
    odd = [key for key in NO_PATHS if bucket.server.scheme != "az" or "." not in key]
    for key in (*keys, *odd):
        bucket.put(key, good)
    bucket.put("a/", b"")
    bucket.put("k-", b"other")
    bucket.put("k/", b"")
    audit([bucket.url], tmp_path / "fleet.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "fleet.parquet").to_pylist()
    said = {row["place"].removeprefix(f"{bucket.url}/"): row["error"] for row in rows}
    assert len(said) == len(rows)
    assert {key for key, error in said.items() if not error} == {*keys, "k-"}
    assert {key for key, error in said.items() if error} == set(odd)
    again = audit([bucket.url], tmp_path / "fleet.parquet")
    assert (again.objects, again.unchanged) == (len(rows), len(rows) - len(odd))


LISTED = "<ListBucketResult>{}<IsTruncated>true</IsTruncated></ListBucketResult>"
KEY = "<Contents><Key>{}</Key><Size>9</Size><ETag>x</ETag></Contents>"


def test_google_lists_for_the_account_that_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a token for its key; a server that always begins at the first key loses nothing."""
    asked: list[tuple[str, str, str]] = []

    class Google(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _answer(self) -> None:
            said = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            asked.append((self.path, said, self.headers.get("Authorization", "")))
            body = LISTED.format(KEY.format("a//b") + KEY.format("c"))
            if self.command == "POST":
                body = json.dumps({"access_token": "t0ken", "expires_in": 3600})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = _answer  # noqa: N815 - as http.server calls them

    rsa = cryptography.hazmat.primitives.asymmetric.rsa.generate_private_key(65537, 2048)
    serialization = cryptography.hazmat.primitives.serialization
    secret = rsa.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), Google) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        account = {
            "type": "service_account", "client_email": "us@example.com", "private_key_id": "1",
            "private_key": secret.decode(), "token_uri": f"{url}/token", "gcs_base_url": url,
        }  # fmt: skip
        (tmp_path / "account.json").write_text(json.dumps(account))
        monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(tmp_path / "account.json"))
        monkeypatch.delenv("GOOGLE_SERVICE_ACCOUNT_KEY", raising=False)
        pages = listed_keys("gs://models", {}, "")
        assert [one.key for one in next(pages)] == ["a//b", "c"]
        with pytest.raises(PlaceError, match="nothing after a key"):
            next(pages)
        server.shutdown()
    assert asked[0][0] == "/token"
    assert "assertion=" in asked[0][1]
    assert [one[2] for one in asked[1:]] == ["Bearer t0ken"] * 2
    assert all(one[0].startswith("/models?list-type=2") for one in asked[1:])


@pytest.mark.parametrize("bucket", S3, indirect=True)
def test_a_bucket_without_permission_is_an_error(bucket: Bucket, tmp_path: Path) -> None:
    """The server says why, in one line, and nothing is written."""
    fleet = tmp_path / "fleet.parquet"
    with refusing(bucket.server, tmp_path) as variables:
        ran = subprocess.run(
            [sys.executable, "-m", "portable", "audit", bucket.url, "-o", str(fleet)],
            env=os.environ | variables,
            check=False,
            capture_output=True,
            text=True,
        )
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert "403" in ran.stderr or "denied" in ran.stderr.lower()
    assert not list(tmp_path.glob("fleet*"))


@pytest.mark.parametrize(
    ("url", "names"),
    [("s3://b", "AWS_ACCESS_KEY_ID"), ("gs://b", "GOOGLE_"), ("az://b", "AZURE_STORAGE_")],
)
def test_credentials_that_are_missing_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, names: str
) -> None:
    """In one line, also where the machine is asked for its own, as one in a cloud is."""

    class Refusing(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self.send_error(403)

        do_PUT = do_GET  # noqa: N815 - as http.server calls them

    for variable in list(os.environ):
        if variable.startswith(("AWS_", "AZURE_", "GOOGLE_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        at = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", at)
        monkeypatch.setenv("AZURE_MSI_ENDPOINT", f"{at}/metadata/identity/oauth2/token")
        monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
        monkeypatch.setenv("GCE_METADATA_HOST", at.removeprefix("http://"))
        with pytest.raises(PlaceError, match="no credentials") as refused:
            audit([url], tmp_path / "fleet.parquet")
        server.shutdown()
    assert names in str(refused.value.hint)


def test_a_listing_may_change_while_it_is_read(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there all the time is in the file once, what comes and goes at most once."""
    good = next(FAMILY.rglob("*.mlir.bc")).read_bytes()
    for number in range(1200):
        bucket.put(f"{number:05}.mlir.bc", good)
    changed: list[int] = []
    plain = stores.Bucket.objects

    def changing(self: Any) -> Any:
        for found in plain(self):
            if not changed:
                changed.append(1)
                for number in range(0, 1200, 100):
                    obstore.delete(bucket.store, f"{number:05}.mlir.bc")
                    bucket.put(f"{number:05}x.mlir.bc", good)
            yield found

    monkeypatch.setattr(stores.Bucket, "objects", changing)
    audit([bucket.url], tmp_path / "fleet.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "fleet.parquet").to_pylist()
    said = Counter(row["place"].rpartition("/")[2] for row in rows)
    assert set(said.values()) == {1}
    stay = {f"{number:05}.mlir.bc" for number in range(1200) if number % 100}
    assert stay <= said.keys()
    assert all(row["error"] is None for row in rows if row["place"].rpartition("/")[2] in stay)


@pytest.mark.parametrize("bucket", S3, indirect=True)
def test_an_upload_that_was_torn_is_damage(bucket: Bucket, tmp_path: Path) -> None:
    """A part of an artifact is a row with the reason; parts of an upload are no object yet."""
    good = max(FAMILY.rglob("*.mlir.bc"), key=lambda path: path.stat().st_size).read_bytes()
    name = bucket.url.removeprefix("s3://")
    client = boto3.client("s3")
    client.put_object(Bucket=name, Key="half.mlir.bc", Body=good[: len(good) // 2])
    upload = client.create_multipart_upload(Bucket=name, Key="parts.mlir.bc")
    client.upload_part(
        Bucket=name, Key="parts.mlir.bc", PartNumber=1, UploadId=upload["UploadId"], Body=good
    )
    done = audit([bucket.url], tmp_path / "fleet.parquet", depth="content")
    assert (done.objects, done.damaged) == (1, 1)


def test_a_half_of_the_objects_needs_at_most_64_kb(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read the content, of artifacts with constants of a megabyte each."""
    folder = tmp_path / "models"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.mlir.bc").write_bytes(_with_constants((1 << 20) + number))
    bucket.fill(folder)
    read = Counter[str]()
    plain = stores.Remote.read

    def counting(self: Any, key: str, *how: Any) -> bytes:
        data = plain(self, key, *how)
        read[key] += len(data)
        return data

    monkeypatch.setattr(stores.Remote, "read", counting)
    assert audit([bucket.url], tmp_path / "fleet.parquet", depth="content").artifacts == 5
    assert statistics.median(read.values()) <= 64 << 10, read


def test_a_prefix_of_many_keys_is_listed_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page by page, each once and in order, odd ones too; a second audit reads none again."""
    count, fleet = 5500, tmp_path / "fleet.parquet"
    with numbered(count) as url:
        for name, value in {
            "ENDPOINT_URL": url, "ALLOW_HTTP": "true", "REGION": "us-east-1",
            "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b",
        }.items():  # fmt: skip
            monkeypatch.setenv(f"AWS_{name}", value)
        done = audit(["s3://many/k"], fleet)
        assert audit(["s3://many/k"], fleet).unchanged == count
    places = pyarrow.parquet.read_table(fleet)["place"].to_pylist()
    assert places == [f"s3://many/k/{numbered_name(number)}" for number in range(count)]
    assert (done.artifacts, done.damaged) == (count, 0)
