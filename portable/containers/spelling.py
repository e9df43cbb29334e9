"""Artifacts in files of another kind: as they are, and as texts and arrays spell them."""

from __future__ import annotations

import functools
import re
import struct
from typing import TYPE_CHECKING

from portable.bytecode import MAGIC
from portable.containers.kind import is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.bytecode.encoding import Buffer
    from portable.containers.source import Source

__all__ = ["embedded", "pieces", "spelled"]

_PIECE, _KEPT = 1 << 20, 512
# The format, an integer of one byte or up to nine, and who wrote it. MLIR's own libraries have the
# magic too, with a zero behind it.
_HEADER = re.compile(
    MAGIC + rb"(?:(?:[\x01-\x3f]|[\x02-\xff].{1,7}|\0[\0-\x3f]\0{7})[ -~]{0,200}\0"
    rb"|.{1,9}StableHLO_v)",
    re.DOTALL,
)
# What separates, quotes and escapes in any language; in UTF-16 each letter has a zero. Numbers may
# be separated by what is a digit elsewhere.
_PUNCTUATION, _SEPARATORS = b" \t\r\n\0,;:'\"\\{}[]()<>%=-", b".|/_+&#*^~$@!"
# Behind the magic and the format each portable artifact has this word.
_PRODUCER, _BEFORE = b"StableHLO_v", 24
_ESCAPED = re.compile(
    rb"ML(?:\xef|\xc3\xaf|(?:u0*|x)?ef|357|239|iuml|AO8)R[^`]{0,12}\Z", re.IGNORECASE
)
# MLIR has this op once it is serialized; where it stands in a program.
_OP = b"vhlo.func_v1"
_OPS = (b"@", b"^", b"arg_attrs", b"sym_name", b"function_type")
# The bytes as characters, which old pickles of them are.
_UTF_8 = re.compile(MAGIC.decode("latin-1").encode() + rb".{1,18}StableHLO_v", re.DOTALL)
# How arrays of wider numbers store bytes, as `struct` calls them.
_WIDE = "HIQefd"
# How texts list numbers: one after the other, with markup between them or the number of each, as
# tables and objects have them. What is matched is not tried again, so that time is linear.
_BETWEEN = (rb"\D{1,16}+", rb"\D{1,16}+\d{1,9}+\D{1,16}+")
# How many bytes a character takes of a text in a file that is none.
_CHARACTERS = (1, 2, 4)
_Z85 = bytes.maketrans(
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
)


def pieces(data: Buffer | Source, most: int) -> Iterator[tuple[int, bytes]]:
    """Yield a file in pieces that overlap: where each begins, and its bytes.

    Args:
        data: The file.
        most: How many of its bytes there are at most.
    """
    for start in range(0, min(most, len(data)), _PIECE):
        begin = max(0, start - _KEPT)
        yield begin, bytes(data[begin : min(start + _PIECE, most)])


def embedded(data: Buffer | Source, most: int) -> int:
    """Return where in a file of another kind an artifact begins; 0 if it holds none.

    It is known by how every one of them begins, wherever that is: in a pickle, in the graph of a
    framework, behind something else. What is compressed is not found.

    Args:
        data: The file.
        most: How many of its bytes are looked at.
    """
    for begin, piece in pieces(data, most):
        at = piece.find(MAGIC)
        while at >= 0:
            if begin + at and _HEADER.match(piece, at):
                return begin + at
            at = piece.find(MAGIC, at + 1)
    return 0


def spelled(data: Buffer | Source, most: int) -> str:
    """Say how a file spells an artifact; empty if it holds none.

    Args:
        data: The file.
        most: How many of its bytes are looked at.
    """
    if not is_text(data):
        ways = (way for _, piece in pieces(data, most) if (way := _stored(piece)))
        return next(ways, "")
    before = b""
    for start in range(0, min(most, len(data)), _PIECE):
        raw = bytes(data[start : min(start + _PIECE, most)])
        piece = before + raw.translate(None, _PUNCTUATION)
        if way := _written(piece) or _listed(raw):
            return f"a text with an artifact in it, as {way}"
        before = piece[-_KEPT:]
    return ""


def _stored(piece: bytes) -> str:
    if _UTF_8.search(piece):
        return "a file with an artifact in it, as characters"
    for word, size in _wide().items():
        if word in piece:
            return f"an array with an artifact in it, as numbers of {size} bytes"
    for word, way in _held_texts().items():
        if word in piece:
            return f"a file with an artifact in it, as {way}"
    return ""


def _listed(piece: bytes) -> str:
    return "numbers" if any(one.search(piece) for one in _lists()) else ""


def _written(piece: bytes) -> str:
    """Name how a piece of a text, without punctuation, spells an artifact."""
    for way, words in _encodings().items():
        if any(word in piece for word in words):
            return way
    piece = piece.translate(None, _SEPARATORS)
    lowered = piece.lower()
    for way, words in _numbers().items():
        if any(word in lowered for word in words):
            return way
    producer = _PRODUCER.translate(None, _SEPARATORS)
    at = piece.find(producer)
    while at >= 0:
        if _ESCAPED.search(piece, max(0, at - _BEFORE), at):
            return "escapes"
        at = piece.find(producer, at + 1)
    return ""


@functools.cache
def _wide() -> dict[bytes, int]:
    """Return who wrote a portable artifact in wider numbers, and of how many bytes these are."""
    count = len(_PRODUCER)
    forms = ((f"{order}{count}{form}", struct.calcsize(form)) for form in _WIDE for order in "<>")
    # Without zeros at its ends, which files have more of than of anything else.
    return {struct.pack(form, *_PRODUCER).strip(b"\0"): size for form, size in forms}


@functools.cache
def _lists() -> tuple[re.Pattern[bytes], ...]:
    """Return how texts list who wrote a portable artifact, whatever stands between the numbers."""
    numbers = [str(one).encode() for one in _PRODUCER]
    return tuple(re.compile(between.join(numbers)) for between in _BETWEEN)


@functools.cache
def _held_texts() -> dict[bytes, str]:
    """Return how texts in files that are none, as metadata, encode who wrote it."""
    import base64

    words = dict.fromkeys(_grouped(base64.b64encode, 3), "base64")
    digits = _PRODUCER.hex().encode()
    words |= dict.fromkeys((digits, digits.upper()), "hexadecimal")
    # Each byte of a wider character but one is zero; without those at the ends, in either order.
    return {
        bytes(size - 1).join(word[at : at + 1] for at in range(len(word))): way
        for word, way in words.items()
        for size in _CHARACTERS
    }


@functools.cache
def _encodings() -> dict[str, tuple[bytes, ...]]:
    """Return how texts encode who wrote a portable artifact, without `_PUNCTUATION`."""
    import base64
    import binascii

    ways = {
        "base64": (
            *_grouped(base64.b64encode, 3),
            *_grouped(base64.b64encode, 3, _OP),
        ),
        "base32": (*_grouped(base64.b32encode, 5), *_grouped(base64.b32hexencode, 5)),
        "base85": (
            *_grouped(base64.b85encode, 4),
            *_grouped(base64.a85encode, 4),
            *_grouped(lambda data: base64.b85encode(data).translate(_Z85), 4),
        ),
        "uuencode": _grouped(lambda data: binascii.b2a_uu(data)[1:-1], 3),
        "MLIR": tuple(_OP + word for word in _OPS),
    }
    return {
        way: tuple(word.translate(None, _PUNCTUATION) for word in words)
        for way, words in ways.items()
    }


@functools.cache
def _numbers() -> dict[str, tuple[bytes, ...]]:
    """Return how texts list it as numbers, without what separates them, in lower case."""
    return {
        "numbers": (
            *(_joined(form) for form in (b"%d", b"%03o", b"%d0", b"byte%d")),
            "".join(f"{one:08b}" for one in _PRODUCER).encode(),
        ),
        "hexadecimal": (
            *(
                _joined(b"%02x", before)
                for before in (b"", b"x", b"0x", b"u00", b"h0", b"h", b"8h", b"byte")
            ),
            *_grouped(functools.partial(_words, b"%08x"), 4),
            *_grouped(functools.partial(_words, b"0x%08x"), 4),
        ),
    }


def _joined(form: bytes, between: bytes = b"") -> bytes:
    return between.join(form % one for one in _PRODUCER)


def _words(form: bytes, data: bytes) -> bytes:
    """Spell bytes as words of four, whose lowest byte comes first."""
    return b"".join(form % one for (one,) in struct.iter_unpack("<I", data))


def _grouped(
    encode: Callable[[bytes], bytes], size: int, word: bytes = _PRODUCER
) -> tuple[bytes, ...]:
    """Return what is sure to stand in a text that encodes groups of so many bytes each by itself.

    Args:
        encode: Encodes whole groups.
        size: How many bytes one has: so many ways there are to begin in one.
        word: What is encoded.
    """
    words = []
    for before in range(size):
        data = bytes(before) + word
        groups = len(data) // size
        text = encode(data[: groups * size])
        # What is before the word is in its first group too.
        words.append(text[len(text) // groups if before else 0 :])
    return tuple(words)
