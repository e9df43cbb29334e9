"""Let the tests import `tools` and each other, without hiding the installed package."""

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

import portable

ROOT = Path(__file__).parent.parent

# At the end: `portable` has to come from where it is installed, not from the checkout.
sys.path.append(str(ROOT))

if "TOX_ENV_NAME" in os.environ and ROOT / "portable" in Path(portable.__file__).parents:
    raise RuntimeError("tox tests the wheel, but `portable` was imported from the checkout")

from compat_tests.helpers.documents import compare_all  # noqa: E402 - needs the path above
from compat_tests.helpers.hermetic import HERMETIC, isolate  # noqa: E402 - the same
from portable.runtime.environments import PythonMissing  # noqa: E402 - the same
from tools.left_out import FOLDER  # noqa: E402 - the same

# Where tox keeps its environments, and there what this one left out.
LEFT_OUT = Path(os.environ.get("TOX_WORK_DIR", "")) / FOLDER / os.environ.get("TOX_ENV_NAME", "")


def pytest_configure(config: pytest.Config) -> None:
    """Begin a new record of what is left out."""
    if "TOX_ENV_NAME" in os.environ and not hasattr(config, "workerinput"):
        LEFT_OUT.unlink(missing_ok=True)


def pytest_collection_finish() -> None:
    """Leave what is there for good, thousands of tests and their tables, out of each collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None]:
    """Leave out a test whose fixture needs an interpreter that nobody can get here."""
    yield from _left_out()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    """Leave out a test that needs such an interpreter."""
    yield from _left_out()


def _left_out() -> Generator[None]:
    try:
        yield
    except PythonMissing as missing:
        if "TOX_ENV_NAME" in os.environ:
            LEFT_OUT.parent.mkdir(parents=True, exist_ok=True)
            with LEFT_OUT.open("a", encoding="utf-8") as record:
                record.write(f"{missing.what}\n")
        pytest.skip(str(missing))


@pytest.fixture(autouse=True)
def _hermetic(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Keep what needs no Release to this machine; `hermetic.py` says how."""
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    if folder in HERMETIC:
        isolate(monkeypatch, tmp_path_factory.getbasetemp())


@pytest.fixture(autouse=True)
def _documents(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Compare whatever a command prints as JSON with its schema."""
    wrong = compare_all(monkeypatch)
    yield
    assert not wrong
