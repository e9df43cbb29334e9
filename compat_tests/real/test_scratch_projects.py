"""The pre-commit hook and the pytest plugin, each tried for real in a project of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import uv

pytestmark = pytest.mark.old_releases

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"
POLICY = """
[consumers]
old = ["jaxlib==0.4.30"]
serving = ["jaxlib>=0.5"]

[rules]
consumers = ["@{}"]
"""
CONFIGURATION = """
repos:
  - repo: {}
    rev: {}
    hooks:
      - id: portable-gate
"""


def _run(
    *command: str, folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTEST"))
    }
    return subprocess.run(
        command,
        cwd=folder,
        env=clean | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )


def _git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    done = _run("git", *identity, *words, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _as_repository(folder: Path) -> str:
    """Commit the package as it is in the working tree, and return the commit."""
    for name in (
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        ".pre-commit-hooks.yaml",
    ):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, folder)
    shutil.copytree(
        ROOT / "portable", folder / "portable", ignore=shutil.ignore_patterns("__pycache__")
    )
    _git(folder, "init", "-q")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "as it is")
    return _git(folder, "rev-parse", "HEAD")


def test_pre_commit_refuses_an_artifact_that_breaks_the_policy(tmp_path: Path) -> None:
    """A repository that names the hook cannot commit an artifact its consumers do not read."""
    source, project = tmp_path / "source", tmp_path / "project"
    source.mkdir()
    project.mkdir()
    commit = _as_repository(source)
    (project / ".pre-commit-config.yaml").write_text(CONFIGURATION.format(source.as_uri(), commit))
    (project / "portable.toml").write_text(POLICY.format("old"))
    _git(project, "init", "-q")
    shutil.copy(ARTIFACTS / "add_f32+0.9.0.mlir.bc", project / "add.mlir.bc")
    shutil.copy(ARTIFACTS / "tan+1.4.0.mlir.bc", project / "tan.mlir.bc")
    _git(project, "add", "-A")
    home = {"PRE_COMMIT_HOME": str(tmp_path / "cache")}
    command = (sys.executable, "-m", "pre_commit", "run", "--all-files")

    refused = _run(*command, folder=project, environment=home)
    assert refused.returncode == 1, refused.stdout + refused.stderr
    assert "tan.mlir.bc: consumer: jaxlib 0.4.30" in refused.stdout
    assert "add.mlir.bc: consumer" not in refused.stdout

    (project / "portable.toml").write_text(POLICY.format("serving"))
    _git(project, "add", "-A")
    passed = _run(*command, folder=project, environment=home)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "portable gate" in passed.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the interpreter of an environment with pytest and this package, without a compiler."""
    folder = tmp_path_factory.mktemp("environment")
    tool = uv.find_uv_bin()
    source = folder / "source"
    source.mkdir()
    _as_repository(source)
    interpreter = folder / "venv" / "bin" / "python"
    for command in (
        (tool, "venv", "-q", "--python", sys.executable, str(folder / "venv")),
        (tool, "pip", "install", "-q", "--python", str(interpreter), "pytest", str(source)),
    ):
        done = _run(*command, folder=folder)
        assert done.returncode == 0, done.stderr
    return str(interpreter)


TESTS = """
import os
import pytest

def export():
    with open("tan.mlir.bc", "rb") as stream:
        return stream.read()

def test_by_path(assert_portable):
    verdicts = assert_portable("tan.mlir.bc", ["jaxlib>=0.5"])
    assert len(verdicts) > 20

def test_by_function(assert_portable):
    assert_portable(export, "jaxlib>=0.5,<0.6")

def test_by_policy(assert_portable):
    assert_portable(export())

def test_by_set(assert_portable):
    assert_portable(export, "@old")

def test_wrong_specifier(assert_portable):
    assert_portable(export, "jaxlb>=1")
"""


def test_the_pytest_plugin_is_there_once_installed(python: str, tmp_path: Path) -> None:
    """Installing the package is enough; a failure names the consumers and why."""
    (tmp_path / "portable.toml").write_text(POLICY.format("serving"))
    (tmp_path / "test_export.py").write_text(TESTS)
    shutil.copy(ARTIFACTS / "tan+1.4.0.mlir.bc", tmp_path / "tan.mlir.bc")
    done = _run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder=tmp_path)
    assert "2 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert "not portable to 1 of 1 consumers (predicted):" in done.stdout
    assert "jaxlib 0.4.30: incompatible: does not read it: op tan_v1 needs 1.4.0" in done.stdout
    assert "did you mean jaxlib" in done.stdout


def test_the_plugin_costs_nothing_until_it_is_used(python: str, tmp_path: Path) -> None:
    """Tests that do not ask for the fixture load nothing of the package but the plugin itself."""
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n\ndef test_nothing():\n"
        "    loaded = {m for m in sys.modules if m.startswith('portable')}\n"
        "    needed = {'portable', 'portable.system', 'portable.system.lazy'}\n"
        "    assert loaded == {*needed, 'portable.pytest_plugin'}\n"
    )
    done = _run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder=tmp_path)
    assert done.returncode == 0, done.stdout


PINNED = """
def export():
    with open("tan.mlir.bc", "rb") as stream:
        return stream.read()

def test_as_it_is(assert_portable):
    assert_portable(export, "jaxlib==0.4.30")

def test_pinned(assert_portable):
    (verdict,) = assert_portable(export, "jaxlib==0.4.30", pin=True)
    assert verdict.compatible

def test_that_cannot_be_pinned(assert_portable):
    assert_portable("future.mlir.bc", "jaxlib==0.4.30", pin=True)
"""


def test_what_is_pinned_first_is_said(tmp_path: Path) -> None:
    """An artifact that is too new for a consumer is read by it once it is pinned."""
    (tmp_path / "test_export.py").write_text(PINNED)
    shutil.copy(ARTIFACTS / "tan+1.4.0.mlir.bc", tmp_path / "tan.mlir.bc")
    future = ROOT / "corpus" / "negative" / "future_op.mlir.bc"
    shutil.copy(future, tmp_path / "future.mlir.bc")
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    done = _run(sys.executable, *words, folder=tmp_path)
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "judged as it is; pin=True pins it for them first" in done.stdout
    assert "cannot be pinned for these consumers" in done.stdout


STAGES = """
def test_read(assert_portable):
    assert_portable("call.mlir.bc", "jaxlib==0.9.1")

def test_executed(assert_portable):
    assert_portable("call.mlir.bc", "jaxlib==0.9.1", stage="execute")

def test_by_the_rules(assert_portable):
    assert_portable("call.mlir.bc")

def test_no_stage(assert_portable):
    assert_portable("call.mlir.bc", "jaxlib==0.9.1", stage="run")
"""


def test_consumers_have_to_get_as_far_as_is_said(tmp_path: Path) -> None:
    """A custom call that nothing is known of is read by all; whether they compile it is open."""
    (tmp_path / "test_stages.py").write_text(STAGES)
    shutil.copy(ARTIFACTS / "custom_calls+1.0.0.mlir.bc", tmp_path / "call.mlir.bc")
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    for provided, outcome in (("", "3 failed, 1 passed"), ('["*"]', "2 failed, 2 passed")):
        rules = f"provided_custom_calls = {provided}" if provided else ""
        (tmp_path / "portable.toml").write_text(
            f'[rules]\nconsumers = ["jaxlib==0.9.1"]\nstage = "compile"\n{rules}\n'
        )
        done = _run(sys.executable, *words, folder=tmp_path)
        assert outcome in done.stdout, done.stdout + done.stderr
        assert "not known whether it compiles it" in done.stdout
        assert "no Stage is called 'run'" in done.stdout


def test_a_function_of_jax_is_exported(tmp_path: Path) -> None:
    """What jax has jitted is exported by jax.export, and its artifact is what counts."""
    (tmp_path / "test_jax.py").write_text(
        "import jax\nimport jax.numpy as jnp\n\ndef test_jitted(assert_portable):\n"
        "    assert_portable(jax.jit(lambda x: jnp.sin(x) * 2), 'installed',"
        " arguments=[jnp.ones(3)])\n"
    )
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    done = _run(sys.executable, *words, folder=tmp_path, environment={"JAX_PLATFORMS": "cpu"})
    assert "1 passed" in done.stdout, done.stdout + done.stderr
