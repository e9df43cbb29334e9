"""Arrays that somebody else wrote: headers and shapes that lie, names twice, bombs, objects."""

from __future__ import annotations

import io
import struct
import time
import warnings
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

from portable.containers.container import MalformedContainer
from portable.exporters.weights import open_safetensors
from portable.runtime.executors.tensors import UnreadableArrays, arrays_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PLAIN = ("'<f4'", "(2,)", "0.npy", 8)
"""The dtype, shape, name and number of bytes of an array that is read."""
SHAPES = (
    "(9223372036854775807,)", "(9223372036854775808,)", "(-1,)", "(0, 281474976710656)", "(2.0,)",
    "(1,) * 9", "2", "None", "('a',)", "(3,)", "()", f"({'9' * 5000},)", str((1,) * 70),
)  # fmt: skip
DTYPES = (
    "'O'", "[('a', 'O')]", "('<f4', (1099511627776,))", "'V0'", "''", "None", "'<f4' * 2",
    "[('a', '<f4'), ('a', '<f4')]", "'<U1000000000'",
)  # fmt: skip
NAMES = ("0.O.npy", "0.object.npy", "0.bfloat16.npy", "0.U.npy", "0.datetime64.npy", "0.x.npy")
HEADERS = (
    "(" * 9000, "-" * 9000 + "1", "~" * 9000, "[" * 99 + "]" * 99, "f'" + "{" * 50, "", "\0", "()",
    "{1: 2}", "not " * 2000 + "1", "1+" * 4000 + "1", "9" * 9000, "{**{}}", "2**99**99",
    "__import__('os').abort()",
)  # fmt: skip


def npy(header: str, size: int, version: int = 1, length: int | None = None) -> bytes:
    """Return an array of zeros as a file that says anything of itself."""
    text = header.encode("latin1") + b"\n"
    said = struct.pack("<H" if version == 1 else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + bytes([version, 0]) + said + text + bytes(size)


def described(dtype: str, shape: str) -> str:
    """Return the header of an array."""
    return f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}}}"


def npz(*members: tuple[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    """Return an archive, in which names may be there twice."""
    with io.BytesIO() as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(stream, "w", how) as archive:
            for name, data in members:
                archive.writestr(name, data)
        return stream.getvalue()


def _archives() -> Mapping[str, bytes]:
    dtype, shape, name, size = PLAIN
    plain = npy(described(dtype, shape), size)
    found = {f"shape {one}": npz((name, npy(described(dtype, one), size))) for one in SHAPES}
    found |= {f"dtype {one}": npz((name, npy(described(one, shape), size))) for one in DTYPES}
    found |= {f"name {one}": npz((one, plain)) for one in NAMES}
    for one in NAMES:
        found[f"no dimension {one}"] = npz((one, npy(described("'<u8'", "()"), 8)))
        found[f"nothing {one}"] = npz((one, npy(described("'V0'", "(281474976710655,)"), 0)))
    for version in (1, 2):
        found |= {
            f"header {one} {version}": npz((name, npy(one, size, version))) for one in HEADERS
        }
        for length in (0, 1, 60_000):
            data = npy(described(dtype, shape), size, version, length)
            found[f"length {length} {version}"] = npz((name, data))
    found["version"] = npz((name, npy(described(dtype, shape), size, 3)))
    found["long"] = npz((name, npy(described(dtype, shape), size, 2, (1 << 32) - 1)))
    found["twice"] = npz((name, plain), (name, plain))
    found["twice in two ways"] = npz(("0.float32.npy", plain), (name, plain))
    found["bomb"] = npz((name, npy(described(dtype, shape), 1 << 26)), how=zipfile.ZIP_DEFLATED)
    found["pickle"] = npz((name, b"\x80\x04N."))
    return {each[:40]: data for each, data in found.items()}


@pytest.mark.parametrize("data", _archives().values(), ids=_archives())
def test_an_archive_that_lies_is_refused(data: bytes) -> None:
    """By one error of ours, whether or not a program says what is expected."""
    with pytest.raises(UnreadableArrays):
        arrays_in(data)


def test_an_archive_of_plain_arrays_is_read() -> None:
    """The same with nothing wrong."""
    dtype, shape, name, size = PLAIN
    (read,) = arrays_in(npz((name, npy(described(dtype, shape), size)))).values()
    assert read.dtype == np.float32
    assert read.shape == (2,)


def _safetensors(shape: str, offsets: str, size: int) -> bytes:
    text = f'{{"a":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}'.encode()
    return len(text).to_bytes(8, "little") + text + bytes(size)


@pytest.mark.parametrize(
    ("shape", "offsets", "size"),
    [
        ("[9223372036854775808,0]", "[0,0]", 0), ("[4294967296,4294967296,0]", "[0,0]", 0),
        ("[-1]", "[0,8]", 8), ("[true]", "[0,4]", 4), ("[2.0]", "[0,8]", 8), ("[2]", "[8,0]", 8),
        ("[2]", "[0,9223372036854775808]", 8), ("[2]", "[1,9]", 9), ("[2]", "[0,8]", 9),
        ("[" + "1," * 64 + "2]", "[0,8]", 8), ("[" + "9" * 5000 + "]", "[0,8]", 8),
    ],
)  # fmt: skip
def test_safetensors_that_lie_are_refused(
    shape: str, offsets: str, size: int, tmp_path: Path
) -> None:
    """By one error of ours."""
    path = tmp_path / "x.safetensors"
    path.write_bytes(_safetensors(shape, offsets, size))
    with pytest.raises(MalformedContainer):
        open_safetensors(path)


def test_safetensors_of_very_many_dimensions_are_refused_soon(tmp_path: Path) -> None:
    """Their product is a number of megabytes."""
    path = tmp_path / "x.safetensors"
    path.write_bytes(_safetensors("[" + "9999999999999999999," * 80_000 + "0]", "[0,0]", 0))
    began = time.process_time()
    with pytest.raises(MalformedContainer):
        open_safetensors(path)
    assert time.process_time() - began < 3
