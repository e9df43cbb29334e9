"""Bundles in a registry: `oci://host/name:tag`, spoken to by oras.

The tag is looked up once; what its answer names is fetched by digest, so that a tag that moves
meanwhile changes nothing. An answer is read as far as its descriptor says that it goes.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.containers.bundle import listed_members, parse_member
from portable.containers.copying import write_bytes
from portable.containers.oci import (
    EMPTY,
    INDEX,
    LARGEST,
    MANIFEST,
    TITLE,
    Descriptor,
    Index,
    Manifest,
    demand_document,
    is_index,
    parse_fields,
)
from portable.errors import PortableError
from portable.system import scratch
from portable.system.waits import waited, waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import FileIO

    from portable.containers.bundle import ImageLayout

__all__ = ["SCHEME", "Registry", "RegistryError"]

SCHEME = "oci://"
"""How references to registries begin."""

_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?|\[[0-9a-fA-F:]+\](:[0-9]+)?")
_LOOPBACK = re.compile(r"localhost|127(\.[0-9]+){3}|\[::1\]")
# Of one answer, or between two pieces of one.
_SECONDS = 60
_PIECE = 1 << 20
# Larger files are sent in pieces: oras reads each whole into memory.
_WHOLE = 32 << 20
_DONE = {200, 201, 202}
_LACKS = 404
# What is attached to one bundle, as far as it is looked at: the newest.
_MOST_ATTACHED = 100
_ATTACHED = "attestation.sigstore.json"
# Said by a registry that lists referrers itself.
_SUBJECT = "OCI-Subject"


class RegistryError(PortableError):
    """A registry cannot be reached, refuses, or does not have what was requested."""


class Registry:
    """One name in a registry.

    Args:
        reference: `oci://host[:port]/name`, with `:tag` or `@sha256:DIGEST` behind it. Loopback
            addresses are spoken to without TLS, as other tools do.

    Raises:
        RegistryError: It is no such reference, the registry cannot be reached, or oras is missing.
    """

    def __init__(self, reference: str) -> None:
        self.reference = reference
        try:
            import oras.container
            import oras.provider
        except ImportError:
            hint = "pip install 'stablehlo-portable[bundle]'"
            raise RegistryError("needs oras", where=reference, hint=hint) from None
        # Its errors repeat what the registry says, as it is, on standard error.
        logging.getLogger("oras.logger").addHandler(logging.NullHandler())
        host, _, name = reference.removeprefix(SCHEME).partition("/")
        insecure = _LOOPBACK.fullmatch(host.rpartition(":")[0] or host) is not None
        if not name or not _HOST.fullmatch(host) or not {".", ":"} & set(host):
            raise self._wrong()
        try:
            self._name = oras.container.Container(f"{host}/{name}")
        except ValueError:
            raise self._wrong() from None
        # Its retries take two minutes to say that nothing listens.
        once = oras.provider.Registry.do_request.__wrapped__
        client = type("Client", (oras.provider.Registry,), {"do_request": once})
        self._client = client(host, insecure=insecure)
        session = self._client.session
        session.request = functools.partial(_limited, session.request)
        with self._failing():
            self._client.auth.load_configs(self._name)

    def _wrong(self) -> RegistryError:
        hint = "write oci://host[:port]/name:tag"
        return RegistryError("not the name of a bundle", where=self.reference, hint=hint)

    def index(self) -> tuple[Descriptor, bytes]:
        """Return the index of the bundle and its digest, by which it is read from now on.

        Of what was sent alone, its manifest.

        Raises:
            RegistryError: The registry does not have it.
            MalformedContainer: It has another digest than was requested.
        """
        data = self._get(self._name.manifest_url(), LARGEST, accept=f"{INDEX}, {MANIFEST}")
        found = Descriptor.of(data, INDEX if is_index(data, self.reference) else MANIFEST)
        if self._name.digest:
            demand_document(data, replace(found, digest=self._name.digest))
        return found, data

    def document(self, descriptor: Descriptor) -> bytes:
        """Return a document that was compared with its descriptor.

        Args:
            descriptor: Which.

        Raises:
            RegistryError: The registry does not have it.
            MalformedContainer: It is something else than it should be.
        """
        url = self._name.manifest_url(descriptor.digest)
        data = self._get(url, min(descriptor.size, LARGEST), accept=descriptor.media_type)
        return demand_document(data, descriptor)

    def copy(self, descriptor: Descriptor, target: FileIO) -> None:
        """Write a blob into a stream, as far as its descriptor says; its content is not checked.

        Args:
            descriptor: Which.
            target: An unbuffered stream.

        Raises:
            RegistryError: The registry does not have it, or sends more.
            OSError: It cannot be written.
        """
        url = self._name.get_blob_url(descriptor.digest)
        for piece in self._pieces(url, descriptor.size, accept="*/*"):
            write_bytes(target, piece)

    def push(self, layout: ImageLayout, *, alone: bool = False) -> Descriptor:
        """Send a bundle: what the registry lacks of its files, its manifests, and then its index.

        Args:
            layout: The bundle; each file is compared with its digest before it is sent.
            alone: Whether the name is to stand for its one Version, without the index.

        Returns:
            What the name now stands for.

        Raises:
            RegistryError: The registry refuses.
            MalformedContainer: The bundle is damaged.
        """
        top, data = layout.index()
        members = listed_members(top, data)
        for member in members:
            document = layout.document(member.descriptor)
            manifest = parse_member(document, member)
            for blob in (manifest.config, *manifest.layers):
                self._upload(layout.blob(blob), blob)
            self._put(member.descriptor.digest, document, MANIFEST)
        if alone:
            (member,) = members
            top, data = member.descriptor, layout.document(member.descriptor)
        self._put(self._name.digest or self._name.tag, data, top.media_type)
        return top

    def attach(self, subject: Descriptor, data: bytes, media_type: str) -> None:
        """Send a file that is about what the name stands for, as a referrer of it.

        A registry without an API of referrers gets the list of them under the tag that the
        distribution specification has for that.

        Args:
            subject: What the name stands for.
            data: The file.
            media_type: What it is.

        Raises:
            RegistryError: The registry refuses.
        """
        layer = replace(Descriptor.of(data, media_type), annotations={TITLE: _ATTACHED})
        empty = Descriptor.of(b"{}", EMPTY)
        with scratch.folder() as folder:
            for blob, content in ((layer, data), (empty, b"{}")):
                path = Path(folder) / "blob"
                path.write_bytes(content)
                self._upload(str(path), blob)
        about = replace(subject, annotations={}).record()
        manifest = Manifest(media_type, empty, [layer]).record() | {"subject": about}
        document = json.dumps(manifest).encode()
        new = Descriptor.of(document, MANIFEST)
        if _SUBJECT in self._put(new.digest, document, MANIFEST).headers:
            return
        listed = [one for one in self._referrers(subject) if one.get("digest") != new.digest]
        listed.append(new.record() | {"artifactType": media_type})
        index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": listed}
        self._put(_referrers_tag(subject), json.dumps(index).encode(), INDEX)

    def attached(self, subject: Descriptor, media_type: str) -> Iterator[bytes]:
        """Yield the files of one kind that are about what the name stands for.

        Args:
            subject: What the name stands for.
            media_type: Of which kind.

        Raises:
            RegistryError: The registry does not have what it lists.
            MalformedContainer: It is something else than it should be.
        """
        for one in self._referrers(subject)[-_MOST_ATTACHED:]:
            if one.get("artifactType") == media_type:
                document = self.document(Descriptor.parse(one, self.reference))
                layer = Manifest.parse(document, self.reference).layers[0]
                url = self._name.get_blob_url(layer.digest)
                yield demand_document(self._get(url, min(layer.size, LARGEST), accept="*/*"), layer)

    def _referrers(self, subject: Descriptor) -> list[dict[str, Any]]:
        """Return what the registry lists, or the tag of what the name stands for; or nothing."""
        place = self._name.manifest_url().rpartition("/manifests/")[0]
        tag = self._name.manifest_url(_referrers_tag(subject))
        for url in (f"{place}/referrers/{subject.digest}", tag):
            data = b"".join(self._pieces(url, LARGEST, accept=INDEX, may_lack=True))
            if data:
                break
        else:
            return []
        Index.parse(data, self.reference)
        found: list[dict[str, Any]] = parse_fields(data, self.reference)["manifests"]
        return found

    def _upload(self, path: str, blob: Descriptor) -> None:
        with self._failing():
            self._demand_done(
                self._client.upload_blob(
                    path,
                    self._name,
                    {"digest": blob.digest, "size": blob.size},
                    do_chunked=blob.size > _WHOLE,
                )
            )

    def _put(self, name: str, data: bytes, media_type: str) -> Any:
        url = f"{self._client.prefix}://{self._name.manifest_url(name)}"
        headers = {"Content-Type": media_type}
        with self._failing():
            answer = self._client.do_request(url, "PUT", data=data, headers=headers)
            self._demand_done(answer)
        return answer

    def _get(self, url: str, size: int, *, accept: str) -> bytes:
        return b"".join(self._pieces(url, size, accept=accept))

    def _pieces(
        self, url: str, size: int, *, accept: str, may_lack: bool = False
    ) -> Iterator[bytes]:
        """Yield an answer piece by piece; it has at most this many bytes."""
        # What is compressed on the way could grow to anything.
        headers = {"Accept": accept, "Accept-Encoding": "identity"}
        with self._failing():
            url = f"{self._client.prefix}://{url}"
            answer = self._client.do_request(url, "GET", headers=headers, stream=True)
        with answer:
            if may_lack and answer.status_code == _LACKS:
                return
            self._demand_done(answer)
            with self._failing():
                for piece in waited(answer.iter_content(_PIECE), url, _SECONDS):
                    size -= len(piece)
                    if size < 0:
                        raise RegistryError("sends more than was announced", where=self.reference)
                    yield piece

    def _demand_done(self, answer: Any) -> None:
        if answer.status_code not in _DONE:
            said = f"the registry answers {answer.status_code} ({answer.reason})"
            raise RegistryError(said, where=self.reference)

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Turn whatever fails on the way into a RegistryError."""
        import requests
        from oras.auth import AuthenticationException

        try:
            yield
        except (requests.RequestException, AuthenticationException, ValueError) as error:
            raise RegistryError(f"{error}"[:500], where=self.reference) from error
        except (AttributeError, KeyError, TypeError, RecursionError) as error:
            # oras takes an answer for what it should be.
            raise RegistryError("answers what is no answer", where=self.reference) from error


def _limited(
    request: Callable[..., Any], method: str, url: str, *, stream: bool = False, **options: Any
) -> Any:
    """Request something, and read an answer that is read whole no further than documents go."""
    from requests import RequestException

    with waiting(url, _SECONDS):
        answer = request(method, url, stream=True, timeout=_SECONDS, **options)
    if not stream:
        found = bytearray()
        for piece in waited(answer.iter_content(_PIECE), url, _SECONDS):
            found += piece
            if len(found) > LARGEST:
                answer.close()
                raise RequestException(f"{url} sends more than {LARGEST:,} bytes")
        answer._content = bytes(found)  # noqa: SLF001 - what `content` and `json` look at
    return answer


def _referrers_tag(subject: Descriptor) -> str:
    return subject.digest.replace(":", "-")
