"""Write a bundle: a program in the Versions that its consumers need, files of equal bytes once.

Each Version is written into the image layout as soon as it is made, so that no more than one is in
memory; weights go from file to file inside the kernel, and are hashed where they then lie. What
was written is opened again before it gets its place.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.bundle.blobs import Blobs
from portable.bytecode import read
from portable.containers import Kind, open_container, open_path
from portable.containers.bundle import BUNDLE_FORM, BUNDLE_MARK, MEMBER, IsABundle
from portable.containers.container import place
from portable.containers.copying import write_bytes
from portable.containers.folder import files_of
from portable.containers.kind import LAYOUT
from portable.containers.oci import (
    EMPTY,
    INDEX,
    MANIFEST,
    TITLE,
    Descriptor,
    Index,
    Manifest,
    written_document,
)
from portable.containers.opening import CONTAINERS
from portable.errors import PortableError
from portable.features import analyze
from portable.pinning import pipeline
from portable.pinning.repinning import pin_all
from portable.prediction import Subject, examine, gravity, predict
from portable.releases import named_consumers
from portable.releases.requests import installed_library
from portable.system import scratch
from portable.system.files import InputFile, new_directory, write_file
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    from portable.containers import Container
    from portable.containers.container import Edits
    from portable.features import Analysis
    from portable.pinning.options import PinOptions
    from portable.releases import Release
    from portable.verdict import Verdict
    from portable.version import Version

__all__ = ["Bundled", "NotServed", "Unbundled", "pack", "pack_files"]

_SAID = "stablehlo.portable."
# What the names of programs end with, the longer ones first.
_SUFFIXES = (".mlir.bc", ".mlirbc", ".mlir", ".bytecode", ".bc")


class NotServed(PortableError):
    """A consumer has a known obstacle with every Version that the bundle would have."""


class Unbundled(PortableError):
    """Files that cannot be Versions of one bundle."""


@dataclass(frozen=True, slots=True)
class Bundled:
    """A bundle that was written.

    Args:
        digest: The digest of its index, which covers all its content: `sha256:` and hexadecimal.
        versions: The manifest data of each Version, the newest first.
        verdicts: The predicted Verdict of each consumer, for the Version that it gets.
    """

    digest: str
    versions: Mapping[Version, Mapping[str, str]]
    verdicts: Mapping[Version, tuple[Verdict, ...]]

    def __repr__(self) -> str:
        return f"<Bundled {', '.join(map(str, self.versions))}>"

    def record(self) -> dict[str, object]:
        """Return everything as plain data for JSON."""
        return {
            "digest": self.digest,
            "versions": [
                {
                    "version": str(version),
                    "annotations": dict(said),
                    "verdicts": [one.record() for one in self.verdicts.get(version, ())],
                }
                for version, said in self.versions.items()
            ],
        }


def pack(
    program: str | os.PathLike[str] | bytes,
    *consumers: str,
    to: str | os.PathLike[str],
    minimal: bool = False,
    extract_constants: bool = False,
    **options: Unpack[PinOptions],
) -> Bundled:
    """Write a bundle of a program, or of a container of programs.

    Args:
        program: A path or the bytes: MLIR text or bytecode, an artifact, or a container.
        consumers: The consumers, as for `named_consumers`.
        to: A new directory.
        minimal: Whether to write the fewest Versions, instead of the newest that each consumer
            reads.
        extract_constants: Whether large constants of a program become arguments, whose values are
            files that the Versions share: a directory of torch_xla.
        options: As for `portable.serialize`.

    Returns:
        What was written.

    Raises:
        NotServed: A consumer has a known obstacle with each of its Versions.
        IsABundle: The program is a bundle.
        Unbundled: Constants are to be extracted from a container.
        NothingLarge: The program has no constants that can be extracted.
        PortableError: As `portable.pin`, `portable.repin` and `portable.containers.open_path`;
            nothing is left behind.
    """
    container = open_path(program)
    if container.kind is Kind.BUNDLE:
        raise IsABundle(container.path)
    releases = named_consumers(*consumers).releases
    if extract_constants:
        if container.kind in CONTAINERS:
            what = f"the constants of a {container.kind} stay in it"
            hint = "leave out --extract-constants"
            raise Unbundled(what, where=container.path or None, hint=hint)
        from portable.exporters.exported import ExportedArtifact

        with scratch.folder(str(Path(to).absolute().parent)) as folder:
            model = Path(folder, "model")
            ExportedArtifact.extracted(program, **options).save(model, text=False)
            return pack(model, *consumers, to=to, minimal=minimal, **options)
    with new_directory(to, origin=container.path or None) as staged:
        blobs = Blobs(staged)
        versions = [
            _pinned(container, program, targets, blobs, options) for targets in _by_target(releases)
        ]
        return _finished(blobs, versions, releases, minimal=minimal)


def pack_files(
    paths: Iterable[str | os.PathLike[str]],
    *consumers: str,
    to: str | os.PathLike[str],
    minimal: bool = False,
) -> Bundled:
    """Write a bundle of existing files, unchanged.

    Args:
        paths: Artifacts and containers, each for another Version.
        consumers: The consumers; files that none of them needs are left out. Without consumers
            all files are included.
        to: A new directory.
        minimal: As for `pack`.

    Returns:
        What was written.

    Raises:
        Unbundled: Two files are for the same Version, or one names no Version.
        NotServed: A consumer has a known obstacle with each of them.
        PortableError: As `portable.containers.open_path`.
    """
    releases = named_consumers(*consumers).releases if consumers else ()
    with new_directory(to) as staged:
        blobs = Blobs(staged)
        versions = [_as_it_is(os.fspath(path), blobs) for path in paths]
        return _finished(blobs, versions, releases, minimal=minimal)


@dataclass(frozen=True, slots=True)
class _Stored:
    """One Version, whose files are in the layout."""

    version: Version
    layers: tuple[Descriptor, ...]
    subjects: dict[str, Subject]
    annotations: Mapping[str, str]

    def manifest(self, config: Descriptor, consumers: Sequence[Verdict]) -> Manifest:
        said = dict(self.annotations)
        if consumers:
            said[f"{_SAID}consumers"] = ", ".join(verdict.consumer for verdict in consumers)
            said[f"{_SAID}verified"] = f"{Stage.DECODE}, predicted"
        return Manifest(MEMBER, config, self.layers, dict(sorted(said.items())))


def _by_target(releases: Iterable[Release]) -> Iterator[tuple[Release, ...]]:
    """Yield consumers by the newest Version that can be written for them."""
    library = installed_library()
    found: dict[Version, list[Release]] = {}
    for release in releases:
        target = min(release.target, library.current.target) if library else release.target
        found.setdefault(target, []).append(release)
    for target in sorted(found, reverse=True):
        yield tuple(found[target])


def _pinned(
    container: Container,
    program: str | os.PathLike[str] | bytes,
    releases: tuple[Release, ...],
    blobs: Blobs,
    options: PinOptions,
) -> _Stored:
    edits: Edits
    if container.kind not in CONTAINERS:
        pinned = {"": pipeline.pin(program, *releases, **options)}
        opener, kind = None, Kind.ARTIFACT
        edits = {"": partial(write_bytes, data=pinned[""].artifact.data)}
    else:
        found = pin_all(program, *releases, **options)
        pinned, kind = dict(found.pinned), container.kind
        new = {name: one.artifact for name, one in pinned.items()}
        edits = container.edits(new, texts=found.texts, widen=found.widen)
        widened = container.widened() if found.widen else container.opener
        assert not isinstance(widened, str)  # noqa: S101 - `pin_all` widens what can be
        opener = widened
    rewrites = sorted({str(rewrite.name) for one in pinned.values() for rewrite in one.rewrites})
    said = {"rewrites": ", ".join(rewrites)} if rewrites else {}
    if library := installed_library():
        said["producer"] = str(library)
    parts = {name: (one.artifact, one.analysis) for name, one in pinned.items()}
    subjects = {name: replace(examine(one.artifact), opener=opener) for name, one in pinned.items()}
    return _stored(_layers(container, edits, blobs), kind, parts, subjects, said)


def _as_it_is(path: str, blobs: Blobs) -> _Stored:
    container = open_path(path)
    if container.kind is Kind.BUNDLE:
        raise IsABundle(path)
    parts: dict[str, tuple[Artifact, Analysis]] = {}
    subjects = {}
    for entry in container.artifacts():
        where = place(path, entry.name)
        artifact = Artifact.from_bytes(entry.data, where=where)
        if artifact.version is None:
            hint = "pin it for a Version: portable pin FILE --target VERSION -o NEW"
            raise Unbundled("names no Version", where=where, hint=hint)
        parts[entry.name] = (artifact, analyze(read(artifact.data)))
        subjects[entry.name] = replace(examine(artifact), opener=entry.opener)
    return _stored(_layers(container, {}, blobs), container.kind, parts, subjects, {})


def _stored(
    layers: Iterable[Descriptor],
    kind: Kind,
    parts: Mapping[str, tuple[Artifact, Analysis]],
    subjects: dict[str, Subject],
    said: Mapping[str, str],
) -> _Stored:
    versions = [artifact.version for artifact, _ in parts.values() if artifact.version]
    required = [one.required.version for _, one in parts.values() if one.required.version]
    minimum = [one.pinned.version for _, one in parts.values() if one.pinned.version]
    known = {
        "kind": str(kind),
        "version": str(max(versions)),
        "format": str(max(artifact.header.format for artifact, _ in parts.values())),
        **({"required": str(max(required))} if required else {}),
        **({"minimum": str(max(minimum))} if minimum else {}),
        **said,
    }
    annotations = {_SAID + name: text for name, text in known.items()}
    return _Stored(max(versions), tuple(layers), subjects, annotations)


def _layers(container: Container, edits: Edits, blobs: Blobs) -> list[Descriptor]:
    """Store the files of a container, some of them rewritten."""
    if not container.files:
        write = edits.get("")
        whole = blobs.add(write) if write else blobs.copy(InputFile(container.path))
        named = {_title(container): whole}
    else:
        named = {}
        for inside, file in files_of(container.path):
            if file is None or (inside in edits and edits[inside] is None):
                continue
            write = edits.get(inside)
            named[inside] = blobs.add(write) if write else blobs.copy(file)
    return [replace(named[path], annotations={TITLE: path}) for path in sorted(named)]


def _title(container: Container) -> str:
    name = Path(container.path).name or "model"
    if container.kind is Kind.EXPORTED:
        return name
    ending = next((one for one in _SUFFIXES if name.lower().endswith(one)), "")
    return (name[: -len(ending)] if ending else name) + _SUFFIXES[0]


def _finished(
    blobs: Blobs, versions: Sequence[_Stored], releases: Sequence[Release], *, minimal: bool
) -> Bundled:
    """Choose what the consumers need, and write the documents."""
    found = {one.version: one for one in versions}
    if len(found) < len(versions):
        names = ", ".join(str(one.version) for one in versions)
        raise Unbundled(f"several files for one Version: {names}", hint="give one for each Version")
    newest_first = [found[version] for version in sorted(found, reverse=True)]
    served = _served(newest_first, releases, minimal=minimal)
    chosen = [one for one in newest_first if one.version in served] if releases else newest_first
    config = blobs.add_bytes(b"{}", EMPTY)
    manifests = [one.manifest(config, served.get(one.version, ())) for one in chosen]
    listed = [
        replace(blobs.add_bytes(written_document(one), MANIFEST), annotations=one.annotations)
        for one in manifests
    ]
    index = Index(listed, {BUNDLE_MARK: BUNDLE_FORM})
    top = blobs.add_bytes(written_document(index), INDEX)
    blobs.keep([config, top, *listed, *(layer for one in chosen for layer in one.layers)])
    for name, data in {
        LAYOUT: b'{"imageLayoutVersion":"1.0.0"}',
        "index.json": written_document(Index([top])),
    }.items():
        write_file(f"{blobs.staged}/{name}", data)
    open_container(blobs.staged)
    said = {
        one.version: manifest.annotations for one, manifest in zip(chosen, manifests, strict=True)
    }
    return Bundled(top.digest, said, served)


def _served(
    versions: Sequence[_Stored], releases: Iterable[Release], *, minimal: bool
) -> dict[Version, tuple[Verdict, ...]]:
    """Return which consumers get which Version: the best that is predicted, the newest first."""
    verdicts = {
        release: {one.version: predict(one.subjects, release) for one in versions}
        for release in releases
    }
    for each in verdicts.values():
        best = max(each.values(), key=gravity)
        if best.holds(Stage.DECODE) is False:
            raise NotServed(
                f"{best.consumer} is served by none of {', '.join(map(str, each))}: "
                f"{best.says} ({best.basis}): {best.reason}",
                hint="leave it out, or see what is in its way: portable check, portable explain",
            )
    if minimal:
        kept = _fewest(verdicts.values())
        verdicts = {
            release: {version: each[version] for version in kept}
            for release, each in verdicts.items()
        }
    found: dict[Version, list[Verdict]] = {}
    for each in verdicts.values():
        version = max(each, key=lambda one: gravity(each[one]))
        found.setdefault(version, []).append(each[version])
    return {version: tuple(found[version]) for version in sorted(found, reverse=True)}


def _fewest(verdicts: Iterable[Mapping[Version, Verdict]]) -> list[Version]:
    """Return few Versions that serve every consumer as well as all of them do, newest first.

    A Version serves the consumers of every later one too, but for a few refusals: taking the one
    that serves most is as good as trying every set.
    """
    rest = [{version for version, one in each.items() if _equal(one, each)} for each in verdicts]
    kept = []
    while rest:
        candidates = sorted({version for each in rest for version in each}, reverse=True)
        most = max(candidates, key=lambda version: sum(version in each for each in rest))
        kept.append(most)
        rest = [each for each in rest if most not in each]
    return sorted(kept, reverse=True)


def _equal(verdict: Verdict, each: Mapping[Version, Verdict]) -> bool:
    return gravity(verdict) == max(map(gravity, each.values()))
