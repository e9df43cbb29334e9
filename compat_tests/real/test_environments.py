"""Environments made by the real clients, from wheels written here: no network is needed."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from compat_tests.helpers.hermetic import isolate
from compat_tests.helpers.wheels import PYTHON, Wanted, see_only, write_wheel
from portable.runtime.environments import (
    EnvironmentBusy,
    EnvironmentFailed,
    EnvironmentMissing,
    Environments,
    Phase,
    PythonMissing,
    Recipe,
    ReleaseNotFound,
    Unreachable,
    UnsupportedDistribution,
    find_python,
)
from portable.runtime.environments import installer as installers
from portable.runtime.environments.installer import PipInstaller, find_uv

# About no Release: what is installed is written here.
pytestmark = pytest.mark.old_releases
needs_uv = pytest.mark.skipif(find_uv() is None, reason="uv is not installed")


WHOLE = Wanted("torch-mlir")
KEPT = Wanted("libtpu")


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the clients see nothing but a folder of wheels."""
    folder = tmp_path / "index"
    folder.mkdir()
    write_wheel(
        folder, "torch_mlir", {"torch_mlir/ir.py": b"x = 1\n", "torch_mlir/big.so": b"1" * 999}
    )
    for beside in ("numpy", "ml_dtypes"):
        write_wheel(folder, beside, {f"{beside}/__init__.py": b""})
    native = {"libtpu/libtpu.so": b"native" * 500, "libtpu/other.so": b"x"}
    write_wheel(folder, "libtpu", native)
    write_wheel(folder, "jax_tt_plugin", {"jax_plugins/elsewhere/renamed.so": b"x"})
    isolate(monkeypatch, tmp_path)
    see_only(folder, tmp_path, monkeypatch)
    return folder


@pytest.fixture(params=["at hand", "pip"])
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take uv where it is installed, and pip as where it is not."""
    if request.param == "pip":
        monkeypatch.setattr(installers, "find_uv", lambda: None)


@needs_uv
def test_an_environment_is_made_once() -> None:
    """The second call finds the environment of the first, and nothing is installed again."""
    told: list[object] = []
    environments = Environments(progress=lambda _, phase: told.append(phase))
    made = environments.get(WHOLE)
    unverified = [Phase.UNVERIFIED, Phase.UNLOCKED]
    assert told == [*unverified, Phase.CREATING, Phase.INSTALLING, Phase.READY]
    assert environments.get(WHOLE) == made
    assert len(told) == 5
    asked = [str(made.python), "-c", "import torch_mlir.ir; print(torch_mlir.ir.x)"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "1\n"
    assert environments.find("torch-mlir-1.0") == made
    assert made.consumer == "torch-mlir 1.0"
    assert made.size() > 0


@needs_uv
def test_a_relative_folder_is_that_of_where_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Children start in folders of their own, and find the environment all the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PORTABLE_CACHE", "cache")
    made = Environments().get(WHOLE)
    assert made.python.is_relative_to(tmp_path / "cache")
    subprocess.run([str(made.python), "-c", ""], cwd="/", check=True)


@needs_uv
@pytest.mark.parametrize(
    "damage", ["lost file", "cut file", "no marker", "bad marker", "no python"]
)
def test_a_broken_environment_is_made_again(damage: str) -> None:
    """Whatever is missing or of another size, the next call makes a whole environment of it."""
    environments = Environments()
    made = environments.get(WHOLE)
    (native,) = made.directory.glob("lib/python*/site-packages/torch_mlir/big.so")
    marker = made.directory / "portable-environment.json"
    match damage:
        case "lost file":
            native.unlink()
        case "cut file":
            native.unlink()
            native.write_bytes(b"1")
        case "no marker":
            marker.unlink()
        case "bad marker":
            marker.write_text("{", encoding="utf-8")
        case _:
            made.python.unlink()
    again = environments.get(WHOLE)
    assert again == made
    assert native.stat().st_size == 999
    assert subprocess.run([str(again.python), "-c", ""], check=True).returncode == 0


@needs_uv
def test_another_recipe_makes_another_environment() -> None:
    """An environment that was installed for another numpy is not reused."""
    environments = Environments()
    environments.get(WHOLE)
    with pytest.raises(ReleaseNotFound):
        environments.get(Wanted("torch-mlir", numpy=">=2"))
    assert environments.all() == ()


@pytest.mark.usefixtures("client")
def test_one_file_is_kept_of_awrite_wheel(index: Path) -> None:
    """Where one library is all that is needed the rest of the wheel is thrown away."""
    made = Environments().get(KEPT)
    wheel = index / "libtpu-1.0-py3-none-any.whl"
    assert made.library is not None
    assert made.library.read_bytes() == b"native" * 500
    assert made.wheel == wheel.name
    assert made.sha256 == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert sorted(path.name for path in made.directory.iterdir()) == [
        "libtpu.so",
        "portable-environment.json",
    ]
    made.library.write_bytes(b"cut")
    assert Environments().get(KEPT).library == made.library
    assert made.library.stat().st_size == 3000


@pytest.mark.usefixtures("client")
def test_a_wheel_without_the_library_is_an_error() -> None:
    """A library that moved inside its wheel is told, and nothing half-made is left."""
    environments = Environments()
    with pytest.raises(EnvironmentFailed, match="libtt"):
        environments.get(Wanted("jax-tt-plugin"))
    assert not (environments.directory / "jax-tt-plugin-1.0").exists()


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("wanted", [Wanted("torch-mlir", "7.0"), Wanted("libtpu", "7.0")])
def test_a_release_that_does_not_exist(wanted: Wanted) -> None:
    """A version that nobody published is a typed error with what the client said."""
    environments = Environments()
    with pytest.raises(ReleaseNotFound, match=r"7\.0"):
        environments.get(wanted)
    assert environments.all() == ()


def test_offline_uses_what_is_here_and_fetches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """PORTABLE_OFFLINE leaves a warm cache in use; a cold one says what to do."""
    made = Environments().get(KEPT)
    monkeypatch.setenv("PORTABLE_OFFLINE", "1")
    assert Environments().get(KEPT) == made
    Environments().clear()
    with pytest.raises(Unreachable, match="PORTABLE_OFFLINE unset"):
        Environments().get(KEPT)
    monkeypatch.setenv("PORTABLE_OFFLINE", "0")
    assert Environments().get(KEPT) == made


@needs_uv
def test_offline_asks_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even for what uv installs; without PORTABLE_OFFLINE it does ask."""
    asked: list[str] = []

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Have nothing."""
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Be quiet."""

    monkeypatch.delenv("UV_FIND_LINKS")
    monkeypatch.delenv("UV_OFFLINE")
    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://127.0.0.1:{server.server_port}/simple")
        with pytest.raises(Unreachable, match="PORTABLE_OFFLINE"):
            Environments(offline=True).get(WHOLE)
        assert asked == []
        with pytest.raises(ReleaseNotFound):
            Environments(offline=False).get(WHOLE)
        assert asked != []
        server.shutdown()


def test_a_python_that_is_not_here() -> None:
    """A Release whose interpreter is missing names it."""
    with pytest.raises(PythonMissing, match=r"3\.99"):
        Environments().get(Wanted("libtpu", python="3.99"))


def test_a_shim_that_fails_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter counts when it runs and is of that version, not because of its name."""
    shims = tmp_path / "shims"
    shims.mkdir()
    for name, text in (("python3.98", "#!/bin/sh\nexit 127\n"), ("python3.97", "#!/bin/sh\n")):
        (shims / name).write_text(text, encoding="utf-8")
        (shims / name).chmod(0o755)
    (shims / "python3.96").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(shims), prepend=os.pathsep)
    for version in ("3.98", "3.97", "3.96"):
        with pytest.raises(PythonMissing):
            find_python(version)
    assert find_python(PYTHON).exists()


def test_a_distribution_that_cannot_be_driven() -> None:
    """A distribution without a family is named, with those that have one."""
    with pytest.raises(UnsupportedDistribution, match="jaxlib"):
        Recipe.of(Wanted("tensorflow-lite"))


def test_old_jaxlibs_get_old_companions() -> None:
    """The numpy 1 and an ml_dtypes before 0.5 and a scipy that fit belong together."""
    old, new = (Recipe.of(Wanted("jaxlib", numpy=numpy)).also for numpy in ("<2", ">=2.0"))
    assert old == ("numpy<2", "ml_dtypes<0.5", "scipy<1.14")
    assert new == ("numpy>=2.0", "ml_dtypes", "scipy")


def test_a_patch_that_pytorch_never_had() -> None:
    """torch_xla 2.6.1 and 2.8.1 run on the PyTorch of their minor; the others on their own."""
    for version, torch in (("2.6.1", "2.6.0"), ("2.8.1", "2.8.0"), ("2.9.0", "2.9.0")):
        also = Recipe.of(Wanted("torch-xla", version)).also
        assert {f"torch=={torch}", f"torch-xla=={version}"} <= set(also)


def test_executing_may_need_the_wholewrite_wheel() -> None:
    """What is one file to read with is another environment to execute in; others are the same."""
    reads, executes = (Recipe.of(Wanted("tensorflow"), to_execute=each) for each in (False, True))
    assert (reads.name, executes.name) == ("tensorflow-1.0", "tensorflow-1.0-whole")
    assert reads.keep
    assert not executes.keep
    assert executes.also == ("numpy", "tensorflow==1.0")
    assert Recipe.of(WHOLE, to_execute=True) == Recipe.of(WHOLE)


_RACE = """
import sys
sys.path.insert(0, sys.argv[1])
from compat_tests_wanted import KEPT
from portable.runtime.environments import Environments
told = []
environment = Environments(progress=lambda name, phase: told.append(phase.name)).get(KEPT)
print(environment.library, *told)
"""


def test_two_runs_make_one_environment(tmp_path: Path) -> None:
    """Of several processes that want the same environment one makes it, the others wait for it."""
    source = "from types import SimpleNamespace\nKEPT = SimpleNamespace(distribution='libtpu',"
    source += f" version='1.0', python={PYTHON!r}, numpy='')\n"
    (tmp_path / "compat_tests_wanted.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-c", _RACE, str(tmp_path)]
    root = Path(__file__).parents[2]
    runs = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(4)
    ]
    said = [run.communicate(timeout=60)[0].split() for run in runs]
    assert [run.returncode for run in runs] == [0] * 4
    assert len({words[0] for words in said}) == 1
    assert sum("FETCHING" in words for words in said) == 1


def test_an_environment_that_is_held_is_left_alone(tmp_path: Path) -> None:
    """Another run's lock is waited for in vain with patience 0, and `clear` does not break it."""
    environments = Environments(patience=0.0)
    made = environments.get(KEPT)
    with (tmp_path / "cache" / "environments" / ".locks" / made.name).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert environments.clear() == []
        (made.directory / "libtpu.so").unlink()
        with pytest.raises(EnvironmentBusy, match="another run"):
            environments.get(KEPT)
    assert environments.get(KEPT) == made


def test_clearing() -> None:
    """Environments go by name, by age, or all; half-made ones too, and twice does no harm."""
    environments = Environments()
    made = environments.get(KEPT)
    (environments.directory / "jaxlib-0.0").mkdir()
    assert environments.clear(["jaxlib-0.0"]) == ["jaxlib-0.0"]
    assert environments.clear(unused_for=3600) == []
    os.utime(made.directory / "portable-environment.json", (0, 0))
    assert environments.all()[0].last_used == 0
    assert environments.clear(unused_for=3600) == [made.name]
    assert environments.clear() == []
    with pytest.raises(EnvironmentMissing):
        environments.find(made.name)


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    """A cache folder that is no folder is a typed error that names the setting."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(EnvironmentFailed, match="PORTABLE_CACHE"):
        Environments(tmp_path / "file" / "x").get(KEPT)


@dataclass(frozen=True, slots=True)
class _Interrupted(PipInstaller):
    """An installer that is stopped in the middle, by ctrl-C or a full disk."""

    error: BaseException | None = None

    def create(self, directory: Path, python: str) -> None:
        """Leave half an environment."""
        del python
        (directory / "bin").mkdir(parents=True)
        assert self.error is not None
        raise self.error


@needs_uv
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_an_interrupted_installation_is_not_taken_for_whole(error: BaseException) -> None:
    """What ctrl-C or a full disk leaves behind is made again by the next run."""
    with pytest.raises((KeyboardInterrupt, EnvironmentFailed)):
        Environments(installer=_Interrupted(error=error)).get(WHOLE)
    assert Environments().all() == ()
    made = Environments().get(WHOLE)
    assert json.loads((made.directory / "portable-environment.json").read_text())["files"]
