"""Reads MLIR bytecode with the standard library; bounded, and never trusting a length.

Names are imported on first use: reading a header needs nothing of the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.encoding import MalformedArtifact
from portable.bytecode.header import HEADER_BYTES, MAGIC, Header, read_header
from portable.system.lazy import lazy

if TYPE_CHECKING:
    from portable.bytecode.content import Bytecode as Bytecode
    from portable.bytecode.content import read as read

_HOME = {"Bytecode": "portable.bytecode.content", "read": "portable.bytecode.content"}

__all__ = [
    "HEADER_BYTES",
    "MAGIC",
    "Bytecode",
    "Header",
    "MalformedArtifact",
    "read",
    "read_header",
]

if not TYPE_CHECKING:  # or every misspelt name would be an object
    __getattr__, __dir__ = lazy(__name__, _HOME)
