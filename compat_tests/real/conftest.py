"""What the tests on real libraries share: the installed library, the examples, old Releases."""

from collections.abc import Callable
from pathlib import Path

import pytest

from portable import bindings
from portable.bindings import Library
from portable.releases import find_release
from portable.runtime.environments import Environment, Environments

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@pytest.fixture(scope="session")
def library() -> Library:
    """Return the installed jaxlib's bindings."""
    return bindings.find("jaxlib")


@pytest.fixture(params=["encoder", "convnet"])
def example(request: pytest.FixtureRequest) -> Path:
    """Return each program that JAX exported, with its locations."""
    return EXAMPLES / f"{request.param}.mlir"


@pytest.fixture(scope="session")
def release() -> Callable[[str], Environment]:
    """Return a function that makes the environment of a Release, once per machine."""
    environments = Environments()
    return lambda name: environments.get(find_release(name))


@pytest.fixture(autouse=True)
def _no_terminal_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
