"""What the tests on real libraries share: the installed library, the examples, old Releases."""

import importlib.metadata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat_tests.helpers.eras import SMALL
from compat_tests.helpers.sharded import Exported, export_all
from portable import bindings
from portable.bindings import Library
from portable.releases import find_release, releases
from portable.runtime.environments import Environment, Environments, Recipe
from portable.runtime.executors import Executor, find_executor
from tools.consumer import ERAS

_MARK = "mark it: more_releases"
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@pytest.fixture(scope="session")
def library() -> Library:
    """Return the installed jaxlib's bindings."""
    return bindings.find("jaxlib")


@pytest.fixture(scope="module")
def pjrt() -> Iterator[Executor]:
    """Return XLA CPU."""
    with find_executor("pjrt") as executor:
        yield executor


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exported]:
    """Return what JAX exports and computes on eight devices."""
    pytest.importorskip("jax")
    return export_all(tmp_path_factory.mktemp("sharded"))


@pytest.fixture(params=["encoder", "convnet"])
def example(request: pytest.FixtureRequest) -> Path:
    """Return each program that JAX exported, with its locations."""
    return EXAMPLES / f"{request.param}.mlir"


@pytest.fixture(scope="session")
def release(request: pytest.FixtureRequest) -> Callable[[str], Environment]:
    """Return a function that makes the environment of a Release, once per machine.

    One takes 0.4 GB: a run that leaves out what needs more of them is refused others.
    """
    environments, few = Environments(), _few(request.config)

    def get(name: str) -> Environment:
        assert not few or name in {*ERAS, *SMALL}, _MARK
        return environments.get(find_release(name))

    return get


@pytest.fixture(scope="session", autouse=True)
def _fetched(request: pytest.FixtureRequest) -> Iterator[None]:
    """Refuse a run that leaves out what needs more Releases, and fetched some.

    What is installed beside these tests takes nothing more: uv links it.
    """
    cache = Environments()
    here = {one.name: one.version for one in importlib.metadata.distributions()}
    installed = (one for one in releases() if here.get(one.distribution) == one.version)
    few = (*(find_release(name) for name in (*ERAS, *SMALL)), *installed)
    known = {Recipe.of(one).name for one in few}
    before = {one.name for one in cache.all()} | known
    yield
    more = sorted({one.name for one in cache.all()} - before) if _few(request.config) else []
    assert not more, f"{_MARK}: fetched {', '.join(more)}"


def _few(config: pytest.Config) -> bool:
    return "not more_releases" in config.option.markexpr


@pytest.fixture(autouse=True)
def _no_terminal_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
