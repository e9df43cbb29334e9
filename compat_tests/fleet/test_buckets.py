"""An audit of a bucket: what a folder with the same files says, by small reads."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import obstore
import pyarrow.parquet
import pytest

from compat_tests.fleet.conftest import Bucket
from compat_tests.helpers import bytecode_writer
from compat_tests.helpers.bytecode_writer import UNKNOWN_LOCATION, entry
from portable.bytecode import read
from portable.bytecode.view import View
from portable.containers.finding import find
from portable.features import analyze
from portable.fleet import PlaceError, audit, places, stores
from portable.policy import Depth
from portable.prediction import subject_of
from portable.prediction.forms import Reading

FAMILY = Path(__file__).parents[2] / "corpus" / "control_flow"
CONTAINERS = Path(__file__).parents[1] / "data" / "containers"
# As layouts.ini numbers them.
TENSOR, F32, RANKED = 15, 4, 20
SAME = ("inside", "kind", "claimed", "producer", "required", "minimum", "signatures", "subject")


def _said(path: Path, root: str) -> dict[str, dict[str, object]]:
    rows = pyarrow.parquet.read_table(path).to_pylist()
    return {
        row["place"].removeprefix(root): {name: row[name] for name in (*SAME, "size", "error")}
        for row in rows
    }


@pytest.mark.parametrize("depth", Depth)
def test_a_bucket_says_what_its_folder_says(bucket: Bucket, tmp_path: Path, depth: Depth) -> None:
    """And a second audit reads nothing of what is the same."""
    bucket.fill(FAMILY)
    fleet, here = tmp_path / "bucket.parquet", tmp_path / "folder.parquet"
    done = audit([bucket.url], fleet, depth=depth)
    audit([str(FAMILY)], here, depth=depth)
    assert _said(fleet, bucket.url) == _said(here, str(FAMILY))
    obstore.put(bucket.store, "new.mlir.bc", next(FAMILY.rglob("*.mlir.bc")).read_bytes())
    again = audit([bucket.url], fleet, depth=depth)
    assert (again.objects, again.unchanged) == (done.objects + 1, done.objects)


@pytest.mark.parametrize("remote", [True, False])
def test_every_artifact_in_a_container_has_a_row(
    bucket: Bucket, tmp_path: Path, remote: bool
) -> None:
    """The same that the gate finds, by their digests."""
    expected = Counter(
        hashlib.sha256(entry.data).hexdigest()
        for found in find([CONTAINERS])
        if found.container
        for entry in found.container.artifacts()
    )
    bucket.fill(CONTAINERS)
    place = bucket.url if remote else str(CONTAINERS)
    audit([place], tmp_path / "fleet.parquet", depth="content")
    rows = pyarrow.parquet.read_table(tmp_path / "fleet.parquet").to_pylist()
    assert Counter(row["digest"] for row in rows if row["digest"]) == expected
    assert {"TensorFlow SavedModel", "jax.export.Exported"} <= {row["kind"] for row in rows}


def test_what_happens_between_listing_and_reading_is_told(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object that vanishes, and one that is replaced, are rows with the reason."""
    good = next(FAMILY.rglob("*.mlir.bc")).read_bytes()
    for name in ("a.mlir.bc", "b.mlir.bc", "c.mlir.bc"):
        obstore.put(bucket.store, name, good)
    listed = list(places.open_place(bucket.url).objects())
    obstore.delete(bucket.store, "a.mlir.bc")
    obstore.put(bucket.store, "b.mlir.bc", good + b"more")
    monkeypatch.setattr(stores.Bucket, "objects", lambda _: iter(listed))
    done = audit([bucket.url], tmp_path / "fleet.parquet")
    said = _said(tmp_path / "fleet.parquet", bucket.url + "/")
    assert done.damaged == 2
    assert "not found" in str(said["a.mlir.bc"]["error"])
    assert "changed since it was listed" in str(said["b.mlir.bc"]["error"])
    assert said["c.mlir.bc"]["error"] is None


def test_large_objects_are_not_read_whole(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header is in the first 64 KB, which one request brings."""
    good = next(FAMILY.rglob("*.mlir.bc")).read_bytes()
    for number in range(3):
        obstore.put(bucket.store, f"{number}.mlir.bc", good + bytes(5_000_000))
    asked: list[tuple[int, int]] = []
    plain = obstore.get

    def counting(*arguments: object, options: dict[str, object]) -> object:
        asked.append(options["range"])  # type: ignore[arg-type]  # as `open` asks
        return plain(*arguments, options=options)

    monkeypatch.setattr(obstore, "get", counting)
    assert audit([bucket.url], tmp_path / "fleet.parquet").artifacts == 3
    assert asked == [(0, 65536)] * 3


def _with_constants(size: int) -> bytes:
    """Return an artifact with twenty constants, which are nearly all of it."""
    return bytes(
        bytecode_writer.Artifact(
            attributes=[
                ("builtin", entry(UNKNOWN_LOCATION)),
                *(("vhlo", entry(TENSOR, 1, size) + bytes(size)) for _ in range(20)),
            ],
            types=[("vhlo", entry(F32)), ("vhlo", entry(RANKED, 1, size // 4 << 1, 0))],
        )
    )


def test_constants_are_not_read(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 20 MB a hundredth; the rows are those of a folder but for what digests every byte."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "large.mlir.bc").write_bytes(_with_constants(1 << 20))
    bucket.fill(folder)
    read: list[int] = []
    plain = stores.Ranges.__init__

    def counting(self: Any, path: str, size: int, etag: str, ask: Any) -> None:
        def counted(start: int, stop: int) -> bytes:
            read.append(stop - start)
            return bytes(ask(start, stop))

        plain(self, path, size, etag, counted)

    monkeypatch.setattr(stores.Ranges, "__init__", counting)
    fleet, here = tmp_path / "bucket.parquet", tmp_path / "folder.parquet"
    assert audit([bucket.url], fleet, depth="content").artifacts == 1
    assert sum(read) < 200_000
    audit([str(folder)], here, depth="content")
    assert _said(fleet, bucket.url) == _said(here, str(folder))


def _cut(data: bytes, start: int, stop: int) -> bytes:
    return data[start:stop]


def test_what_is_read_by_blocks_is_what_is_read_whole() -> None:
    """Every artifact of a family: the same features, forms and signatures."""
    for path in sorted(FAMILY.rglob("*.mlir.bc")):
        data = path.read_bytes()
        view = View(len(data), partial(_cut, data))
        whole, blocks = (Reading(read(what), what) for what in (data, view))
        found, expected = (subject_of(each, analyze(each.content)) for each in (blocks, whole))
        assert found == expected


def test_a_bucket_that_cannot_be_listed_is_an_error(bucket: Bucket, tmp_path: Path) -> None:
    """One that is not there; nothing is written."""
    with pytest.raises(PlaceError):
        audit([bucket.url + "-missing"], tmp_path / "fleet.parquet")
    assert not (tmp_path / "fleet.parquet").exists()
