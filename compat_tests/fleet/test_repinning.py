"""What consumers do not read is pinned again: to another place, once, and they read it."""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import threading
from pathlib import Path
from typing import Any

import obstore
import pytest

from compat_tests.adversarial.generators import special_files
from compat_tests.fleet.conftest import Bucket
from portable.artifact import Artifact
from portable.cli import main
from portable.containers import artifacts_in
from portable.fleet import CopyOutcome, PlaceError, audit, repin_all, repinning
from portable.fleet.stores import DEFAULT
from portable.fleet.stores import Bucket as Written
from portable.prediction import predict
from portable.releases import find_release
from portable.runtime.executors import Tolerance
from portable.runtime.verification import verify
from portable.system.files import FileError
from portable.verdict import Stage

ROOT = Path(__file__).parents[2]
CASES = ROOT / "corpus" / "accuracy"
CONTAINERS = ROOT / "compat_tests" / "data" / "containers"
OLD = "jaxlib==0.5.3"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Artifacts that the consumer reads, some that it does not, and containers."""
    tree = tmp_path / "models"
    for case in sorted(CASES.iterdir())[:2]:
        shutil.copytree(case, tree / case.name)
    shutil.copy(CONTAINERS / "gate-vjp0-jax-0.12.0.1.exported", tree)
    (tree / "cut.mlir.bc").write_bytes(b"ML\xefR\x06")
    return tree


def _content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_consumer_reads_every_object_or_its_copy(tree: Path, tmp_path: Path) -> None:
    """Originals are as they were; a second run writes nothing."""
    before = _content(tree)
    fleet, copies = tmp_path / "fleet.parquet", tmp_path / "copies"
    audit([str(tree)], fleet, depth="content")
    done = list(repin_all(fleet, OLD, to=copies))
    assert {one.outcome for one in done} == {
        CopyOutcome.READ,
        CopyOutcome.WRITTEN,
        CopyOutcome.FAILED,
    }
    assert [one.place for one in done if one.outcome is CopyOutcome.FAILED] == [
        str(tree / "cut.mlir.bc")
    ]
    release = find_release("jaxlib 0.5.3")
    for one in done:
        if one.outcome is not CopyOutcome.FAILED:
            for _, artifact in artifacts_in(one.to or one.place):
                assert predict(artifact, release).holds(Stage.DECODE)
    assert _content(tree) == before
    written = _content(copies)
    again = list(repin_all(fleet, OLD, to=copies))
    assert sum(one.outcome is CopyOutcome.THERE for one in again) == len(written) > 0
    assert _content(copies) == written


def test_a_copy_that_computes_something_else_is_not_written(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Originals and copies are executed before anything is written, where that is wanted."""
    for path in sorted(tree.rglob("*.bc")):
        if not path.name.startswith("1.11.0"):
            path.unlink()
    fleet = tmp_path / "fleet.parquet"
    audit([str(tree)], fleet, depth="content")
    good = list(repin_all(fleet, OLD, to=tmp_path / "good", verified=Tolerance()))
    assert CopyOutcome.WRITTEN in {one.outcome for one in good}
    other = Artifact.load(ROOT / "compat_tests" / "data" / "artifacts" / "tan+1.4.0.mlir.bc")
    monkeypatch.setattr(repinning, "verify", lambda one, _, **how: verify(one, other, **how))
    bad = list(repin_all(fleet, OLD, to=tmp_path / "bad", verified=Tolerance()))
    assert CopyOutcome.WRITTEN not in {one.outcome for one in bad}
    assert any("the copy is not the same" in one.why for one in bad)
    assert _content(tmp_path / "bad") == {}


WRONG = ROOT / "corpus" / "collectives" / "all_reduce_promoting_f32_to_f64" / "artifacts"
NOT_KNOWN = CONTAINERS / "graph-tensorflow-2.20.0"


@pytest.mark.parametrize(
    ("source", "said"), [(WRONG, "does not compute the same"), (NOT_KNOWN, "not known")]
)
@pytest.mark.parametrize("bucket", ["moto"], indirect=True)
def test_a_copy_that_the_consumers_do_not_get_through_is_not_written(
    bucket: Bucket, tmp_path: Path, source: Path, said: str
) -> None:
    """Nor is one of which that is not known; a second run says the same."""
    shutil.copytree(source, tmp_path / "models" / "one")
    fleet = tmp_path / "fleet.parquet"
    audit([str(tmp_path / "models")], fleet, depth="content")
    places = [str(tmp_path / "copies")] + [bucket.url] * (source == WRONG)
    for to in 2 * places:
        done = [one for one in repin_all(fleet, "jaxlib==0.12.0.1", to=to) if one.why]
        assert {one.outcome for one in done} == {CopyOutcome.FAILED}
        assert all(said in one.why for one in done)
    assert not _content(tmp_path / "copies")
    assert not [found for page in obstore.list(bucket.store) for found in page]


def test_what_is_there_and_no_copy_is_not_written_over(tree: Path, tmp_path: Path) -> None:
    """The object is listed as not written, with the place of what is there."""
    fleet, copies = tmp_path / "fleet.parquet", tmp_path / "copies"
    audit([str(tree)], fleet, depth="content")
    written = next(
        one for one in repin_all(fleet, OLD, to=copies) if one.outcome is CopyOutcome.WRITTEN
    )
    Path(written.to).write_bytes(Path(written.place).read_bytes())
    kept = Path(written.to).read_bytes()
    (again,) = [one for one in repin_all(fleet, OLD, to=copies) if one.place == written.place]
    assert again.outcome is CopyOutcome.FAILED
    assert Path(written.to).read_bytes() == kept


@pytest.mark.parametrize("kind", special_files.OUTPUTS)
def test_what_is_no_file_is_not_written_over(kind: str, tree: Path, tmp_path: Path) -> None:
    """A FIFO, a device or a link at the place of a copy stays, and is said not to be written."""
    fleet, copies = tmp_path / "fleet.parquet", tmp_path / "copies"
    audit([str(tree)], fleet, depth="content")
    place = next(tree.glob("*.exported"))
    copy = copies / place.relative_to("/")
    copy.parent.mkdir(parents=True)
    special_files.make(kind, copy)
    before = special_files.snapshot(copy.parent)
    (done,) = [one for one in repin_all(fleet, OLD, to=copies) if one.place == str(place)]
    assert done.outcome is CopyOutcome.FAILED
    assert special_files.snapshot(copy.parent) == before


def test_a_bucket_is_mended_on_this_machine(
    bucket: Bucket, tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One command audits, one plans, one pins again."""
    bucket.fill(tree)
    fleet, copies = str(tmp_path / "fleet.parquet"), str(tmp_path / "copies")
    assert main(["audit", bucket.url, "-o", fleet, "--depth", "content"]) == 2  # one is cut
    assert main(["plan", fleet, "--from", "jaxlib==0.12.0.1", "--to", OLD]) == 1
    capsys.readouterr()
    assert main(["repin-all", fleet, "--for", OLD, "-o", copies, "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["counts"]["not written"] == 1
    assert found["counts"]["written"] == len(_content(Path(copies))) > 0


@pytest.mark.parametrize("beside", [True, False])
def test_copies_lie_in_a_bucket_where_that_is_wanted(
    bucket: Bucket, tree: Path, tmp_path: Path, beside: bool
) -> None:
    """Beside the originals, or under another prefix; nothing that is there is written over."""
    bucket.fill(tree)
    fleet = tmp_path / "fleet.parquet"
    audit([bucket.url], fleet, depth="content")

    def keys() -> dict[str, bytes]:
        pages = obstore.list(bucket.store)
        names = [found["path"] for page in pages for found in page]
        return {name: bytes(obstore.get(bucket.store, name).bytes()) for name in names}

    before = keys()
    where: Any = {"suffix": "old"} if beside else {"to": f"{bucket.url}/pinned"}
    done = [one for one in repin_all(fleet, OLD, **where) if one.outcome is CopyOutcome.WRITTEN]
    after = keys()
    assert before.items() <= after.items()
    assert {f"{bucket.url}/{key}" for key in after.keys() - before.keys()} == {
        one.to for one in done
    }
    assert done
    for one in done:
        copy = tmp_path / "copy"
        copy.write_bytes(after[one.to.removeprefix(f"{bucket.url}/")])
        assert predict(copy, find_release("jaxlib 0.5.3")).holds(Stage.DECODE)
    again = list(repin_all(fleet, OLD, **where))
    assert sum(one.outcome is CopyOutcome.THERE for one in again) == len(done)
    key = done[0].to.removeprefix(f"{bucket.url}/")
    bucket.put(key, b"somebody else's")
    (other,) = [one for one in repin_all(fleet, OLD, **where) if one.place == done[0].place]
    assert other.outcome is CopyOutcome.FAILED
    assert keys() == after | {key: b"somebody else's"}


def test_copies_beside_originals_keep_their_ending(tree: Path, tmp_path: Path) -> None:
    """Of a folder too; a suffix that leads elsewhere is refused."""
    fleet = tmp_path / "fleet.parquet"
    before = _content(tree)
    audit([str(tree)], fleet, depth="content")
    done = [
        one for one in repin_all(fleet, OLD, suffix="old") if one.outcome is CopyOutcome.WRITTEN
    ]
    assert done
    for one in done:
        assert one.to in {
            one.place.removesuffix(ending) + f".old{ending}"
            for ending in (".mlir.bc", ".exported")
            if one.place.endswith(ending)
        }
    assert before.items() <= _content(tree).items()
    wrong: Any
    for wrong in ({"suffix": "../x"}, {}, {"to": "x", "suffix": "y"}):
        with pytest.raises(PlaceError):
            list(repin_all(fleet, OLD, **wrong))


class _Losing(http.server.BaseHTTPRequestHandler):
    """A store that answers what it has not done, as proxies and gateways do."""

    how, held = "", dict[str, bytes]()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _say(self, code: int, data: bytes = b"") -> None:
        self.send_response(code)
        for name, value in (("ETag", '"x"'), ("Content-Length", str(len(data)))):
            self.send_header(name, value)
        self.send_header("Last-Modified", "Mon, 23 Nov 2026 00:00:00 GMT")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_GET(self) -> None:
        """Return an object."""
        found = self.held.get(self.path)
        self._say(404 if found is None else 200, found or b"")

    def do_HEAD(self) -> None:
        """Say what it is."""
        self.do_GET()

    def do_PUT(self) -> None:
        """Write an object, a half of it, or none; or write it and fail."""
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path in self.held:
            self._say(412)
            return
        self.held |= {"whole": {self.path: data}, "torn": {self.path: data[:9]}, "lost": {}}.get(
            self.how, {self.path: data}
        )
        self._say(500 if self.how == "unanswered" else 200)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("whole", ""), ("unanswered", ""), ("torn", "9 are there"), ("lost", "not found"),
        ("other", "exists"),
    ],
)  # fmt: skip
def test_a_copy_is_written_when_the_bucket_has_it(
    how: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the server says of it is not enough; nor is it a failure that its answer was lost."""
    held = {"/bucket/a.mlir.bc": b"another"} if how == "other" else {}
    handler = type("Handler", (_Losing,), {"how": how, "held": held})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ALLOW_HTTP"):
            monkeypatch.setenv(name, "true")
        write = functools.partial(Written("s3://bucket", DEFAULT).write, "a.mlir.bc", bytes(5000))
        if said:
            with pytest.raises(FileError, match=said):
                write()
        else:
            write()
        server.shutdown()
    assert (held == {"/bucket/a.mlir.bc": bytes(5000)}) is (not said)
