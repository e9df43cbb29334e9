"""`portable env`: what it lists, makes and clears, from wheels written here."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat_tests.helpers.hermetic import isolate
from compat_tests.helpers.terminal import on_terminal
from compat_tests.helpers.wheels import record, see_only, write_wheel
from portable.cli import main
from portable.cli.usage import size as cli_size
from portable.releases import find_release
from portable.runtime.environments import Environments, digests

# A Release whose environment is one file, another one, and one that is not in the index below.
ONE, OTHER, ABSENT = "libtpu==0.0.30", "libtpu==0.0.51", "torch-mlir==20261001"
Make = Callable[..., None]
NAMES = [spec.replace("==", "-") for spec in (ONE, OTHER)]

pytestmark = [
    # About no Release: what is installed is written here.
    pytest.mark.old_releases,
    pytest.mark.skipif(
        f"{sys.version_info.major}.{sys.version_info.minor}" != find_release(ONE).python,
        reason=f"needs Python {find_release(ONE).python}",
    ),
]


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the clients see nothing but two wheels."""
    folder = tmp_path / "index"
    folder.mkdir()
    for spec in (ONE, OTHER):
        name, _, version = spec.partition("==")
        write_wheel(folder, name, {"libtpu/libtpu.so": b"native" * 50}, version)
    isolate(monkeypatch, tmp_path)
    see_only(folder, tmp_path, monkeypatch)
    record(folder, tmp_path / "digests.txt")
    monkeypatch.setattr(digests, "TABLE", tmp_path / "digests.txt")
    return folder


@pytest.fixture
def made(kept: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return what makes environments: each by its client once, and copies of it after that."""

    def make(*specs: str) -> None:
        folder = Environments().directory
        (folder / ".locks").mkdir(parents=True, exist_ok=True)
        for spec in specs:
            name = spec.replace("==", "-")
            if spec not in kept:
                assert main(["env", "make", spec]) == 0
                kept[spec] = tmp_path_factory.mktemp("kept") / name
                shutil.copytree(folder / name, kept[spec])
            elif not (folder / name).exists():
                shutil.copytree(kept[spec], folder / name)
        assert {one.name for one in Environments().all()} >= {s.replace("==", "-") for s in specs}

    return make


@pytest.fixture(scope="module")
def kept() -> dict[str, Path]:
    """Return the environments that were made."""
    return {}


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = main(["env", *words, "--format", "json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (2 if found.get("failed") or found.get("busy") else 0)
    return found


def test_environments_are_made_listed_and_cleared(capsys: pytest.CaptureFixture[str]) -> None:
    """All three actions, as text and as JSON."""
    assert main(["env", "list"]) == 0
    assert capsys.readouterr().out.startswith("0 environments, 0.0 MB in ")
    assert main(["env", "make", ONE, OTHER, ONE]) == 0
    told = capsys.readouterr()
    assert [line.split(":")[0] for line in told.out.splitlines()] == NAMES
    assert told.err.splitlines() == [f"{name}: fetching the wheel" for name in NAMES]
    listed = _json(capsys, "list")
    assert [one["name"] for one in listed["environments"]] == NAMES
    assert all(int(one["bytes"]) > 300 for one in listed["environments"])
    assert listed["unfinished"] == []
    assert main(["env", "list"]) == 0
    text = capsys.readouterr().out
    assert "frees" in text
    assert all(name in text for name in NAMES)
    assert _json(capsys, "clear", NAMES[0])["removed"] == NAMES[:1]
    assert main(["env", "clear"]) == 0
    assert capsys.readouterr().out == f"{NAMES[1]}: removed\n1 environments removed\n"
    assert Environments().all() == ()


def test_what_is_there_is_not_made_again(capsys: pytest.CaptureFixture[str]) -> None:
    """And is no news."""
    main(["env", "make", ONE])
    capsys.readouterr()
    assert main(["env", "make", ONE]) == 0
    assert capsys.readouterr().err == ""


def test_one_that_cannot_be_made_does_not_keep_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is told on one line, with exit code 2."""
    assert main(["env", "make", ABSENT, ONE]) == 2
    told = capsys.readouterr()
    assert told.out.startswith(f"{NAMES[0]}: ready")
    (complaint,) = (line for line in told.err.splitlines() if line.startswith("error"))
    assert "torch-mlir" in complaint
    failed = _json(capsys, "make", ABSENT, ONE)["failed"]
    assert [one["release"] for one in failed] == ["torch-mlir 20261001"]


def test_only_what_is_old_is_cleared(capsys: pytest.CaptureFixture[str], made: Make) -> None:
    """`--unused-for` counts days since an environment was last used."""
    made(ONE, OTHER)
    capsys.readouterr()
    old = time.time() - 3 * 86400
    marker = Environments().find(NAMES[0]).directory / "portable-environment.json"
    os.utime(marker, (old, old))
    assert _json(capsys, "clear", "--unused-for", "4")["removed"] == []
    assert _json(capsys, "clear", *NAMES, "--unused-for", "2")["removed"] == NAMES[:1]


def test_half_made_environments_are_told_and_cleared(
    capsys: pytest.CaptureFixture[str], made: Make
) -> None:
    """A folder without its marker is no environment, and takes space."""
    made(ONE)
    capsys.readouterr()
    (Environments().find(NAMES[0]).directory / "portable-environment.json").unlink()
    assert _json(capsys, "list")["unfinished"] == NAMES[:1]
    main(["env", "list"])
    assert f"{NAMES[0]}: unfinished or broken\n" in capsys.readouterr().out
    assert _json(capsys, "clear", NAMES[0])["removed"] == NAMES[:1]


def test_what_another_run_holds_is_left(capsys: pytest.CaptureFixture[str], made: Make) -> None:
    """And told, where it was asked for by name."""
    made(ONE)
    capsys.readouterr()
    with (Environments().directory / ".locks" / NAMES[0]).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert _json(capsys, "clear", NAMES[0])["busy"] == NAMES[:1]
    assert [one.name for one in Environments().all()] == NAMES[:1]


_HOLDER = """
from portable.runtime.environments import Environments
with Environments().find({!r}).worker() as worker:
    worker.ask({{"kind": "probe"}})
    print("held", flush=True)
    input()
"""


@pytest.mark.parametrize("end", [subprocess.Popen.kill, subprocess.Popen.communicate])
def test_what_a_worker_runs_in_is_not_removed(
    end: Callable[[subprocess.Popen[bytes]], object],
    capsys: pytest.CaptureFixture[str],
    made: Make,
) -> None:
    """Neither cleared nor pruned, from its first job until it is closed or its process killed."""
    made(ONE)
    capsys.readouterr()
    command = [sys.executable, "-c", _HOLDER.format(NAMES[0])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert _json(capsys, "clear", NAMES[0])["busy"] == NAMES[:1]
        assert _json(capsys, "prune", "--keep", "0")["removed"] == []
        assert [one.name for one in Environments().all()] == NAMES[:1]
        end(holder)
    assert _json(capsys, "clear", NAMES[0])["removed"] == NAMES[:1]


def test_two_workers_share_an_environment(capsys: pytest.CaptureFixture[str], made: Make) -> None:
    """Neither waits for the other; it is free when both are closed, and not before."""
    made(ONE)
    capsys.readouterr()
    environment = Environments().find(NAMES[0])
    with environment.worker() as one, environment.worker() as other:
        for worker in (one, other):
            worker.ask({"kind": "probe"})
        one.close()
        assert _json(capsys, "clear", NAMES[0])["busy"] == NAMES[:1]
    assert _json(capsys, "clear", NAMES[0])["removed"] == NAMES[:1]


@pytest.mark.parametrize(
    "words",
    [
        ["list", "jaxlib"],
        ["make"],
        ["make", "1.9.0"],
        ["make", "jaxlob"],
        ["make", "jaxlib==99"],
        ["make", ONE, "--unused-for", "3"],
        ["clear", "jaxlib-0.4.33"],
        ["clear", "../index"],
        ["clear", "--unused-for", "-1"],
        ["clear", "--unused-for", "nan"],
        ["prune"],
        ["prune", "libtpu", "--keep", "1GB"],
        ["prune", "--keep", "-1"],
        ["prune", "--keep", "nan"],
        ["prune", "--keep", "inf GB"],
        ["prune", "--keep", "10 parsecs"],
        ["list", "--keep", "1GB"],
    ],
)
def test_bad_requests_are_one_line(
    words: list[str], index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and nothing is made or removed."""
    assert main(["env", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: ")
    assert told.err.count("\n") == 1
    assert Environments().all() == ()
    assert len(list(index.iterdir())) == 2


def test_a_terminal_gets_a_bar() -> None:
    """With rich on a terminal the bar counts to the end; standard output stays clean."""
    pytest.importorskip("rich")
    first = "from pathlib import Path; from portable.runtime.environments import digests\n"
    first += f"digests.TABLE = Path({str(digests.TABLE)!r})"
    shown = on_terminal(["env", "make", ONE, OTHER], first)
    assert shown.code == 0
    assert [line.split(":")[0] for line in shown.out.splitlines()] == NAMES
    assert b"2/2" in shown.terminal
    assert b"fetching the wheel" in shown.terminal


def test_pruning_frees_the_least_recently_used(
    capsys: pytest.CaptureFixture[str], made: Make
) -> None:
    """Down to the size that is asked for and no further; what another run holds stays."""
    made(ONE, OTHER)
    folder = Environments().directory
    old = time.time() - 3600
    os.utime(folder / NAMES[1] / "portable-environment.json", (old, old))
    (folder / "half-made").mkdir()
    (folder / "half-made" / "big").write_bytes(bytes(5000))
    capsys.readouterr()
    one, other = (found["bytes"] for found in _json(capsys, "list")["environments"])
    half = {"name": "half-made", "bytes": 5000}

    def prune(keep: int) -> dict[str, Any]:
        found = _json(capsys, "prune", "--keep", str(keep))
        return {name: found[name] for name in ("removed", "freed", "bytes")}

    assert prune(one + other + 5000) == {"removed": [], "freed": 0, "bytes": one + other + 5000}
    assert prune(one + other + 1) == {"removed": [half], "freed": 5000, "bytes": one + other}
    with (folder / ".locks" / NAMES[1]).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        removed = [{"name": NAMES[0], "bytes": one}]
        assert prune(other) == {"removed": removed, "freed": one, "bytes": other}
        assert prune(0) == {"removed": [], "freed": 0, "bytes": other}
    made(ONE)
    capsys.readouterr()
    assert prune(one)["removed"] == [{"name": NAMES[1], "bytes": other}]
    assert main(["env", "prune", "--keep", "0"]) == 0
    assert Environments().all() == ()
    told = capsys.readouterr().out.splitlines()
    assert told == [
        f"{NAMES[0]}: removed, 0.0 MB freed",
        f"1 environments removed, 0.0 MB freed, 0.0 MB left in {folder}",
    ]


@pytest.mark.parametrize("size", ["10 gb", "10GB", "1e10", "10000 MB", "1e7kB", "10000000000"])
def test_sizes_are_written_as_people_write_them(
    size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a decimal unit as `env list` shows it, or in bytes."""
    assert cli_size(size) == 10**10
    assert main(["env", "prune", "--keep", size]) == 0
    assert capsys.readouterr().out.startswith("0 environments removed")


def test_what_is_large_is_announced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before it is fetched, with its size, without a terminal too; once it is here no more."""
    table = tmp_path / "digests.txt"
    digest, _, name = table.read_text("utf-8").splitlines()[0].split()
    for size, announced in ((500_000_001, ["fetching up to 500 MB"]), (500_000_000, [])):
        other = tmp_path / f"{size}.txt"
        other.write_text(f"{digest} {size} {name}\n", "utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(digests, "TABLE", other)
            main(["env", "make", ONE])
            told = capsys.readouterr().err.splitlines()
            phases = [*announced, "fetching the wheel"]
            assert told == [f"{NAMES[0]}: {phase}" for phase in phases]
            main(["env", "make", ONE])
            assert capsys.readouterr().err == ""
        main(["env", "clear"])
        capsys.readouterr()
