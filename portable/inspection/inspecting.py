"""What is this file, what does it claim, what does it need: joined from the rooms below.

No compiler, no numpy; the file may be newer than any library installed.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from portable.artifact import bytes_of, is_portable
from portable.bytecode import MalformedArtifact, read_header
from portable.bytecode.content import read
from portable.bytecode.layouts import LOCATIONS
from portable.containers import Kind, kind_of_directory, kind_of_file
from portable.containers.kind import native_format
from portable.containers.opening import CONTAINERS
from portable.system.files import InputFile, is_special, read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from portable.artifact import ArtifactLike
    from portable.bytecode import Bytecode
    from portable.bytecode.encoding import Buffer
    from portable.bytecode.operations import OpSignature
    from portable.features import Analysis, Needs, Strictness
    from portable.inspection.library import Runtime
    from portable.version import Version

__all__ = ["SCHEMA", "Constant", "Inspection", "inspect", "leaks"]

SCHEMA = 2
"""The version of `Inspection.record()`; raised when a field changes its meaning or goes away."""

_LARGEST = 5


@dataclass(frozen=True, slots=True)
class Constant:
    """One large constant.

    Args:
        type: Its element type and shape, for example `f32[64,32]`.
        size: Bytes in the file.
    """

    type: str
    size: int


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything that can be read from a file.

    Args:
        kind: The kind of file; all fields below are empty unless it is MLIR bytecode.
        size: Bytes.
        digest: SHA-256 of the bytes, in hexadecimal.
        format: The version of the MLIR bytecode format.
        producer: The producer that the header names.
        claimed: The Version that the header claims; a claim, not a fact.
        analysis: What the content needs; None when it cannot be read.
        operations: Op name -> count.
        custom_calls: Target -> count.
        discardable: Attributes outside an op's definition -> count. Upstream's promise
            does not cover them.
        unregistered: Names of ops that were not registered in the producer.
        locations: Kind -> count of distinct locations.
        leaks: Absolute paths in locations: they reveal the machine that built the file.
        constants: The largest, largest first.
        fingerprint: Digest of the program without locations and producer; empty unless requested.
        warnings: A claimed Version below the required one, or newer than all known ones.
        damage: Why the content cannot be read; empty when it can.
        versions: The version numbers of a container, or of this artifact in it, by name; none of
            them is the artifact's own Version.
        readers: The releases of its framework that open a container, as measured.
        artifacts: The artifacts in a container, by their names there.
        runtime: The result for a shared library, from its strings; None for other files.
        source: What was read: the path of a directory, else the bytes.
    """

    kind: Kind
    size: int
    digest: str
    format: int | None = None
    producer: str = ""
    claimed: Version | None = None
    analysis: Analysis | None = None
    operations: Mapping[str, int] = field(default_factory=dict)
    custom_calls: Mapping[str, int] = field(default_factory=dict)
    discardable: Mapping[str, int] = field(default_factory=dict)
    unregistered: tuple[str, ...] = ()
    locations: Mapping[str, int] = field(default_factory=dict)
    leaks: tuple[str, ...] = ()
    constants: tuple[Constant, ...] = ()
    fingerprint: str = ""
    warnings: tuple[str, ...] = ()
    damage: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    readers: tuple[str, ...] = ()
    artifacts: Mapping[str, Inspection] = field(default_factory=dict)
    runtime: Runtime | None = None
    source: str | bytes = field(default=b"", repr=False, compare=False)

    def __repr__(self) -> str:
        claims = f", claims {self.claimed}" if self.claimed else ""
        needs = f", needs {self.required.version}" if self.required else ""
        inside = f", {len(self.artifacts)} artifacts" if self.artifacts else ""
        return f"<Inspection {self.kind}, {self.size} bytes{claims}{needs}{inside}>"

    @property
    def required(self) -> Needs | None:
        """The Version that a reader of these bytes must have, and why."""
        return self.analysis.required if self.analysis else None

    @property
    def minimum(self) -> Needs | None:
        """The lowest Version that `pin` reaches by default, and what prevents a lower one."""
        return self.analysis.pinned if self.analysis else None

    @property
    def dialects(self) -> dict[str, int]:
        """Dialect -> count of its ops."""
        return _summed((name.partition(".")[0], count) for name, count in self.operations.items())

    def record(self) -> dict[str, object]:
        """Return everything as plain data for JSON, by the schema in docs/inspection.md."""
        analysis = self.analysis
        return {
            "schema": SCHEMA,
            "kind": str(self.kind),
            "size": self.size,
            "digest": self.digest,
            "format": self.format,
            "producer": self.producer,
            "claimed": str(self.claimed) if self.claimed else None,
            "required": _needs(analysis.required) if analysis else None,
            "minimum": _needs(analysis.pinned) if analysis else None,
            "without_rewriting": _needs(analysis.minimum) if analysis else None,
            "caveats": _caveats(analysis) if analysis else [],
            "unknown": list(analysis.unknown) if analysis else [],
            "dialects": self.dialects,
            "operations": dict(self.operations),
            "custom_calls": dict(self.custom_calls),
            "discardable": dict(self.discardable),
            "unregistered": list(self.unregistered),
            "locations": dict(self.locations),
            "leaks": list(self.leaks),
            "constants": [{"type": c.type, "size": c.size} for c in self.constants],
            "fingerprint": self.fingerprint or None,
            "warnings": list(self.warnings),
            "damage": self.damage,
            "versions": dict(self.versions),
            "readers": list(self.readers),
            "runtime": self.runtime.record() if self.runtime else None,
            "artifacts": [{"name": name} | part.record() for name, part in self.artifacts.items()],
        }


def _needs(needs: Needs) -> dict[str, object]:
    return {
        "version": str(needs.version) if needs.version else None,
        "features": [feature.record() for feature in needs.features],
    }


def _caveats(analysis: Analysis) -> list[dict[str, object]]:
    return [
        {"text": caveat.text, "count": caveat.count, "locations": list(caveat.locations)}
        for caveat in analysis.caveats
    ]


def inspect(
    source: ArtifactLike,
    *,
    strictness: Strictness | str | None = None,
    fingerprint: bool = False,
) -> Inspection:
    """Report the kind of a file or of bytes, what it claims, and what it needs.

    Args:
        source: A path (a directory too), the bytes, an Artifact, or an Entry of a container.
        strictness: What counts as readable, or its name; by default what real readers read.
        fingerprint: Whether to digest the program without locations and producer; this doubles the
            time.

    Returns:
        The Inspection. Damage inside is reported in it, not raised; so is a container without
        artifacts.

    Raises:
        FileError: The path cannot be read.
        NotAnArtifact: `source` is neither a path nor bytes.
        ValueError: There is no such strictness.
    """
    if strictness is not None:
        # Cold start: whoever does not say it need not import the tables for a file of another kind.
        from portable.features import Strictness

        strictness = Strictness(strictness)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if os.path.isdir(path):
            kind = kind_of_directory(path)
            if kind is Kind.UNKNOWN:
                return _runtime(path, Inspection(kind, 0, "", source=path))
            return _opened(Inspection(kind, 0, "", source=path), path, strictness, fingerprint)
        if not is_special(path) and native_format(InputFile(path)[:4]):
            file = InputFile(path)
            found = Inspection(Kind.UNKNOWN, len(file), file.sha256(), source=path)
            return _runtime(path, found)
        data = read_file(path)
    else:
        data = bytes_of(source)
    found = _with(_inspect(data, strictness, fingerprint), source=data)
    return _opened(found, data, strictness, fingerprint)


def _runtime(path: str, found: Inspection) -> Inspection:
    """Add which StableHLO a library has, if it has any."""
    from portable.inspection.library import NotARuntime, read_runtime

    try:
        return _with(found, kind=Kind.RUNTIME, runtime=read_runtime(path))
    except NotARuntime as error:
        return _with(found, warnings=(error.what,))


def _opened(
    found: Inspection, source: str | bytes, strictness: Strictness | None, fingerprint: bool
) -> Inspection:
    """Add what is inside when it is a container."""
    if found.kind not in CONTAINERS:
        return found
    # Most files are no containers.
    from portable.containers import (
        MalformedContainer,
        NoArtifact,
        open_container,
    )
    from portable.containers.container import readers_of

    try:
        container = open_container(source)
    except (MalformedContainer, NoArtifact) as error:
        return _with(found, damage=str(error))
    parts = {
        entry.name: _with(
            _inspect(entry.data, strictness, fingerprint),
            versions=entry.versions,
            source=entry.data,
        )
        for entry in container.artifacts()
    }
    return _with(
        found,
        versions=container.versions,
        readers=readers_of(container),
        warnings=container.warnings,
        artifacts=parts,
    )


def _with(found: Inspection, **changed: object) -> Inspection:
    fields = {name: getattr(found, name) for name in Inspection.__slots__}
    return Inspection(**fields | changed)


def _inspect(data: Buffer, strictness: Strictness | None, fingerprint: bool) -> Inspection:
    kind, digest = kind_of_file(data), sha256(data).hexdigest()
    if kind not in {Kind.ARTIFACT, Kind.BYTECODE}:
        return Inspection(kind, len(data), digest)
    try:
        header = read_header(data)
    except MalformedArtifact as error:
        return Inspection(kind, len(data), digest, damage=str(error))
    claim = (header.format, header.producer, header.version)
    try:
        content = read(data)
        found = _content(content, kind, (len(data), digest), strictness)
        return _with_fingerprint(found, content) if fingerprint else found
    except MalformedArtifact as error:
        return Inspection(kind, len(data), digest, *claim, damage=str(error))


def _with_fingerprint(found: Inspection, content: Bytecode) -> Inspection:
    from portable.bytecode.fingerprint import fingerprint

    return _with(found, fingerprint=fingerprint(content))


def _content(
    content: Bytecode, kind: Kind, identity: tuple[int, str], strictness: Strictness | None
) -> Inspection:
    from portable.features import Strictness, analyze

    header = content.header
    if is_portable(content):
        kind = Kind.ARTIFACT
    portable = kind is Kind.ARTIFACT
    analysis = analyze(content, strictness=strictness or Strictness.READABLE) if portable else None
    signatures = content.scan().signatures
    counts: Counter[int] = Counter()
    for signature, count in signatures.items():
        counts[signature.name] += count
    return Inspection(
        kind,
        *identity,
        header.format,
        header.producer,
        header.version,
        analysis,
        _summed((str(content.names[name]), count) for name, count in counts.items()),
        _summed(_custom_calls(content, signatures)),
        _summed(_discardable(content, signatures)),
        tuple(str(name) for name in content.names if not name.registered),
        {name: len(found) for name in LOCATIONS if (found := _named(content, name))},
        leaks(content),
        _constants(content),
        "",
        _warnings(header.version, analysis),
    )


def _summed(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Add up counts by name; the most frequent first, then by name."""
    found: dict[str, int] = {}
    for name, count in pairs:
        found[name] = found.get(name, 0) + count
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _custom_calls(
    content: Bytecode, signatures: Mapping[OpSignature, int]
) -> Iterable[tuple[str, int]]:
    for signature, count in signatures.items():
        if content.names[signature.name].name.startswith("custom_call_"):
            target = content.inherent(signature, "call_target_name")
            if target is not None:
                yield str(content.pool.attribute(target).fields.get("value", "")), count


def _discardable(
    content: Bytecode, signatures: Mapping[OpSignature, int]
) -> Iterable[tuple[str, int]]:
    from portable.bytecode.vhlo import inherent

    # Any number of operations may share a dictionary, so each is walked through once.
    used: Counter[int] = Counter()
    defined: Counter[tuple[int, str]] = Counter()
    for signature, count in signatures.items():
        if signature.attributes >= 0:
            used[signature.attributes] += count
            name = content.names[signature.name]
            for own in inherent(name.dialect, name.name) or ():
                defined[signature.attributes, own] += count
    for dictionary, count in used.items():
        for attribute in content.dictionary(dictionary):
            foreign = count - defined[dictionary, attribute]
            if foreign:
                yield attribute, foreign


def leaks(content: Bytecode) -> tuple[str, ...]:
    """Return the absolute paths in locations: they reveal the machine that built the file.

    Args:
        content: An artifact.

    Raises:
        MalformedArtifact: A location does not make sense.
    """
    pool, paths = content.pool, set()
    for name in LOCATIONS:
        if "file" in name:
            files = {pool.attribute(number).fields["file"] for number in _named(content, name)}
            for file in files:
                if isinstance(file, int):
                    path = str(pool.attribute(file).fields.get("value", ""))
                    # Windows paths count too: the reader may be on another system.
                    if path.startswith(("/", "\\")) or path[1:3] in {":\\", ":/"}:
                        paths.add(path)
    return tuple(sorted(paths))


def _named(content: Bytecode, location: str) -> Sequence[int]:
    return content.pool.attributes_named(location)


def _constants(content: Bytecode) -> tuple[Constant, ...]:
    attributes = content.pool.attributes
    by_size = sorted(range(len(attributes)), key=attributes.size, reverse=True)
    found = []
    for number in by_size[:_LARGEST]:
        entry = content.pool.attribute(number)
        if entry.name in {"tensor_v1", "dense"}:
            type_number = entry.fields["type"]
            assert isinstance(type_number, int)  # noqa: S101 - as its layout says
            found.append(Constant(_shown(content, type_number), attributes.size(number)))
    return tuple(found)


def _shown(content: Bytecode, number: int) -> str:
    """Write a tensor type in the short form `f32[2,?]`."""
    from portable.bytecode.text import shape_text

    entry = content.pool.type(number)
    element, shape = entry.fields.get("element"), entry.fields.get("shape", [])
    if not isinstance(element, int) or not isinstance(shape, list):
        return entry.name
    name = content.pool.type(element).name.removesuffix("_v1")
    return f"{name}[{','.join(shape_text(shape))}]"


def _warnings(claimed: Version | None, analysis: Analysis | None) -> tuple[str, ...]:
    from portable.bytecode.vhlo import current
    from portable.version import Version

    newest = Version.parse(current())
    found = [analysis.unreadable] if analysis and analysis.unreadable else []
    required = analysis.required.version if analysis else None
    if claimed and required and claimed < required.target:
        found.append(f"the header claims {claimed}, but the content requires {required}")
    if claimed and claimed.target > newest:
        found.append(f"the header claims {claimed}; {newest} is the newest Version known here")
    return tuple(found)
