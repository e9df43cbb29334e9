"""Bundles on the disk, as any other tool reads them."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

__all__ = ["Layout", "blobs", "manifests"]


def blobs(bundle: Path) -> dict[str, bytes]:
    """Return every blob by its digest."""
    return {
        f"sha256:{path.name}": path.read_bytes() for path in (bundle / "blobs" / "sha256").iterdir()
    }


def manifests(bundle: Path) -> list[Any]:
    """Return the manifest of each Version."""
    found = blobs(bundle)
    (top,) = json.loads((bundle / "index.json").read_text())["manifests"]
    index = json.loads(found[top["digest"]])
    return [json.loads(found[one["digest"]]) for one in index["manifests"]]


class Layout:
    """A bundle that can be changed: every document is written again under its new digest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (self.top,) = json.loads((path / "index.json").read_text())["manifests"]
        self.index: dict[str, Any] = self.read(self.top)
        self.manifests = [self.read(one) for one in self.index["manifests"]]

    def blob(self, descriptor: dict[str, Any]) -> Path:
        """Return where a blob lies."""
        return self.path / "blobs" / str(descriptor["digest"]).replace(":", "/")

    def read(self, descriptor: dict[str, Any]) -> dict[str, Any]:
        """Return a document."""
        found: dict[str, Any] = json.loads(self.blob(descriptor).read_text())
        return found

    def add(self, data: bytes) -> dict[str, Any]:
        """Store a blob; return what says where."""
        digest = sha256(data).hexdigest()
        (self.path / "blobs" / "sha256" / digest).write_bytes(data)
        return {"digest": f"sha256:{digest}", "size": len(data)}

    def write(self) -> None:
        """Write all documents, whatever they say now."""
        for descriptor, manifest in zip(self.index["manifests"], self.manifests, strict=True):
            descriptor.update(self.add(json.dumps(manifest).encode()))
        self.top |= self.add(json.dumps(self.index).encode())
        top = {"schemaVersion": 2, "manifests": [self.top]}
        (self.path / "index.json").write_text(json.dumps(top))
