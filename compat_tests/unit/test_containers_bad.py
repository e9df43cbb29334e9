"""Containers that are damaged, half written or hostile: one clear error, nothing changed."""

import io
import json
import os
import pickle
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from portable.bytecode.view import View
from portable.cli import main
from portable.containers import MalformedContainer, NotAContainer, exported, open_container
from portable.containers.container import Entry, Opener, TooLarge
from portable.containers.flatbuffer import root, written
from portable.containers.folder import Folder
from portable.containers.npy import Array, read_array
from portable.containers.protobuf import fields
from portable.containers.saved_model import SavedModel
from portable.containers.source import Source
from portable.errors import PortableError

ROOT = Path(__file__).parents[2]
CONTAINERS = ROOT / "compat_tests" / "data" / "containers"
EXPORTED = (CONTAINERS / "gate-vjp2-jax-0.10.2.exported").read_bytes()
GRAPH = CONTAINERS / "graph-tensorflow-2.20.0"
JAX2TF = CONTAINERS / "gate-jax2tf-0.7.1-tensorflow-2.20.0"
TORCH_XLA = ROOT / "corpus" / "torch_xla" / "torch_xla_2_9_0" / "container"
SMALL = (ROOT / "compat_tests/data/artifacts/add_f32+1.17.0.mlir.bc").read_bytes()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return a copy of what torch_xla wrote."""
    return Path(shutil.copytree(TORCH_XLA, tmp_path / "model"))


def saved(array: Any) -> bytes:
    """Return what `numpy.save` writes."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def edit_meta(directory: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the description of the function."""
    path = directory / "functions" / "forward.meta"
    meta = json.loads(path.read_text())
    change(meta)
    path.write_text(json.dumps(meta))


def place(directory: Path, **fields: object) -> None:
    """Change where the first input comes from."""
    edit_meta(directory, lambda meta: meta["input_locations"][0].update(fields))


def instead(path: Path, make: Callable[[Path], None]) -> None:
    """Put something else in the place of a file."""
    path.unlink()
    make(path)


class Loaded:
    """Determines when it was unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return (os.mkdir, ("unpickled",))


ARRAY = "data/f.bias"
BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "no artifact beside the description": (
        lambda d: (d / "functions/forward.bytecode").unlink(),
        "functions/forward.bytecode: missing",
    ),
    "no description beside the artifact": (
        lambda d: (d / "functions/other.bytecode").write_bytes(SMALL),
        "functions/other.bytecode: no functions/other.meta beside it",
    ),
    "a description cut short": (
        lambda d: (d / "functions/forward.meta").write_text('{"name": "forwa'),
        "functions/forward.meta: not JSON",
    ),
    "a description nested too deeply": (
        lambda d: (d / "functions/forward.meta").write_text("[" * 100_000),
        "functions/forward.meta: not JSON",
    ),
    "a list as description": (
        lambda d: (d / "functions/forward.meta").write_text("[]"),
        "the document is [], not an object",
    ),
    "a key twice": (
        lambda d: (d / "functions/forward.meta").write_text('{"name": "a", "name": "b"}'),
        "duplicate key",
    ),
    "a description without the version": (
        lambda d: edit_meta(d, lambda meta: meta.pop("stablehlo_version")),
        "stablehlo_version of the document is missing",
    ),
    "a name that is a number": (
        lambda d: edit_meta(d, lambda meta: meta.update(name=1)),
        "name is 1, not a string",
    ),
    "another name than its file": (
        lambda d: edit_meta(d, lambda meta: meta.update(name="../forward")),
        "describes '../forward'",
    ),
    "an unknown key": (
        lambda d: edit_meta(d, lambda meta: meta.update(quantization={})),
        "an unknown key 'quantization'",
    ),
    "an unknown key of an input": (
        lambda d: place(d, layout="x"),
        "an unknown key 'layout'",
    ),
    "an input that is no object": (
        lambda d: edit_meta(d, lambda meta: meta["input_signature"].__setitem__(0, 1)),
        "input_signature[0] is 1, not an object",
    ),
    "more places than inputs": (
        lambda d: edit_meta(d, lambda meta: meta["input_locations"].pop()),
        "functions/forward.meta: input_signature has 9 entries, input_locations has 8",
    ),
    "an unknown kind of place": (lambda d: place(d, type_="url"), "an input from 'url'"),
    "a weight above the directory": (
        lambda d: place(d, name="../../secret"),
        "a parameter named '../../secret', which is not a valid file name",
    ),
    "a weight at an absolute place": (
        lambda d: place(d, name="/etc/passwd"),
        "not a valid file name",
    ),
    "a weight with NUL in its name": (lambda d: place(d, name="a\0b"), "not a valid file name"),
    "a constant of a negative number": (
        lambda d: place(d, type_="constant", position=-1),
        "an input from 'constant'",
    ),
    "a constant that is not there": (
        lambda d: place(d, type_="constant", position=7),
        "constants/7: missing",
    ),
    "a missing weight": (lambda d: (d / ARRAY).unlink(), f"{ARRAY}: missing"),
    "a folder as weight": (
        lambda d: instead(d / ARRAY, Path.mkdir),
        f"{ARRAY}: not a regular file",
    ),
    "a pipe as weight": (
        lambda d: instead(d / ARRAY, os.mkfifo),
        f"{ARRAY}: not a regular file",
    ),
    "a pipe as artifact": (
        lambda d: instead(d / "functions/forward.bytecode", os.mkfifo),
        "functions/forward.bytecode: not a regular file",
    ),
    "a weight of which only the magic number is there": (
        lambda d: (d / ARRAY).write_bytes(b"\x93NUMPY"),
        "the header of the array is truncated or too long",
    ),
    "an empty weight": (
        lambda d: (d / ARRAY).write_bytes(b""),
        f"{ARRAY}: byte 0: not an array written by numpy.save",
    ),
    "a weight cut short": (
        lambda d: (d / ARRAY).write_bytes((d / ARRAY).read_bytes()[:-1]),
        "an array <f4[5] takes 148 bytes, not 147",
    ),
    "a weight cut in its header": (
        lambda d: (d / ARRAY).write_bytes((d / ARRAY).read_bytes()[:9]),
        "the header of the array is truncated or too long",
    ),
    "a pickle": (
        lambda d: (d / ARRAY).write_bytes(pickle.dumps(Loaded())),
        f"{ARRAY}: byte 0: a pickle instead of an array",
    ),
    "an array of objects": (
        lambda d: (d / ARRAY).write_bytes(saved(np.array([Loaded()] * 5, object))),
        "a pickle instead of an array",
    ),
    "a zip bomb": (
        lambda d: zipfile.ZipFile(d / ARRAY, "w", zipfile.ZIP_DEFLATED).writestr(
            "x.npy", bytes(1 << 24)
        ),
        "a zip archive instead of an array",
    ),
    "a claim of a huge array": (
        lambda d: (d / ARRAY).write_bytes(
            (d / ARRAY).read_bytes().replace(b"(5,), }       ", b"(99999999,), }")
        ),
        "takes 400000124 bytes, not 148",
    ),
    "a header that is a program": (
        lambda d: (d / ARRAY).write_bytes(
            b"\x93NUMPY\1\0"
            + struct.pack("<H", 48)
            + b"__import__('os').mkdir('unpickled')".ljust(48)
        ),
        f"{ARRAY}: byte 10: invalid header",
    ),
    "a record of fields": (
        lambda d: (d / ARRAY).write_bytes(saved(np.zeros(5, [("a", "f4")]))),
        f"{ARRAY}: byte 10: invalid header",
    ),
    "another shape": (
        lambda d: (d / ARRAY).write_bytes(saved(np.zeros((2, 3), "f4"))),
        "has shape [2, 3], but functions/forward.meta says [5]",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_directory_is_refused(
    case: str,
    directory: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit 2 and one line that says what and where; nothing is run, written or waited for."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    damage, says = BAD[case]
    damage(directory)
    with pytest.raises(MalformedContainer) as caught:
        open_container(directory)
    assert says in str(caught.value)
    assert str(directory) in str(caught.value)
    assert main(["check", str(directory), "--for", "jaxlib==0.9.0"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert says in said.err
    assert list((tmp_path / "here").iterdir()) == []


def test_a_directory_without_weights_is_sound(directory: Path) -> None:
    """torch_xla leaves them out when it is told to; there is no folder then."""
    shutil.rmtree(directory / "data")
    assert len(open_container(directory).artifacts()) == 1


@pytest.mark.parametrize("what", ["file", "folder", "itself"])
def test_a_link_that_leads_out_is_not_copied(what: str, directory: Path, tmp_path: Path) -> None:
    """A copy would hand out what the link leads to."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("hush")
    goal = {"file": secret / "key", "folder": secret, "itself": directory / "link"}[what]
    (directory / "link").symlink_to(goal)
    container = open_container(directory)
    with pytest.raises(PortableError, match="link"):
        container.replace({"forward": SMALL}, to=tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "secret"]


def test_a_link_inside_is_copied_as_a_file(directory: Path, tmp_path: Path) -> None:
    """Weights that are shared stay what they are; the copy stands alone."""
    weight = directory / "data" / "b.bias"
    content = weight.read_bytes()
    weight.unlink()
    weight.symlink_to("b.weight")
    assert content != (directory / "data" / "b.weight").read_bytes()
    open_container(directory).replace({"forward": SMALL}, to=tmp_path / "new")
    copied = tmp_path / "new" / "data" / "b.bias"
    assert not copied.is_symlink()
    assert copied.read_bytes() == (directory / "data" / "b.weight").read_bytes()


def patched(data: bytes, at: int, value: int, size: int = 4) -> bytes:
    """Put a number into a flatbuffer."""
    return data[:at] + (value % (1 << 8 * size)).to_bytes(size, "little") + data[at + size :]


def tables(data: bytes) -> tuple[int, int]:
    """Return where the root table and its vtable lie."""
    table = int.from_bytes(data[:4], "little")
    return table, table - int.from_bytes(data[table : table + 4], "little", signed=True)


TABLE, VTABLE = tables(EXPORTED)
PRIMAL = EXPORTED.index(bytes(open_container(EXPORTED).artifacts()[0]))
VJP = TABLE + int.from_bytes(EXPORTED[VTABLE + 38 : VTABLE + 40], "little")


def test_a_newer_exported_is_read_by_its_layout(tmp_path: Path) -> None:
    """With a warning; its artifacts are found and replaced as ever."""
    number = TABLE + int.from_bytes(EXPORTED[VTABLE + 4 : VTABLE + 6], "little")
    newer = patched(EXPORTED, number, 13, 2)
    container = open_container(newer)
    (warning,) = container.warnings
    assert "serialization version 13" in warning
    assert container.versions["serialization"] == "13"
    assert [entry.name for entry in container.artifacts()] == ["primal", "vjp", "vjp.vjp"]
    container.replace({"vjp": SMALL}, to=tmp_path / "new")
    assert bytes(open_container(tmp_path / "new").artifacts()[1]) == SMALL


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (patched(EXPORTED, VTABLE + 2, 65_535, 2), "a table of 65535 bytes"),
        (patched(EXPORTED, VTABLE + 4, 60_000, 2), "slot 0 is outside its table"),
        (patched(EXPORTED, VJP, 0), "a reference to itself"),
        (patched(EXPORTED, VJP, 0x7FFFFFFF), "an offset outside the file"),
        (EXPORTED[: PRIMAL + 100], "exceeds the file"),
    ],
)
def test_a_damaged_flatbuffer_tells_the_byte(data: bytes, says: str) -> None:
    """Whatever is wrong, the error has the place."""
    with pytest.raises(MalformedContainer, match=says) as caught:
        open_container(data)
    assert caught.value.offset is not None


@pytest.mark.parametrize("data", [EXPORTED[:PRIMAL], patched(EXPORTED, VTABLE, 5, 2)])
def test_an_exported_whose_artifact_cannot_be_reached_is_told_by_nothing(data: bytes) -> None:
    """A flatbuffer of jax has no mark of its own: it is then like any other file."""
    with pytest.raises(NotAContainer):
        open_container(data)


def test_an_exported_without_an_artifact_tells_its_table() -> None:
    """By the byte at which the table is that should have one, not that of its vtable."""
    with pytest.raises(MalformedContainer, match="primal has no artifact") as caught:
        exported.open_container(Source(patched(EXPORTED, VTABLE + 4 + 2 * 13, 0, 2)))
    assert caught.value.offset == TABLE


def test_artifacts_that_overlap_are_refused() -> None:
    """Replacing one would change the other: here the derivative's is that of the function."""
    vjp = VJP + int.from_bytes(EXPORTED[VJP : VJP + 4], "little")
    vtable = vjp - int.from_bytes(EXPORTED[vjp : vjp + 4], "little", signed=True)
    slot = vtable + 4 + 2 * 13
    reference = vjp + int.from_bytes(EXPORTED[slot : slot + 2], "little")
    data = patched(EXPORTED, reference, PRIMAL - 4 - reference)
    with pytest.raises(MalformedContainer, match="overlaps something else"):
        open_container(data)


def message(number: int, content: bytes) -> bytes:
    """Return a field of bytes as protobuf writes it."""
    length, encoded = len(content), bytearray()
    while length > 0x7F:
        encoded.append(length & 0x7F | 0x80)
        length >>= 7
    encoded.append(length)
    return bytes([number << 3 | 2, *encoded]) + content


def node(*attributes: bytes, name: bytes = b"n") -> bytes:
    """Return a SavedModel of one node."""
    return graph(message(1, name) + message(2, b"XlaCallModule") + b"".join(attributes))


def graph(*nodes: bytes) -> bytes:
    """Return a SavedModel with nodes in its graph."""
    return b"\x08\x01" + message(2, message(2, b"".join(message(1, content) for content in nodes)))


def attribute(key: bytes, value: bytes) -> bytes:
    """Return an attribute of a node."""
    return message(5, message(1, key) + message(2, value))


MODULE = attribute(b"module", message(2, SMALL))
PROTOBUFS = {
    "a length that leads out": (b"\x12\xff\x7f", "field 2 ends"),
    "a number that does not end": (b"\x12" + b"\xff" * 11, "unterminated varint"),
    "a number of 70 bits": (b"\x08" + b"\xff" * 9 + b"\x7f", "more than 64 bits"),
    "a group": (b"\x13\x14", "wire type 3"),
    "a field without number": (b"\x02\x00", "the number 0"),
    "a graph that is a number": (b"\x10\x01", "field 2 has wire type 0"),
    "two graphs": (b"\x08\x01" + message(2, message(2, b"") * 2), "field 2 is duplicated"),
    "a node without module": (node(), "an XlaCallModule without a module"),
    "a module that is a number": (
        node(attribute(b"module", b"\x18\x01")),
        "an XlaCallModule without a module",
    ),
    "two modules": (node(MODULE, MODULE), "attribute 'module' is duplicated"),
    "two nodes of one name": (
        graph(*[message(1, b"n") + message(2, b"XlaCallModule") + MODULE] * 2),
        "two nodes are named 'n'",
    ),
}


@pytest.mark.parametrize("case", PROTOBUFS)
def test_a_damaged_saved_model_tells_the_byte(case: str, tmp_path: Path) -> None:
    """And the file it is in."""
    data, says = PROTOBUFS[case]
    (tmp_path / "saved_model.pb").write_bytes(data)
    with pytest.raises(MalformedContainer, match=says) as caught:
        open_container(tmp_path)
    assert caught.value.offset is not None
    assert f"{tmp_path}/saved_model.pb: byte {caught.value.offset}: " in str(caught.value)


def test_the_smallest_saved_model_is_read_and_written(tmp_path: Path) -> None:
    """What the cases above damage is sound without the damage; lengths grow by as many bytes."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "saved_model.pb").write_bytes(node(MODULE, name=b"name"))
    container = open_container(tmp_path / "a")
    (entry,) = container.artifacts()
    assert (entry.name, bytes(entry), entry.versions) == ("name", SMALL, {"XlaCallModule": "0"})
    for size in (0, 1, 100, 127, 128, 20_000, 3_000_000):
        container.replace({"name": bytes(size)}, to=tmp_path / str(size))
        expected = node(attribute(b"module", message(2, bytes(size))), name=b"name")
        assert (tmp_path / str(size) / "saved_model.pb").read_bytes() == expected


def test_a_pipe_in_place_of_a_saved_model_is_not_waited_for(tmp_path: Path) -> None:
    """Opening it would wait forever."""
    shutil.copytree(GRAPH, tmp_path / "a")
    (tmp_path / "a" / "saved_model.pb").unlink()
    os.mkfifo(tmp_path / "a" / "saved_model.pb")
    with pytest.raises(PortableError):
        open_container(tmp_path / "a")
    shutil.copytree(GRAPH, tmp_path / "b")
    os.mkfifo(tmp_path / "b" / "pipe")
    with pytest.raises(MalformedContainer, match="pipe: not a regular file"):
        open_container(tmp_path / "b").replace({"first": SMALL}, to=tmp_path / "c")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.zeros((2, 3), "f4"), Array("<f4", 4, (2, 3))),
        (np.zeros((), "V1000000"), Array("|V1000000", 1_000_000, ())),
        (np.zeros((0, (1 << 48) - 1), "i1"), Array("|i1", 1, (0, (1 << 48) - 1))),
        (np.zeros((0, 1 << 48), "i1"), None),
    ],
)
def test_an_array_of_numpy_is_known_by_its_header(
    array: Any, expected: Array | None, tmp_path: Path
) -> None:
    """Elements of up to a megabyte, and fewer than 2**48 along each dimension; with no memory."""
    (tmp_path / "a.npy").write_bytes(saved(array))
    if expected is None:
        with pytest.raises(MalformedContainer, match="byte 10: invalid header"):
            read_array(Folder(str(tmp_path)), "a.npy")
    else:
        assert read_array(Folder(str(tmp_path)), "a.npy") == expected


def test_one_array_under_many_names_is_read_once(tmp_path: Path) -> None:
    """Links to one file cost no more than that file."""
    (tmp_path / "a.npy").write_bytes(saved(np.zeros(3, "f4")))
    (tmp_path / "b.npy").hardlink_to(tmp_path / "a.npy")
    known: dict[object, Array] = {}
    first, second = (read_array(Folder(str(tmp_path)), f"{name}.npy", known) for name in "ab")
    assert first is second
    assert [*known.values()] == [first]


def test_fixed_numbers_of_protobuf_take_four_and_eight_bytes() -> None:
    """Wire types 5 and 1 of its encoding."""
    data = bytes([1 << 3 | 5, *[9] * 4, 2 << 3 | 1, *[9] * 8, 3 << 3, 7])
    found = [(one.number, one.wire, one.start, one.stop) for one in fields(data, 0, len(data))]
    assert found == [(1, 5, 1, 5), (2, 1, 6, 14), (3, 0, 15, 16)]


@pytest.mark.parametrize(("version", "opens"), [(9, False), (10, True)])
def test_only_the_newest_call_is_written_as_an_older_one(
    version: int, opens: bool, tmp_path: Path
) -> None:
    """XlaCallModule 10 differs from 9 in shardings alone; TensorFlow 2.16.2 opens 9."""
    number = attribute(b"version", bytes([3 << 3, version]))
    (tmp_path / "saved_model.pb").write_bytes(node(MODULE, number))
    container = open_container(tmp_path)
    assert isinstance(container, SavedModel)
    found = container.widened()
    if opens:
        assert isinstance(found, Opener)
        assert found.opens == ">=2.16.2"
    else:
        assert found == f"XlaCallModule {version} cannot be written as an older one"


def test_an_artifact_of_torch_xla_that_is_no_bytecode_claims_nothing(directory: Path) -> None:
    """Whatever its description says of it."""
    (directory / "functions" / "forward.bytecode").write_bytes(b"no bytecode at all")
    edit_meta(directory, lambda meta: meta.update(stablehlo_version="1.2.3"))
    (warning,) = open_container(directory).warnings
    assert warning == "forward.meta says 1.2.3, but the artifact nothing"


def test_a_widened_exported_keeps_everything_aligned(tmp_path: Path) -> None:
    """New tables take a multiple of 16 bytes, so that what is behind them stays aligned.

    jax 0.4.30 reads layout 2, with the number of devices where 0.12.0.1 does not write it.
    """
    for path in CONTAINERS.glob("*.exported"):
        container = open_container(path)
        container.replace({}, to=tmp_path / path.name, widen=True)
        old, new = path.read_bytes(), (tmp_path / path.name).read_bytes()
        assert (len(new) - len(old)) % 16 == 0
        assert new.endswith(old[4:])
        again = open_container(tmp_path / path.name)
        assert again.opener is not None
        assert again.opener.opens == ">=0.4.30"
        assert [*map(bytes, again.artifacts())] == [*map(bytes, container.artifacts())]


@pytest.mark.parametrize("slot", [0, 1, 2])
def test_shardings_that_say_something_are_not_widened(slot: int) -> None:
    """Slot 1 of a sharding is what XLA made of it, slot 2 what jax did; 0 says that it has none."""
    at = root(EXPORTED).field(7)
    vector = len(EXPORTED) + -len(EXPORTED) % 4
    data = patched(EXPORTED.ljust(vector, b"\0"), at, vector - at)
    sharding = written(vector + 8, {slot: 1}, {})
    container = open_container(data + struct.pack("<II", 1, 4) + sharding)
    assert isinstance(container, exported.Exported)
    assert isinstance(container.widened(), str) == (slot > 0)


class _Far:
    """A large object of a server, as much as `Source` needs of it."""

    path, identity = "s3://bucket/large", None

    def __len__(self) -> int:
        return 200_000

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return bytes that are different at each place nearby."""
        return bytes(at % 251 for at in range(start, len(self) if stop is None else stop))


def test_a_large_artifact_of_a_server_is_read_where_it_is_looked_at() -> None:
    """Its bytes are those from its start in the object on."""
    source = Source(_Far())
    view = Entry("a", source, 1000, 101_000).view()
    assert isinstance(view, View)
    assert len(view) == 100_000
    expected = source.read(1000, 101_000)
    for start, stop in ((0, 10), (1020, 1030), (5000, 50_000), (99_990, 100_000), (2048, 2048)):
        assert view[start:stop] == expected[start:stop]


@pytest.mark.parametrize("kind", ["exported", "saved_model"])
def test_containers_end_at_two_gigabytes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protobuf and flatbuffers allow 2**31 - 1 bytes; what is one byte larger is not written."""
    (tmp_path / "saved_model.pb").write_bytes(node(MODULE))
    container = open_container(EXPORTED if kind == "exported" else tmp_path)
    first = container.artifacts()[0]
    same = {first.name: bytes(first)}
    for size, fits in (((1 << 31) - 1, True), (1 << 31, False)):
        with monkeypatch.context() as patch:
            patch.setattr(Source, "__len__", lambda _, size=size: size)
            if fits:
                assert container.edits(same)
            else:
                with pytest.raises(TooLarge, match="2147483648 bytes exceed the 2147483647 of a"):
                    container.edits(same)


@pytest.mark.parametrize(
    ("written", "valid"),
    [
        (b"\x7f", True),
        (b"\x80\x01", True),
        (b"\x80" * 9 + b"\x01", True),  # 2**63, as protobuf writes the least int64
        (b"\xff" * 9 + b"\x01", True),  # 2**64 - 1, as it writes -1
        (b"\x80" * 9 + b"\x02", False),  # 2**64
        (b"\x80" * 10 + b"\x00", False),  # eleven bytes
    ],
)
def test_numbers_of_protobuf_have_64_bits(written: bytes, *, valid: bool) -> None:
    """By protobuf's encoding: ten bytes at most, of seven bits each."""
    data = b"\x08" + written
    if valid:
        (field,) = fields(data, 0, len(data))
        assert (field.number, field.start, field.stop) == (1, 1, len(data))
    else:
        with pytest.raises(MalformedContainer):
            list(fields(data, 0, len(data)))
