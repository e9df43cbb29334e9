"""An audit of a web server and of a Hub: what a folder with the same files says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet
import pytest

from compat_tests.fleet.conftest import numbered
from compat_tests.fleet.numbered import numbered_name
from portable.fleet import PlaceError, Politeness, audit
from portable.fleet.places import open_place
from portable.system.files import FileError

FAMILY = Path(__file__).parents[2] / "corpus" / "control_flow"
SERVER = Path(__file__).with_name("web_server.py")
SAME = ("size", "inside", "kind", "claimed", "producer", "minimum", "subject", "error", "digest")


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-I", str(SERVER), str(folder)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout
        try:
            yield f"http://127.0.0.1:{int(child.stdout.readline())}"
        finally:
            child.kill()


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A copy of one family of the corpus, with names that have to be escaped."""
    models = Path(shutil.copytree(FAMILY, tmp_path / "models"))
    good = next(models.rglob("*.mlir.bc"))
    for name in ("a b.mlir.bc", "100%.mlir.bc", "ü#?.mlir.bc", "<&'.mlir.bc", "a+b%20.mlir.bc"):
        shutil.copy(good, models / name)
    (models / "ö &#1").mkdir()
    shutil.copy(good, models / "ö &#1")
    return models


@pytest.fixture
def site(models: Path) -> Iterator[str]:
    """The URL of a server of these files."""
    with _serving(models) as url:
        yield url


def _said(path: Path, root: str) -> list[tuple[object, ...]]:
    rows = pyarrow.parquet.read_table(path).to_pylist()
    return [
        (row["place"].removeprefix(root).lstrip("/"), *(row[name] for name in SAME)) for row in rows
    ]


@pytest.mark.parametrize("depth", ["header", "content"])
def test_index_pages_lead_to_every_file(
    site: str, models: Path, tmp_path: Path, depth: str
) -> None:
    """Whatever their names; a second audit reads what changed and nothing else."""
    fleet, here = tmp_path / "web.parquet", tmp_path / "folder.parquet"
    done = audit([site], fleet, depth=depth)
    audit([str(models)], here, depth=depth)
    assert _said(fleet, site) == _said(here, str(models))
    first, second, *_ = sorted(models.rglob("*.mlir.bc"))
    second.write_bytes(first.read_bytes() + b"more")
    again = audit([site], fleet, depth=depth)
    assert (again.objects, again.unchanged) == (done.objects, done.objects - 1)


def test_a_list_names_what_lies_beside_it(site: str, models: Path, tmp_path: Path) -> None:
    """By paths and by URLs; what leads elsewhere, or is not there, is a row with the reason."""
    some = sorted(str(path.relative_to(models)) for path in models.rglob("*.mlir.bc"))[:3]
    lines = ["# ours", "", some[2], f"{site}/{some[0]}", some[1], some[1], "gone.mlir.bc"]
    away = ["../other.mlir.bc", "/etc/passwd", "http://127.0.0.1:1/x", "file:///etc/passwd"]
    (models / "list.txt").write_text("\n".join([*lines, *away]))
    audit([f"{site}/list.txt"], tmp_path / "fleet.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "fleet.parquet").to_pylist()
    good = [row["place"] for row in rows if row["error"] is None]
    assert good == [f"{site}/{name}" for name in some]
    errors = {row["place"].removeprefix(site + "/"): row["error"] for row in rows if row["error"]}
    assert "not found" in errors.pop("gone.mlir.bc")
    assert errors == dict.fromkeys(away, "leads out of the folder of its list")


def test_what_a_server_does_wrong_is_told(site: str, models: Path, tmp_path: Path) -> None:
    """Bodies without an end, what is forbidden; what is throttled is asked again."""
    good = next(models.rglob("*.mlir.bc")).read_bytes()
    for name in ("secret", "endless", "busy"):
        (models / name).mkdir()
        (models / name / "x.mlir.bc").write_bytes(good)
    (models / "list.txt").write_text("secret/x.mlir.bc\nendless/x.mlir.bc\nbusy/x.mlir.bc\n")
    done = audit([f"{site}/list.txt"], tmp_path / "fleet.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "fleet.parquet").to_pylist()
    said = {row["place"].rsplit("/", 2)[1]: row["error"] for row in rows}
    assert (done.artifacts, done.damaged) == (1, 2)
    assert "403" in said["secret"]
    assert said["endless"]
    assert said["busy"] is None
    for name in ("endless/", "secret/", "missing/"):
        with pytest.raises(PlaceError):
            audit([f"{site}/{name}"], tmp_path / "none.parquet")
    assert not (tmp_path / "none.parquet").exists()


def test_a_server_without_ranges_is_told(models: Path, tmp_path: Path) -> None:
    """A file is never read whole for its header."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "-b", "127.0.0.1", "-d", str(models)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout
        url = child.stdout.readline().split("(")[1].split("/)")[0]
        done = audit([url], tmp_path / "fleet.parquet")
        child.kill()
    assert done.artifacts == 0
    errors = pyarrow.parquet.read_table(tmp_path / "fleet.parquet")["error"].to_pylist()
    assert all("Range request not supported" in error for error in errors)


def test_a_repository_of_the_hub_says_what_its_folder_says(
    site: str, models: Path, tmp_path: Path
) -> None:
    """Huggingface_hub asks, as it asks the Hub; a second audit reads nothing."""
    fleet, here = tmp_path / "hub.parquet", tmp_path / "folder.parquet"
    program = (
        "import json, sys; from portable.fleet import audit;"
        "print(json.dumps([audit(['hf://team/models'], sys.argv[1], depth='content').record()"
        " for _ in range(2)]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(fleet)],
        env={"HF_ENDPOINT": f"{site}/hub", "PATH": "", "HOME": str(tmp_path),
             "PYTHONPATH": str(Path(__file__).parents[2])},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    first, second = json.loads(ran.stdout)
    audit([str(models)], here, depth="content")
    assert _said(fleet, "hf://team/models") == _said(here, str(models))
    assert first["unchanged"] == 0
    assert second["unchanged"] == first["objects"] == len(_said(here, "")) > 50


def test_a_server_is_asked_within_the_limits(site: str, models: Path, tmp_path: Path) -> None:
    """So many requests a second: for ten files ten times to ask and ten times to read."""
    names = sorted(str(path.relative_to(models)) for path in models.rglob("*.mlir.bc"))[:10]
    (models / "list.txt").write_text("\n".join(names))
    start = time.monotonic()
    audit([f"{site}/list.txt"], tmp_path / "fleet.parquet", limits=Politeness(4, 40))
    assert time.monotonic() - start >= 20 / 40  # as long as it takes at least


def test_urls_that_name_no_folder_are_refused(site: str) -> None:
    """With one line; a query names one answer and no folder."""
    with pytest.raises(PlaceError):
        open_place(f"{site}/?list=1")
    with pytest.raises(PlaceError, match="not implemented"):
        open_place("hf://")
    with pytest.raises((PlaceError, FileError)):
        list(open_place("http://127.0.0.1:9/x/").objects())
    with urllib.request.urlopen(f"{site}/") as page:  # noqa: S310 - on this machine
        assert b"up" in page.read()


LISTING = """
import sys
from portable.fleet.places import open_place
def most():
    with open("/proc/self/status") as status:
        return int(status.read().partition("VmHWM:")[2].split()[0])
place, before = open_place(sys.argv[1]), most()
print({}, most() - before)
"""


@pytest.mark.parametrize("page", ["", "all.txt"])
@pytest.mark.parametrize(
    ("ask", "most"), [("sum(1 for _ in place._keys())", 200), ("sum(place.counts())", 150)]
)
def test_a_long_page_is_not_held(page: str, ask: str, most: int) -> None:
    """Of each name little more than itself, and of those that are only counted nothing."""
    count = 100_000
    with numbered(count) as url:
        ran = subprocess.run(
            [sys.executable, "-c", LISTING.format(ask), f"{url}/web/{page}"],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    found, kilobytes = map(int, ran.stdout.split())
    assert found == count
    assert kilobytes << 10 < count * most


@pytest.mark.parametrize("page", ["", "all.txt"])
def test_many_names_are_all_listed(page: str, tmp_path: Path) -> None:
    """Once and in order, odd ones too, and read."""
    with numbered(2500) as url:
        done = audit([f"{url}/web/{page}"], tmp_path / "fleet.parquet")
    places = pyarrow.parquet.read_table(tmp_path / "fleet.parquet")["place"].to_pylist()
    assert places == [f"{url}/web/{numbered_name(number)}" for number in range(2500)]
    assert (done.artifacts, done.damaged) == (2500, 0)


@pytest.mark.parametrize(("page", "piece"), [("", "<a href='x"), ("all.txt", "x"), ("", "<a ")])
def test_a_page_of_one_long_word_is_refused(page: str, piece: str, tmp_path: Path) -> None:
    """What follows would be looked at again with all that came before."""
    (tmp_path / "all.txt").write_text(piece * (5_000_000 // len(piece)))
    (tmp_path / "index.html").write_text(piece * (5_000_000 // len(piece)))
    command = [
        sys.executable,
        "-u",
        "-m",
        "http.server",
        "0",
        "-b",
        "127.0.0.1",
        "-d",
        str(tmp_path),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout
        url = child.stdout.readline().split("(")[1].split("/)")[0]
        began = time.process_time()
        with pytest.raises(PlaceError, match="a link or a line of more than"):
            list(open_place(f"{url}/{page}").objects())
        child.kill()
    assert time.process_time() - began < 5
