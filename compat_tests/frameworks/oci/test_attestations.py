"""Attestations: signed here, verified by cryptography alone, and refused when anything changed."""

import base64
import datetime
import json
import random
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

from portable.attestation import PREDICATE, AttestationError, attest, verify_attestation
from portable.bundle import bundle_files
from portable.cli import main
from portable.containers import MalformedContainer
from portable.policy import PolicyError, Rule, gate, parse_policy

ARTIFACTS = Path(__file__).parents[2] / "data" / "artifacts"
ADD = [ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in ("0.9.0", "1.17.0")]
READS = "jaxlib==0.10.2"
OLD = "stablehlo==0.9.0"
MADE = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
KEYS: dict[str, Any] = {
    "ed25519": ed25519.Ed25519PrivateKey.generate,
    "p256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "p384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "rsa": lambda: rsa.generate_private_key(65537, 2048),
}


class Pair:
    """A key pair in files."""

    def __init__(self, folder: Path, kind: str = "ed25519") -> None:
        folder.mkdir(exist_ok=True)
        self.key = KEYS[kind]()
        self.private, self.public = folder / "private.pem", folder / "public.pem"
        self.private.write_bytes(
            self.key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        self.public.write_bytes(
            self.key.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    """Return a key pair."""
    return Pair(tmp_path / "keys")


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    """Return an artifact that may be changed."""
    return Path(shutil.copy(ADD[1], tmp_path / "add.mlir.bc"))


def signed(subject: Path, pair: Pair, *consumers: str) -> Path:
    """Attest something of 1 November 2026."""
    path = subject.with_name(subject.name + ".sigstore.json")
    path.write_bytes(attest(subject, *(consumers or (READS,)), key=pair.private, made=MADE))
    return path


@pytest.mark.parametrize("kind", KEYS)
def test_it_is_signed_as_is_specified(artifact: Path, tmp_path: Path, kind: str) -> None:
    """By DSSE's encoding, written here again, and a bare library: over a Statement of in-toto."""
    pair = Pair(tmp_path / kind, kind)
    document = json.loads(signed(artifact, pair).read_text())
    assert document["mediaType"] == "application/vnd.dev.sigstore.bundle.v0.3+json"
    envelope = document["dsseEnvelope"]
    payload = base64.b64decode(envelope["payload"], validate=True)
    kind_of_payload = envelope["payloadType"].encode()
    assert kind_of_payload == b"application/vnd.in-toto+json"
    encoded = b" ".join(
        [b"DSSEv1", b"%d" % len(kind_of_payload), kind_of_payload, b"%d" % len(payload), payload]
    )
    (signature,) = envelope["signatures"]
    public, raw = pair.key.public_key(), base64.b64decode(signature["sig"], validate=True)
    if kind == "ed25519":
        public.verify(raw, encoded)
    elif kind == "rsa":
        pss = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
        public.verify(raw, encoded, pss, hashes.SHA256())
    else:
        algorithm = hashes.SHA256() if kind == "p256" else hashes.SHA384()
        public.verify(raw, encoded, ec.ECDSA(algorithm))
    statement = json.loads(payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == PREDICATE
    digest = sha256(artifact.read_bytes()).hexdigest()
    assert statement["subject"] == [{"name": "add.mlir.bc", "digest": {"sha256": digest}}]
    (verdict,) = statement["predicate"]["verdicts"]
    assert verdict["consumer"] == "jaxlib 0.10.2"
    assert (verdict["stage"], verdict["basis"]) == ("decode", "predicted")
    assert verify_attestation(artifact, signed(artifact, pair), key=pair.public).made == MADE


def test_a_bundle_is_attested_by_its_index(tmp_path: Path, pair: Pair) -> None:
    """One changed bit in any blob is noticed, although only the index is named."""
    bundle = tmp_path / "add.bundle"
    bundle_files(ADD, to=bundle)
    path = signed(bundle, pair, READS, OLD)
    found = verify_attestation(bundle, path, key=pair.public)
    assert found.uncovered(READS, OLD) == ()
    assert found.verdicts["stablehlo 0.9.0"]["reason"].startswith("0.9.0: ")
    for blob in sorted((bundle / "blobs" / "sha256").iterdir()):
        data = blob.read_bytes()
        blob.write_bytes(bytes([data[0] ^ 1]) + data[1:])
        with pytest.raises((MalformedContainer, AttestationError)):
            verify_attestation(bundle, path, key=pair.public)
        blob.write_bytes(data)


def test_a_statement_about_something_else_is_refused(artifact: Path, pair: Pair) -> None:
    """Of another artifact, with its right signature."""
    path = signed(artifact, pair)
    shutil.copy(ADD[0], artifact)
    with pytest.raises(AttestationError, match="is about add"):
        verify_attestation(artifact, path, key=pair.public)


def test_another_key_is_refused(artifact: Path, pair: Pair, tmp_path: Path) -> None:
    """Of the same kind or another, or no key at all."""
    path = signed(artifact, pair)
    for kind in KEYS:
        with pytest.raises(AttestationError):
            verify_attestation(artifact, path, key=Pair(tmp_path / kind, kind).public)
    for key in (pair.private, artifact):
        with pytest.raises(AttestationError, match="key or signature cannot be used"):
            verify_attestation(artifact, path, key=key)
    with pytest.raises(AttestationError, match="key or signature cannot be used"):
        attest(artifact, READS, key=pair.public)


def test_its_age_is_judged(artifact: Path, pair: Pair) -> None:
    """Right and old, or of the future."""
    path, day = signed(artifact, pair), datetime.timedelta(days=1)
    for now, age in ((MADE + 10 * day, None), (MADE + 10 * day, 10 * day), (MADE, day)):
        verify_attestation(artifact, path, key=pair.public, now=now, max_age=age)
    with pytest.raises(AttestationError, match="too long ago"):
        verify_attestation(artifact, path, key=pair.public, now=MADE + 11 * day, max_age=10 * day)
    with pytest.raises(AttestationError, match="in the future"):
        verify_attestation(artifact, path, key=pair.public, now=MADE - day)


def test_what_is_not_said_is_not_covered(artifact: Path, pair: Pair) -> None:
    """A consumer that was not named, or does not read it."""
    found = verify_attestation(artifact, signed(artifact, pair, READS, OLD), key=pair.public)
    assert found.uncovered(READS) == ()
    assert found.uncovered(OLD) == ("stablehlo 0.9.0",)
    assert found.uncovered("jaxlib==0.12.0") == ("jaxlib 0.12.0",)


def test_the_commands(artifact: Path, pair: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    """0 verified, 1 not said, 2 not to be trusted."""
    words = ["attest", "sign", str(artifact), "--for", READS, "--key", str(pair.private)]
    assert main(words) == 0
    verify = ["attest", "verify", str(artifact), "--key", str(pair.public), "--max-age", "1d"]
    assert main(verify) == 0
    assert main([*verify, "--for", READS]) == 0
    assert main([*verify, "--for", OLD]) == 1
    assert main([*verify, "--max-age", "soon"]) == 2
    artifact.write_bytes(ADD[0].read_bytes())
    capsys.readouterr()
    assert main(verify) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_changed_bit_is_refused_or_says_the_same(artifact: Path, pair: Pair, seed: int) -> None:
    """Anywhere in the document: what nothing signs is not used."""
    luck = random.Random(seed)  # noqa: S311 - no secret
    path = signed(artifact, pair)
    before, data = verify_attestation(artifact, path, key=pair.public), path.read_bytes()
    refused = 0
    for _ in range(200):
        changed = bytearray(data)
        changed[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
        path.write_bytes(changed)
        try:
            assert verify_attestation(artifact, path, key=pair.public) == before
        except AttestationError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "dsseEnvelope": {}}',
        "[" * 100_000,
        "x" * (5 << 20),
    ],
)
def test_what_is_no_attestation_is_one_error(artifact: Path, pair: Pair, text: str) -> None:
    """Of any size and form."""
    path = signed(artifact, pair)
    path.write_text(text)
    with pytest.raises(AttestationError):
        verify_attestation(artifact, path, key=pair.public)


def test_a_gate_demands_attestations(artifact: Path, pair: Pair, tmp_path: Path) -> None:
    """Of every file and bundle: by the key, young enough, of these consumers; or a waiver."""
    tree = tmp_path / "tree"
    tree.mkdir()
    files = [Path(shutil.move(artifact, tree)), tree / "add.bundle"]
    bundle_files(ADD, to=files[1])
    rules = {"key": "keys/public.pem", "max_age": "30d", "must_cover": ["@new"]}
    policy: dict[str, Any] = {"consumers": {"new": [READS]}, "rules": {"attested": rules}}

    def broken(day: int = 20, **rules_: object) -> list[tuple[str, str]]:
        changed = policy | {"rules": {"attested": rules | rules_}}
        parsed = parse_policy(changed, root=tmp_path)
        result = gate(tree, parsed, on=datetime.date(2026, 11, day))
        assert {one.rule for one in result.findings} <= {Rule.ATTESTED}
        assert result.passed == (not result.findings)
        return [(one.path.name, one.message) for one in result.findings]

    names = sorted(path.name for path in files)
    assert sorted(name for name, _ in broken()) == names
    for path in files:
        signed(path, pair)
    assert broken() == []
    assert [why for _, why in broken(must_cover=[READS, OLD])] == [
        "is not attested to be read by stablehlo 0.9.0"
    ] * 2
    assert all("too long ago" in why for _, why in broken(max_age="10d"))
    assert len(broken(max_age="10d")) == 2
    other = Pair(tmp_path / "other")
    assert all("not signed with this key" in why for _, why in broken(key=str(other.public)))
    until = datetime.date(2026, 12, 1)
    waiver = {"rule": "attested", "path": "tree/*", "reason": "new", "expires": until}
    waived = policy | {"waivers": [waiver], "rules": {"attested": rules | {"max_age": "1d"}}}
    assert gate(tree, parse_policy(waived, root=tmp_path), on=until).passed
    for wrong in ({"max_age": "soon"}, {"key": ""}, {"unknown": 1}, {"must_cover": ["nobody==1"]}):
        with pytest.raises(PolicyError, match=r"rules\.attested"):
            parse_policy(policy | {"rules": {"attested": rules | wrong}}, root=tmp_path)
