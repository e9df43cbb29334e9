"""Bundles in a real registry on this machine: pushed, copied by skopeo, picked, executed."""

import contextlib
import http.client
import json
import random
import shutil
import socket
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import portable
from portable.attestation import SIGSTORE, AttestationError, sign
from portable.bundle import (
    RegistryError,
    pack,
    pack_files,
    pick,
    push,
    verify_attached,
)
from portable.cli import main
from portable.containers import MalformedContainer, NoArtifact, open_container
from portable.containers.oci import INDEX
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.runtime.executors import find_executor, random_inputs, signature
from portable.version import Version

ROOT = Path(__file__).parents[3]
ENCODER = ROOT / "docs" / "examples" / "encoder.mlir"
ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"
ADD = [ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in ("0.9.0", "0.14.0", "1.17.0")]
OF_ADD = [path.read_bytes() for path in ADD]
TORCH_XLA = ROOT / "corpus" / "torch_xla" / "torch_xla_2_9_0" / "container"
# What it needs is 0.13.0 at 0.14.0.
MIDDLE = "jaxlib==0.4.13"
FLIPS = 25
CONFIG = """
version: 0.1
log: {{accesslog: {{disabled: false}}, level: error}}
storage: {{filesystem: {{rootdirectory: {root}}}, delete: {{enabled: true}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""


class Running:
    """A registry that runs: where it listens, where it keeps things, and what was fetched."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.host = f"127.0.0.1:{free.getsockname()[1]}"
        self.root, self._log = folder / "storage", folder / "log"
        config = folder / "config.yml"
        config.write_text(CONFIG.format(root=self.root, port=self.host.rpartition(":")[2]))
        with self._log.open("wb") as log:
            command = ["docker-registry", "serve", str(config)]
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        for _ in range(200):
            try:
                urlopen(f"http://{self.host}/v2/", timeout=5).close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError(self._log.read_text())

    def reference(self, name: str) -> str:
        """Return what a bundle is called there."""
        return f"oci://{self.host}/{name}"

    def fetched(self) -> list[str]:
        """Return what was fetched from it since the last call, without how it is addressed."""
        found = [
            line.split('"GET ')[1].split()[0].rpartition("/")[2]
            for line in self._log.read_text().splitlines()
            if '"GET /v2/' in line and '"GET /v2/ ' not in line
        ]
        self._log.write_bytes(b"")
        return found


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a registry of Debian's package docker-registry."""
    assert shutil.which("docker-registry"), "Debian: apt-get install docker-registry"
    running = Running(tmp_path_factory.mktemp("registry"))
    yield running
    running.process.terminate()
    running.process.wait(10)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bundle of three Versions."""
    path = tmp_path_factory.mktemp("bundle") / "add.bundle"
    pack_files(ADD, to=path)
    return path


def digest(bundle: Path) -> str:
    """Return the digest of a bundle's index."""
    (top,) = json.loads((bundle / "index.json").read_text())["manifests"]
    return str(top["digest"])


def skopeo(*words: str) -> None:
    """Copy by skopeo, everything."""
    assert shutil.which("skopeo"), "Debian: apt-get install skopeo"
    command = ["skopeo", "--insecure-policy", "copy", "--all", "--dest-tls-verify=false"]
    subprocess.run([*command, "--src-tls-verify=false", *words], check=True, timeout=120)


def test_consumers_of_two_eras_pick_and_compute_the_same(registry: Running, tmp_path: Path) -> None:
    """Each in its own environment, what it reads, from one name."""
    eras = ("jaxlib==0.4.30", "jaxlib==0.12.0.1")
    pack(ENCODER, *eras, to=tmp_path / "encoder.bundle")
    name = registry.reference("models/encoder:1")
    push(tmp_path / "encoder.bundle", name)
    paths = {era: tmp_path / f"{era}.mlir.bc" for era in eras}
    versions = {pick(name, era, to=path).version for era, path in paths.items()}
    assert len(versions) == 2
    old, new = paths.values()
    inputs = random_inputs(signature(old), seed=1)
    results = []
    for era, path in paths.items():
        environment = Environments().get(find_release(*era.split("==")), to_execute=True)
        with find_executor("pjrt", environment) as executor:
            results.append(portable.run(path, inputs, executor))
            if path == new:
                # On one Release the Versions compute the same bits.
                assert_equal(portable.run(old, inputs, executor), results[-1])
    # XLA of another era rounds in another order.
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-3, atol=1e-3)


def assert_equal(one: list[Any], other: list[Any]) -> None:
    """Compare results bit by bit."""
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_pull_fetches_what_it_delivers(registry: Running, bundle: Path, tmp_path: Path) -> None:
    """The index, one manifest, its files; newer Versions are passed over unread."""
    name = registry.reference("models/add:pull")
    push(bundle, name)
    registry.fetched()
    picked = pick(name, MIDDLE, to=tmp_path / "add.mlir.bc")
    assert (tmp_path / "add.mlir.bc").read_bytes() == ADD[1].read_bytes()
    assert picked.digest == digest(bundle)
    file = f"sha256:{sha256(ADD[1].read_bytes()).hexdigest()}"
    assert registry.fetched() == ["pull", picked.manifest, file]


def test_a_push_sends_what_is_missing(registry: Running, bundle: Path) -> None:
    """Again, under another name, or with one Version more: what is there is not sent."""
    name = registry.reference("models/again:1")
    push(bundle, name)
    before = sorted(path.stat().st_mtime_ns for path in registry.root.rglob("data"))
    assert push(bundle, registry.reference("models/again:2")) == digest(bundle)
    assert sorted(path.stat().st_mtime_ns for path in registry.root.rglob("data")) == before


def test_skopeo_copies_a_bundle_as_it_is(registry: Running, bundle: Path, tmp_path: Path) -> None:
    """To the registry and back, under the same digest, although it writes the index again."""
    skopeo(f"oci:{bundle}", f"docker://{registry.host}/models/skopeo:1")
    picked = pick(registry.reference("models/skopeo:1"), MIDDLE, to=tmp_path / "picked")
    assert picked.digest == digest(bundle)
    skopeo(f"docker://{registry.host}/models/skopeo:1", f"oci:{tmp_path / 'back'}")
    assert digest(tmp_path / "back") == digest(bundle)
    assert len(open_container(tmp_path / "back").artifacts()) == 3


def test_a_name_with_a_digest_is_that_bundle(
    registry: Running, bundle: Path, tmp_path: Path
) -> None:
    """Whatever the registry has under it, also when the registry lies."""
    push(bundle, registry.reference("models/pinned:1"))
    pinned = registry.reference(f"models/pinned@{digest(bundle)}")
    assert pick(pinned, MIDDLE, to=tmp_path / "picked").digest == digest(bundle)
    other = registry.reference("models/pinned@sha256:" + "0" * 64)
    with pytest.raises(RegistryError, match="404"):
        pick(other, MIDDLE, to=tmp_path / "picked")


def test_what_a_registry_changed_is_refused(
    registry: Running, bundle: Path, tmp_path: Path
) -> None:
    """Any blob that it has: the index, the manifest, the file."""
    name = registry.reference("models/changed:1")
    push(bundle, name)
    picked = pick(name, MIDDLE, to=tmp_path / "picked")
    kept = {path.parent.name: path for path in registry.root.rglob("data")}
    manifest = json.loads(kept[picked.manifest.partition(":")[2]].read_text())
    for changed in (picked.digest, picked.manifest, manifest["layers"][0]["digest"]):
        path = kept[changed.partition(":")[2]]
        data = path.read_bytes()
        path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
        with pytest.raises((MalformedContainer, RegistryError)):
            pick(name, MIDDLE, to=tmp_path / "changed")
        path.write_bytes(data[:-1])
        with pytest.raises((MalformedContainer, RegistryError)):
            pick(name, MIDDLE, to=tmp_path / "changed")
        path.write_bytes(data)
    assert not (tmp_path / "changed").exists()
    pick(name, MIDDLE, to=tmp_path / "changed")


def test_a_changed_bit_anywhere_in_a_registry_is_refused(
    registry: Running, bundle: Path, tmp_path: Path
) -> None:
    """In what it keeps of the index, a manifest, a file, or of where its tag leads.

    A tag has no digest: what is changed in words of the index that nothing reads is another bundle.
    """
    luck = random.Random(0)  # noqa: S311 - no secret
    tag = registry.reference("models/flipped:1")
    pinned = registry.reference(f"models/flipped@{push(bundle, tag)}")
    picked = pick(pinned, MIDDLE, to=tmp_path / "picked")
    whole = (tmp_path / "picked").read_bytes()
    file = f"sha256:{sha256(whole).hexdigest()}"
    kept = {path.parent.name: path for path in registry.root.rglob("data")}
    reached = [kept[one.partition(":")[2]] for one in (picked.digest, picked.manifest, file)]
    (link,) = registry.root.rglob("flipped/_manifests/tags/1/current/link")
    names = [(path, pinned) for path in reached] + [(path, tag) for path in (*reached, link)]
    for path, name in names:
        data = path.read_bytes()
        for _ in range(FLIPS):
            changed = bytearray(data)
            changed[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
            path.write_bytes(changed)
            try:
                other = pick(name, MIDDLE, to=tmp_path / "changed")
            except (MalformedContainer, NoArtifact, RegistryError):
                continue
            assert (path, name) == (reached[0], tag)
            assert other.digest == f"sha256:{sha256(changed).hexdigest()}" != picked.digest
            assert other.version is None or (tmp_path / "changed").read_bytes() in OF_ADD
        path.write_bytes(data)
    assert pick(tag, MIDDLE, to=tmp_path / "picked") == picked


def _keys(folder: Path) -> tuple[Path, Path]:
    """Write a key pair."""
    folder.mkdir()
    key = Ed25519PrivateKey.generate()
    form, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private, public = folder / "private.pem", folder / "public.pem"
    private.write_bytes(key.private_bytes(form, serialization.PrivateFormat.PKCS8, plain))
    kind = serialization.PublicFormat.SubjectPublicKeyInfo
    public.write_bytes(key.public_key().public_bytes(form, kind))
    return private, public


def test_what_is_attested_is_found_by_the_bundle(
    registry: Running, bundle: Path, tmp_path: Path
) -> None:
    """By the tag that the specification has for it: of each key its own, of another none."""
    reference, pairs = registry.reference("attested:1"), [_keys(tmp_path / n) for n in "ab"]
    _, stranger = _keys(tmp_path / "c")
    digest = push(bundle, reference)
    with pytest.raises(AttestationError, match="nothing is attested"):
        verify_attached(reference, key=stranger)
    for number, (private, _) in enumerate(pairs):
        said = tmp_path / f"{number}.json"
        said.write_bytes(sign(bundle, MIDDLE, key=private))
        words = ["push", str(bundle), reference, "--attestation", str(said)]
        assert main(words) == main(words) == 0
    for _, public in pairs:
        assert verify_attached(reference, key=public).digest == digest.partition(":")[2]
        words = ["attest", "verify", reference, "--key", str(public), "--for", MIDDLE]
        assert main(words) == 0
    with pytest.raises(AttestationError, match="not signed with this key"):
        verify_attached(reference, key=stranger)
    tag = digest.replace(":", "-")
    shown = subprocess.run(
        ["skopeo", "inspect", "--raw", "--tls-verify=false",
         f"docker://{registry.host}/attested:{tag}"],
        capture_output=True, check=True,
    )  # fmt: skip
    listed = json.loads(shown.stdout)["manifests"]
    assert [one["artifactType"] for one in listed] == [SIGSTORE] * 2


def test_what_is_attested_is_of_one_bundle(registry: Running, bundle: Path, tmp_path: Path) -> None:
    """A tag that moves to another bundle loses it; what was signed of another is refused."""
    reference, (private, public) = registry.reference("moved:1"), _keys(tmp_path / "keys")
    said = tmp_path / "said.json"
    said.write_bytes(sign(bundle, MIDDLE, key=private))
    push(bundle, reference, attestation=said)
    pack_files(ADD[:1], to=tmp_path / "other.bundle")
    push(tmp_path / "other.bundle", reference)
    with pytest.raises(AttestationError, match="nothing is attested"):
        verify_attached(reference, key=public)
    push(tmp_path / "other.bundle", reference, attestation=said)
    with pytest.raises(AttestationError, match=r"is about add\.bundle"):
        verify_attached(reference, key=public)


def test_an_artifact_alone_is_pushed_attested_and_picked(
    registry: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One file, no index: the statement is about its own SHA-256, and its bytes come back."""
    reference, (private, public) = registry.reference("alone:1"), _keys(tmp_path / "keys")
    _, stranger = _keys(tmp_path / "other")
    said = tmp_path / "said.json"
    said.write_bytes(sign(ADD[1], MIDDLE, key=private))
    words = ["push", str(ADD[1]), reference, "--attestation", str(said)]
    assert main(words) == main(words) == 0
    found = verify_attached(reference, key=public)
    assert found.digest == sha256(ADD[1].read_bytes()).hexdigest()
    assert main(["attest", "verify", reference, "--key", str(public), "--for", MIDDLE]) == 0
    with pytest.raises(AttestationError, match="not signed with this key"):
        verify_attached(reference, key=stranger)
    registry.fetched()
    picked = pick(reference, MIDDLE, to=tmp_path / "picked")
    assert picked.version == Version.parse("0.14.0")
    assert registry.fetched() == ["1", picked.digest, f"sha256:{found.digest}"]
    assert (tmp_path / "picked").read_bytes() == ADD[1].read_bytes()
    assert pick(reference, "stablehlo==0.9.0", to=tmp_path / "old").held is False
    capsys.readouterr()
    assert main(["push", str(private), reference]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_container_alone_is_pushed_and_picked(registry: Running, tmp_path: Path) -> None:
    """With every weight, from one manifest."""
    reference = registry.reference("model:1")
    push(TORCH_XLA, reference)
    pick(reference, "jaxlib==0.10.2", to=tmp_path / "picked")
    files = [path.relative_to(TORCH_XLA) for path in TORCH_XLA.rglob("*") if path.is_file()]
    for path in files:
        assert (tmp_path / "picked" / path).read_bytes() == (TORCH_XLA / path).read_bytes()


def test_what_others_pushed_is_attested(registry: Running, tmp_path: Path) -> None:
    """A file that oras sent as it sends any: what is signed of it is sent alone, if it is of it."""
    import oras.client

    name, (private, public) = f"{registry.host}/others:1", _keys(tmp_path / "keys")
    shutil.copy(ADD[0], tmp_path / "add.mlir.bc")
    client = oras.client.OrasClient(insecure=True)
    client.push(target=name, files=[str(tmp_path / "add.mlir.bc")], disable_path_validation=True)
    for number, path in enumerate((ADD[1], ADD[0])):
        said = tmp_path / f"{number}.json"
        said.write_bytes(sign(path, MIDDLE, key=private))
        words = ["attest", "attach", f"oci://{name}", "--attestation", str(said)]
        assert main([*words, "--key", str(private)]) == 2
        assert main([*words, "--key", str(public)]) == (2 if path is ADD[1] else 0)
    found = verify_attached(f"oci://{name}", key=public)
    assert found.digest == sha256(ADD[0].read_bytes()).hexdigest()
    with pytest.raises(NoArtifact, match="not of a portable artifact"):
        pick(f"oci://{name}", MIDDLE, to=tmp_path / "picked")


class Listing(BaseHTTPRequestHandler):
    """A door before a registry that lists referrers, as the distribution specification says."""

    host: str
    known: dict[str, list[dict[str, Any]]]

    def do_GET(self) -> None:
        """Pass a request on, but answer for the list, and note what has a subject."""
        _, marked, wanted = self.path.partition("/referrers/")
        if marked:
            listed = {"schemaVersion": 2, "mediaType": INDEX, "manifests": self.known[wanted]}
            self._answer(200, {"Content-Type": INDEX}, json.dumps(listed).encode())
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or None
        with contextlib.closing(http.client.HTTPConnection(self.host)) as connection:
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            data = answer.read()
        headers = {k: v for k, v in answer.getheaders() if k.lower() != "content-length"}
        if self.command == "PUT" and "/manifests/" in self.path and body:
            document = json.loads(body)
            if subject := document.get("subject"):
                made = {"mediaType": document["mediaType"], "size": len(body)}
                made |= {"digest": f"sha256:{sha256(body).hexdigest()}"}
                made |= {"artifactType": document["artifactType"]}
                self.known[subject["digest"]].append(made)
                headers["OCI-Subject"] = subject["digest"]
        self._answer(answer.status, headers, data)

    def _answer(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_registry_that_lists_referrers_is_asked(registry: Running, tmp_path: Path) -> None:
    """Then no tag is written for them, and what others attached there is found."""
    private, public = _keys(tmp_path / "keys")
    said = tmp_path / "said.json"
    said.write_bytes(sign(ADD[1], MIDDLE, key=private))
    given: dict[str, Any] = {"host": registry.host, "known": defaultdict(list)}
    given |= dict.fromkeys(("do_PUT", "do_POST", "do_HEAD", "do_PATCH"), Listing.do_GET)
    handler = type("Handler", (Listing,), given)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        name = f"oci://127.0.0.1:{server.server_address[1]}/listing:1"
        push(ADD[1], name)
        with pytest.raises(AttestationError, match="nothing is attested"):
            verify_attached(name, key=public)
        push(ADD[1], name, attestation=said)
        assert verify_attached(name, key=public).uncovered(MIDDLE) == ()
        server.shutdown()
    with urlopen(f"http://{registry.host}/v2/listing/tags/list", timeout=5) as answer:
        assert json.load(answer)["tags"] == ["1"]


def test_images_are_no_bundles(registry: Running, bundle: Path, tmp_path: Path) -> None:
    """A name that stands for something else says so."""
    index = json.loads((bundle / "blobs" / digest(bundle).replace(":", "/")).read_text())
    del index["annotations"]
    shutil.copytree(bundle, tmp_path / "image")
    data = json.dumps(index).encode()
    name = sha256(data).hexdigest()
    (tmp_path / "image" / "blobs" / "sha256" / name).write_bytes(data)
    top = {"mediaType": index["mediaType"], "digest": f"sha256:{name}", "size": len(data)}
    (tmp_path / "image" / "index.json").write_text(
        json.dumps({"schemaVersion": 2, "manifests": [top]})
    )
    skopeo(f"oci:{tmp_path / 'image'}", f"docker://{registry.host}/images/some:1")
    with pytest.raises(NoArtifact, match="not a bundle"):
        pick(registry.reference("images/some:1"), MIDDLE, to=tmp_path / "picked")
    with pytest.raises(NoArtifact, match="not a bundle"):
        push(tmp_path / "image", registry.reference("images/some:2"))


@pytest.mark.parametrize(
    "reference",
    ["oci://", "oci://localhost/name", "oci://host:5000", "oci://user:word@host:5000/name:1"],
)
def test_what_is_no_reference_is_said(tmp_path: Path, reference: str) -> None:
    """Before anything is sent."""
    with pytest.raises(RegistryError, match="not the name of a bundle"):
        pick(reference, MIDDLE, to=tmp_path / "picked")


def test_no_registry_is_one_line_and_soon(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.monotonic()
    words = ["pick", f"oci://127.0.0.1:{port}/a:1", "--for", MIDDLE, "-o", str(tmp_path / "a")]
    assert main(words) == 2
    assert time.monotonic() - began < 30
    assert len(capsys.readouterr().err.splitlines()) == 1


class Hostile(BaseHTTPRequestHandler):
    """A registry that answers what `answers` say, by the last part of the path."""

    bundle: Path
    attack: str
    tags: list[str]

    def do_GET(self) -> None:
        """Answer."""
        name = self.path.rpartition("/")[2]
        wanted = digest(self.bundle) if name in {"", "moving"} else name
        path = self.bundle / "blobs" / wanted.replace(":", "/")
        data = path.read_bytes()
        is_blob = "/blobs/" in self.path
        self.send_response(200)
        length = len(data)
        if self.attack == "truncates" and is_blob:
            data = data[: len(data) // 2]
        elif self.attack == "sends less and says so" and is_blob:
            data, length = data[:-1], length - 1
        elif self.attack == "does not end" and is_blob:
            length = 1 << 40
        elif self.attack == "has a large index" and not is_blob and name == "moving":
            data = data + b" " * (8 << 20)
            length = len(data)
        elif self.attack == "moves the tag" and name == "moving":
            self.tags.append(name)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(data)
        if self.attack == "does not end" and is_blob:
            try:
                while True:
                    self.wfile.write(bytes(1 << 20))
            except OSError:
                self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


ATTACKS = ["truncates", "sends less and says so", "does not end", "has a large index"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_registry_delivers_nothing(bundle: Path, tmp_path: Path, attack: str) -> None:
    """Whatever it sends, `pick` fails soon, with one error, and leaves nothing behind."""
    handler = type("Handler", (Hostile,), {"bundle": bundle, "attack": attack})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        name = f"oci://127.0.0.1:{server.server_address[1]}/a:moving"
        with pytest.raises((RegistryError, MalformedContainer)):
            pick(name, MIDDLE, to=tmp_path / "picked")
        server.shutdown()
    assert [*tmp_path.iterdir()] == []


class Guarded(BaseHTTPRequestHandler):
    """A registry that wants a token, whose place and content are not what they should be."""

    challenge: str
    token: bytes

    def do_GET(self) -> None:
        """Answer."""
        asked = self.path.startswith("/token")
        self.send_response(200 if asked else 401)
        if not asked:
            port = self.connection.getsockname()[1]
            self.send_header("WWW-Authenticate", self.challenge.format(port))
        endless = asked and self.token == b"endless"
        if not endless:
            self.send_header("Content-Length", str(len(self.token)))
        self.end_headers()
        try:
            while endless:
                self.wfile.write(bytes(1 << 20))
            self.wfile.write(self.token)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


_BEARER = 'Bearer realm="http://127.0.0.1:{}/token",service="x"'
GUARDED = [
    *((challenge, b"") for challenge in ("Bearer", "Negotiate", "Basic realm=x", "")),
    *((f'Bearer realm="{place}"', b"") for place in ("file:///etc/passwd", "::::", "")),
    *((_BEARER, token) for token in (b"endless", b"no", b"[1]", b'{"token":[]}', b"[" * 200_000)),
    (_BEARER, b'{"token":"a\\r\\nX: y"}'),
]


@pytest.mark.parametrize(("challenge", "token"), GUARDED)
def test_a_registry_that_wants_something_odd_is_one_error(
    challenge: str, token: bytes, tmp_path: Path
) -> None:
    """Malformed places and tokens, which oras would use as they are, and an endless answer."""
    handler = type("Handler", (Guarded,), {"challenge": challenge, "token": token})
    began = time.monotonic()
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(RegistryError):
            pick(f"oci://127.0.0.1:{server.server_address[1]}/a:1", MIDDLE, to=tmp_path / "a")
        server.shutdown()
    assert time.monotonic() - began < 30
    assert [*tmp_path.iterdir()] == []


def test_a_tag_is_looked_up_once(bundle: Path, tmp_path: Path) -> None:
    """So that one that moves during a pull changes nothing."""
    tags: list[str] = []
    given = {"bundle": bundle, "attack": "moves the tag", "tags": tags}
    handler = type("Handler", (Hostile,), given)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        name = f"oci://127.0.0.1:{server.server_address[1]}/a:moving"
        pick(name, MIDDLE, to=tmp_path / "picked")
        server.shutdown()
    assert tags == ["moving"]
    assert (tmp_path / "picked").read_bytes() == ADD[1].read_bytes()
