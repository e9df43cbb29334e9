"""The reproducers of docs/findings, on the Releases that they are about: with the wheel alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from compat_tests.helpers.eras import marked
from compat_tests.helpers.thorough import some
from portable.releases import find_release
from portable.runtime.environments import Environments
from tools.hunt import reproducers

FINDINGS = Path(__file__).parents[2] / "docs" / "findings"
# Whether each shows it.
SHOWN = {(name, on): shown for name, of in reproducers().items() for on, shown in of.items()}

# Shown where LLVM makes vectors of a loop, which it does by what it knows of the processor; where
# that has none of these instructions both results were seen.
_BY_VECTORS = {"remainder-of-bf16-constants": "avx512_bf16"}
_PROCESSOR = Path("/proc/cpuinfo")


def test_every_finding_has_a_reproducer() -> None:
    """And is tried below; of 20 lines at most."""
    folders = {path.name for path in FINDINGS.iterdir() if path.is_dir()}
    assert folders == {name for name, _ in SHOWN}
    for path in FINDINGS.glob("*/reproduce*.py"):
        assert len(path.read_text().splitlines()) <= 20, path


@pytest.mark.old_releases
@pytest.mark.parametrize(
    ("name", "on"),
    some([marked([on], name, on, to_execute=True) for name, on in SHOWN], each=3),
)
def test_a_reproducer_shows_it(name: str, on: str) -> None:
    """It exits with 1, or crashes, where the result is wrong, and with 0 where it is right."""
    has = _PROCESSOR.read_text("utf-8").split() if name in _BY_VECTORS else ()
    if SHOWN[name, on] and name in _BY_VECTORS and _BY_VECTORS[name] not in has:
        pytest.skip(f"this processor has no {_BY_VECTORS[name]}, by which it shows")
    own = FINDINGS / name / f"reproduce_{on.partition(' ')[0]}.py"
    program = own if own.exists() else own.with_name("reproduce.py")
    environment = Environments().get(find_release(on), to_execute=True)
    command = [str(environment.python), "-I", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "found: " in done.stdout or done.returncode < 0, done.stderr
    assert bool(done.returncode) is SHOWN[name, on]
