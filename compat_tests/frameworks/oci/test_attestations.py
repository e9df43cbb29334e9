"""Attestations: signed here, verified by cryptography alone, and refused when anything changed."""

import base64
import datetime
import json
import os
import random
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

from compat_tests.helpers.documents import mismatches
from compat_tests.helpers.matrices import sample
from portable.attestation import PREDICATE, AttestationError, Sighting, sign, verify
from portable.bundle import pack, pack_files
from portable.cli import main
from portable.containers import MalformedContainer
from portable.errors import PortableError
from portable.matrix.document import dump
from portable.policy import PolicyError, Rule, gate, parse_policy
from portable.verdict import Basis, Outcome, Stage, Verdict

ARTIFACTS = Path(__file__).parents[2] / "data" / "artifacts"
EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
ADD = [ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in ("0.9.0", "1.17.0")]
READS = "jaxlib==0.10.2"
OLD = "stablehlo==0.9.0"
MADE = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
# 12,500 for the figures of docs/reliability.md; the bundle there had four times as many.
FLIPS = int(os.environ.get("PORTABLE_FLIPS", "200"))
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
    path.write_bytes(sign(subject, *(consumers or (READS,)), key=pair.private, made=MADE))
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
    assert mismatches("predicate", json.dumps(statement["predicate"])) == []
    (verdict,) = statement["predicate"]["verdicts"]
    assert verdict["consumer"] == "jaxlib 0.10.2"
    assert (verdict["stage"], verdict["basis"]) == ("decode", "predicted")
    assert verify(artifact, signed(artifact, pair), key=pair.public).made == MADE


def test_a_bundle_is_attested_by_its_index(tmp_path: Path, pair: Pair) -> None:
    """One changed bit in any blob is noticed, although only the index is named."""
    bundle = tmp_path / "add.bundle"
    pack_files(ADD, to=bundle)
    path = signed(bundle, pair, READS, OLD)
    found = verify(bundle, path, key=pair.public)
    assert found.uncovered(READS, OLD) == ()
    assert found.verdicts["stablehlo 0.9.0"]["reason"].startswith("0.9.0: ")
    for blob in sorted((bundle / "blobs" / "sha256").iterdir()):
        data = blob.read_bytes()
        blob.write_bytes(bytes([data[0] ^ 1]) + data[1:])
        with pytest.raises((MalformedContainer, AttestationError)):
            verify(bundle, path, key=pair.public)
        blob.write_bytes(data)


def test_what_was_rewritten_is_said(tmp_path: Path, pair: Pair) -> None:
    """Of the Versions of a bundle, as `portable explain` names it; of others nothing is known."""
    bundle = tmp_path / "tan.bundle"
    pack(EXAMPLES / "tan.mlir.bc", "jaxlib==0.4.30", READS, to=bundle, allow=["exact"])
    found = verify(bundle, signed(bundle, pair), key=pair.public)
    assert mismatches("predicate", json.dumps(found.predicate)) == []
    rewrites = {one["name"]: one.get("rewrites") for one in found.predicate["artifacts"]}
    assert rewrites == {"1.17.0": None, "1.1.0": ["tan_v1"]}


def test_a_statement_about_something_else_is_refused(artifact: Path, pair: Pair) -> None:
    """Of another artifact, with its right signature."""
    path = signed(artifact, pair)
    shutil.copy(ADD[0], artifact)
    with pytest.raises(AttestationError, match="is about add"):
        verify(artifact, path, key=pair.public)


def expired(folder: Path, pair: Pair) -> Path:
    """Write a certificate of the right key, whose time is over."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "portable")])
    builder = x509.CertificateBuilder(name, name, pair.key.public_key(), 1)
    builder = builder.not_valid_before(MADE - datetime.timedelta(days=2))
    made = builder.not_valid_after(MADE - datetime.timedelta(days=1)).sign(pair.key, None)
    path = folder / "certificate.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return path


def test_another_key_is_refused(artifact: Path, pair: Pair, tmp_path: Path) -> None:
    """Of the same kind or another, a certificate that expired, or no key at all."""
    path = signed(artifact, pair)
    for kind in KEYS:
        with pytest.raises(AttestationError):
            verify(artifact, path, key=Pair(tmp_path / kind, kind).public)
    for key in (pair.private, artifact, expired(tmp_path, pair)):
        with pytest.raises(AttestationError, match="key or signature cannot be used"):
            verify(artifact, path, key=key)
    with pytest.raises(AttestationError, match="key or signature cannot be used"):
        sign(artifact, READS, key=pair.public)


def test_its_age_is_judged(artifact: Path, pair: Pair) -> None:
    """Right and old, or of the future."""
    path, day = signed(artifact, pair), datetime.timedelta(days=1)
    for now, age in ((MADE + 10 * day, None), (MADE + 10 * day, 10 * day), (MADE, day)):
        verify(artifact, path, key=pair.public, now=now, max_age=age)
    with pytest.raises(AttestationError, match="too long ago"):
        verify(artifact, path, key=pair.public, now=MADE + 11 * day, max_age=10 * day)
    with pytest.raises(AttestationError, match="in the future"):
        verify(artifact, path, key=pair.public, now=MADE - day)


def test_what_is_not_said_is_not_covered(artifact: Path, pair: Pair) -> None:
    """A consumer that was not named, or does not read it."""
    found = verify(artifact, signed(artifact, pair, READS, OLD), key=pair.public)
    assert found.uncovered(READS) == ()
    assert found.uncovered(OLD) == ("stablehlo 0.9.0",)
    assert found.uncovered("jaxlib==0.12.0") == ("jaxlib 0.12.0",)


def test_what_was_executed_is_said(
    artifact: Path, pair: Pair, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a real Release: its Verdict is observed, with the day; the others are predicted."""
    seen = tmp_path / "matrix.json"
    execute = ["--stage", "execute", "--random", "0", "--cache", str(tmp_path / "store")]
    assert main(["matrix", str(artifact), "--for", READS, *execute, "-o", str(seen)]) == 0
    words = ["attest", "sign", str(artifact), "--for", READS, OLD, "--key", str(pair.private)]
    assert main([*words, "--matrix", str(seen)]) == 0
    path = artifact.with_name(artifact.name + ".sigstore.json")
    found = verify(artifact, path, key=pair.public)
    assert mismatches("predicate", json.dumps(found.predicate)) == []
    bases = {name: (one["stage"], one["basis"]) for name, one in found.verdicts.items()}
    assert bases == {
        "jaxlib 0.10.2": ("execute", "observed"),
        "stablehlo 0.9.0": ("decode", "predicted"),
    }
    assert found.predicate["observed"] == {"jaxlib 0.10.2": json.loads(seen.read_text())["date"]}
    digest = sha256(seen.read_bytes()).hexdigest()
    assert found.predicate["inputs"] == [{"name": "matrix.json", "digest": {"sha256": digest}}]
    capsys.readouterr()
    assert main(["attest", "verify", str(artifact), "--key", str(pair.public), "--for", READS]) == 0
    assert "jaxlib 0.10.2: compatible: computes the same (observed)" in capsys.readouterr().out


def test_an_observation_counts_more_than_a_prediction(artifact: Path, pair: Pair) -> None:
    """Whoever was seen to fail is not said to read it; whoever was seen to go less far is not."""
    crashed = Verdict("jaxlib 0.10.2", Outcome.CRASHED, Stage.DECODE, Basis.OBSERVED, "SIGSEGV")
    began = replace(crashed, outcome=Outcome.COMPATIBLE, stage=Stage.HEADER)
    read = replace(began, stage=Stage.DECODE)
    digest = sha256(artifact.read_bytes()).hexdigest()

    def said(*verdicts: Verdict) -> dict[str, Any]:
        seen = [Sighting(digest, MADE.date(), one) for one in verdicts]
        data = sign(artifact, READS, key=pair.private, made=MADE, sightings=seen)
        path = artifact.with_name("signed.json")
        path.write_bytes(data)
        return verify(artifact, path, key=pair.public).verdicts["jaxlib 0.10.2"]

    assert said(crashed) == crashed.record()
    # In whatever order, the worst of all that was seen.
    assert said(crashed, read) == said(read, crashed) == crashed.record()
    assert said(read) == read.record()
    assert said(began)["basis"] == "predicted"


def test_observations_of_something_else_are_refused(
    artifact: Path, pair: Pair, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A matrix of other bytes, or for a bundle, and a file that is not a matrix, are refused."""
    (tmp_path / "matrix.json").write_text(dump(sample()))
    bundle = tmp_path / "add.bundle"
    pack_files(ADD, to=bundle)
    for subject, seen, why in (
        (
            ARTIFACTS / "add_i1+0.9.0.mlir.bc",
            tmp_path / "matrix.json",
            "no observation of these bytes",
        ),
        (bundle, tmp_path / "matrix.json", "no observation of these bytes"),
        (artifact, pair.public, "not a matrix"),
    ):
        words = ["attest", "sign", str(subject), "--for", READS, "--key", str(pair.private)]
        assert main([*words, "--matrix", str(seen), "-o", str(tmp_path / "new")]) == 2
        assert why in capsys.readouterr().err
        assert not (tmp_path / "new").exists()


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


def flipped(data: bytes, luck: random.Random) -> bytes:
    """Change one bit."""
    changed = bytearray(data)
    changed[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
    return bytes(changed)


@pytest.mark.parametrize("kind", KEYS)
def test_a_changed_bit_is_refused_or_says_the_same(
    artifact: Path, tmp_path: Path, kind: str
) -> None:
    """Anywhere in the document: what nothing signs is not used."""
    luck, pair = random.Random(kind), Pair(tmp_path / kind, kind)  # noqa: S311 - no secret
    path = signed(artifact, pair)
    before, data = verify(artifact, path, key=pair.public), path.read_bytes()
    refused = 0
    for _ in range(FLIPS):
        path.write_bytes(flipped(data, luck))
        try:
            assert verify(artifact, path, key=pair.public) == before
        except AttestationError:
            refused += 1
    assert refused > FLIPS / 2


def test_a_changed_bit_of_a_bundle_is_refused_or_says_the_same(tmp_path: Path, pair: Pair) -> None:
    """Anywhere in any file; only the outer index has bits that mean nothing."""
    luck, bundle = random.Random(0), tmp_path / "add.bundle"  # noqa: S311 - no secret
    pack_files(ADD, to=bundle)
    path = signed(bundle, pair)
    before = verify(bundle, path, key=pair.public)
    files = {one: one.read_bytes() for one in sorted(bundle.rglob("*")) if one.is_file()}
    same = set()
    for _ in range(FLIPS):
        (chosen,) = luck.choices([*files], [len(data) for data in files.values()])
        chosen.write_bytes(flipped(files[chosen], luck))
        try:
            assert verify(bundle, path, key=pair.public) == before
            same.add(chosen.name)
        except PortableError:
            pass
        chosen.write_bytes(files[chosen])
    assert same <= {"index.json"}


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
        verify(artifact, path, key=pair.public)


def test_a_gate_demands_attestations(artifact: Path, pair: Pair, tmp_path: Path) -> None:
    """Of every file and bundle: by the key, young enough, of these consumers; or a waiver."""
    tree = tmp_path / "tree"
    tree.mkdir()
    files = [Path(shutil.move(artifact, tree)), tree / "add.bundle"]
    pack_files(ADD, to=files[1])
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
