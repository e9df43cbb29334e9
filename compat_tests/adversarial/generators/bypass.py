"""Trees in which artifacts are hidden from whoever judges them."""

from __future__ import annotations

import base64
import binascii
import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import random
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from portable.containers import open_container
from portable.containers.flatbuffer import written, written_size

__all__ = ["DISGUISES", "MODEL", "SECONDS", "TORCH_XLA", "Planted", "hidden_tree", "plant"]

DATA = Path(__file__).parents[2] / "data"
# Needs 1.4.0.
BAD = (DATA / "artifacts" / "tan+1.4.0.mlir.bc").read_bytes()
GOOD = (DATA / "artifacts" / "add_f32+0.9.0.mlir.bc").read_bytes()
EXPORTED = DATA / "containers" / "gate-vjp0-jax-0.10.2.exported"
MODEL = DATA / "containers" / "graph-tensorflow-2.20.0"
EMPTY_MODEL = DATA / "containers" / "plain-tensorflow-2.20.0"
TORCH_XLA = next((DATA.parents[1] / "corpus").rglob("torch_xla_2_9_0/container"))


@dataclass(frozen=True, slots=True)
class Planted:
    """An artifact that is hidden.

    Args:
        disguise: How.
        path: The file, or the container that it is in.
    """

    disguise: str
    path: Path


def _file(name: str, change: Callable[[bytes], bytes] = bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(change(BAD))
        return path

    return make


def _raw(name: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
        path.write_bytes(BAD)
        return path

    return make


def _deep(folder: Path) -> Path:
    return _file("/".join(["d"] * 200) + "/x.mlir.bc")(folder)


def _too_deep(folder: Path) -> Path:
    """Lie deeper than a path can be long."""
    here = Path.cwd()
    os.chdir(folder)
    first = Path("d" * 200).absolute()
    for _ in range(25):
        Path("d" * 200).mkdir()
        os.chdir("d" * 200)
    Path("x.mlir.bc").write_bytes(BAD)
    os.chdir(here)
    return first


def _exported(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        open_container(EXPORTED).replace({"primal": BAD}, to=folder / name)
        return folder / name

    return make


def _saved_model(folder: Path) -> Path:
    open_container(MODEL).replace({"second": BAD}, to=folder / "model")
    return folder / "model"


def _torch_xla(folder: Path) -> Path:
    open_container(TORCH_XLA).replace({"forward": BAD}, to=folder / "model")
    return folder / "model"


def _copied(container: Path, inside: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        shutil.copytree(container, folder / "sound")
        return _file(inside)(folder / "sound")

    return make


def _damaged(folder: Path) -> Path:
    (folder / "saved_model.pb").write_bytes(b"\x08\xff")
    return _file("deep/x.mlir.bc")(folder)


def _half_written(folder: Path) -> Path:
    """A weight is missing, and another function lies beside."""
    shutil.copytree(TORCH_XLA, folder / "half")
    next((folder / "half" / "data").iterdir()).unlink()
    return _file("functions/other.bytecode")(folder / "half")


def _linked_file(folder: Path) -> Path:
    outside = folder.parent / f"{folder.name}-outside"
    _file("x.mlir.bc")(outside)
    (folder / "link.mlir.bc").symlink_to(outside / "x.mlir.bc")
    return folder / "link.mlir.bc"


def _linked_folder(folder: Path) -> Path:
    outside = folder.parent / f"{folder.name}-outside"
    _file("x.mlir.bc")(outside)
    (folder / "link").symlink_to(outside, target_is_directory=True)
    return folder / "link"


def _linked_inside(folder: Path) -> Path:
    """The target is in a folder that is not searched."""
    _file(".venv/x")(folder)
    (folder / "weights").symlink_to(".venv/x")
    return folder / "weights"


def _linked_into_excluded(folder: Path) -> Path:
    _file(".git/a/x.mlir.bc")(folder)
    (folder / "models").symlink_to(".git/a")
    return folder / "models"


def _linked_model(folder: Path) -> Path:
    """A SavedModel whose only file is a link out of the tree."""
    outside = folder.parent / f"{folder.name}-model"
    open_container(MODEL).replace({"first": BAD}, to=outside)
    (folder / "model").mkdir()
    (folder / "model" / "saved_model.pb").symlink_to(outside / "saved_model.pb")
    return folder / "model"


def _around(data: bytes) -> bytes:
    return data + b"\0"


def _gzip(data: bytes, *, extra: bytes = b"", name: bytes = b"", empty: int = 0) -> bytes:
    """Compress behind a long header, or behind blocks without data (RFC 1951 and 1952)."""
    flags = 4 * bool(extra) + 8 * bool(name)
    head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(5) + b"\xff"
    head += (len(extra).to_bytes(2, "little") + extra) if extra else b""
    head += name + b"\0" if name else b""
    packer = zlib.compressobj(wbits=-15)
    ends = zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    return head + b"\0\0\0\xff\xff" * empty + packer.compress(data) + packer.flush() + ends


def _members(data: bytes) -> bytes:
    """Compress each of the first bytes by itself, behind members without data."""
    parts = [b""] * 400 + [data[at : at + 1] for at in range(8)] + [data[8:]]
    return b"".join(map(gzip.compress, parts))


def _zip(
    name: str, *, method: int = zipfile.ZIP_DEFLATED, before: bytes = b"", more: int = 0
) -> Callable[[bytes], bytes]:
    """Put it into an archive under a name, behind some bytes and other members."""

    def change(data: bytes) -> bytes:
        out = io.BytesIO(before)
        out.seek(0, io.SEEK_END)
        with zipfile.ZipFile(out, "a", method) as archive:
            for number in range(more):
                archive.writestr(f"{number}.txt", bytes(100_000))
            archive.writestr(name, data)
        return out.getvalue()

    return change


def _tar(
    name: str, *, form: int = tarfile.PAX_FORMAT, damaged: bool = False
) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=form) as archive:
            for one, content in (("notes.txt", b"text"), (name, data)):
                member = tarfile.TarInfo(one)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        archived = out.getvalue()
        # `tar` goes on behind a member whose header is damaged.
        return archived[:1024] + b"\xff" * 512 + archived[1024:] if damaged else archived

    return change


def _old_tar(data: bytes) -> bytes:
    """Archive it as before POSIX: without the word by which archives are known."""
    changed = bytearray(_tar("x", form=tarfile.USTAR_FORMAT)(data))
    for at in range(0, 3 * 1024, 512):
        if changed[at + 257 : at + 262] == b"ustar":
            changed[at + 257 : at + 265] = bytes(8)
            total = sum(changed[at : at + 148]) + 8 * 32 + sum(changed[at + 156 : at + 512])
            changed[at + 148 : at + 156] = b"%06o\0 " % total
    return bytes(changed)


def _encrypted(data: bytes) -> bytes:
    """Say that the member of an archive is encrypted, which takes only a bit at two places."""
    changed = bytearray(_zip("x")(data))
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        changed[changed.index(magic) + at] |= 1
    return bytes(changed)


def _in_archive(make: Callable[[Path], Path], inside: str) -> Callable[[Path], Path]:
    """Archive a file of a container as releases of models are archived."""

    def hide(folder: Path) -> Path:
        container = make(folder)
        file = container / inside if inside else container
        (folder / "weights.bin").write_bytes(
            gzip.compress(_tar(inside or "weights")(file.read_bytes()))
        )
        shutil.rmtree(container) if inside else container.unlink()
        return folder / "weights.bin"

    return hide


def _distant_exported(folder: Path) -> Path:
    """Have the program of an Exported lie far behind the beginning of the file."""
    path = _exported("weights.bin")(folder)
    changed = bytearray(path.read_bytes())
    root = int.from_bytes(changed[:4], "little")
    changed[4:4] = bytes(1 << 16)
    changed[:4] = (root + (1 << 16)).to_bytes(4, "little")
    path.write_bytes(gzip.compress(changed))
    return path


def _exported_text(_: bytes) -> bytes:
    """Write an Exported that holds its program as text, as `jax.export.deserialize` reads it."""
    text = b"module { func.func public @main(%a: tensor<f32>) { return } }"
    place = 4 + written_size({13})
    return b"\4\0\0\0" + written(4, {}, {13: place}) + len(text).to_bytes(4, "little") + text


def _model_otherwise(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        model = _saved_model(folder)
        (model / "saved_model.pb").rename(model / name)
        return model / name

    return make


def _pointer(version: bytes) -> Callable[[bytes], bytes]:
    """Return what git has in place of a file that lies elsewhere."""

    def change(data: bytes) -> bytes:
        digest = sha256(data).hexdigest().encode()
        return b"version %s\noid sha256:%s\nsize %d\n" % (version, digest, len(data))

    return change


def _annexed(data: bytes) -> bytes:
    digest = sha256(data).hexdigest().encode()
    return b"/annex/objects/SHA256E-s%d--%s.bc\n" % (len(data), digest)


def _of_type(kind: bytes) -> Callable[[bytes], bytes]:
    """Archive it as a kind of member that tar does not know, and extracts as a file."""

    def change(data: bytes) -> bytes:
        changed = bytearray(_tar("x", form=tarfile.USTAR_FORMAT)(data))
        start = 2 * tarfile.BLOCKSIZE  # behind another member
        changed[start + 156 : start + 157] = kind
        head = changed[start : start + tarfile.BLOCKSIZE]
        total = sum(head[:148]) + 8 * 32 + sum(head[156:])
        changed[start + 148 : start + 156] = b"%06o\0 " % total
        return gzip.compress(changed)

    return change


def _lzma_alone(data: bytes) -> bytes:
    """Compress it as `lzma -1` did, with another dictionary and other properties than usual."""
    filters = [{"id": lzma.FILTER_LZMA1, "dict_size": 4096, "lc": 0, "pb": 0}]
    return lzma.compress(data, format=lzma.FORMAT_ALONE, filters=filters)


def _begins(head: bytes) -> Callable[[bytes], bytes]:
    return lambda data: head + zlib.compress(data)[2:]


def _numpy(data: bytes) -> bytes:
    out = io.BytesIO()
    np.save(out, np.frombuffer(data, np.uint8))
    return out.getvalue()


def _pickled_exported(folder: Path) -> Path:
    path = _exported("weights.pkl")(folder)
    path.write_bytes(pickle.dumps({"exported": path.read_bytes()}))
    return path


def _graph(folder: Path) -> Path:
    """Write the graph of a SavedModel as files of graphs have it: without what is around it."""
    model = _saved_model(folder) / "saved_model.pb"
    data = model.read_bytes()
    model.unlink()
    path = folder / "graph.pb"
    path.write_bytes(b"\x0a\x00" + data)
    return path


def _broken_link(folder: Path) -> Path:
    """What is here leads nowhere leads to an artifact where the tree is used."""
    (folder / "weights").symlink_to("/srv/models/x.mlir.bc")
    return folder / "weights"


def _zlib_window(data: bytes) -> bytes:
    packer = zlib.compressobj(9, wbits=9)
    return packer.compress(data) + packer.flush()


def _deflate(data: bytes, level: int = -1, strategy: int = 0) -> bytes:
    """Compress without any header (RFC 1951)."""
    packer = zlib.compressobj(level, wbits=-15, strategy=strategy)
    return packer.compress(data) + packer.flush()


def _sized_deflate(size: int) -> Callable[[bytes], bytes]:
    return lambda data: len(data).to_bytes(size, "little") + _deflate(data)


def _deflate_exported(folder: Path) -> Path:
    path = _exported("weights.bin")(folder)
    path.write_bytes(_deflate(path.read_bytes()))
    return path


def _zlib_exported_behind(folder: Path) -> Path:
    """The table of its codes takes more than a hundred bytes."""
    path = _exported("weights.bin")(folder)
    path.write_bytes(b"picture" + zlib.compress(path.read_bytes(), 9))
    return path


def _zlib_exported(folder: Path) -> Path:
    path = _exported("weights.bin")(folder)
    path.write_bytes(zlib.compress(path.read_bytes()))
    return path


def _two_faced(**differs: Any) -> Callable[[bytes], bytes]:
    """Put it into an archive whose directory and whose members do not say the same.

    Args:
        differs: What the directory says of the member: `name`, `method`, `packed`, `size`, `crc`;
            with `listed` false it says nothing.
    """

    def change(data: bytes) -> bytes:
        packed = zlib.compress(data, 9)[2:-4]
        true: dict[str, Any] = {"name": b"x", "method": 8, "packed": len(packed), "size": len(data)}
        true |= {"crc": zlib.crc32(data)}
        text: dict[str, Any] = {
            "name": b"a",
            "method": 0,
            "packed": 4,
            "size": 4,
            "crc": zlib.crc32(b"text"),
        }
        out, directory = b"", b""
        for one, content, said in ((true, packed, true | differs), (text, b"text", text)):
            sizes = [(m["method"], 0, 33, m["crc"], m["packed"], m["size"]) for m in (one, said)]
            if said.get("listed", True):
                directory += struct.pack("<4s4H", b"PK\1\2", 20, 20, 0, sizes[1][0])
                directory += struct.pack("<2H3I", *sizes[1][1:])
                directory += struct.pack("<5HII", len(said["name"]), 0, 0, 0, 0, 0, len(out))
                directory += said["name"]
            out += struct.pack("<4s3H2H3I2H", b"PK\3\4", 20, 0, *sizes[0], len(one["name"]), 0)
            out += one["name"] + content
        count = directory.count(b"PK\1\2")
        ends = (0, 0, count, count, len(directory), len(out), 0)
        return out + directory + struct.pack("<4s4H2IH", b"PK\5\6", *ends)

    return change


def _wrong_sum(data: bytes) -> bytes:
    changed = bytearray(_zip("x")(data))
    for magic, at in ((b"PK\3\4", 14), (b"PK\1\2", 16)):
        changed[changed.index(magic) + at] ^= 1
    return bytes(changed)


def _wrong_directory(data: bytes) -> bytes:
    """Say wrongly how long the directory of an archive is, behind something else."""
    changed = bytearray(bytes(8) + _zip("x")(data))
    changed[changed.rindex(b"PK\5\6") + 12] += 5
    return bytes(changed)


def _tar_behind(before: bytes) -> Callable[[bytes], bytes]:
    """Archive it behind a large member, and that behind what is no header."""

    def change(data: bytes) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content in (("a", bytes(20_000)), ("x", data)):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return gzip.compress(before + out.getvalue())

    return change


def _by_another(data: bytes) -> bytes:
    """Say that something else wrote it, which no reader of artifacts minds."""
    start = data.index(b"StableHLO_v")
    end = data.index(b"\0", start)
    return data[:start] + b"MLIR".ljust(end - start, b"x") + data[end:]


def _json(spell: Callable[[bytes], object], **options: Any) -> Callable[[bytes], bytes]:
    return lambda data: json.dumps({"name": "m", "program": spell(data)}, **options).encode()


def _as_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes_as(form: str, between: str = "", around: str = "{}") -> Callable[[bytes], bytes]:
    return lambda data: around.format(between.join(form % one for one in data)).encode()


def _exported_text_behind(comment: bytes) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        plain = _exported_text(data)
        place = plain.index(b"module")
        text = comment + plain[place:]
        return plain[: place - 4] + len(text).to_bytes(4, "little") + text

    return change


def _as_vhlo(_: bytes) -> bytes:
    return b'module {\n  vhlo.func_v1 @main() -> () {\n    "vhlo.return_v1"() : () -> ()\n  }\n}\n'


def _scrambled(data: bytes) -> bytes:
    return bytes(one ^ 0x5A for one in data)


def _compressed_exported(folder: Path) -> Path:
    path = _exported("weights.bin")(folder)
    path.write_bytes(gzip.compress(path.read_bytes()))
    return path


# What each encodes in groups of so many bytes.
_ENCODINGS: dict[str, tuple[Callable[[bytes], bytes], int]] = {
    "base64": (base64.b64encode, 3),
    "base32": (base64.b32encode, 5),
    "b85": (base64.b85encode, 4),
    "ascii85": (base64.a85encode, 4),
    "uuencode": (lambda data: b"".join(map(binascii.b2a_uu, _lines(data))), 3),
}


def _lines(data: bytes) -> Iterator[bytes]:
    return (data[at : at + 45] for at in range(0, len(data), 45))


def _encoded(encode: Callable[[bytes], bytes], before: int) -> Callable[[bytes], bytes]:
    """Return what encodes data, so many bytes behind the beginning of a group."""
    return lambda data: b"text " + encode(b"." * before + data)


def _behind(before: bytes, pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: before + pack(data)


def _pickled(form: int) -> Callable[[bytes], bytes]:
    return lambda data: pickle.dumps([b"\xff" * 9, data], form)


def _spelled(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: _json(_as_base64)(pack(data))


def _png(data: bytes) -> bytes:
    """Put it into the comment of a picture."""
    chunk = b"zTXtmodel\0\0" + zlib.compress(data)
    sum_ = zlib.crc32(chunk).to_bytes(4, "big")
    return b"\x89PNG\r\n\x1a\n" + (len(chunk) - 4).to_bytes(4, "big") + chunk + sum_


def _packed_number(form: str) -> Callable[[bytes], bytes]:
    """Store each byte as a wider number, as arrays of numbers do."""
    return lambda data: b"\xff" * 9 + struct.pack(f"{form[0]}{len(data)}{form[1]}", *data)


def _wide(data: bytes) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, np.frombuffer(data, np.uint8).astype(np.int64))
    return out.getvalue()


def _escaped_as(form: str) -> Callable[[bytes], bytes]:
    """Spell what is no letter as an escape, as the strings of a language do."""
    return lambda data: "".join(
        form % one if one in b"\"'\\<>&" or not 32 <= one < 127 else chr(one) for one in data
    ).encode()


def _words(form: str, between: str) -> Callable[[bytes], bytes]:
    """Spell it as 32-bit words, the first of which is not of the artifact."""

    def change(data: bytes) -> bytes:
        data = b"...." + data + bytes(-len(data) % 4)
        return between.join(form % one for (one,) in struct.iter_unpack("<I", data)).encode()

    return change


def _numbered(data: bytes) -> bytes:
    return "".join(f"{at};{one}\r\n" for at, one in enumerate(data)).encode()


def _in_metadata(data: bytes) -> bytes:
    head = json.dumps({"__metadata__": {"program": _as_base64(b"." + data)}}).encode()
    return struct.pack("<Q", len(head)) + head


def _numpy_text(data: bytes) -> bytes:
    text = _as_base64(b".." + data)
    head = f"{{'descr': '<U{len(text)}', 'fortran_order': False, 'shape': (), }}".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + text.encode("utf-32-le")


def _hex(data: bytes, code: str = "ascii") -> bytes:
    return data.hex().upper().encode(code)


def _hex_zlib(data: bytes) -> bytes:
    return bytes(2) + zlib.compress(data).hex().encode()


def _z85(data: bytes) -> bytes:
    """Spell it as ZeroMQ does (RFC 32)."""
    digits = (
        b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    )
    groups = (int.from_bytes(data[at : at + 4].ljust(4), "big") for at in range(0, len(data), 4))
    return bytes(digits[one // 85**place % 85] for one in groups for place in (4, 3, 2, 1, 0))


def _git_patch(sort: str, before: bytes = b"") -> Callable[[bytes], bytes]:
    """Return what writes data as `git diff --binary` does: a new file, or what a file becomes."""

    def patch(data: bytes) -> bytes:
        packed = zlib.compress(before + data)
        rows = [f"{sort} {len(before + data)}".encode()]
        for at in range(0, len(packed), 52):
            row = packed[at : at + 52]
            size = len(row) + (64 if len(row) < 27 else 70)  # A to Z, and on from a
            rows.append(bytes([size]) + base64.b85encode(row, pad=True))
        head = b"diff --git a/m b/m\nnew file mode 100644\nindex 0000000..1111111\n"
        return head + b"GIT binary patch\n" + b"\n".join(rows) + b"\n\nliteral 0\nHcmV?d00001\n\n"

    return patch


def _mailed(data: bytes) -> bytes:
    """Write it as a patch in a mail, whose lines end as those of mails do."""
    return b"Subject: a\r\n\r\n" + _git_patch("literal")(data).replace(b"\n", b"\r\n")


# What separates numbers, in one language or another.
_SEPARATORS = ".|/_+&#;*^~$@!"
# Numbers of more than a byte: how `struct` calls them.
_WIDE = ("<H", ">H", "<I", ">I", "<Q", ">Q", "<e", ">e", "<f", ">f", "<d", ">d")
_PACKERS = {
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "zlib-best": lambda data: zlib.compress(data, 9),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": _zip("x"),
}  # fmt: skip

# How packings begin that are not read.
_PACKINGS = (
    b"\x60\xea\x2c\0\x22\x0b\1",
    b"\x12\x34\x31\0\0\0\x90**ACE**",
    *(b"\xed\xab\xee\xdb\3\0", b"MSCF\0\0\0\0", b"hsqs\1\0", b"sqsh", b"\x89LZO\0\r\n\x1a\n"),
    *(b"\x02\x21\x4c\x18", b"LRZI\0", b"RZIP", b"xar!\0\x1c", b"7kSt\xa0\x31", b"ZOO 2", b"SIT!"),
    *(b"# v2 git bundle\n", b"# v3 git bundle\n", b"PACK\0\0\0\2", b"\x21\x13-lh5-"),
    *(b"MSWIM\0\0\0", b"!<arch>\ndebian-binary   ", b"DWARFS\2"),
    *(b"\x1f\x1e", b"\x1f\xa0", b"\x1f\x9f", b"\x1e\xb5\x2f\xfd", b"\x27\xb5\x2f\xfd", b"BZ3v1"),
    *(
        b"\x06\x22\x4d\x18",
        b"ALZ\x01",
        b"EGGA",
        b"RE~^",
        b"zPQ\1",
        b"bvx2",
        b"SZDD\x88\xf0\x27\x33",
    ),
    *(b"KWAJ\x88\xf0\x27\xd1", b"ISc(", b"Salted__", b"age-encryption.org/v1\n", b"LUKS\xba\xbe"),
    *(b"-----BEGIN PGP MESSAGE-----\n", b"-----BEGIN AGE ENCRYPTED FILE-----\n"),
    *(b"$ANSIBLE_VAULT;1.1;AES256\n", b"QFI\xfb\0\0\0\3", b"KDMV\1\0\0\0"),
    *(b"(This file must be converted with BinHex 4.0)\n", b"=ybegin line=128 size=9 name=x\n"),
)

DISGUISES: dict[str, Callable[[Path], Path]] = {
    "plain": _file("x.mlir.bc"),
    "capitals": _file("BAD.MLIR.BC"),
    "other-ending": _file("x.bin"),
    "no-ending": _file("x"),
    "backup": _file("x.mlir.bc.bak"),
    "text-ending": _file("README.md"),
    "hidden-file": _file(".x"),
    "hidden-folder": _file(".cache/models/x.mlir.bc"),
    "folder-of-that-name": _file("a.mlir.bc/x"),
    "tool-like-folder": _file(".venv2/x"),
    "deep": _deep,
    "too-deep": _too_deep,
    "newline": _file("x\n.mlir.bc"),
    "patterns": _file("[x]*.mlir.bc"),
    "spaces": _file("x.mlir.bc "),
    "right-to-left": _file("x\u202ecb.rilm"),
    "no-utf-8": _raw(b"\xff\xfe.mlir.bc"),
    "trailing-byte": _file("x.mlir.bc", _around),
    "truncated": _file("x.mlir.bc", lambda data: data[:-30]),
    "empty": _file("x.mlir.bc", lambda _: b""),
    "bytecode": _file("x.bytecode"),
    "bytecode-without-meta": _file("functions/x.bytecode"),
    "function-of-another": _copied(TORCH_XLA, "functions/other.bytecode"),
    "below-a-model": _copied(MODEL, "assets.extra/x.mlir.bc"),
    "beside-a-model": _copied(MODEL, "x"),
    "below-another-model": _copied(EMPTY_MODEL, "variables/x.data"),
    "below-a-damaged-model": _damaged,
    "in-a-half-written-model": _half_written,
    "as-the-model": _file("saved_model.pb"),
    "model-is-a-folder": _file("saved_model.pb/x"),
    "model-as-text": _file("saved_model.pbtxt", lambda _: b'name: "XlaCallModule"'),
    "functions-is-a-file": _file("functions"),
    "exported": _exported("x.exported"),
    "exported-otherwise": _exported("weights.bin"),
    "saved-model": _saved_model,
    "torch-xla": _torch_xla,
    "gzip": _file("x.mlir.bc.gz", gzip.compress),
    "gzip-otherwise": _file("weights.bin", gzip.compress),
    "gzip-long-name": _file("weights.bin", lambda data: _gzip(data, name=b"n" * 100_000)),
    "gzip-long-extra": _file("weights.bin", lambda data: _gzip(data, extra=bytes(65_535))),
    "gzip-empty-blocks": _file("weights.bin", lambda data: _gzip(data, empty=2_000)),
    "gzip-members": _file("weights.bin", _members),
    "gzip-truncated": _file("weights.bin", lambda data: gzip.compress(data, 0)[:-40]),
    "gzip-twice": _file("weights.bin", lambda data: gzip.compress(gzip.compress(data))),
    "gzip-twice-by-name": _file("x.mlir.bc.zst.gz"),
    "gzip-exported": _compressed_exported,
    "xz-otherwise": _file("weights.bin", lzma.compress),
    "lzma-otherwise": _file(
        "weights.bin", lambda data: lzma.compress(data, format=lzma.FORMAT_ALONE)
    ),
    "bz2-otherwise": _file("weights.bin", bz2.compress),
    "bz2": _file("x.mlir.bc.bz2", bz2.compress),
    "gzip-exported-distant": _distant_exported,
    "zip": _file("weights.zip", _zip("x.mlir.bc")),
    "zip-stored": _file("weights.zip", _zip("x", method=zipfile.ZIP_STORED)),
    "zip-otherwise": _file("weights.bin", _zip("x")),
    "zip-by-name": _file("weights.bin", lambda _: _zip("a/X.MLIR.BC")(b"\x28\xb5\x2f\xfd")),
    "zip-bzip2": _file("weights.bin", _zip("x", method=zipfile.ZIP_BZIP2)),
    "zip-many": _file("weights.bin", _zip("x", more=200)),
    "zip-behind-a-program": _file("install.sh", _zip("x", before=b"#!/bin/sh\nexit 0\n")),
    "zip-with-a-comment": _file("w.bin", lambda data: _zip("x")(data)[:-2] + b"\x04\0note"),
    "zip-encrypted": _file("weights.bin", _encrypted),
    "zip-truncated": _file("weights.bin", lambda data: _zip("x")(data)[:-30]),
    "zip-twice": _file("weights.whl", lambda data: _zip("a.zip")(_zip("x")(data))),
    "zip-gzip": _file("weights.whl", lambda data: _zip("a")(gzip.compress(data))),
    "tar": _file("weights.tar", _tar("x.mlir.bc")),
    "tar-otherwise": _file("weights.bin", _tar("x")),
    "tar-gnu": _file("weights.bin", _tar("x" * 300, form=tarfile.GNU_FORMAT)),
    "tar-old": _file("weights.bin", _old_tar),
    "tar-damaged": _file("weights.bin", _tar("x", damaged=True)),
    "tar-gzip": _file("weights.tgz", lambda data: gzip.compress(_tar("x")(data))),
    "tar-xz": _file("weights.bin", lambda data: lzma.compress(_tar("x")(data))),
    "tar-bz2-zip": _file("a.bin", lambda data: _zip("b")(bz2.compress(_tar("x")(data)))),
    "tar-in-tar": _file("weights.bin", lambda data: _tar("b")(_tar("x")(data))),
    "tar-saved-model": _in_archive(_saved_model, "saved_model.pb"),
    "tar-exported": _in_archive(_exported("y"), ""),
    "packed-nine-times": _file(
        "weights.bin", lambda data: reduce(lambda one, _: gzip.compress(one), range(9), data)
    ),
    "exported-as-text": _file("weights.bin", _exported_text),
    "model-in-capitals": _model_otherwise("Saved_Model.PB"),
    "model-in-pieces": _file("m/saved_model.cpb", lambda _: b"chunks"),
    "git-lfs": _file("weights.bin", _pointer(b"https://git-lfs.github.com/spec/v1")),
    "git-lfs-before": _file("weights.bin", _pointer(b"https://hawser.github.com/spec/v1")),
    "git-media": _file("weights.bin", _pointer(b"http://git-media.io/v/2")),
    "git-annex": _file("weights.bin", _annexed),
    "broken-link": _broken_link,
    "zlib": _file("weights.bin", zlib.compress),
    "zlib-window": _file("weights.bin", _zlib_window),
    "zlib-exported": _zlib_exported,
    "zlib-exported-behind": _zlib_exported_behind,
    "deflate": _file("weights.bin", _deflate),
    "deflate-best": _file("weights.bin", lambda data: _deflate(data, 9)),
    "deflate-fixed": _file("weights.bin", lambda data: _deflate(data, 6, zlib.Z_FIXED)),
    "deflate-stored": _file("weights.bin", lambda data: _deflate(data, 0)),
    "deflate-twice": _file("weights.bin", lambda data: _deflate(_deflate(data))),
    "deflate-gzip": _file("weights.bin", lambda data: gzip.compress(_deflate(data))),
    "deflate-behind-4": _file("weights.bin", _sized_deflate(4)),
    "deflate-behind-8": _file("weights.bin", _sized_deflate(8)),
    "deflate-exported": _deflate_exported,
    "lzma-otherwise-packed": _file("weights.bin", _lzma_alone),
    "tar-unknown-type": _file("weights.bin", _of_type(b"Z")),
    "tar-volume": _file("weights.bin", _of_type(b"V")),
    "zip-as-a-folder": _file("weights.bin", _zip("x/")),
    "pickle": _file("weights.pkl", lambda data: pickle.dumps({"program": data})),
    "pickle-exported": _pickled_exported,
    "pickle-zip": _file("w.pt", lambda data: _zip("a/data.pkl")(pickle.dumps({"p": data}))),
    "numpy": _file("weights.npy", _numpy),
    "image": _file("logo.png", lambda data: b"\x89PNG\r\n\x1a\n" + bytes(60) + data),
    "behind-a-text": _file("run.sh", lambda data: b"#!/bin/sh\nexec run $0\n" + data),
    "behind-a-byte-order-mark": _file("x", lambda data: b"\xef\xbb\xbf" + data),
    "behind-much": _file("weights.bin", lambda data: b"\xff" * ((1 << 20) - 6) + data),
    "behind-a-damaged-one": _file("weights.bin", lambda data: bytes(9) + data[:9] + data),
    "ar": _file("weights.a", lambda data: b"!<arch>\n" + b"x" * 60 + data),
    "graph": _graph,
    "zstd": _file("weights.bin", _begins(b"\x28\xb5\x2f\xfd")),
    "zstd-skippable": _file("weights.bin", _begins(b"\x5a\x2a\x4d\x18\0\0\0\0")),
    "lz4": _file("weights.bin", _begins(b"\x04\x22\x4d\x18")),
    "snappy": _file("weights.bin", _begins(b"\xff\x06\0\0sNaPpY")),
    "lzip": _file("weights.bin", _begins(b"LZIP\x01")),
    "compress": _file("weights.bin", _begins(b"\x1f\x9d\x90")),
    "7z": _file("weights.bin", _begins(b"7z\xbc\xaf\x27\x1c")),
    "rar": _file("weights.bin", _begins(b"Rar!\x1a\x07\x01\0")),
    "zstd-in-zip": _file("w.bin", lambda data: _zip("a")(_begins(b"\x28\xb5\x2f\xfd")(data))),
    "zstd-name": _file("X.EXPORTED.ZST"),
    "zip-not-listed": _file("w.bin", _two_faced(listed=False)),
    "zip-two-methods": _file("w.bin", _two_faced(method=0)),
    "zip-two-sizes": _file("w.bin", _two_faced(size=3)),
    "zip-without-size": _file("w.bin", _two_faced(size=0, packed=0)),
    "zip-a-folder-with-bytes": _file("w.bin", _two_faced(size=0, packed=0, name=b"x/")),
    "zip-wrong-sum": _file("w.bin", _wrong_sum),
    "zip-wrong-directory": _file("w.bin", _wrong_directory),
    "zip-behind-another": _file("w.bin", lambda data: _zip("x")(data) + _zip("y")(b"text")),
    "tar-behind-damage": _file("w.bin", _tar_behind(b"\xff" * 512)),
    "tar-behind-nothing": _file("w.bin", _tar_behind(bytes(512))),
    **{f"packed-{at}": _file("w.bin", _begins(magic)) for at, magic in enumerate(_PACKINGS)},
    "pickle-by-another": _file("w.pkl", lambda data: pickle.dumps(_by_another(data))),
    "zip-by-another": _file("w.bin", lambda data: _zip("a")(b"..." + _by_another(data))),
    "json-base64": _file("m.json", _json(lambda data: base64.b64encode(data).decode())),
    "yaml-base64": _file("m.yaml", lambda data: b"p: " + base64.b64encode(b"." + data)),
    "url-base64": _file("m.html", lambda data: b"data:," + base64.urlsafe_b64encode(b".." + data)),
    "lines-of-base64": _file("m.pem", lambda data: b"-----\n" + base64.encodebytes(data)),
    **{
        f"{name}-from-{at}": _file("m.txt", _encoded(encode, at))
        for name, (encode, size) in _ENCODINGS.items()
        for at in range(size)
    },
    "zip-base64": _file("w.bin", lambda data: _zip("a")(base64.b64encode(data))),
    "json-hexadecimal": _file("m.json", _json(bytes.hex)),
    "spaced-hexadecimal": _file("m.txt", lambda data: data.hex(" ").upper().encode()),
    "c-array": _file("m.h", _bytes_as("0x%02x", ", ", "char m[] = {{{}}};")),
    "c-string": _file("m.c", _bytes_as(r"\x%02x", "", 'char m[] = "{}";')),
    "octal-string": _file("m.pbtxt", _bytes_as(r"\%03o", "", 's: "{}"')),
    "json-numbers": _file("m.json", _json(list)),
    "json-tight-numbers": _file("m.json", _json(list, separators=(",", ":"))),
    "python-bytes": _file("m.py", lambda data: b"M = " + repr(data).encode()),
    "json-escapes": _file("m.json", _json(lambda data: data.decode("latin-1"))),
    "json-utf-8": _file("m.json", _json(lambda data: data.decode("latin-1"), ensure_ascii=False)),
    "utf-16": _file("m.txt", lambda data: data.decode("latin-1").encode("utf-16")),
    "quoted-printable": _file("m.eml", binascii.b2a_qp),
    "vhlo-as-text": _file("m.txt", _as_vhlo),
    "exported-text-behind-comments": _file("w", _exported_text_behind(b"// note\n" * 600_000)),
    "exported-text-behind-bytes": _file("w", _exported_text_behind(b"// \xff\0\n")),
    "name-encrypted": _file("x.mlir.bc.gpg", _scrambled),
    "name-otherwise": _file("X.Exported.tar.enc", _scrambled),
    **{
        f"script-{name}": _file("install.run", _behind(b"#!/bin/sh\n" * 900, pack))
        for name, pack in _PACKERS.items()
    },
    "script-tar": _file("i.run", lambda data: b"#!/bin/sh\n" + gzip.compress(_tar("x")(data))),
    "picture-zlib": _file("logo.png", _png),
    "zip-without-directory": _file("w.bin", lambda data: b"\x7fELF" + _zip("x")(data)[:-40]),
    "zip-before-much": _file("w.bin", lambda data: b"\x7fELF" + _zip("x")(data) + bytes(70_000)),
    "bz2-behind-another": _file("w", lambda data: bz2.compress(b"") + b"." + bz2.compress(data)),
    "xz-behind-another": _file(
        "w", lambda data: lzma.compress(b"") + bytes(4) + lzma.compress(data)
    ),
    "xz-behind-zeros": _file("w.bin", lambda data: bytes(4) + lzma.compress(data)),
    **{f"numbers-{form}": _file("w.npy", _packed_number(form)) for form in _WIDE},
    "zip-wide-numbers": _file("w.npz", _wide),
    **{
        f"pickle-{form}": _file("w.pkl", _pickled(form))
        for form in range(pickle.HIGHEST_PROTOCOL + 1)
    },
    **{
        f"{name}-by-{at}": _file("m.txt", _bytes_as(form, between))
        for name, form in (("numbers", "%d"), ("hexadecimal", "%02x"))
        for at, between in enumerate(_SEPARATORS)
    },
    "utf-7": _file("m.txt", lambda data: data.decode("latin-1").encode("utf-7")),
    "html-numbers": _file("m.html", _escaped_as("&#%d;")),
    "html-hexadecimal": _file("m.html", _escaped_as("&#x%X;")),
    "rust-string": _file("m.rs", _escaped_as("\\u{%x}")),
    "lua-string": _file("m.lua", _escaped_as("\\%03d")),
    "masm": _file("m.asm", _bytes_as("0%02Xh", ", ", "db {}")),
    "gas": _file("m.s", _bytes_as("$%02X", "\n.byte ")),
    "java-bytes": _file("m.java", _bytes_as("(byte) %d", ", ")),
    "json-floats": _file("m.json", _bytes_as("%.1f", ", ", "[{}]")),
    "bits": _file("m.txt", lambda data: " ".join(f"{one:08b}" for one in data).encode()),
    "c-words": _file("m.h", _words("0x%08x", ", ")),
    "dumped-words": _file("m.txt", _words("%08X", " ")),
    "visual-basic": _file("m.vb", _bytes_as("&H%X", ", ", "Dim m = {{{}}}")),
    "nasm": _file("m.asm", _bytes_as("%02Xh", " ")),
    "verilog": _file("m.v", _bytes_as("8'h%02x", ", ")),
    "xml-numbers": _file("m.xml", _bytes_as("<byte>%d</byte>", "\n  ")),
    "json-numbered": _file("m.json", _json(lambda data: dict(enumerate(data)), indent=2)),
    "table-of-numbers": _file("m.csv", _numbered),
    "vhlo-as-base64": _file("m.json", lambda _: base64.b64encode(b".." + _as_vhlo(b""))),
    "safetensors-base64": _file("w.safetensors", _in_metadata),
    "pickle-base64": _file("w.pkl", lambda data: pickle.dumps({"p": _as_base64(data)})),
    "pickle-base64-gzip": _file(
        "w.pkl", lambda data: pickle.dumps(_as_base64(gzip.compress(data)))
    ),
    "graph-hexadecimal-zlib": _file("m.onnx", lambda data: b"\x08\x09\x3a" + _hex_zlib(data)),
    "numpy-base64": _file("w.npy", _numpy_text),
    "graph-hexadecimal": _file("m.onnx", lambda data: b"\x08\x09\x3a\xff\x01" + _hex(data)),
    "wide-base64": _file("m.txt", lambda data: _as_base64(data).encode("utf-16-be")),
    "wide-hexadecimal": _file("m.dat", lambda data: b"\xff\xff" + _hex(data, "utf-16-le")),
    "z85": _file("m.txt", _z85),
    "git-patch": _file("m.patch", _git_patch("literal")),
    "git-patch-mailed": _file("0001-a.eml", _mailed),
    # Of a delta each instruction up to 127 says so many bytes that follow it.
    "git-patch-delta": _file("m.diff", _git_patch("delta", b"\1\x7f\x7f")),
    "git-patch-gzip": _file(
        "m.patch", lambda data: _git_patch("literal")(gzip.compress(bytes(range(256)) + data))
    ),
    "base32hex": _file("m.txt", base64.b32hexencode),
    **{f"base64-{name}": _file("m.json", _spelled(pack)) for name, pack in _PACKERS.items()},
    "lines-of-base64-gzip": _file("m.pem", lambda data: base64.encodebytes(gzip.compress(data))),
    "url-base64-gzip": _file("m", lambda data: base64.urlsafe_b64encode(gzip.compress(data))),
    "hexadecimal-gzip": _file("m.txt", lambda data: gzip.compress(data).hex().encode()),
    "gzip-late": _file("w.bin", lambda data: gzip.compress(bytes(range(256)) * 60 + data)),
    "zip-late": _file("w.pt", lambda data: _zip("a/data.pkl")(bytes(15_000) + data)),
    "zip-name-and-ending": _file("w.zip", lambda data: _zip("x.mlir.bc.gpg")(_scrambled(data))),
    "tar-name-and-ending": _file("w.tar", lambda data: _tar("x.mlir.bc.br")(_scrambled(data))),
    "zip-git-lfs": _file(
        "w.zip", lambda data: _zip("x")(_pointer(b"https://git-lfs.github.com/spec/v1")(data))
    ),
    "dvc": _file("x.mlir.bc.dvc", lambda _: b"outs:\n- md5: 00\n  path: x.mlir.bc\n"),
    "git-fat": _file("w.bin", lambda data: b"#$# git-fat %040x %20d\n" % (9, len(data))),
    "git-xet": _file("w.bin", lambda data: b"# xet version 0\nfilesize = %d\n" % len(data)),
    "git-annex-link": _file("w.bin", lambda data: b"../.git" + _annexed(data)),
    "linked-file": _linked_file,
    "linked-folder": _linked_folder,
    "linked-model": _linked_model,
    "linked-from-excluded": _linked_inside,
    "linked-excluded-folder": _linked_into_excluded,
}


def _gzip_exported() -> bytes:
    """Have the first bytes of something compressed say where the root of an Exported lies."""
    data = EXPORTED.read_bytes()
    packed = _gzip(BAD)
    before = int.from_bytes(packed[:4], "little") - int.from_bytes(data[:4], "little")
    return packed.ljust(before + 4, b"\0") + data[4:]


SECONDS: dict[str, Callable[[], bytes]] = {
    "zip-behind-exported": lambda: _zip("x", before=EXPORTED.read_bytes())(BAD),
    "zip-behind-artifact": lambda: _zip("x", before=GOOD)(BAD),
    "gzip-before-exported": _gzip_exported,
}
"""Files that are sound, and packings of a bad artifact as well."""


def plant(disguise: str, folder: Path) -> Planted:
    """Hide one artifact in a folder of its own, beside a good one.

    Args:
        disguise: A name in `DISGUISES`.
        folder: Where; made if it is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "good.mlir.bc").write_bytes(GOOD)
    return Planted(disguise, DISGUISES[disguise](folder))


def hidden_tree(root: Path, count: int, seed: int) -> list[Planted]:
    """Hide artifacts in a tree of random shape.

    Args:
        root: The tree.
        count: How many.
        seed: Makes the tree the same again.
    """
    luck = random.Random(seed)  # noqa: S311 - no secrets
    found, folders = [], [root]
    for number in range(count):
        folder = luck.choice(folders) / f"{luck.choice(['', '.'])}f{number}"
        found.append(plant(luck.choice(list(DISGUISES)), folder))
        if len(folder.parts) < 40:
            folders.append(folder)
    return found
