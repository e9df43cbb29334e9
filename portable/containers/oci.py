"""The documents of an OCI image, as far as bundles use them: descriptors, indexes, manifests.

Read from a directory or from a registry, they are the same bytes: each is bounded, is what its
descriptor says, and has no key twice. Written, they are what the tools in Go write of the same
fields, so that an index keeps its digest where one of them copies it.
"""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from portable.containers.container import MalformedContainer
from portable.system.documents import parse_json, without_ambiguity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from portable.system.files import InputFile

__all__ = [
    "EMPTY",
    "INDEX",
    "LARGEST",
    "MANIFEST",
    "TITLE",
    "Descriptor",
    "Index",
    "Manifest",
    "artifact_type_of",
    "demand_content",
    "demand_document",
    "demand_size",
    "is_index",
    "only_layer",
    "parse_fields",
    "written_document",
]

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
EMPTY = "application/vnd.oci.empty.v1+json"
TITLE = "org.opencontainers.image.title"
LARGEST = 4 << 20
"""How many bytes a document has at most: what registries accept."""

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_PART = re.compile(r"(?!\.\.?(/|$))[^/\\\x00-\x1f\x7f]{1,255}")
_MOST_PARTS = 32


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a document says about a blob.

    Args:
        media_type: What it is.
        digest: `sha256:` and its SHA-256 in hexadecimal.
        size: Bytes.
        annotations: What else is said about it.
    """

    media_type: str
    digest: str
    size: int
    annotations: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, data: bytes, media_type: str) -> Descriptor:
        """Describe bytes."""
        return cls(media_type, f"sha256:{sha256(data).hexdigest()}", len(data))

    @classmethod
    def parse(cls, fields: object, where: str) -> Descriptor:
        """Read a descriptor.

        Args:
            fields: What the JSON says.
            where: The document, for errors.

        Raises:
            MalformedContainer: A field is missing or wrong.
        """
        known = _object(fields, where)
        digest, size = known.get("digest"), known.get("size")
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise MalformedContainer(f"{digest!r:.80} is not a SHA-256 digest", where=where)
        if type(size) is not int or size < 0:
            raise MalformedContainer(f"size {size!r:.40} of {digest}", where=where)
        _demand_data(known.get("data"), digest, where)
        return cls(_text(known, "mediaType", where), digest, size, _annotations(known, where))

    @property
    def path(self) -> str:
        """Where the blob lies in an image layout."""
        return f"blobs/{self.digest.replace(':', '/')}"

    def record(self) -> dict[str, object]:
        """Return the fields as a document has them."""
        fields: dict[str, object] = {
            "mediaType": self.media_type,
            "digest": self.digest,
            "size": self.size,
        }
        return fields | ({"annotations": dict(self.annotations)} if self.annotations else {})


@dataclass(frozen=True, slots=True)
class Index:
    """A list of manifests.

    Args:
        manifests: Their descriptors.
        annotations: What is said about all of them.
    """

    manifests: Sequence[Descriptor]
    annotations: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes, where: str) -> Index:
        """Read an index.

        Raises:
            MalformedContainer: It is none, or lists a manifest twice.
        """
        fields = parse_fields(data, where)
        _demand_type(fields, INDEX, where)
        found = [Descriptor.parse(one, where) for one in _list(fields, "manifests", where)]
        if len({one.digest for one in found}) < len(found):
            raise MalformedContainer("lists a manifest twice", where=where)
        return cls(found, _annotations(fields, where))

    def record(self) -> dict[str, object]:
        """Return the fields as the document has them."""
        fields = {
            "schemaVersion": 2,
            "mediaType": INDEX,
            "manifests": [one.record() for one in self.manifests],
        }
        return fields | ({"annotations": dict(self.annotations)} if self.annotations else {})


@dataclass(frozen=True, slots=True)
class Manifest:
    """A tree of files: each layer is one, and its title is its path.

    Args:
        artifact_type: What the tree is.
        config: A blob that registries ask for.
        layers: The files, the program first.
        annotations: What is said about it.
    """

    artifact_type: str
    config: Descriptor
    layers: Sequence[Descriptor]
    annotations: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes, where: str) -> Manifest:
        """Read a manifest.

        Raises:
            MalformedContainer: It is none, has no file, or files whose paths exclude each other.
        """
        fields = parse_fields(data, where)
        _demand_type(fields, MANIFEST, where)
        layers = [Descriptor.parse(one, where) for one in _list(fields, "layers", where)]
        found = cls(
            _text(fields, "artifactType", where),
            Descriptor.parse(fields.get("config"), where),
            layers,
            _annotations(fields, where),
        )
        _demand_paths([*found.files], len(layers), where)
        return found

    @property
    def files(self) -> dict[str, Descriptor]:
        """The layers by their paths; the first holds the program."""
        return {one.annotations.get(TITLE, ""): one for one in self.layers}

    def record(self) -> dict[str, object]:
        """Return the fields as the document has them."""
        fields = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": self.artifact_type,
            "config": self.config.record(),
            "layers": [one.record() for one in self.layers],
        }
        return fields | ({"annotations": dict(self.annotations)} if self.annotations else {})


def is_index(data: bytes, where: str) -> bool:
    """Say whether a document is an index, as far as that can be seen: anything else has no list.

    Args:
        data: The document.
        where: Its name in errors.

    Raises:
        MalformedContainer: It is no document.
    """
    return "manifests" in parse_fields(data, where)


def artifact_type_of(data: bytes, where: str) -> object:
    """Return what a manifest of anybody says that it is; None where it does not."""
    return parse_fields(data, where).get("artifactType")


def only_layer(data: bytes, where: str) -> Descriptor | None:
    """Return the layer of a manifest of anybody; None where it has none, or several.

    Args:
        data: The document.
        where: Its name in errors.

    Raises:
        MalformedContainer: It is no manifest.
    """
    fields = parse_fields(data, where)
    _demand_type(fields, MANIFEST, where)
    layers = _list(fields, "layers", where)
    return Descriptor.parse(layers[0], where) if len(layers) == 1 else None


def written_document(document: Index | Manifest) -> bytes:
    """Write a document as the tools in Go do: keys of objects of texts sorted, HTML escaped.

    Args:
        document: An index or a manifest.
    """
    import json

    fields = _sorted(document.record())
    text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text.encode()


def _sorted(value: Any) -> Any:
    if isinstance(value, list):
        return [_sorted(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: dict(sorted(one.items())) if key == "annotations" else _sorted(one)
        for key, one in value.items()
    }


def demand_document(data: bytes, descriptor: Descriptor) -> bytes:
    """Return a document that was read, if it is what its descriptor says.

    Args:
        data: Its bytes.
        descriptor: What they have to be.

    Raises:
        MalformedContainer: They are something else.
    """
    demand_size(len(data), descriptor)
    _demand_digest(sha256(data).hexdigest(), descriptor)
    return data


def demand_content(file: InputFile, descriptor: Descriptor) -> None:
    """Read a whole file, and compare it with what its descriptor says.

    Args:
        file: The file.
        descriptor: What it has to be.

    Raises:
        MalformedContainer: It is something else.
        FileError: It cannot be read.
    """
    demand_size(len(file), descriptor)
    _demand_digest(file.sha256(), descriptor)


def demand_size(size: int, descriptor: Descriptor) -> None:
    """Refuse a blob of another size than its descriptor says.

    Args:
        size: Its size in bytes.
        descriptor: What it has to be.

    Raises:
        MalformedContainer: They differ.
    """
    if size != descriptor.size:
        what = f"has {size} bytes, not {descriptor.size} as its descriptor says"
        raise MalformedContainer(what, where=descriptor.path)


def _demand_digest(found: str, descriptor: Descriptor) -> None:
    if descriptor.digest != f"sha256:{found}":
        what = f"its content has SHA-256 {found}: it was changed or damaged"
        raise MalformedContainer(what, where=descriptor.path)


def _demand_data(data: object, digest: str, where: str) -> None:
    """Refuse content in a descriptor, in base64, that is another than what it describes."""
    if data is None:
        return
    try:
        found = b64decode(data, validate=True) if isinstance(data, str) else b""
    except ValueError:
        found = b""
    if digest != f"sha256:{sha256(found).hexdigest()}":
        raise MalformedContainer(f"its data is not its content ({digest})", where=where)


def parse_fields(data: bytes, where: str) -> dict[str, Any]:
    """Read a JSON object that has no key twice, in whatever case.

    Args:
        data: The document.
        where: Its name in errors.

    Raises:
        MalformedContainer: It is none, or larger than `LARGEST`.
    """
    if len(data) > LARGEST:
        raise MalformedContainer(f"larger than {LARGEST} bytes", where=where)
    try:
        return _object(parse_json(data, without_ambiguity), where)
    except ValueError as error:
        raise MalformedContainer(str(error), where=where) from None


def _demand_type(fields: Mapping[str, Any], media_type: str, where: str) -> None:
    # A tool may leave the media type out of the document: its descriptor has it too.
    version, kind = fields.get("schemaVersion"), fields.get("mediaType", media_type)
    if version != 2 or kind != media_type:
        raise MalformedContainer(f"schemaVersion {version!r:.40}, {kind!r:.80}", where=where)


def _demand_paths(paths: Sequence[str], count: int, where: str) -> None:
    """Refuse titles that are no paths inside, or that cannot all be files of one tree."""
    if not paths:
        raise MalformedContainer("has no files", where=where)
    for path in paths:
        parts = path.split("/", _MOST_PARTS)
        if len(parts) > _MOST_PARTS or not all(map(_PART.fullmatch, parts)):
            raise MalformedContainer(f"{path!r:.200} is not a path inside", where=where)
    folders = {path[:end] for path in paths for end in range(len(path)) if path[end] == "/"}
    if len(paths) < count or not folders.isdisjoint(paths):
        raise MalformedContainer("two files have the same place", where=where)


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedContainer(f"not an object: {value!r:.40}", where=where)
    return value


def _list(fields: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = fields.get(key)
    if not isinstance(value, list):
        raise MalformedContainer(f"no list {key!r}", where=where)
    return value


def _text(fields: Mapping[str, Any], key: str, where: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str):
        raise MalformedContainer(f"no text {key!r}", where=where)
    return value


def _annotations(fields: Mapping[str, Any], where: str) -> dict[str, str]:
    value = fields.get("annotations")
    found = {} if value is None else _object(value, where)
    if not all(isinstance(one, str) for one in found.values()):
        raise MalformedContainer("an annotation is not a text", where=where)
    return found
