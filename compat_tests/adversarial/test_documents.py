"""Documents that somebody else wrote: a right answer, or one line that says what is wrong."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import time
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from compat_tests.adversarial.generators.documents import (
    NEVER,
    NEVER_TOML,
    as_json,
    as_toml,
    changed,
)
from compat_tests.adversarial.generators.faults import ADD, CORPUS
from compat_tests.helpers.matrices import cell, matrix, observed
from compat_tests.helpers.tables import forget
from portable.bundle import pack_files
from portable.cli import main
from portable.errors import PortableError
from portable.exporters.exported import ExportedArtifact
from portable.exporters.weights import (
    load_weights,
    open_safetensors,
    save_weights,
    write_safetensors,
)
from portable.fuzz.campaign import Campaign, Progress
from portable.fuzz.causes import Cause
from portable.fuzz.hunted import page
from portable.fuzz.reduction import Candidate
from portable.matrix.document import dump
from portable.matrix.item import TensorFile
from portable.verdict import Diagnostic, Outcome, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DATA = Path(__file__).parents[1] / "data"
TORCH_XLA = next(CORPUS.rglob("torch_xla_2_9_0/container"))
# PORTABLE_DOCUMENTS_SHARE=1 tries every value in every place.
SHARE = int(os.environ.get("PORTABLE_DOCUMENTS_SHARE", "11"))
SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Kind:
    """A document that is sound, and what reads it.

    Args:
        document: Plain data.
        put: Writes a text where the document is read.
        lines: The commands that read it.
        write: Its language.
    """

    document: Any
    put: Callable[[bytes], object]
    lines: Sequence[str]
    write: Callable[..., bytes] = as_json


def _meta(folder: Path) -> Kind:
    """The description of a function in a directory of torch_xla."""
    shutil.copytree(TORCH_XLA, folder / "d")
    path = folder / "d" / "functions" / "forward.meta"
    document = json.loads(path.read_bytes())
    shorter = document | {
        "unused_inputs": [[document["input_locations"][0], document["input_signature"][0]]]
    }
    return Kind(shorter, path.write_bytes, ["inspect d", "check d --for jaxlib==0.10.2"])


def _matrix(folder: Path) -> Kind:
    """What a matrix has kept, with every field that one may have."""
    iree, new = "iree-base-compiler 3.4.0", "jaxlib 0.10.2"
    first = cell("add_f32+0.9.0", new, observed(new))
    note = Diagnostic(Severity.NOTE, "see", "here")
    told = replace(
        observed(iree, Outcome.INCOMPATIBLE, said="no"),
        diagnostics=(Diagnostic(Severity.ERROR, "no", "a:1:2", (note,)),),
    )
    files = (TensorFile("0.npy", "f32"),)
    full = replace(
        first.item, inputs=files, expected=files, relative=0.1, absolute=0.1, ulps=1, case="x",
        given=("0",), reference=new, inside="y", producer="z",
    )  # fmt: skip
    cells = replace(first, item=full), replace(cell("add_f32+0.9.0", iree, told), item=full)
    lines = ["matrix --merge m.json", "matrix --merge m.json --format json"]
    return Kind(json.loads(dump(matrix(*cells))), (folder / "m.json").write_bytes, lines)


def _case(folder: Path) -> Kind:
    """The manifest of a Case."""
    case = shutil.copytree(CORPUS / "elementwise" / "add_f32", folder / "corpus" / "a" / "case")
    (folder / "corpus" / "SEALS").write_text("")
    document = tomllib.loads((case / "case.toml").read_text())
    document["tolerance"] = {"ulps": 1, "relative": 0.1, "absolute": 0.1}
    document["exception"] = [
        {"consumer": "jaxlib==0.10.2", "stage": "decode", "reason": "x", "link": "y"}
    ]
    lines = ["corpus list --corpus corpus", "corpus show case --corpus corpus"]
    return Kind(document, (case / "case.toml").write_bytes, lines, as_toml)


def _coverage(folder: Path) -> Kind:
    """What a corpus has to show."""
    shutil.copytree(CORPUS / "elementwise" / "add_f32", folder / "corpus" / "a" / "case")
    document = {
        "condition": [{"name": "x", "version": "1.9.0", "feature": "y", "below": "case"}],
        "place": [{"name": "x", "cases": ["case"]}],
        "excluded": [{"kind": "op", "name": "tan_v1", "reason": "none"}],
    }
    path = folder / "corpus" / "coverage.toml"
    return Kind(document, path.write_bytes, ["corpus coverage --corpus corpus"], as_toml)


def _policy(folder: Path) -> Kind:
    """A policy with every key."""
    document = {
        "consumers": {"a": ["jaxlib>=0.10"], "b": ["@a", "stablehlo==1.0.0"]},
        "rules": {
            "consumers": ["@b"], "depth": "content", "stage": "decode", "locations": "any",
            "dialects": ["sdy"], "custom_calls": ["x*", "y"], "provided_custom_calls": ["y"],
            "devices": 8, "include": ["*.bc"], "exclude": ["old"],
        },
        "waivers": [
            {"rule": "consumer", "path": "a/*", "consumer": "jaxlib==0.10.2", "reason": "r",
             "expires": "@day@"},
        ],
    }  # fmt: skip
    shutil.copy(ADD, folder / "a.mlir.bc")

    def put(text: bytes) -> None:
        (folder / "portable.toml").write_bytes(text.replace(b'"@day@"', b"9999-01-01"))

    return Kind(document, put, ["gate a.mlir.bc --policy portable.toml"], as_toml)


def _releases(folder: Path) -> Kind:
    """A table of Releases of one's own."""
    row = {
        "distribution": "ours", "version": "1.0", "date": "@day@", "current": "1.9.0",
        "minimum": "0.9.0", "python": "3.11", "confidence": "measured", "evidence": "x",
        "requires_python": ">=3.9", "numpy": ">=2", "method": "y", "note": "z", "yanked": "w",
    }  # fmt: skip
    (folder / "portable.toml").write_text('releases = "own.toml"\nconsumers.a = ["ours==1.0"]\n')
    shutil.copy(ADD, folder / "a.mlir.bc")

    def put(text: bytes) -> None:
        forget()
        (folder / "own.toml").write_bytes(text.replace(b'"@day@"', b'"2026-01-01"'))

    return Kind({"release": [row]}, put, ["gate a.mlir.bc --policy portable.toml"], as_toml)


def _bundled(number: int) -> Callable[[Path], Kind]:
    """A document of a bundle, with the right digests above it."""

    def kind(folder: Path) -> Kind:
        pack_files(sorted((DATA / "artifacts").glob("add_f32+*.bc"))[:2], to=folder / "b")
        files = [folder / "b" / "oci-layout", folder / "b" / "index.json"]
        for _ in range(2):
            (one, *_) = json.loads(files[-1].read_bytes())["manifests"]
            files.append(folder / "b" / "blobs" / one["digest"].replace(":", "/"))
        above = [json.loads(path.read_bytes()) for path in files]

        def put(text: bytes) -> None:
            at = number
            while at > 1:
                digest = hashlib.sha256(text).hexdigest()
                (folder / "b" / "blobs" / "sha256" / digest).write_bytes(text)
                at -= 1
                said = {"digest": f"sha256:{digest}", "size": len(text)}
                first, *rest = above[at]["manifests"]
                text = as_json(above[at] | {"manifests": [first | said, *rest]})
            files[at].write_bytes(text)

        return Kind(above[number], put, ["inspect b", "check b --for jaxlib==0.10.2"])

    return kind


def _attested(*, inside: bool) -> Callable[[Path], Kind]:
    """An attestation: its envelope, or what was signed."""

    def kind(folder: Path) -> Kind:
        pytest.importorskip("securesystemslib")
        serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
        from cryptography.hazmat.primitives.asymmetric import ed25519

        from portable.attestation import sign

        key = ed25519.Ed25519PrivateKey.generate()
        plain = serialization.NoEncryption()
        pem = serialization.Encoding.PEM
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
        public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
        (folder / "key").write_bytes(private)
        (folder / "pub").write_bytes(public)
        shutil.copy(ADD, folder / "a.mlir.bc")
        envelope = json.loads(
            sign(folder / "a.mlir.bc", "jaxlib==0.10.2", "jaxlib==0.9.1", key=folder / "key")
        )
        payload = json.loads(base64.b64decode(envelope["dsseEnvelope"]["payload"]))
        path = folder / "a.mlir.bc.sigstore.json"
        (folder / "portable.toml").write_text(
            'consumers.a = ["jaxlib==0.10.2"]\n'
            'rules.attested = {key = "pub", must_cover = ["@a"]}\n'
        )

        def put(text: bytes) -> None:
            if not inside:
                path.write_bytes(text)
                return
            kind = envelope["dsseEnvelope"]["payloadType"]
            signed = f"DSSEv1 {len(kind)} {kind} {len(text)} ".encode() + text
            made = {
                "payload": base64.b64encode(text).decode(),
                "signatures": [{"sig": base64.b64encode(key.sign(signed)).decode(), "keyid": ""}],
            }
            whole = envelope | {"dsseEnvelope": envelope["dsseEnvelope"] | made}
            path.write_text(json.dumps(whole))

        verify = "attest verify a.mlir.bc --key pub --for jaxlib==0.10.2"
        lines = [verify, f"{verify} --format json", "gate a.mlir.bc --policy portable.toml"]
        return Kind(payload if inside else envelope, put, lines)

    return kind


def _marker(folder: Path) -> Kind:
    """What says that an environment is whole."""
    home = folder / "cache" / "environments" / "one"
    home.mkdir(parents=True)
    record = {
        "schema": 1,
        "recipe": {
            "distribution": "jaxlib", "version": "0.10.2", "python": "3.11", "driver": "jaxlib",
            "also": ["numpy"], "keep": [], "whole": False,
        },
        "python": "/usr/bin/python3", "library": None, "wheel": "x.whl", "sha256": "0" * 64,
        "verified": True, "created": "2026-01-01T00:00:00Z", "files": {"x": 1},
    }  # fmt: skip
    path = home / "portable-environment.json"
    return Kind(record, path.write_bytes, ["env list", "env list --format json"])


KINDS: Mapping[str, Callable[[Path], Kind]] = {
    "meta": _meta,
    "matrix": _matrix,
    "case": _case,
    "coverage": _coverage,
    "policy": _policy,
    "releases": _releases,
    **{f"bundle {number}": _bundled(number) for number in range(4)},
    "envelope": _attested(inside=False),
    "statement": _attested(inside=True),
    "marker": _marker,
}
# What is damaged is one of several, and listed as that.
_LISTED = {"marker"}
# A newer release may say more; it is shown as it was signed.
_OPEN = {"statement"}


@pytest.mark.parametrize("kind", KINDS)
def test_each_node_of_each_document(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Odd values in each place, keys left out, doubled or added: no traceback, nothing raw."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PORTABLE_CACHE", str(tmp_path / "cache"))
    what = KINDS[kind](tmp_path)
    never = {*(NEVER if what.write is as_json else NEVER_TOML), "twice"}
    bad, tried = [], 0
    what.put(what.write(what.document))
    for line in what.lines:
        code = main(line.split())
        assert code in {0, 1}, (line, capfd.readouterr())
    capfd.readouterr()
    for way, value, text in changed(what.document, what.write, share=SHARE):
        if kind in _OPEN and value == "another key":
            continue
        what.put(text)
        for line in what.lines:
            began = time.process_time()
            code = main(line.split())
            took = time.process_time() - began
            tried += 1
            may_pass = kind in _LISTED or value not in never
            if wrong := _wrong(code, *capfd.readouterr(), took, may_pass=may_pass):
                bad.append((line.split()[0], way, value, wrong))
    assert not bad, (len(bad), tried, "\n".join(map(str, bad[:40])))


def _wrong(code: int, out: str, err: str, took: float, *, may_pass: bool) -> str:
    """Return what is wrong with how a command ended; empty where nothing is."""
    if code not in {0, 1, 2} or "internal error" in err or "Traceback" in err:
        return f"{code} {err[:200]}"
    if code == 2 and err.count("\n") != 1 and (err or not out):
        return f"{err.count(chr(10))} lines: {err[:300]}"
    if not {"\x1b", "\0", "\u202e"}.isdisjoint(out + err):
        return "raw"
    if code == 0 and not may_pass:
        return "accepted"
    return f"{took:.1f} s" if took > SECONDS else ""


@dataclass(frozen=True, slots=True)
class Read:
    """A document that is sound, and the function that reads it."""

    document: Any
    put: Callable[[bytes], object]
    read: Callable[[], object]


def _hunted(name: str) -> Callable[[Path], Read]:
    """A file in the folder of a hunt: a round, a cause, the processor time."""

    def read(folder: Path) -> Read:
        campaign = Campaign(folder, 0)
        done = Progress(1, 2, 2, 0.5, [[3, 1, 2.5]], executed={"jaxlib 0.10.2": 1})
        for counted in ("covers", "causes", "unconfirmed"):
            getattr(done, counted)["add f32"] = 1
        done.refused["jaxlib 0.9.1"] = 1
        done.computed["jaxlib 0.10.2: add f32"] = 1
        campaign.add_round(0, done)
        releases = ("jaxlib 0.10.2",)
        cause = Cause("sum", ("add(f32)",), releases, "p", "0/1", "d", *releases, *releases)
        campaign.add_cause(cause, Candidate("p", None, 1))
        campaign.add_cpu(1.5)
        path = next(folder.rglob(name))

        def again() -> None:
            found = Campaign(folder, 0)
            page([found.hunted()], ["f32"])
            found.covered(1)

        return Read(json.loads(path.read_bytes()), path.write_bytes, again)

    return read


def _header(folder: Path) -> Read:
    """The header of safetensors."""
    document = {
        "a": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
        "b": {"dtype": "I8", "shape": [], "data_offsets": [8, 9]},
        "__metadata__": {"x": "y"},
    }
    path = folder / "x.safetensors"

    def put(text: bytes) -> None:
        path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(9))

    return Read(document, put, lambda: open_safetensors(path))


def _elsewhere(folder: Path) -> Read:
    """Which weights are in which file."""
    array = np.zeros(2, np.float32)
    write_safetensors(folder / "x.safetensors", {"a": array})
    (folder / "d").mkdir()
    save_weights(folder / "d", ["a"], {"a": array}, [folder / "x.safetensors"])
    path = folder / "d" / "weights.json"
    document = json.loads(path.read_bytes())
    return Read(
        document, path.write_bytes, lambda: load_weights(folder / "d", [folder / "x.safetensors"])
    )


def _state(folder: Path) -> Read:
    """What the description of torch_xla has no place for."""
    pytest.importorskip("jaxlib")
    shutil.copytree(TORCH_XLA, folder / "d")
    loaded = ExportedArtifact.load(folder / "d")
    document = {
        "shapes": [list(one.shape) for one in loaded.arguments],
        "ranges": {"batch": [1, None]},
        "arguments": [one.name for one in loaded.arguments],
        "seed": [],
        "results": [one.name for one in loaded.results],
        "mutates": ["" for _ in loaded.results],
    }
    path = folder / "d" / "functions" / "forward.state"
    return Read(document, path.write_bytes, lambda: ExportedArtifact.load(folder / "d"))


READ: Mapping[str, Callable[[Path], Read]] = {
    "round": _hunted("000000.json"),
    "cause": _hunted("cause.json"),
    "processor time": _hunted("cpu.json"),
    "safetensors": _header,
    "weights elsewhere": _elsewhere,
    "state": _state,
}


@pytest.mark.parametrize("kind", READ)
def test_each_node_of_what_the_library_reads(kind: str, tmp_path: Path) -> None:
    """The same of what no quick command reads: an error of this project, or an answer."""
    what = READ[kind](tmp_path)
    what.put(as_json(what.document))
    what.read()
    bad = []
    for way, value, text in changed(what.document, share=SHARE):
        what.put(text)
        try:
            what.read()
        except PortableError:
            continue
        except Exception as error:  # noqa: BLE001 - whatever else it is, is what is looked for
            bad.append((way, value, repr(error)[:200]))
        else:
            if value in {*NEVER, "twice"}:
                bad.append((way, value, "accepted"))
    assert not bad, (len(bad), "\n".join(map(str, bad[:40])))
