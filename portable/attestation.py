"""Signed statements about an artifact or a bundle: its Verdicts, and their date.

An in-toto Statement in a DSSE envelope, in the form of Sigstore's bundles, signed and verified
with a key and without a network. Its predicate: docs/attestations.md.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from portable.containers.bundle import REWRITES, ImageLayout, listed_members, parse_member
from portable.containers.container import MalformedContainer
from portable.containers.folder import Folder
from portable.containers.kind import Kind, kind_of_directory, kind_of_file
from portable.containers.oci import parse_fields
from portable.containers.opening import open_path, open_source
from portable.containers.source import Source
from portable.errors import PortableError
from portable.prediction import predict_all, subjects_in
from portable.releases import named_consumers
from portable.system.documents import demand_form
from portable.system.files import read_file
from portable.verdict import Basis, Outcome, Severity, Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from portable.containers.container import Container
    from portable.verdict import Verdict

__all__ = [
    "PREDICATE",
    "SIGSTORE",
    "SUFFIX",
    "AttestationError",
    "Sighting",
    "Statement",
    "beside",
    "parse_age",
    "sign",
    "verify",
    "verify_statement",
]

PREDICATE = "urn:stablehlo-portable:verdicts:v1"
"""The type of the predicate."""
SUFFIX = ".sigstore.json"
"""What the name of an attestation has behind that of what it is about."""

_STATEMENT = "https://in-toto.io/Statement/v1"
_PAYLOAD = "application/vnd.in-toto+json"
SIGSTORE = "application/vnd.dev.sigstore.bundle.v0.3+json"
"""The media type of an attestation."""
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_LARGEST = 4 << 20
# How far the clocks of two machines may be apart.
_AHEAD = datetime.timedelta(minutes=10)


class AttestationError(PortableError):
    """An attestation cannot be made, or does not contain what is required."""


class Sighting(NamedTuple):
    """An observation of a Release with an artifact.

    Args:
        digest: SHA-256 of the artifact, in hexadecimal.
        on: The day.
        verdict: What happened.
    """

    digest: str
    on: datetime.date
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Statement:
    """The content of an attestation, after its signature was verified.

    Args:
        name: The name of the file or bundle.
        digest: The SHA-256 of the file, or of the index of the bundle.
        made: When it was signed.
        verdicts: For each consumer its Verdict, in the form of `Verdict.record`.
        predicate: The whole predicate.
    """

    name: str
    digest: str
    made: datetime.datetime
    verdicts: dict[str, dict[str, Any]]
    predicate: dict[str, Any] = field(repr=False)

    def uncovered(
        self, *consumers: str, sets: Mapping[str, Sequence[str]] | None = None
    ) -> tuple[str, ...]:
        """Return the consumers that it does not call compatible.

        Args:
            consumers: As for `named_consumers`.
            sets: The consumer sets of a policy, by name.
        """
        named = named_consumers(*consumers, consumers=sets)
        missing = [
            str(one)
            for one in named.releases
            if self.verdicts.get(str(one), {}).get("outcome") != "compatible"
        ]
        return (*missing, *named.uncovered)


def beside(path: str | os.PathLike[str]) -> str:
    """Return the default path of the attestation of a file or a bundle.

    Args:
        path: The file or bundle, also the current folder or the one above.
    """
    place = os.path.normpath(path)
    named = os.path.basename(place) not in {os.curdir, os.pardir}
    return (place if named else os.path.abspath(place)) + SUFFIX


def parse_age(text: str) -> datetime.timedelta:
    """Read an age in days: `90d`.

    Raises:
        AttestationError: It is none.
    """
    match = re.fullmatch(r"([0-9]{1,5})d", text, re.ASCII)
    if match is None:
        raise AttestationError(f"{text!r:.40} is not an age", hint="e.g. 90d")
    return datetime.timedelta(days=int(match[1]))


def sign(
    path: str | os.PathLike[str],
    *consumers: str,
    key: str | os.PathLike[str],
    made: datetime.datetime | None = None,
    sightings: Iterable[Sighting] = (),
    inputs: Mapping[str, str] = {},
) -> bytes:
    """Sign the Verdicts of a file or a bundle, predicted or observed.

    Args:
        path: An artifact, an `Exported`, or a bundle.
        consumers: The consumers, as for `named_consumers`.
        key: The private key, in PEM: Ed25519, ECDSA or RSA.
        made: The time of the statement; by default now.
        sightings: What was seen, as in `Matrix.sightings`, of an artifact that is the whole file:
            failures, and what went at least as far, replace predictions. Those of other artifacts
            are passed over.
        inputs: What else the statement comes from, such as the file of a matrix: the SHA-256 of
            each, by its name.

    Returns:
        The attestation, to be written beside it.

    Raises:
        AttestationError: It is another directory, no sighting is of these bytes, the key
            cannot be used, or securesystemslib is missing.
        PortableError: As `portable.predict`.
    """
    named = named_consumers(*consumers)
    digest, container, rewrites = _opened(os.fspath(path))
    subjects = subjects_in(container)
    seen = _seen(sightings, digest, os.fspath(path))
    verdicts, observed = [], {}
    for verdict in predict_all(subjects, named.releases):
        one = seen.get(verdict.consumer)
        if one and (not one.verdict.compatible or one.verdict.stage >= verdict.stage):
            verdicts.append(one.verdict)
            observed[verdict.consumer] = one.on.isoformat()
        else:
            verdicts.append(verdict)
    statement = {
        "_type": _STATEMENT,
        "subject": [{"name": os.path.basename(os.fspath(path)), "digest": {"sha256": digest}}],
        "predicateType": PREDICATE,
        "predicate": {
            "portable": _version(),
            "tables": _tables(),
            "made": (made or _now()).strftime(_TIME),
            "artifacts": [
                {
                    "name": entry.name,
                    "digest": {"sha256": sha256(entry.data).hexdigest()},
                    "version": str(subjects[entry.name].claimed or ""),
                    "required": str(subjects[entry.name].required or ""),
                }
                | ({"rewrites": rewrites[entry.member]} if entry.member in rewrites else {})
                for entry in container.artifacts()
            ],
            "verdicts": [one.record() for one in verdicts],
            "observed": observed,
            "inputs": [{"name": k, "digest": {"sha256": inputs[k]}} for k in sorted(inputs)],
            "not_covered": list(named.uncovered),
        },
    }
    payload = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    return _signed(payload, read_file(key), os.fspath(key))


def _seen(sightings: Iterable[Sighting], digest: str, where: str) -> dict[str, Sighting]:
    """Return what counts of what each consumer was seen to do with an artifact."""
    given = tuple(sightings)
    found: dict[str, Sighting] = {}
    # The last of a consumer stays: a failure, else what went farthest.
    for one in sorted(given, key=lambda one: (not one.verdict.compatible, one.verdict.stage)):
        if one.digest == digest:
            found[one.verdict.consumer] = one
    if given and not found:
        hint = "run portable matrix on this file"
        raise AttestationError("no observation of these bytes", where=where, hint=hint)
    return found


def verify(
    path: str | os.PathLike[str],
    attestation: str | os.PathLike[str],
    *,
    key: str | os.PathLike[str],
    now: datetime.datetime | None = None,
    max_age: datetime.timedelta | None = None,
) -> Statement:
    """Verify that an attestation was signed with a key, and applies to these bytes.

    Args:
        path: The file or the bundle; every blob of a bundle is compared with its digest.
        attestation: What `sign` returned.
        key: The public key, in PEM.
        now: The time for which the age is computed; by default the current time.
        max_age: How old it may be; by default any age.

    Returns:
        What it says.

    Raises:
        AttestationError: It is damaged, was signed with another key or not at all, is about
            something else, or is too old.
        PortableError: The file or the bundle cannot be read.
    """
    data = read_file(attestation, _LARGEST + 1)
    digest, *_ = _opened(os.fspath(path))
    where = os.fspath(attestation)
    return verify_statement(data, digest, key=key, now=now, max_age=max_age, where=where)


def verify_statement(
    data: bytes,
    digest: str,
    *,
    key: str | os.PathLike[str],
    now: datetime.datetime | None = None,
    max_age: datetime.timedelta | None = None,
    where: str,
) -> Statement:
    """Verify that an attestation was signed with a key, and applies to a digest.

    Args:
        data: What `sign` returned.
        digest: SHA-256 in hexadecimal, of a file or of the index of a bundle.
        key: As for `verify`.
        now: The same.
        max_age: The same.
        where: The source of the attestation, for errors.

    Raises:
        AttestationError: As `verify`.
    """
    found = _stated(_payload(data, read_file(key), where), where)
    if found.digest != digest:
        raise AttestationError(
            f"is about {found.name}, sha256:{found.digest}, not about sha256:{digest}", where=where
        )
    age = (now or _now()) - found.made
    if age < -_AHEAD:
        raise AttestationError(f"was made on {found.made}, which is in the future", where=where)
    if max_age is not None and age > max_age:
        hint = "attest it again"
        raise AttestationError(f"was made on {found.made}, too long ago", where=where, hint=hint)
    return found


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _version() -> str:
    from importlib.metadata import version  # 35 ms

    return version("stablehlo-portable")


def _tables() -> str:
    """Return a digest of the tables that predictions come from."""
    found = sha256()
    for room in ("bytecode", "features", "prediction", "releases"):
        for path in sorted((Path(__file__).parent / room / "data").iterdir()):
            if path.is_file():
                found.update(f"{room}/{path.name}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()


def _opened(path: str) -> tuple[str, Container, dict[str, list[str]]]:
    """Return the digest of a file, or of the index of a bundle, with what was read of it.

    Of a bundle, also which rewrites its manifests name, by Version.
    """
    if not os.path.isdir(path):
        source = Source(path)
        data = source.load()
        return sha256(data).hexdigest(), open_source(kind_of_file(data), source), {}
    folder = Folder(path)
    if kind_of_directory(path) is not Kind.BUNDLE:
        hint = "bundle it, and attest the bundle"
        raise AttestationError("a directory that is no bundle", where=path, hint=hint)
    layout = ImageLayout(folder)
    top, data = layout.index()
    members = listed_members(top, data)
    for member in members:
        manifest = parse_member(layout.document(member.descriptor), member)
        for blob in (manifest.config, *manifest.layers):
            layout.blob(blob)
    said = {member.name: member.descriptor.annotations.get(REWRITES) for member in members}
    rewrites = {name: text.split(", ") for name, text in said.items() if text}
    return top.digest.partition(":")[2], open_path(path), rewrites


def _signed(payload: bytes, pem: bytes, where: str) -> bytes:
    """Return a bundle of Sigstore's with an envelope of DSSE in it."""
    with _library(where):
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from securesystemslib.dsse import Envelope
        from securesystemslib.signer import CryptoSigner

        signer = CryptoSigner(load_pem_private_key(pem, None))
        envelope = Envelope(payload, _PAYLOAD, {})
        envelope.sign(signer)
        document = {
            "mediaType": SIGSTORE,
            "verificationMaterial": {
                "publicKey": {"hint": signer.public_key.keyid},
                "tlogEntries": [],
            },
            "dsseEnvelope": envelope.to_dict(),
        }
    return json.dumps(document, indent=2).encode() + b"\n"


def _payload(data: bytes, pem: bytes, where: str) -> bytes:
    """Return what was signed with a key; nothing else of the document is used."""
    try:
        fields = parse_fields(data, where)
    except MalformedContainer as error:
        raise AttestationError(error.what, where=where) from None
    envelope = fields.get("dsseEnvelope")
    if fields.get("mediaType") != SIGSTORE or not isinstance(envelope, dict):
        raise AttestationError(f"not a {SIGSTORE} with a dsseEnvelope", where=where)
    if envelope.get("payloadType") != _PAYLOAD:
        raise AttestationError(f"its payload is no {_PAYLOAD}", where=where)
    if not isinstance(envelope.get("payload"), str):
        raise AttestationError("its payload is not a text", where=where)
    signature = _only_signature(envelope.get("signatures"), where)
    with _library(where):
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
        from securesystemslib.dsse import Envelope
        from securesystemslib.exceptions import VerificationError
        from securesystemslib.signer import SSlibKey

        key = SSlibKey.from_crypto(load_pem_public_key(pem))
        # The name of a key in an envelope is not signed, and says nothing.
        signatures = [{"keyid": key.keyid, "sig": signature}]
        found = Envelope.from_dict(envelope | {"signatures": signatures})
        try:
            found.verify([key], 1)
        except VerificationError:
            raise AttestationError("not signed with this key", where=where) from None
    return bytes(found.payload)


def _only_signature(value: object, where: str) -> str:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        found = value[0].get("sig")
        if isinstance(found, str):
            return found
    raise AttestationError("has not exactly one signature", where=where)


@contextlib.contextmanager
def _library(where: str) -> Iterator[None]:
    """Turn the errors of the library about keys and signatures into one kind."""
    try:
        from securesystemslib.exceptions import Error
    except ImportError:
        hint = "pip install 'stablehlo-portable[attest]'"
        raise AttestationError("needs securesystemslib", where=where, hint=hint) from None
    try:
        yield
    except (Error, ValueError, TypeError, KeyError) as error:
        raise AttestationError(f"key or signature cannot be used: {error}", where=where) from error


_NAMED = {"name": str, "digest": {"sha256": str}}
_DIAGNOSTIC: dict[str, Any] = {"severity": frozenset(map(str, Severity)), "message": str}
_DIAGNOSTIC |= {"location?": str, "notes?": [_DIAGNOSTIC]}
_STAGE = frozenset(map(str, Stage))
_VERDICT = {
    **dict.fromkeys(("consumer", "says", "reason"), str),
    "outcome": frozenset(map(str, Outcome)),
    "stage": _STAGE,
    "basis": frozenset(map(str, Basis)),
    "not_known": [{"stage": _STAGE, "what": str}],
    "diagnostics": [_DIAGNOSTIC],
}
# What has come since may be missing.
_FORM = {
    "subject": (_NAMED,),
    "predicate": {
        **dict.fromkeys(("portable", "tables", "made"), str),
        "artifacts": [_NAMED | {"version": str, "required": str, "rewrites?": [str]}],
        "verdicts": [_VERDICT],
        "observed?": {"*": str},
        "inputs?": [_NAMED],
        "not_covered": [str],
    },
}


def _stated(payload: bytes, where: str) -> Statement:
    try:
        fields = parse_fields(payload, where)
        if (fields["_type"], fields["predicateType"]) != (_STATEMENT, PREDICATE):
            raise ValueError(f"it is a {fields['predicateType']}")
        demand_form(fields, _FORM)
        (subject,), predicate = fields["subject"], fields["predicate"]
        made = datetime.datetime.strptime(predicate["made"], _TIME).replace(tzinfo=datetime.UTC)
        verdicts = {one["consumer"]: one for one in predicate["verdicts"]}
        if len(verdicts) < len(predicate["verdicts"]):
            raise ValueError("it has two Verdicts of one consumer")
        return Statement(subject["name"], subject["digest"]["sha256"], made, verdicts, predicate)
    except MalformedContainer as error:
        raise AttestationError(error.what, where=where) from None
    except (KeyError, ValueError) as error:
        what = f"is signed, but is no statement about Verdicts: {error}"
        raise AttestationError(what, where=where) from None
