"""An audit of folders: complete, repeatable, resumable, whatever lies there."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from compat_tests.fleet.conftest import killed_audit
from portable.bundle import pack_files
from portable.bytecode import Bytecode
from portable.cli import main
from portable.fleet import Audit, FleetError, PlaceError, audit, rows, writing
from portable.fleet.places import open_place
from portable.fleet.rows import OTHER, Row, batches_of, schema

CORPUS = Path(__file__).parents[2] / "corpus"
FAMILY = CORPUS / "collectives"
ARTIFACTS = Path(__file__).parents[1] / "data" / "artifacts"
CONTAINERS = Path(__file__).parents[1] / "data" / "containers"


def _rows(path: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pyarrow.parquet.read_table(path).to_pylist()
    return found


def _files(root: Path) -> list[str]:
    return [str(path) for path in root.rglob("*") if not path.is_dir() or path.is_symlink()]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of one family of the corpus."""
    return Path(shutil.copytree(FAMILY, tmp_path / "models"))


def test_every_file_has_a_row_and_every_artifact_its_version(tree: Path, tmp_path: Path) -> None:
    """The names of sealed artifacts say for which Version they were written."""
    done = audit([str(tree)], tmp_path / "fleet.parquet", depth="content")
    rows = _rows(tmp_path / "fleet.parquet")
    assert [row["place"] for row in rows] == sorted(_files(tree))
    assert done.objects == len(rows)
    artifacts = [row for row in rows if row["kind"] != "other"]
    assert done.artifacts == len(artifacts) > 100
    for row in artifacts:
        assert Path(str(row["place"])).name.split("+")[0] == row["claimed"]
        assert row["error"] is None
        assert row["subject"]


def test_every_version_of_a_bundle_has_a_row(tmp_path: Path) -> None:
    """At the blob that it is; the documents of the layout are nothing that anybody reads."""
    versions = ["0.9.0", "0.14.0", "1.17.0"]
    files = [ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in versions]
    (tmp_path / "models").mkdir()
    pack_files(files, to=tmp_path / "models" / "add.bundle")
    done = audit([str(tmp_path / "models")], tmp_path / "fleet.parquet", depth="content")
    rows = [row for row in _rows(tmp_path / "fleet.parquet") if row["kind"] != "other"]
    expected = [
        (version, sha256(path.read_bytes()).hexdigest())
        for version, path in zip(versions, files, strict=True)
    ]
    found = [(str(row["claimed"]), Path(str(row["place"])).name) for row in rows]
    assert sorted(found) == sorted(expected)
    assert done.damaged == 0


def test_a_first_audit_learns_how_many_objects_there_are(tmp_path: Path) -> None:
    """Beside what it does, and tells it from then on; a second one knows it from the first."""
    for number in range(2500):
        (tmp_path / "models" / f"{number % 7}").mkdir(parents=True, exist_ok=True)
        (tmp_path / "models" / f"{number % 7}" / f"{number}").write_bytes(b"")
    told: list[int | None] = []

    def tell(done: Audit) -> None:
        told.append(done.expected)
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and thread.name == "count":
                thread.join()

    for _ in range(2):
        audit([str(tmp_path / "models")], tmp_path / "fleet.parquet", tell=tell)
        assert told[1] == 2500


def test_what_is_odd_is_told_and_stops_nothing(tree: Path, tmp_path: Path) -> None:
    """Links, pipes, damage, names that are no UTF-8: each has a row that says so."""
    good = next(tree.rglob("*.mlir.bc")).read_bytes()
    (tree / "empty.mlir.bc").write_bytes(b"")
    (tree / "cut.mlir.bc").write_bytes(good[: len(good) // 2])
    (tree / "link.mlir.bc").symlink_to(tree)
    (tree / "zero.mlir.bc").symlink_to("/dev/zero")
    os.mkfifo(tree / "pipe.mlir.bc")
    Path(os.fsdecode(os.fsencode(tree) + b"/\xff\x1b[31m.mlir.bc")).write_bytes(good)
    done = audit([str(tree)], tmp_path / "fleet.parquet", depth="content")
    odd = {Path(str(row["place"])).name: row["error"] for row in _rows(tmp_path / "fleet.parquet")}
    assert done.objects == len(_files(FAMILY)) + 6
    told = {name: error for name, error in odd.items() if error}
    assert told.keys() == {
        "empty.mlir.bc", "cut.mlir.bc", "link.mlir.bc", "zero.mlir.bc", "pipe.mlir.bc"
    }  # fmt: skip
    assert odd[r"\xff" + "\x1b[31m.mlir.bc"] is None


@pytest.mark.parametrize("all_of_them", [True, False])
def test_what_vanishes_while_a_folder_is_listed_is_told(tmp_path: Path, all_of_them: bool) -> None:
    """Each such file is a row with the reason, and every other is listed once and in order."""
    files = [tmp_path / "models" / f"{number:04}" for number in range(1500)]
    files[0].parent.mkdir()
    for path in files:
        path.write_bytes(b"")
    listed = open_place(str(tmp_path)).objects()
    found = [next(listed)]
    gone = [path for path in files[1000:] if all_of_them or path.name == "1234"]
    for path in gone:
        path.unlink()
    if all_of_them:
        shutil.rmtree(tmp_path / "models")
    found += listed
    assert [one.key for one in found] == [f"models/{path.name}" for path in files]
    odd = {one.key: (one.odd, one.etag) for one in found if one.odd or not one.etag}
    why = "cannot read: no such file or directory"
    assert odd == {f"models/{path.name}": (why, "") for path in gone}


def test_a_second_audit_reads_what_changed_and_nothing_else(tree: Path, tmp_path: Path) -> None:
    """And ends with the same file as an audit that has no memory."""
    fleet = tmp_path / "fleet.parquet"
    audit([str(tree)], fleet, depth="content")
    artifacts = sorted(tree.rglob("*.mlir.bc"))
    artifacts[3].unlink()
    artifacts[5].write_bytes(artifacts[9].read_bytes())
    (tree / "new.mlir.bc").write_bytes(artifacts[9].read_bytes())
    again = audit([str(tree)], fleet, depth="content")
    assert again.objects - again.unchanged == 2
    audit([str(tree)], tmp_path / "fresh.parquet", depth="content")
    assert _rows(fleet) == _rows(tmp_path / "fresh.parquet")
    assert audit([str(tree)], fleet, depth="header").unchanged == 0


def test_a_second_audit_knows_how_many_objects_there_are(tmp_path: Path) -> None:
    """Of a container with several artifacts, each a row, one."""
    (tmp_path / "models").mkdir()
    shutil.copy(CONTAINERS / "gate-vjp2-jax-0.10.2.exported", tmp_path / "models")
    fleet = tmp_path / "fleet.parquet"
    assert audit([str(tmp_path / "models")], fleet).artifacts == 3
    assert audit([str(tmp_path / "models")], fleet).expected == 1


@pytest.mark.parametrize("rows_at_once", [1, 2, 7, 1000])
def test_nothing_is_lost_where_pages_of_the_old_file_end(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_at_once: int
) -> None:
    """The rows of one object, of which a container has several, may lie on both sides."""
    shutil.copytree(CONTAINERS, tree / "containers")
    fleet = tmp_path / "fleet.parquet"
    done = audit([str(tree)], fleet)
    before = _rows(fleet)
    assert len(before) > done.objects
    monkeypatch.setattr(rows, "_BATCH", rows_at_once)
    (tree / "new.mlir.bc").write_bytes(b"ML\xefR")
    again = audit([str(tree)], fleet)
    assert (again.objects, again.unchanged) == (done.objects + 1, done.objects)
    assert [row for row in _rows(fleet) if "/new." not in str(row["place"])] == before


def test_an_audit_that_is_killed_goes_on(tmp_path: Path) -> None:
    """Whenever it is killed: nothing is lost or twice, and nothing is left behind."""
    whole, fleet = tmp_path / "whole.parquet", tmp_path / "fleet.parquet"
    audit([str(CORPUS)], whole)
    command = [sys.executable, "-I", "-m", "portable", "audit", str(CORPUS), "-o", str(fleet)]
    for parts in (1, 2, 1):
        assert killed_audit(str(CORPUS), fleet, parts) == -signal.SIGKILL
        assert not fleet.exists()
    chance = random.Random(7)  # noqa: S311 - moments to kill at
    for _ in range(4):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
            time.sleep(chance.uniform(0.2, 2))
            child.send_signal(signal.SIGKILL)
        assert not fleet.exists() or _rows(fleet) == _rows(whole)
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    assert _rows(fleet) == _rows(whole)
    assert set(tmp_path.iterdir()) == {fleet, whole}


def test_two_audits_do_not_write_one_file(tree: Path, tmp_path: Path) -> None:
    """The second is refused before it reads anything."""
    fleet = str(tmp_path / "fleet.parquet")

    def second(_: object) -> None:
        with pytest.raises(FleetError, match="another audit writes it"):
            audit([str(tree)], fleet)

    audit([str(tree)], fleet, tell=second)


def _not_fleets(folder: Path) -> Iterator[Path]:
    (folder / "text.parquet").write_text("no Parquet")
    yield folder / "text.parquet"
    table = pyarrow.table({"place": ["x"]})
    pyarrow.parquet.write_table(table, folder / "other.parquet")
    yield folder / "other.parquet"
    older = table.replace_schema_metadata({"portable.fleet": "0"})
    pyarrow.parquet.write_table(older, folder / "older.parquet")
    yield folder / "older.parquet"


def test_a_file_that_is_no_fleet_is_never_replaced(tree: Path, tmp_path: Path) -> None:
    """Nor is one of another release."""
    for path in _not_fleets(tmp_path):
        content = path.read_bytes()
        with pytest.raises(FleetError):
            audit([str(tree)], path)
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    "words",
    [
        "plan X --from jaxlib==0.9.1 --to jaxlib==0.5.3",
        "plan X --today",
        "audit X --query damaged",
        "audit X -o new",
        "repin-all X --for jaxlib==0.5.3 -o new",
    ],
)
def test_what_is_no_file_is_refused_at_once(
    tmp_path: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe, a device, a directory, nothing: one line, exit code 2."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    new = str(tmp_path / "new.parquet")
    for name in ("pipe", "zero", "folder", "missing"):
        if words.startswith("audit X -o") and name == "folder":
            continue  # a folder is what it takes
        line = [{"X": str(tmp_path / name), "new": new}.get(word, word) for word in words.split()]
        assert main(line) == 2
        said = capsys.readouterr().err
        assert name in said
        assert said.count("\n") == 1
    assert not Path(new).exists()


def test_a_place_without_objects_is_an_error(tree: Path, tmp_path: Path) -> None:
    """As a prefix that is misspelt; what an earlier audit knows is kept."""
    fleet, nothing = tmp_path / "fleet.parquet", tmp_path / "nothing"
    nothing.mkdir()
    audit([str(tree)], fleet)
    known = fleet.read_bytes()
    for places in ([str(nothing)], [str(tree), str(nothing)]):
        with pytest.raises(PlaceError, match="no object there"):
            audit(places, fleet)
    assert fleet.read_bytes() == known


def test_places_are_named_once(tree: Path, tmp_path: Path) -> None:
    """One that lies in another would be counted twice; one that is missing is an error."""
    inner = next(path for path in tree.iterdir() if path.is_dir())
    for places in ([tree, tree], [tree, inner]):
        with pytest.raises(FleetError, match="lies inside"):
            audit([str(place) for place in places], tmp_path / "fleet.parquet")
    with pytest.raises(PlaceError, match="no such folder"):
        audit([str(tree / "missing")], tmp_path / "fleet.parquet")
    file = next(path for path in tree.rglob("*") if path.is_file())
    with pytest.raises(PlaceError, match="not a folder"):
        audit([str(file)], tmp_path / "fleet.parquet")
    with pytest.raises(PlaceError, match="cannot list ftp://"):
        audit(["ftp://host/models"], tmp_path / "fleet.parquet")


def test_the_command_says_what_it_found(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 0 where everything was read, 2 where something was not."""
    fleet = str(tmp_path / "fleet.parquet")
    assert main(["audit", str(tree), "-o", fleet]) == 0
    (tree / "cut.mlir.bc").write_bytes(b"ML\xefR")
    assert main(["audit", str(tree), "-o", fleet]) == 2
    out = capsys.readouterr().out
    assert "1 could not be read" in out
    assert main(["audit", fleet, "--query", "damaged"]) == 0
    assert "cut.mlir.bc" in capsys.readouterr().out


def test_an_artifact_is_opened_once(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much of its content is looked into."""
    opened: list[object] = []
    plain = Bytecode.__init__

    def counting(self: Bytecode, data: bytes) -> None:
        opened.append(data)
        plain(self, data)

    monkeypatch.setattr(Bytecode, "__init__", counting)
    done = audit([str(tree)], tmp_path / "fleet.parquet", depth="content")
    assert len(opened) == done.artifacts


def _most_held(path: Path) -> int:
    """Return how many bytes Arrow held at most while a fleet was read."""
    before = pyarrow.total_allocated_bytes()
    held = [pyarrow.total_allocated_bytes() - before for _ in batches_of(str(path))]
    return int(max(held))


def test_reading_takes_no_more_memory_for_more_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of names that all differ: ten times the rows, the same memory."""
    monkeypatch.setattr(writing, "_GROUP", 1000)
    held = []
    for parts in (5, 50):
        path = tmp_path / f"{parts}.parquet"
        with writing.Writer(str(path)) as writer:
            for part in range(parts):
                names = [f"/models/{part:03}/{number:05}" for number in range(1000)]
                writer.add(list(map(_row, names)), len(names))
            writer.finish()
        held.append(_most_held(path))
    assert held[1] < 1.2 * held[0]


def _row(place: str) -> Row:
    text = {"place": place, "inside": "", "etag": place, "depth": "header", "kind": OTHER}
    return dict.fromkeys(schema().names) | {"size": 1} | text
