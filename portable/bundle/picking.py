"""Take one Version out of a bundle: the newest that its consumers read, or all of them.

What is delivered is judged: the files of a Version are put beside their destination, compared with
their digests there, opened and predicted, and then moved. What the index claims only saves looking
at Versions that need more than a consumer has.
"""

from __future__ import annotations

import contextlib
import operator
import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from portable.attestation import SIGSTORE, AttestationError, verify_statement
from portable.bundle.registry import SCHEME, Registry
from portable.bundle.writing import pack_files
from portable.containers import Kind, NotAContainer, kind_of_directory
from portable.containers.bundle import (
    FORMAT,
    REQUIRED,
    ImageLayout,
    demand_claim,
    listed_members,
    parse_member,
)
from portable.containers.container import place
from portable.containers.folder import Folder
from portable.containers.oci import LARGEST, MANIFEST, demand_content, only_layer
from portable.containers.opening import open_version
from portable.errors import PortableError
from portable.prediction import Subject, predict_all, subjects_in
from portable.releases import named_consumers
from portable.system import scratch
from portable.system.files import (
    FileError,
    InputFile,
    demand_new_directory,
    demand_output,
    file_error,
    is_folder,
    is_special,
    new_directory,
    read_file,
    write_through,
)
from portable.system.trees import remove_tree, walk
from portable.verdict import Stage, Verdict, worst
from portable.version import InvalidVersion, Version

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Iterator, Mapping
    from io import FileIO

    from portable.attestation import Statement
    from portable.containers import Container
    from portable.containers.bundle import Member
    from portable.containers.oci import Descriptor

__all__ = ["Origin", "Picked", "attach", "pick", "push", "unpack", "verify_attached"]


class Origin(Protocol):
    """Where a bundle lies: a directory, or a registry."""

    def index(self) -> tuple[Descriptor, bytes]:
        """Return the index, and what it is."""

    def document(self, descriptor: Descriptor) -> bytes:
        """Return a document, compared with its descriptor."""

    def copy(self, descriptor: Descriptor, target: FileIO) -> None:
        """Write a blob into a stream: at most as many bytes as its descriptor says, unchecked."""


@dataclass(frozen=True, slots=True)
class Picked:
    """The Version that was taken out of a bundle, and the reasons.

    Args:
        digest: The digest of the bundle's index, which covers all its content.
        version: The Version; None if no Version is known to be read by every consumer.
        manifest: The digest of its manifest; empty if there is none.
        verdicts: What is predicted of every consumer, by Version, as far as they were looked at:
            from the newest to the one that was taken.
        stage: The Stage up to which it was chosen.
        uncovered: Consumers about which nothing is known.
    """

    digest: str
    version: Version | None
    manifest: str
    verdicts: Mapping[Version, tuple[Verdict, ...]]
    stage: Stage
    uncovered: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Picked {self.version or 'none'} of {', '.join(map(str, self.verdicts))}>"

    @property
    def held(self) -> bool | None:
        """Whether every consumer reads the Version; None if this is not known of any Version."""
        if self.version is not None:
            return True
        each = {_held(one, self.stage, self.uncovered) for one in self.verdicts.values()}
        return None if None in each else False

    def record(self) -> dict[str, object]:
        """Return everything as plain data for JSON."""
        return {
            "digest": self.digest,
            "version": str(self.version) if self.version else None,
            "manifest": self.manifest,
            "stage": str(self.stage),
            "not_covered": list(self.uncovered),
            "versions": [
                {"version": str(version), "verdicts": [one.record() for one in verdicts]}
                for version, verdicts in self.verdicts.items()
            ],
        }


def _held(verdicts: Iterable[Verdict], stage: Stage, uncovered: Iterable[str]) -> bool | None:
    return worst([*(one.holds(stage) for one in verdicts), *(None for _ in uncovered)])


def pick(
    bundle: str | os.PathLike[str],
    *consumers: str,
    to: str | os.PathLike[str],
    stage: Stage = Stage.DECODE,
    assume: Iterable[str] = (),
) -> Picked:
    """Take out of a bundle the newest Version that every consumer reads.

    Args:
        bundle: The directory, or `oci://host/name:tag`.
        consumers: The consumers, as for `named_consumers`.
        to: Where: a file, which is replaced if it exists, or a new directory where the Version has
            several files.
        stage: The Stage up to which the Verdicts have to be known.
        assume: What is assumed of the values that it is run on, as `no-nan`.

    Returns:
        The Version and the reasons. Nothing is written if there is none.

    Raises:
        MalformedContainer: The bundle is damaged, or is not what it claims.
        NotAContainer: It is not a bundle.
        RegistryError: The registry does not have it.
        FileError: It cannot be read, or `to` cannot be written.
        PortableError: As `named_consumers`.
        ValueError: There is no such Assumption.
    """
    named = named_consumers(*consumers)
    demand_place(to)
    origin, label = _origin(bundle), os.fspath(bundle)
    top, data = origin.index()
    verdicts: dict[Version, tuple[Verdict, ...]] = {}
    picked = Picked(top.digest, None, "", verdicts, stage, named.uncovered)
    with scratch.folder(str(Path(to).absolute().parent)) as staged:
        for member in listed_members(top, data):
            claim = _claim(member)
            verdicts[member.version] = found = predict_all(claim, named.releases) if claim else ()
            if _held(found, stage, ()) is False:
                continue
            tree = Path(staged, member.name)
            container = _delivered(origin, member, tree, label)
            subjects = subjects_in(container)
            found = predict_all(subjects, named.releases, stage=stage, assume=assume)
            verdicts[member.version] = found
            if _held(found, stage, named.uncovered) is True:
                _move(tree, to)
                return replace(picked, version=member.version, manifest=member.descriptor.digest)
            remove_tree(tree)
    return picked


def unpack(bundle: str | os.PathLike[str], *, to: str | os.PathLike[str]) -> tuple[Version, ...]:
    """Take every Version out of a bundle.

    Args:
        bundle: As for `pick`.
        to: A new directory, with one of the name of each Version in it.

    Returns:
        The Versions, newest first.

    Raises:
        PortableError: As `pick`.
    """
    origin = _origin(bundle)
    with new_directory(to) as staged:
        members = listed_members(*origin.index())
        for member in members:
            _delivered(origin, member, Path(staged, member.name), os.fspath(bundle))
    return tuple(member.version for member in members)


def demand_place(to: str | os.PathLike[str]) -> None:
    """Refuse a place to which no Version can be moved.

    Args:
        to: A file or a directory.

    Raises:
        FileError: It is a stream, or cannot be written. Nothing was written.
    """
    if is_special(to):
        hint = "name a file or a new directory"
        raise FileError("a Version is not written to a stream", where=os.fspath(to), hint=hint)
    if is_folder(to):
        demand_new_directory(to)
    else:
        demand_output(to)


def _origin(bundle: str | os.PathLike[str]) -> Origin:
    path = os.fspath(bundle)
    return Registry(path) if path.startswith(SCHEME) else _layout(path)


def _layout(path: str) -> ImageLayout:
    if (kind := kind_of_directory(path)) is not Kind.BUNDLE:
        raise NotAContainer(kind, directory=is_folder(path), where=path)
    return ImageLayout(Folder(path))


def _claim(member: Member) -> Subject | None:
    """Return what the index says that a reader of a Version needs."""
    said = member.descriptor.annotations
    try:
        required, format_ = Version.parse(said.get(REQUIRED, "")), int(said.get(FORMAT, ""))
    except (InvalidVersion, ValueError):
        return None  # then the Version itself is looked at
    return replace(Subject.claim(required, format_), claimed=member.version)


def _delivered(origin: Origin, member: Member, tree: Path, label: str) -> Container:
    """Put the files of a Version into a new folder, and open what they are."""
    manifest = parse_member(origin.document(member.descriptor), member)
    for inside, layer in manifest.files.items():
        path = tree / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        write_through(path, partial(origin.copy, layer))
        demand_content(InputFile(path), layer)
    with _named(tree, place(label, member.name)):
        container = open_version(Folder(str(tree)), [*manifest.files])
        demand_claim(container, member.version)
    return container


@contextlib.contextmanager
def _named(tree: Path, label: str) -> Iterator[None]:
    """Name errors by where files come from, not by where they are for now."""
    try:
        yield
    except PortableError as error:
        error.where = error.where.replace(str(tree), label) if error.where else label
        raise


def _move(tree: Path, to: str | os.PathLike[str]) -> None:
    """Move what was delivered to its place: a file that is alone, else the folder."""
    files = [Path(entry.path) for entry in walk(tree) if entry.is_file]
    alone = len(files) == 1
    (demand_output if alone else demand_new_directory)(to)
    try:
        (files[0] if alone else tree).replace(to)
    except OSError as error:
        raise file_error("write", error, to) from error


def push(
    path: str | os.PathLike[str],
    reference: str,
    *,
    attestation: str | os.PathLike[str] | None = None,
) -> str:
    """Send a bundle, an artifact or a container to a registry.

    Args:
        path: The bundle, artifact or container.
        reference: `oci://host/name:tag`.
        attestation: An attestation of it, to be sent as its referrer.

    Returns:
        The digest that the reference now names.

    Raises:
        RegistryError: The registry refuses it.
        NotAContainer: It is another directory.
        Unbundled: It is not an artifact that names its Version.
        MalformedContainer: It is damaged.
    """
    said = read_file(attestation, LARGEST + 1) if attestation is not None else None
    registry, source = Registry(reference), os.fspath(path)
    if kind_of_directory(source) is Kind.BUNDLE:
        top = registry.push(_layout(source))
    else:
        with scratch.folder() as folder:
            alone = str(Path(folder, "alone"))
            pack_files([source], to=alone)
            top = registry.push(_layout(alone), alone=True)
    if said is not None:
        registry.attach(top, said, SIGSTORE)
    return top.digest


def attach(
    reference: str, attestation: str | os.PathLike[str], *, key: str | os.PathLike[str]
) -> Statement:
    """Send an attestation of an artifact or a bundle in a registry, as its referrer.

    Args:
        reference: As for `verify_attached`.
        attestation: What was signed.
        key: The public key, in PEM; an attestation that it does not verify is not sent.

    Returns:
        What it says.

    Raises:
        AttestationError: It applies to something else, or is not signed with the key.
        RegistryError: The registry cannot be reached, refuses, or does not have it.
    """
    registry, data = Registry(reference), read_file(attestation, LARGEST + 1)
    top, digest = _attestable(registry)
    found = verify_statement(data, digest, key=key, where=os.fspath(attestation))
    registry.attach(top, data, SIGSTORE)
    return found


def verify_attached(
    reference: str, *, key: str | os.PathLike[str], max_age: datetime.timedelta | None = None
) -> Statement:
    """Verify an attestation in a registry, as `verify` does.

    Only the document that the reference names is fetched: its digest covers everything.

    Args:
        reference: `oci://host/name:tag`, or `@sha256:DIGEST`: a bundle, or a file alone.
        key: The public key, in PEM.
        max_age: How old it may be; by default any age.

    Returns:
        The newest valid statement.

    Raises:
        AttestationError: There is none, or none is valid; the reason is that of the last.
        RegistryError: The registry cannot be reached, or does not have it.
    """
    registry = Registry(reference)
    top, digest = _attestable(registry)
    failed = AttestationError("nothing is attested", where=reference)
    found = []
    for data in registry.attached(top, SIGSTORE):
        try:
            found.append(verify_statement(data, digest, key=key, max_age=max_age, where=reference))
        except AttestationError as error:
            failed = error
    if not found:
        raise failed
    return max(found, key=operator.attrgetter("made"))


def _attestable(registry: Registry) -> tuple[Descriptor, str]:
    """Return what a name stands for, and the SHA-256 that statements about it name."""
    top, data = registry.index()
    file = only_layer(data, registry.reference) if top.media_type == MANIFEST else None
    return top, (file or top).digest.partition(":")[2]
