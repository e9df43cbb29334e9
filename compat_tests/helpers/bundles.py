"""Bundles on the disk, as any other tool reads them."""

import json
from pathlib import Path
from typing import Any

__all__ = ["blobs", "manifests"]


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
