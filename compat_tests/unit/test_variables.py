"""What is started knows no secret of the process that starts it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from portable.runtime.environments.installer import UvInstaller
from portable.system import children
from portable.system.worker import Driver, Worker

SECRETS = (
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "HF_TOKEN",
    "ACTIONS_RUNTIME_TOKEN",
    "PGPASSWORD",
)
TELL = "#!{python}\nimport json, os\njson.dump(dict(os.environ), open({to!r}, 'w'))\n"


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have secrets, as a job of CI has them, and what the clients need."""
    for name in SECRETS:
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://user:password@example.org/simple")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("XLA_FLAGS", "--xla_nothing")


def _told(tmp_path: Path, ask: object) -> dict[str, str]:
    to, program = tmp_path / "told.json", tmp_path / "program"
    program.write_text(TELL.format(python=sys.executable, to=str(to)), "utf-8")
    program.chmod(0o755)
    assert callable(ask)
    ask(str(program))
    found: dict[str, str] = json.loads(to.read_text("utf-8"))
    return found


def test_a_worker_knows_no_secret(tmp_path: Path) -> None:
    """Nor where packages come from: what it needs is on a list."""

    def ask(program: str) -> None:
        with Worker(program, Driver("plugin")) as worker:
            worker.ask({"kind": "probe"})

    told = _told(tmp_path, ask)
    assert "secret" not in told.values()
    assert "UV_DEFAULT_INDEX" not in told
    assert told["XLA_FLAGS"] == "--xla_nothing"
    assert told["PATH"]


@pytest.mark.parametrize(
    "name",
    [
        "OPENBLAS_CORETYPE",
        "OPENBLAS_NUM_THREADS",
        "OMP_NUM_THREADS",
        "MKL_CBWR",
        "NPY_DISABLE_CPU_FEATURES",
    ],
)
def test_a_worker_computes_as_its_user_chose(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another kernel or number of threads rounds otherwise than the user's own process."""
    monkeypatch.setenv(name, "chosen")

    def ask(program: str) -> None:
        with Worker(program, Driver("plugin")) as worker:
            worker.ask({"kind": "probe"})

    assert _told(tmp_path, ask)[name] == "chosen"


def test_an_installer_knows_its_index_and_no_secret(tmp_path: Path) -> None:
    """The way to the packages is passed on, and nothing else."""

    def ask(program: str) -> None:
        UvInstaller(uv=program).install(tmp_path, ["numpy"], dependencies=False)

    told = _told(tmp_path, ask)
    assert "secret" not in told.values()
    assert told["UV_DEFAULT_INDEX"].startswith("https://user")
    assert told["HTTPS_PROXY"]


def test_the_list_has_no_token() -> None:
    """Whatever its name ends with."""
    assert not [name for name in children.variables() if name.endswith(("TOKEN", "KEY", "SECRET"))]
