"""One program for many consumers: several Versions of it under one name, as an OCI image layout.

    from portable.bundle import pack, pick

    pack("model.mlir", "jaxlib>=0.5", "tensorflow~=2.18", to="model.bundle")
    picked = pick("model.bundle", "jaxlib==0.5.3", to="model.mlir.bc")
    print(picked.version, picked.verdicts)

What it is on the disk and in a registry: docs/bundles.md.
"""

from __future__ import annotations

from portable.bundle.picking import Picked, attach, pick, push, unpack, verify_attached
from portable.bundle.registry import SCHEME, RegistryError
from portable.bundle.writing import (
    Bundled,
    NotServed,
    Unbundled,
    pack,
    pack_files,
)
from portable.containers.bundle import IsABundle

__all__ = [
    "SCHEME",
    "Bundled",
    "IsABundle",
    "NotServed",
    "Picked",
    "RegistryError",
    "Unbundled",
    "attach",
    "pack",
    "pack_files",
    "pick",
    "push",
    "unpack",
    "verify_attached",
]
