"""Small compressed files and archives that unpack to much, or to very many things."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterable

__all__ = ["PACKED"]


def _tar(members: Iterable[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def _zip(members: Iterable[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def _far(size: int) -> bytes:
    """Return what may be a flatbuffer until its end is read."""
    tail = (4).to_bytes(4, "little") + bytes(4)
    return (size - 8).to_bytes(4, "little") + b"\xff" + bytes(size - 13) + tail


def _named(count: int, data: bytes) -> Iterable[tuple[str, bytes]]:
    return ((f"{number}", data) for number in range(count))


def _nested(levels: int) -> bytes:
    data = gzip.compress(_far(1 << 20))
    for _ in range(levels):
        data = _zip(_named(10, data))
    return data


_HEADER = _tar([("a", b"")])[:512]

PACKED: dict[str, Callable[[int], bytes]] = {
    "gzip_far": lambda scale: gzip.compress(_far(300_000 * scale)),
    "xz_far": lambda scale: lzma.compress(_far(3_000_000 * scale)),
    "bz2_far": lambda scale: bz2.compress(_far(3_000_000 * scale)),
    "zip_many": lambda scale: _zip(_named(400 * scale, b"\xff\x10")),
    "zip_far_many": lambda scale: _zip(_named(300 * scale, _far(5000))),
    "tar_many": lambda scale: _tar(_named(60 * scale, b"")),
    "tar_gzip_many": lambda scale: gzip.compress(_tar(_named(3000 * scale, b""))),
    "tar_gzip_far_many": lambda scale: gzip.compress(_tar(_named(300 * scale, _far(3000)))),
    "tar_gzip_long_names": lambda scale: gzip.compress(
        _tar((f"{number:05000}", b"") for number in range(300 * scale))
    ),
    "tar_gzip_dotted_name": lambda scale: gzip.compress(_tar([(".a" * (5000 * scale), b"")])),
    "zip_dotted_names": lambda scale: _zip((".a" * (8000 + n), b"") for n in range(scale)),
    "tar_gzip_zeros": lambda scale: gzip.compress(_HEADER + bytes(30_000_000 * scale)),
    "tar_gzip_damaged": lambda scale: gzip.compress(_HEADER + b"\xff1 1" * (750_000 * scale)),
    "zip_of_zips": lambda scale: _zip(_named(8 * scale, _zip(_named(80, b"\xff")))),
    "zips_nested": lambda scale: _zip(_named(4 * scale, _nested(2))),
    "zips_nested_deep": lambda _: _nested(5),
}
"""What makes each file, of a size that grows with a number."""
