"""Kinds of input, told apart by their bytes alone; no framework, nothing unpickled."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from portable.bytecode import MAGIC, MalformedArtifact, read_header
from portable.system.files import FileError

if TYPE_CHECKING:
    from portable.bytecode.encoding import Buffer
    from portable.containers.folder import Folder
    from portable.containers.source import Source

__all__ = [
    "ARCHIVE",
    "LAYOUT",
    "MARKS",
    "MODEL",
    "Kind",
    "is_text",
    "kind_of_directory",
    "kind_of_file",
    "kind_of_folder",
    "native_format",
]

LAYOUT = "oci-layout"
"""The file that marks an OCI image layout."""
MODEL = "saved_model.pb"
"""The file that marks a SavedModel."""
MARKS = frozenset({LAYOUT, MODEL})
"""Files by whose names a directory is a container."""

# Enough to recognise anything; the rest of a file is not looked at.
_SAMPLE = 4096


class Kind(Enum):
    """The kind of a file or a directory."""

    ARTIFACT = "portable artifact"
    BYTECODE = "MLIR bytecode without a compatibility promise"
    TEXT = "MLIR text"
    EXPORTED = "jax.export.Exported"
    SAVED_MODEL = "TensorFlow SavedModel"
    TORCH_XLA = "torch_xla directory"
    BUNDLE = "bundle"
    RUNTIME = "runtime"
    EMPTY = "empty"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return self.value


# How shared libraries begin, and archives that may hold some.
ARCHIVE = "zip"
_NATIVE = {
    b"\x7fELF": "ELF",
    b"\xcf\xfa\xed\xfe": "Mach-O",
    b"\xce\xfa\xed\xfe": "Mach-O",
    b"\xca\xfe\xba\xbe": "Mach-O",
    b"\xca\xfe\xba\xbf": "Mach-O",
    b"MZ": "PE",
    b"PK\x03\x04": ARCHIVE,
}


def native_format(head: bytes) -> str:
    """Name the format of a file that may be a runtime: ELF, Mach-O, PE, zip; empty for others.

    Args:
        head: Its first bytes, at least four.
    """
    return next((name for magic, name in _NATIVE.items() if head.startswith(magic)), "")


def kind_of_file(data: Buffer | Source) -> Kind:
    """Determine the kind of a file by its bytes.

    Args:
        data: The whole file, or at least its beginning.

    Returns:
        The kind. Bytecode that claims no StableHLO Version is `BYTECODE` here; whether it holds
        VHLO, as artifacts of early 2023 do, which is known only after reading it.
    """
    if not len(data):
        return Kind.EMPTY
    head = bytes(data[:_SAMPLE])
    if head.startswith(MAGIC):
        try:
            portable = read_header(head).producer.startswith("StableHLO_v")
        except MalformedArtifact:
            portable = True  # damaged, but nothing else begins like this
        return Kind.ARTIFACT if portable else Kind.BYTECODE
    if _looks_like_text(head):
        return Kind.TEXT if _has_words(head) else Kind.UNKNOWN
    if _holds_program(data):
        return Kind.EXPORTED
    return Kind.UNKNOWN


def is_text(data: Buffer | Source) -> bool:
    """Say whether a file begins as a text does."""
    head = bytes(data[:_SAMPLE])
    return head.startswith(_UTF_16) or _looks_like_text(head)


_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def kind_of_directory(path: str) -> Kind:
    """Determine the kind of a directory by the names in it."""
    from portable.containers.folder import Folder  # most paths lead to files

    return kind_of_folder(Folder(path))


def kind_of_folder(folder: Folder) -> Kind:
    """Determine what a directory is, as `kind_of_directory`, wherever its files lie."""
    if folder.has_file(LAYOUT):
        return Kind.BUNDLE
    if folder.has_file(MODEL):
        return Kind.SAVED_MODEL
    try:
        names = folder.names("functions")
    except FileError:  # it is not there, or cannot be looked into
        return Kind.UNKNOWN
    return Kind.TORCH_XLA if any(name.endswith(".meta") for name in names) else Kind.UNKNOWN


def _looks_like_text(head: bytes) -> bool:
    if b"\0" in head:
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4  # a character cut by the end of the sample
    return True


def _has_words(head: bytes) -> bool:
    """Say whether a text has what every MLIR program has near its beginning."""
    return any(word in head for word in (b"module", b"func", b"stablehlo", b"vhlo", b'"builtin.'))


# `mlir_module_serialized` in the flatbuffer schema of jax.export, versions 3 to 12.
_MODULE_SLOT = 13
_PIECE = 1 << 20


def _holds_program(data: Buffer | Source) -> bool:
    """Say whether the bytes are a serialized `Exported`.

    The flatbuffer has no file identifier, so it is recognised by its content: a root table whose
    slot 13 is a byte vector that begins as MLIR bytecode, or as MLIR text, which jax reads as well.
    Whatever else is damaged in it is for who opens it to say.
    """
    from portable.containers.container import MalformedContainer
    from portable.containers.flatbuffer import beginning, root

    head = beginning(data, _MODULE_SLOT, _SAMPLE)
    if head.startswith(MAGIC) or (_looks_like_text(head) and _has_words(head)):
        return True
    try:
        start, stop = (head and root(data).vector(_MODULE_SLOT)) or (0, 0)
    except MalformedContainer:
        return False
    # Comments may stand before a program, of any length and with any bytes.
    pieces = range(start, stop, _PIECE)
    return any(_has_words(bytes(data[at : min(at + _PIECE + _SAMPLE, stop)])) for at in pieces)
