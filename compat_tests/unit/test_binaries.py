"""Runtimes read as files: what the names in a library tell about its Version."""

import functools
import io
import re
import struct
import tomllib
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import portable
from compat_tests.helpers.binaries import ELF, library, names_of
from portable.cli import main
from portable.containers import Kind
from portable.inspection import NotARuntime, bracket, read_runtime
from portable.inspection.brackets import markers
from portable.releases import Release, releases
from portable.releases.shipped import shipped_versions
from portable.version import Version
from tools.static_releases import Names

ROOT = Path(__file__).parents[2]
DATA = ROOT / "portable" / "releases" / "data"
WHEEL = "my_plugin-1.2.3-py3-none-any.whl"


def _wheel(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("name", sorted(markers()))
def test_every_name_of_the_tables_tells_versions_apart(name: str) -> None:
    """A library that has all names up to a form's Version lies at or above that Version."""
    since = markers()[name].since
    found = bracket(names_of(str(since)))
    assert found is not None
    assert found.low <= since
    assert found.below is None or found.below > since


@pytest.mark.parametrize(
    ("version", "low", "below"),
    [
        ("0.19.0", "0.19.0", "0.19.9"),
        ("0.19.10", "0.19.5", "0.20.0"),
        ("1.19.0", "1.19.0", "1.20.0"),
        ("1.20.0", "1.20.0", "1.22.0"),
        ("1.22.0", "1.22.0", "1.23.0"),
        # As libtpu 0.0.51 and 0.0.52, which were loaded and say so.
        ("1.23.0", "1.23.0", "1.24.0"),
        ("1.24.0", "1.24.0", "None"),
    ],
)
def test_a_library_is_bracketed_by_what_it_has_and_lacks(
    tmp_path: Path, version: str, low: str, below: str
) -> None:
    """The bounds of real libraries with these names, each with the name that gives it."""
    path = tmp_path / "libplugin.so"
    path.write_bytes(library(*names_of(version)))
    found = read_runtime(path).bracket
    assert (str(found.low), str(found.below)) == (low, below)
    assert low in found.evidence[0] or "which 0.19.4 had" in found.evidence[0]
    assert len(found.evidence) == 1 + (below != "None")


def test_most_releases_that_cannot_be_asked_are_known_to_two_minors() -> None:
    """At least 80%, of at least 200 Releases of 20 distributions."""
    table = releases()
    assert len(table) >= 200
    assert len({one.distribution for one in table}) >= 20
    minors = sorted({one.version.target for one in shipped_versions()})
    widths = [
        sum(
            one.current.target <= minor and (one.below is None or minor < one.below)
            for minor in minors
        )
        for one in table
        if not one.exact
    ]
    assert 0 not in widths
    assert sum(width <= 2 for width in widths) >= 0.8 * len(widths)


def test_a_row_names_the_file_that_it_is_about() -> None:
    """By the digest of a wheel, with the day of its upload: who doubts a row can look again."""
    tables = [DATA / "releases.toml", *(DATA / "static").glob("*.toml")]
    rows = [row for path in tables for row in tomllib.loads(path.read_text("utf-8"))["release"]]
    assert len(rows) == len(releases())
    for row in rows:
        assert re.search(r" \S+\.whl sha256:[0-9a-f]{64}\b", row["source"]), row
        assert row["date"] <= row["measured"]


def test_what_was_loaded_was_also_read_and_agrees() -> None:
    """Both ways say the same of every Release that says its Version, but for those explained."""
    table = (DATA / "discrepancies.toml").read_text("utf-8")
    explained = {
        subject
        for row in tomllib.loads(table)["contradiction"]
        if row["kind"] == "names show another version"
        for subject in row["subjects"]
    }
    names = Names()
    loaded = {str(one): one for one in releases() if one.exact}
    assert loaded.keys() <= {*names.releases()}
    agree = {
        name
        for name, one in loaded.items()
        if (found := bracket(names.of(name))) and found.has(one.current)
    }
    assert loaded.keys() - agree == explained
    page = " ".join((ROOT / "docs" / "targets.md").read_text("utf-8").split())
    said = f"Of {len(loaded)} Releases that were both measured and read, {len(agree)} lie in their"
    assert said in page


LADDER = [one for one in releases("iree-base-compiler") if "rungs" in one.evidence]


@pytest.mark.parametrize("release", LADDER, ids=str)
def test_what_was_read_agrees_with_the_names(release: Release) -> None:
    """IREE does not say its Version: what it reads and refuses, and its names, overlap."""
    by_names = bracket(Names().of(str(release)))
    assert by_names is not None
    both = [one for one in (by_names.below, release.below) if one]
    assert max(by_names.low, release.current) < min(both)


def test_a_name_that_nobody_knows_is_how_a_new_version_is_found(tmp_path: Path) -> None:
    """It stands in the answer, which stays a lower bound."""
    path = tmp_path / "libnew.so"
    path.write_bytes(library(*names_of("1.24.0"), "vhlo.frobnicate_v1"))
    found = portable.inspect(path)
    assert found.kind is Kind.RUNTIME
    assert found.runtime is not None
    assert found.runtime.bracket.unknown == ("vhlo.frobnicate_v1",)
    assert found.runtime.bracket.below is None
    newer = "newer than 1.24.0, with names that no table knows: vhlo.frobnicate_v1"
    assert newer in found.runtime.bracket.evidence
    assert newer in portable.resolve_target(str(path)).reason


def test_a_name_of_ones_own_in_an_older_library_moves_no_bound(tmp_path: Path) -> None:
    """Ops that only a fork has do not make it a newer Version."""
    path = tmp_path / "libfork.so"
    path.write_bytes(library(*names_of("1.4.0"), "vhlo.ours_v1"))
    found = read_runtime(path).bracket
    assert str(found) == "at least 1.4.0, below 1.5.0"
    assert found.evidence[-1] == "names that no table knows: vhlo.ours_v1"


def test_a_wheel_tells_its_distribution(tmp_path: Path) -> None:
    """The library with the most names speaks; dialects and custom calls are those of all."""
    path = _wheel(
        tmp_path / WHEEL,
        **{
            "a/small.so": library("vhlo.abs_v1", "my_solver_ffi"),
            "a/plugin.so": library(*names_of("1.4.0"), "chlo.broadcast_add"),
            "README": b"vhlo.tan_v2",
        },
    )
    found = read_runtime(path)
    assert (found.name, found.version, found.member) == ("my_plugin", "1.2.3", "a/plugin.so")
    assert found.custom_calls == ("my_solver_ffi",)
    assert set(found.dialects) >= {"chlo", "vhlo"}
    assert str(found.bracket) == "at least 1.4.0, below 1.5.0"


@pytest.mark.parametrize("dialect", ["chlo", "mhlo", "sdy", "stablehlo"])
def test_a_dialect_is_named_by_one_of_its_ops(dialect: str) -> None:
    """Whatever stands before the op's name; a longer name is another one."""
    ops = {"chlo": "broadcast_add", "mhlo": "add_dependency", "sdy": "manual_computation"}
    name = f"{dialect}.{ops.get(dialect, 'broadcast_in_dim')}"
    everything = names_of("1.4.0")
    assert read_runtime(library(*everything, name)).dialects == tuple(sorted({dialect, "vhlo"}))
    assert read_runtime(library(*everything, f"{name}s", f"a{name}")).dialects == ("vhlo",)


def test_a_folder_and_bytes_are_read_like_the_file(tmp_path: Path) -> None:
    """An unpacked wheel, and what was downloaded into memory."""
    data = library(*names_of("1.4.0"))
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "plugin.dylib").write_bytes(data)
    (tmp_path / "link.so").symlink_to("/bin/sh")
    assert read_runtime(tmp_path).bracket == read_runtime(data).bracket
    assert read_runtime(tmp_path).member == "lib/plugin.dylib"


@pytest.mark.parametrize("where", [(4 << 20) - 10, (4 << 20) - 1, 4 << 20, (8 << 20) - 64 - 3])
def test_a_name_across_two_pieces_is_seen(where: int) -> None:
    """A library is read in pieces; no name is lost at their borders."""
    start = library(*names_of("0.9.0"))
    data = start + bytes(where - len(start)) + b"\0vhlo.collective_reduce_v1\0"
    assert read_runtime(data).bracket.low == Version.parse("1.19.0")


def _encrypted() -> bytes:
    data = bytearray(_zipped({"a.so": library("vhlo.abs_v1")}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def _zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def _twice() -> bytes:
    data = _zipped({"a.so": library(*names_of("1.4.0")), "b.so": library(*names_of("1.9.0"))})
    return data.replace(b"b.so", b"a.so")


INNER = _zipped({"a.so": library(*names_of("1.4.0"))})
BAD = {
    "no names": (ELF + bytes(1000), "names all ops of VHLO"),
    "a text": (b"vhlo.abs_v1\n", "0 shared libraries"),
    "numbers of early 2023": (
        library("vhlo.custom_call_v2", "vhlo.collective_permute_v2", "vhlo.all_gather_v2"),
        "names all ops of VHLO",
    ),
    "a type without an op": (library("f8E4M3FN_v1"), "names all ops of VHLO"),
    "truncated": (_zipped({"a.so": library(*names_of("1.4.0"))})[:-30], "damaged"),
    "damaged inside": (INNER[:60] + b"\xff" * 40 + INNER[100:], "damaged"),
    "encrypted": (_encrypted(), "encrypted"),
    "a member twice": (_twice(), "a member twice"),
    "nested": (_zipped({"a.whl": INNER}), "0 shared libraries"),
    "a bomb": (_zipped({"a.so": ELF + bytes(64 << 20)}), "grows beyond"),
    "empty": (b"", "0 shared libraries"),
    "an empty archive": (b"PK\x05\x06" + bytes(18), "0 shared libraries"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_runtime_is_refused_in_one_line(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a consumer it is an error with its name, whatever is wrong with it."""
    data, message = BAD[name]
    path = tmp_path / "plugin.so"
    path.write_bytes(data)
    with pytest.raises(NotARuntime, match=message):
        read_runtime(path)
    assert main(["target", "--for", str(path)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert main(["inspect", str(path)]) == 0


NAMES = b"\0".join(name.encode() for name in ("", *names_of("1.4.0"), ""))


def _elf(end: int, *, order: str = "<", bits: int = 64, sections: bool = True) -> bytes:
    """Return the head of an ELF whose section headers, or whose only segment, end there."""
    word, ehdr, entry = ("Q", 64, 64) if bits == 64 else ("I", 52, 40)
    head = b"\x7fELF" + bytes([bits // 32, 1 if order == "<" else 2, 1]) + bytes(9)
    head += struct.pack(f"{order}HHI", 3, 62, 1)
    segment = 0 if sections else ehdr
    head += struct.pack(f"{order}3{word}", 0, segment, end - entry if sections else 0)
    head += struct.pack(f"{order}I6H", 0, ehdr, 56 if bits == 64 else 32, not sections, entry, 1, 0)
    if sections:
        return head
    if bits == 64:
        return head + struct.pack(f"{order}II6Q", 1, 4, 0, 0, 0, end, end, 4096)
    return head + struct.pack(f"{order}8I", 1, 0, 0, 0, end, end, 4, 4096)


def _macho(end: int) -> bytes:
    segment = struct.pack("<II16s4Q4I", 0x19, 72, b"__LINKEDIT", 0, 0, end - 100, 100, 1, 1, 0, 0)
    other = struct.pack("<4I", 0x32, 16, 1, 0)
    counts = (2, len(other + segment))
    return struct.pack("<IiiIIIII", 0xFEEDFACF, 0, 0, 6, *counts, 0, 0) + other + segment


def _fat(end: int) -> bytes:
    return struct.pack(">II5I5I", 0xCAFEBABE, 2, 0, 0, 64, 64, 12, 0, 0, 128, end - 128, 12)


def _pe(end: int) -> bytes:
    head = b"MZ" + bytes(58) + struct.pack("<I", 64)
    head += b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, 16, 0) + bytes(16)
    return head + struct.pack("<8s6I2HI", b".rdata", 0, 0, end - 200, 200, 0, 0, 0, 0, 0)


FORMATS: dict[str, Callable[[int], bytes]] = {
    "ELF": _elf,
    "ELF of 32 bits": functools.partial(_elf, bits=32),
    "ELF, big endian": functools.partial(_elf, order=">"),
    "ELF without section headers": functools.partial(_elf, sections=False),
    "ELF of 32 bits without section headers": functools.partial(_elf, bits=32, sections=False),
    "Mach-O": _macho,
    "Mach-O of two architectures": _fat,
    "PE": _pe,
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_truncated_library_is_refused(name: str) -> None:
    """It lacks names that the whole one may have: its bracket would be too low."""
    size = 40_000
    data = (FORMATS[name](size) + NAMES).ljust(size, b"\0")
    assert str(read_runtime(data).bracket) == "at least 1.4.0, below 1.5.0"
    with pytest.raises(NotARuntime, match="truncated: it has 39,999 of 40,000 bytes"):
        read_runtime(data[:-1])
    with pytest.raises(NotARuntime, match="truncated"):
        read_runtime(_zipped({"a.so": data[: size // 2]}))


def test_a_header_that_is_cut_or_wrong_says_nothing_of_the_size() -> None:
    """Whatever stands in it, an answer comes at once."""
    for make in FORMATS.values():
        head = make(40_000)
        for cut in range(4, len(head)):
            with pytest.raises(NotARuntime):
                read_runtime(head[:cut])
    endless = struct.pack("<IiiIIIII", 0xFEEDFACF, 0, 0, 6, 0xFFFFFFFF, 0, 0, 0) + bytes(1000)
    assert read_runtime(endless + NAMES).bracket.low == Version.parse("1.4.0")


def test_memory_stays_flat(tmp_path: Path) -> None:
    """A library of 200 MB is never held: a few pieces are."""
    path = tmp_path / "large.so"
    with path.open("wb") as stream:
        stream.write(library(*names_of("1.4.0")))
        stream.truncate(200 << 20)
    tracemalloc.start()
    read_runtime(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 << 20


def test_a_runtime_is_a_consumer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--for` and `target` take its path; the evidence and confidence it is stand in the answer."""
    path = tmp_path / WHEEL
    _wheel(path, **{"plugin.so": library(*names_of("1.4.0"))})
    target = portable.resolve_target(str(path))
    assert str(target) == "1.4.0"
    assert str(target.confidence) == "static"
    artifact = Path(__file__).parents[1] / "data" / "artifacts" / "mesh_inline+1.16.0.mlir.bc"
    assert main(["check", str(artifact), "--for", str(path)]) == 1
    assert "my-plugin 1.2.3" in capsys.readouterr().out
    small = artifact.with_name("tan+1.4.0.mlir.bc")
    assert main(["check", str(small), "--for", str(path)]) == 0


def test_a_policy_names_a_runtime_beside_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its path is relative to the policy, wherever the gate runs, and nothing is loaded."""
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "plugin.so").write_bytes(library(*names_of("1.4.0")))
    policy = tmp_path / "portable.toml"
    policy.write_text('[consumers]\nphones = ["./vendor/plugin.so"]\n')
    artifacts = Path(__file__).parents[1] / "data" / "artifacts"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    words = ["gate", "--policy", str(policy)]
    assert main([*words, str(artifacts / "tan+1.4.0.mlir.bc")]) == 0
    assert main([*words, str(artifacts / "mesh_inline+1.16.0.mlir.bc")]) == 1
    policy.write_text('[rules]\nconsumers = ["./vendor/plugin.so"]\n')
    assert main([*words, str(artifacts / "tan+1.4.0.mlir.bc")]) == 0
    policy.write_text('[consumers]\nphones = ["plugin:./vendor/plugin.so"]\n')
    assert main([*words, str(artifacts / "tan+1.4.0.mlir.bc")]) == 2
