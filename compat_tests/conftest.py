"""Let the tests import `tools` and each other, without hiding the installed package."""

import os
import sys
from pathlib import Path

import pytest

import portable

ROOT = Path(__file__).parent.parent

# At the end: `portable` has to come from where it is installed, not from the checkout.
sys.path.append(str(ROOT))

if "TOX_ENV_NAME" in os.environ and ROOT / "portable" in Path(portable.__file__).parents:
    raise RuntimeError("tox tests the wheel, but `portable` was imported from the checkout")

from compat_tests.hermetic import HERMETIC, isolate  # noqa: E402 - needs the path above


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
