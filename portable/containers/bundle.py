"""Bundle: one program in several Versions, as an image layout that every OCI registry takes.

`index.json` names one index, which has a manifest for each Version. A manifest is a tree of files:
each layer is one, the first holds the program or belongs to the container that the tree is. The
same bytes are there once, so Versions share their weights. A consumer needs one of the Versions.

Nothing is believed: a blob is read once, whole, and compared with its digest before anything looks
into it; a Version that a manifest claims is compared with the headers of its artifacts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from portable.bytecode import HEADER_BYTES, MalformedArtifact, read_header
from portable.containers.container import Entry, MalformedContainer, NoArtifact, place, shown
from portable.containers.folder import Folder
from portable.containers.kind import LAYOUT, Kind
from portable.containers.oci import (
    INDEX,
    LARGEST,
    MANIFEST,
    Descriptor,
    Index,
    Manifest,
    artifact_type_of,
    demand_content,
    demand_document,
    demand_size,
    parse_fields,
)
from portable.containers.rewriting import Rewritable
from portable.errors import PortableError
from portable.version import InvalidVersion, Version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from io import FileIO

    from portable.artifact import Artifact
    from portable.containers.container import Container, Edits, Opener
    from portable.containers.source import Source

__all__ = [
    "BLOBS",
    "BUNDLE_FORM",
    "BUNDLE_MARK",
    "FORMAT",
    "MEMBER",
    "REQUIRED",
    "REWRITES",
    "TOP",
    "VERSION",
    "Bundle",
    "ImageLayout",
    "IsABundle",
    "Member",
    "demand_claim",
    "is_top",
    "listed_files",
    "listed_members",
    "open_container",
    "parse_member",
]

BUNDLE_MARK, BUNDLE_FORM = "stablehlo.portable.bundle", "1"
"""The annotation of the index, since tools in Go before 2024 drop its artifact type."""
MEMBER = "application/vnd.stablehlo.portable.version.v1"
"""The artifact type of the manifest of one Version."""
VERSION = "stablehlo.portable.version"
"""The annotation that says which Version the artifacts of a manifest claim."""
REQUIRED, FORMAT = "stablehlo.portable.required", "stablehlo.portable.format"
"""Those that say which Version and which bytecode format a reader must have."""
REWRITES = "stablehlo.portable.rewrites"
"""The one that says what was rewritten to reach the Version, by names with commas between."""

TOP = "index.json"
BLOBS = "blobs/sha256"
_IMAGE_LAYOUT = "1.0.0"


class IsABundle(PortableError):
    """A bundle was given where one Version of the program is needed."""

    def __init__(self, where: str) -> None:
        hint = "take one out: portable pick BUNDLE --for SPEC -o PATH"
        super().__init__("is a bundle of several Versions", where=where or None, hint=hint)


@dataclass(frozen=True, slots=True)
class Member:
    """One Version of the program, as the index lists it.

    Args:
        version: Which Version its artifacts claim.
        descriptor: Of its manifest.
    """

    version: Version
    descriptor: Descriptor

    @property
    def name(self) -> str:
        """What to call it."""
        return str(self.version)


def listed_members(descriptor: Descriptor, data: bytes) -> tuple[Member, ...]:
    """Return what the index of a bundle lists; or the one Version that a manifest alone is.

    Args:
        descriptor: What the index is, or the manifest.
        data: The document, compared with its descriptor.

    Returns:
        The members, newest Version first.

    Raises:
        NoArtifact: It is the index of something else, such as container images.
        MalformedContainer: It lists something else than Versions, or one twice.
    """
    where = descriptor.path
    if descriptor.media_type == MANIFEST:
        return (_alone(descriptor, data),)
    index = Index.parse(data, where)
    form = index.annotations.get(BUNDLE_MARK)
    if form is None:
        raise NoArtifact(
            "an OCI image layout, but not a bundle of portable artifacts",
            where=where,
            hint="portable bundle writes one",
        )
    if form != BUNDLE_FORM:
        raise MalformedContainer(
            f"unknown form {form!r:.40} of a bundle, not {BUNDLE_FORM}", where=where, hint=_NEWER
        )
    if not index.manifests:
        raise MalformedContainer("a bundle without Versions", where=where)
    found = {_claimed(one, where): one for one in index.manifests}
    if len(found) < len(index.manifests):
        raise MalformedContainer("has a Version twice", where=where)
    return tuple(Member(version, found[version]) for version in sorted(found, reverse=True))


_NEWER = "a newer release of portable may read it"


def _alone(descriptor: Descriptor, data: bytes) -> Member:
    """Return the Version that is the whole of what a name stands for."""
    where = descriptor.path
    if artifact_type_of(data, where) != MEMBER:
        what, hint = "a manifest, but not of a portable artifact", "portable push writes one"
        raise NoArtifact(what, where=where, hint=hint)
    listed = replace(descriptor, annotations=Manifest.parse(data, where).annotations)
    return Member(_claimed(listed, where), listed)


def _claimed(descriptor: Descriptor, where: str) -> Version:
    if descriptor.media_type != MANIFEST:
        raise MalformedContainer(f"lists a {descriptor.media_type:.80}", where=where)
    said = descriptor.annotations.get(VERSION, "")
    try:
        return Version.parse(said)
    except InvalidVersion:
        raise MalformedContainer(f"{VERSION} is {said!r:.40}", where=where) from None


def parse_member(data: bytes, member: Member) -> Manifest:
    """Read the manifest of a member, whose descriptor says all that it says itself.

    Args:
        data: The document, compared with its digest.
        member: What the index says of it.

    Raises:
        MalformedContainer: It is no such manifest, or says something else than the index.
    """
    where = member.descriptor.path
    found = Manifest.parse(data, where)
    if found.artifact_type != MEMBER:
        raise MalformedContainer(f"artifactType is {found.artifact_type:.80}", where=where)
    if found.annotations != member.descriptor.annotations:
        raise MalformedContainer("annotations are not those in the index", where=where)
    return found


def demand_claim(container: Container, version: Version) -> None:
    """Refuse a member whose artifacts claim another Version than its manifest.

    Args:
        container: What its files are.
        version: What its manifest says.

    Raises:
        MalformedContainer: The newest Version that an artifact claims is another, or one claims
            none.
    """
    found = None
    for entry in container.artifacts():
        try:
            claimed = read_header(entry.head(HEADER_BYTES)).version
        except MalformedArtifact as error:
            where = place(str(version), entry.name)
            raise MalformedContainer(error.what, error.offset, where=where) from None
        if claimed is None:
            what = "is no portable artifact that names its Version"
            raise MalformedContainer(what, where=place(str(version), entry.name))
        found = max(found or claimed, claimed)
    if found != version:
        raise MalformedContainer(
            f"its artifacts claim {found}, not {version} as its manifest says", where=str(version)
        )


def is_top(source: Source) -> bool:
    """Say whether an `index.json` is that of a bundle: it names one image index and nothing else.

    Args:
        source: The file.

    Raises:
        FileError: It cannot be read.
    """
    try:
        return len(source) <= LARGEST and _top(source[:]) is not None
    except MalformedContainer:
        return False


def _top(data: bytes) -> Descriptor | None:
    found = Index.parse(data, TOP).manifests
    return found[0] if len(found) == 1 and found[0].media_type == INDEX else None


def listed_files(read: Callable[[str], bytes]) -> dict[str, list[str]]:
    """Return which blobs the documents of a bundle list for each Version.

    Args:
        read: Returns a file of the image layout, by its path in it.

    Returns:
        The paths of the blobs in the layout, by Version, the newest first; they are not looked at.

    Raises:
        NoArtifact: It is the layout of something else.
        MalformedContainer: A document is damaged, or says something else than another.
        FileError: One cannot be read.
    """
    top = _top(read(TOP))
    if top is None:
        raise NoArtifact("not a bundle of portable artifacts", where=TOP)
    found = {}
    for one in listed_members(top, demand_document(read(top.path), top)):
        document = demand_document(read(one.descriptor.path), one.descriptor)
        found[one.name] = [layer.path for layer in parse_member(document, one).layers]
    return found


class ImageLayout:
    """The blobs of an image layout, each compared with its descriptor before it is used.

    Args:
        folder: The directory.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._checked: dict[str, int] = {}

    def index(self) -> tuple[Descriptor, bytes]:
        """Return the index of the bundle, and its descriptor.

        Raises:
            NoArtifact: The layout holds something else.
            MalformedContainer: It is damaged, or is none that is known.
            FileError: It cannot be read.
        """
        version = parse_fields(self._small(LAYOUT), LAYOUT).get("imageLayoutVersion")
        if version != _IMAGE_LAYOUT:
            raise MalformedContainer(f"imageLayoutVersion {version!r:.40}", where=LAYOUT)
        top = _top(self._small(TOP))
        if top is None:
            raise NoArtifact(
                "an OCI image layout, but not a bundle of portable artifacts",
                where=self.folder.path,
                hint="the index.json of a bundle names one image index and nothing else",
            )
        return top, self.document(top)

    def document(self, descriptor: Descriptor) -> bytes:
        """Return a document.

        Args:
            descriptor: Which.

        Raises:
            MalformedContainer: It is missing, too large, or something else than it should be.
            FileError: It cannot be read.
        """
        return demand_document(self._small(descriptor.path), descriptor)

    def blob(self, descriptor: Descriptor) -> str:
        """Return the path of a blob that was read and compared with its descriptor.

        Args:
            descriptor: Which.

        Raises:
            MalformedContainer: It is missing, or something else than it should be.
            FileError: It cannot be read.
        """
        path = self.folder.file(descriptor.path)
        if self._checked.get(descriptor.digest) != descriptor.size:
            demand_content(self.folder.open(descriptor.path), descriptor)
            self._checked[descriptor.digest] = descriptor.size
        return path

    def copy(self, descriptor: Descriptor, target: FileIO) -> None:
        """Write a blob into a stream, inside the kernel where it can; its content is not checked.

        Args:
            descriptor: Which.
            target: An unbuffered stream.

        Raises:
            MalformedContainer: It is missing, or has another size.
            FileError: It cannot be read.
            OSError: It cannot be written.
        """
        from portable.containers.copying import copy_bytes

        file = self.folder.open(descriptor.path)
        demand_size(len(file), descriptor)
        copy_bytes(file, target, 0, len(file))

    def demand_there(self, descriptor: Descriptor) -> None:
        """Refuse a blob that is missing or has another size, without reading it.

        Args:
            descriptor: Which.

        Raises:
            MalformedContainer: It is.
        """
        demand_size(len(self.folder.open(descriptor.path)), descriptor)

    def _small(self, inside: str) -> bytes:
        file = self.folder.open(inside)
        if len(file) > LARGEST:
            raise MalformedContainer(f"larger than {LARGEST} bytes", where=inside)
        return file.read()


@dataclass(frozen=True, slots=True)
class _Tree(Folder):
    """The files of one manifest, which lie in the layout under their digests."""

    layout: ImageLayout = field(kw_only=True)
    files: Mapping[str, Descriptor] = field(kw_only=True)

    def file(self, inside: str) -> str:
        if inside not in self.files:
            raise MalformedContainer("missing", where=inside)
        return self.layout.blob(self.files[inside])

    def unchecked(self, inside: str) -> Source:
        return self.layout.folder.source(self.files[inside].path)

    def has_file(self, inside: str) -> bool:
        return inside in self.files

    def has(self, inside: str) -> bool:
        return inside in self.files or any(path.startswith(f"{inside}/") for path in self.files)

    def names(self, inside: str) -> list[str]:
        start = f"{inside}/"
        below = (path.removeprefix(start) for path in self.files if path.startswith(start))
        return sorted({name.partition("/")[0] for name in below})


class Bundle(Rewritable):
    """Several Versions of one program, the newest first. As `Container` describes."""

    kind = Kind.BUNDLE
    opener: Opener | None = None

    def __init__(
        self, folder: Folder, inside: Callable[[Folder, Sequence[str]], Container]
    ) -> None:
        self.path = folder.path
        self.versions: Mapping[str, str] = {"image layout": _IMAGE_LAYOUT}
        self._layout = ImageLayout(folder)
        self._members: dict[str, Container] = {}
        try:
            manifests = {
                one.name: self._manifest(one) for one in listed_members(*self._layout.index())
            }
            for name, manifest in manifests.items():
                self._layout.blob(manifest.config)
                for layer in manifest.layers:
                    self._layout.demand_there(layer)
                tree = _Tree(
                    place(self.path, name), folder.within, layout=self._layout, files=manifest.files
                )
                self._members[name] = opened = inside(tree, [*tree.files])
                demand_claim(opened, Version.parse(name))
            _demand_apart(self._members)
        except MalformedContainer as error:
            raise error.at(self.path) from None
        held: dict[str, None] = {}
        titles: dict[str, list[str]] = {}
        for name, manifest in manifests.items():
            files = manifest.files
            programs = self._members[name].files or [*files][:1]
            held |= dict.fromkeys(files[inside].path for inside in programs)
            for title, layer in files.items():
                titles.setdefault(layer.path, []).append(title)
        self.files, self.titles = tuple(held), titles
        self.warnings = tuple(
            f"{name}: {warning}" for name, one in self._members.items() for warning in one.warnings
        )

    __repr__ = shown

    def _manifest(self, member: Member) -> Manifest:
        return parse_member(self._layout.document(member.descriptor), member)

    def artifacts(self) -> tuple[Entry, ...]:
        """Return the artifacts of every Version, named `VERSION` or `VERSION/NAME`."""
        return tuple(self._entries())

    def _entries(self) -> Iterator[Entry]:
        for version, member in self._members.items():
            for entry in member.artifacts():
                name = f"{version}/{entry.name}" if entry.name else version
                said = {**member.versions, **entry.versions}
                yield replace(entry, name=name, versions=said, member=version)

    def widened(self) -> str:
        """Return that there is one form only."""
        return "bundles have one form"

    def edits(
        self,
        artifacts: Mapping[str, bytes | Artifact],  # noqa: ARG002 - as it says
        *,
        texts: Mapping[str, str] = {},  # noqa: ARG002 - the same
        widen: bool = False,  # noqa: ARG002 - the same
    ) -> Edits:
        """Refuse: each Version is what its name says.

        Raises:
            IsABundle: Always.
        """
        raise IsABundle(self.path)


def open_container(folder: Folder, inside: Callable[[Folder, Sequence[str]], Container]) -> Bundle:
    """Open a bundle.

    Args:
        folder: Its directory.
        inside: Opens the files of one Version, given their paths, the program first.

    Raises:
        MalformedContainer: It is damaged, incomplete, or claims what is not so.
        NoArtifact: The image layout holds something else.
        FileError: It cannot be read.
    """
    return Bundle(folder, inside)


def _demand_apart(members: Mapping[str, Container]) -> None:
    """Refuse an artifact in two Versions: a few bytes would have one read any number of times."""
    owners: dict[object, str] = {}
    for name, member in members.items():
        for identity in {entry.source.identity for entry in member.artifacts()}:
            owner = owners.setdefault(identity, name)
            if owner != name:
                raise MalformedContainer(f"has an artifact of {owner}", where=name)
