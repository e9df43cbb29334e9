"""Downloads are compared with recorded digests: Releases, and what is installed beside them."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from compat_tests.helpers.wheels import PYTHON, Wanted, record, see_only, write_wheel
from portable.runtime.environments import (
    DigestMismatch,
    EnvironmentFailed,
    Environments,
    Phase,
    digests,
)
from portable.runtime.environments import index as index_module
from portable.runtime.environments.installer import Installer, PipInstaller, UvInstaller, find_uv

BESIDE = ("numpy==1.0", "ml_dtypes==1.0")


@dataclass(frozen=True, slots=True)
class CopyingPip(PipInstaller):
    """pip in copies of one environment: to install pip takes longer than all that is tested."""

    empty: Path = Path()

    def create(self, directory: Path, python: str) -> None:
        """Copy the empty environment, which is made when it is first needed."""
        if not self.empty.exists():
            super(CopyingPip, self).create(self.empty, python)
        shutil.copytree(self.empty, directory, symlinks=True, dirs_exist_ok=True)


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the environment that is copied will be."""
    return tmp_path_factory.mktemp("pip") / "empty"


@pytest.fixture(params=["uv", "pip"])
def client(request: pytest.FixtureRequest, empty: Path) -> Installer:
    """Return one of the package clients."""
    uv = find_uv()
    if request.param == "uv" and uv is None:
        pytest.skip("uv is not installed")
    return UvInstaller(uv=uv) if request.param == "uv" and uv else CopyingPip(empty=empty)


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the clients see a folder of wheels, and record what it has."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("torch_mlir", "numpy", "ml_dtypes"):
        write_wheel(folder, name, {f"{name}/__init__.py": b""})
    write_wheel(folder, "libtpu", {"libtpu/libtpu.so": b"native"})
    see_only(folder, tmp_path, monkeypatch)
    record(folder, tmp_path / "digests.txt")
    monkeypatch.setattr(digests, "TABLE", tmp_path / "digests.txt")
    rows = [f"[{PYTHON} ml_dtypes numpy] {' '.join(BESIDE)}"]
    for pinned in BESIDE:
        (wheel,) = digests.wheels(*pinned.split("=="))
        rows.append(f"{pinned} {wheel.sha256}")
    (tmp_path / "locks.txt").write_text("\n".join(rows), "utf-8")
    return folder


def test_pip_does_where_uv_is_missing() -> None:
    """The standard library's venv with pip makes the same environment."""
    environments = Environments(installer=PipInstaller())
    made = environments.get(Wanted("torch-mlir"))
    asked = [str(made.python), "-c", "import torch_mlir, numpy; print(1)"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "1\n"
    assert environments.get(Wanted("torch-mlir")) == made


def test_what_is_recorded_is_installed(client: Installer) -> None:
    """With all digests right nothing is unverified, also where that is refused."""
    told: list[object] = []
    environments = Environments(
        installer=client, require_hashes=True, progress=lambda _, phase: told.append(phase)
    )
    environments.get(Wanted("torch-mlir"))
    assert told == [Phase.CREATING, Phase.INSTALLING, Phase.READY]


@pytest.mark.parametrize("name", ["torch_mlir", "numpy", "ml_dtypes"])
def test_another_file_is_refused(name: str, client: Installer, index: Path) -> None:
    """The Release's own or one of its dependencies: both digests are named, nothing is left."""
    recorded = digests.wheels(name, "1.0")[0].sha256
    write_wheel(index, name, {f"{name}/__init__.py": b"raise SystemExit('owned')"})
    environments = Environments(installer=client)
    with pytest.raises(DigestMismatch, match=recorded) as refused:
        environments.get(Wanted("torch-mlir"))
    assert name.replace("_", "-") in str(refused.value).replace("_", "-")
    assert environments.all() == ()
    assert environments.broken() == ()


def test_another_file_is_refused_where_one_is_kept(index: Path) -> None:
    """A wheel that is never installed is compared too."""
    write_wheel(index, "libtpu", {"libtpu/libtpu.so": b"owned"})
    with pytest.raises(DigestMismatch, match=r"libtpu==1\.0"):
        Environments().get(Wanted("libtpu"))


def test_a_newer_dependency_is_not_taken(client: Installer, index: Path) -> None:
    """The lock names one version of each; what the index has gained since is not installed."""
    write_wheel(index, "numpy", {"numpy/__init__.py": b""}, "2.0")
    made = Environments(installer=client).get(Wanted("torch-mlir"))
    found = made.directory.glob("lib/python*/site-packages/numpy-*.dist-info")
    assert [path.name for path in found] == ["numpy-1.0.dist-info"]


@pytest.mark.parametrize("table", ["digests.txt", "locks.txt"])
def test_what_is_not_recorded_is_told_or_refused(
    table: str, client: Installer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unverified is said; with `require_hashes` nothing is made, and nothing made is used."""
    (tmp_path / "none.txt").touch()
    which = "TABLE" if table == "digests.txt" else "LOCKS"
    monkeypatch.setattr(digests, which, tmp_path / "none.txt")
    told: list[object] = []
    strict = Environments(installer=client, require_hashes=True)
    with pytest.raises(EnvironmentFailed, match=r"no digest of .*torch-mlir==1\.0 is recorded"):
        strict.get(Wanted("torch-mlir"))
    assert strict.all() == ()
    open_ = Environments(installer=client, progress=lambda _, phase: told.append(phase))
    open_.get(Wanted("torch-mlir"))
    assert told[0] is (Phase.UNVERIFIED if which == "TABLE" else Phase.UNLOCKED)
    with pytest.raises(EnvironmentFailed, match="no digest"):
        strict.get(Wanted("torch-mlir"))


@pytest.mark.parametrize("name", ["torch-mlir", "libtpu"])
def test_what_was_made_without_digests_is_made_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before they were recorded: used as it is, but not where verified files are asked for."""
    told: list[object] = []
    strict = Environments(require_hashes=True, progress=lambda _, phase: told.append(phase))
    with monkeypatch.context() as before:
        (tmp_path / "none.txt").touch()
        before.setattr(digests, "TABLE", tmp_path / "none.txt")
        made = Environments().get(Wanted(name))
    if made.library:
        # Of one file that is kept, the digest of its wheel is known all the same.
        assert strict.get(Wanted(name)) == made
        return
    (made.directory / "tampered").touch()
    assert Environments().get(Wanted(name)) == made
    strict.get(Wanted(name))
    assert told[0] is Phase.UNPROVEN
    assert not (made.directory / "tampered").exists()
    told.clear()
    strict.get(Wanted(name))
    assert told == []


@pytest.mark.parametrize("hashes", [{}, {"md5": "0" * 32}])
def test_an_index_without_sha256_is_told(
    hashes: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what is not known by its sha256 no row is made."""
    wheel = {"url": "http://127.0.0.1/a-1.0-py3-none-any.whl", "hashes": hashes}
    monkeypatch.setattr(index_module, "_locked", lambda *_: {"packages": [{"wheels": [wheel]}]})
    with pytest.raises(EnvironmentFailed, match="no sha256"):
        index_module.wheels_of("a", "1.0")
