"""Kinds of input, told apart by their bytes alone; no framework, nothing unpickled."""

from __future__ import annotations

import functools
import re
from enum import Enum
from typing import TYPE_CHECKING

from portable.bytecode import MAGIC, MalformedArtifact, read_header
from portable.system.files import FileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.bytecode.encoding import Buffer
    from portable.containers.folder import Folder
    from portable.containers.source import Source

__all__ = [
    "ARCHIVE",
    "LAYOUT",
    "MARKS",
    "MODEL",
    "Kind",
    "embedded",
    "is_text",
    "kind_of_directory",
    "kind_of_file",
    "kind_of_folder",
    "native_format",
    "spelled",
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
    """What a file or a directory is."""

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
    """Determine what the bytes of a file are.

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


def embedded(data: Buffer | Source, most: int) -> int:
    """Return where in a file of another kind an artifact begins; 0 if it holds none.

    It is known by how every one of them begins, wherever that is: in a pickle, in the graph of a
    framework, behind something else. What is compressed is not found.

    Args:
        data: The file.
        most: How many of its bytes are looked at.
    """
    before = b""
    for start in range(0, min(most, len(data)), _PIECE):
        piece = before + bytes(data[start : min(start + _PIECE, most)])
        at = piece.find(MAGIC)
        while at >= 0:
            if start + at > len(before) and _HEADER.match(piece, at):
                return start + at - len(before)
            at = piece.find(MAGIC, at + 1)
        before = piece[-_KEPT:]
    return 0


_PIECE, _KEPT = 1 << 20, 256
# The format, an integer of one byte or up to nine, and who wrote it. MLIR's own libraries have the
# magic too, with a zero behind it.
_HEADER = re.compile(
    MAGIC + rb"(?:(?:[\x01-\x3f]|[\x02-\xff].{1,7}|\0[\0-\x3f]\0{7})[ -~]{0,200}\0"
    rb"|.{1,9}StableHLO_v)",
    re.DOTALL,
)


def is_text(data: Buffer | Source) -> bool:
    """Say whether a file begins as a text does."""
    head = bytes(data[:_SAMPLE])
    return head.startswith(_UTF_16) or _looks_like_text(head)


def spelled(data: Buffer | Source, most: int) -> str:
    """Name how a text spells an artifact; empty if it is no text, or holds none.

    Args:
        data: The file.
        most: How many of its bytes are looked at.
    """
    if not is_text(data):
        return ""
    before = b""
    for start in range(0, min(most, len(data)), _PIECE):
        piece = bytes(data[start : min(start + _PIECE, most)])
        piece = before + piece.translate(None, _PUNCTUATION)
        lowered = piece.lower()
        for way, words in _spellings().items():
            if any(word in (lowered if way == _HEXADECIMAL else piece) for word in words):
                return way
        at = piece.find(_PRODUCER)
        while at >= 0:
            if _ESCAPED.search(piece, max(0, at - _BEFORE), at):
                return "escapes"
            at = piece.find(_PRODUCER, at + 1)
        before = piece[-_KEPT:]
    return ""


_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# What separates, quotes and escapes in any language; in UTF-16 each letter has a zero.
_PUNCTUATION = b" \t\r\n\0,;:'\"\\{}[]()<>%=-"
# Behind the magic and the format each portable artifact has this word.
_PRODUCER, _BEFORE, _HEXADECIMAL = b"StableHLO_v", 24, "hexadecimal"
_ESCAPED = re.compile(rb"ML(?:\xef|\xc3\xaf|(?:u00|x)?ef|357)R[^`]{0,12}\Z", re.IGNORECASE)
# MLIR has these ops once it is serialized; where they stand in a program.
_OPS = (b"@", b"^", b"arg_attrs", b"sym_name", b"function_type")


@functools.cache
def _spellings() -> dict[str, tuple[bytes, ...]]:
    """Return how texts spell who wrote a portable artifact, without `_PUNCTUATION`."""
    import base64
    import binascii

    return {
        "base64": _grouped(base64.b64encode, 3),
        "base32": _grouped(base64.b32encode, 5),
        "base85": (*_grouped(base64.b85encode, 4), *_grouped(base64.a85encode, 4)),
        "uuencode": _grouped(lambda data: binascii.b2a_uu(data)[1:-1], 3),
        "numbers": tuple(b"".join(form % one for one in _PRODUCER) for form in (b"%d", b"%03o")),
        _HEXADECIMAL: tuple(
            before.join(b"%02x" % one for one in _PRODUCER) for before in (b"", b"x", b"0x", b"u00")
        ),
        "MLIR": tuple(b"vhlo.func_v1" + word for word in _OPS),
    }


def _grouped(encode: Callable[[bytes], bytes], size: int) -> tuple[bytes, ...]:
    """Return what is sure to stand in a text that encodes groups of so many bytes each by itself.

    Args:
        encode: Encodes whole groups.
        size: How many bytes one has: so many ways there are to begin in one.
    """
    words = []
    for before in range(size):
        data = bytes(before) + _PRODUCER
        groups = len(data) // size
        text = encode(data[: groups * size])
        # What is before the word is in its first group too.
        words.append(text[len(text) // groups if before else 0 :].translate(None, _PUNCTUATION))
    return tuple(words)


def kind_of_directory(path: str) -> Kind:
    """Determine what a directory is, by the names in it."""
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
    return any(_has_words(bytes(data[at : min(at + _PIECE + _KEPT, stop)])) for at in pieces)
