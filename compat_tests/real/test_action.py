"""The action for CI: its steps run on this machine, as a runner would run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.old_releases
yaml = pytest.importorskip("yaml", reason="pre-commit brings PyYAML")

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]


class Runner:
    """What a runner gives to the steps of an action.

    Args:
        folder: A new folder.
    """

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        self.files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in self.files.values():
            path.touch()
        self.environment = os.environ | {
            "RUNNER_TEMP": str(folder / "temp with spaces"),
            "GITHUB_ACTION_PATH": str(ROOT),
            **{name: str(path) for name, path in self.files.items()},
        }

    def step(self, name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run a step of the action with some inputs, others by default."""
        (step,) = (step for step in STEPS if step.get("name") == name)
        defaults = {key: str(one.get("default", "")) for key, one in ACTION["inputs"].items()}
        given = {f"inputs.{key}": value for key, value in (defaults | inputs).items()}
        given["steps.python.outputs.python-path"] = sys.executable

        def value(text: str) -> str:
            return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: given[found[1]], text)

        assert "${{" not in step["run"], "an expression in a script is an injection"
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.work,
            env=self.environment | {key: value(text) for key, text in step["env"].items()},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def venv(self) -> Path:
        """Where the action installs."""
        return Path(self.environment["RUNNER_TEMP"]) / "portable-gate" / "venv"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the step that installs, once."""
    runner = Runner(tmp_path_factory.mktemp("installed"))
    done = runner.step("install")
    assert done.returncode == 0, done.stderr
    again = runner.step("install")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    return runner.venv


@pytest.fixture
def runner(tmp_path: Path, installed: Path) -> Runner:
    """Return a runner on which the action is installed, as its cache would have it."""
    runner = Runner(tmp_path)
    runner.venv.parent.mkdir(parents=True)
    runner.venv.symlink_to(installed)
    models = runner.work / "models"
    models.mkdir()
    shutil.copy(ARTIFACTS / "tan+1.4.0.mlir.bc", models / "tan.mlir.bc")
    (runner.work / "portable.toml").write_text('[consumers]\nserving = ["jaxlib>=0.5"]\n')
    return runner


def test_an_action_is_well_formed() -> None:
    """Every input is described and used, every step that runs names its shell."""
    text = (ROOT / "action.yml").read_text()
    for name, one in ACTION["inputs"].items():
        assert one["description"]
        assert f"${{{{ inputs.{name} }}}}" in text
    for step in STEPS:
        assert ("uses" in step) != ("run" in step)
        assert "uses" in step or step["shell"] == "bash"
    assert ACTION["runs"]["using"] == "composite"
    page = (ROOT / "docs" / "howto" / "ci.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(ACTION["inputs"])


def test_a_tree_that_passes(runner: Runner) -> None:
    """Exit code 0, a summary, and the JSON as an output."""
    done = runner.step("gate", paths="models\n")
    assert done.returncode == 0, done.stderr
    assert "::error" not in done.stdout
    summary = runner.files["GITHUB_STEP_SUMMARY"].read_text()
    assert summary.startswith("### portable gate: Passed: 1 artifact for ")
    (line,) = runner.files["GITHUB_OUTPUT"].read_text().splitlines()
    found = json.loads(Path(line.removeprefix("result=")).read_text())
    assert found["passed"] is True


def test_a_tree_that_fails(runner: Runner) -> None:
    """An annotation at the file, the summary says which, and the exit code of the gate."""
    done = runner.step("gate", paths="models", **{"for": "jaxlib==0.4.30\njaxlib>=0.5"})
    assert done.returncode == 1
    assert (
        "::error file=models/tan.mlir.bc,title=portable%3A consumer::jaxlib 0.4.30" in done.stdout
    )
    summary = runner.files["GITHUB_STEP_SUMMARY"].read_text()
    assert summary.startswith("### portable gate: Failed: 1 of 1 artifact ")
    assert "op tan_v1 needs 1.4.0" in summary


@pytest.mark.parametrize(
    "paths",
    ["models; touch hacked", "$(touch hacked)", "`touch hacked`", "--policy=evil.toml", "-o", "*"],
)
def test_inputs_are_no_commands(runner: Runner, paths: str) -> None:
    """Whatever a path holds, it is a path: nothing is run, no option is given."""
    done = runner.step("gate", paths=paths)
    assert done.returncode == 2
    assert "no such file or folder" in done.stderr + done.stdout
    assert sorted(path.name for path in runner.work.iterdir()) == ["models", "portable.toml"]


def test_paths_with_spaces_and_several_lines(runner: Runner) -> None:
    """Each line is one path."""
    shutil.copytree(runner.work / "models", runner.work / "more models")
    done = runner.step("gate", paths="models\n\n  \nmore models\n")
    assert done.returncode == 0, done.stderr
    assert runner.files["GITHUB_STEP_SUMMARY"].read_text().count("tan.mlir.bc") == 2


def test_the_image_copies_what_is_installed() -> None:
    """What the Dockerfile's context holds is enough for pip, and everything in it exists."""
    kept = re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert all((ROOT / name).exists() for name in kept)
    assert {"portable", "pyproject.toml", "README.md", "LICENSE"} == set(kept)
    last = (ROOT / "Dockerfile").read_text().splitlines()[-1]
    assert last == 'ENTRYPOINT ["/portable/bin/portable"]'


def test_the_yaml_of_the_pages_is_well_formed() -> None:
    """Every workflow and configuration that the pages show can be read, and names what there is."""
    shown = []
    for page in ("tutorial.md", "howto/ci.md", "policy.md"):
        text = (ROOT / "docs" / page).read_text()
        shown += re.findall(r"^```yaml[^\n]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    documents = [yaml.safe_load(one) for one in shown]
    assert len(documents) >= 5
    steps = [
        step
        for one in documents
        for step in (
            one if isinstance(one, list) else one.get("jobs", {}).get("gate", {}).get("steps", [])
        )
    ]
    used = [step for step in steps if "portable" in step.get("uses", "")]
    assert len(used) == 2
    assert all(set(step["with"]) <= set(ACTION["inputs"]) for step in used)
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    named = [
        hook["id"]
        for one in documents
        if "repos" in one
        for repo in one["repos"]
        for hook in repo["hooks"]
    ]
    assert set(named) == {hook["id"] for hook in hooks}
