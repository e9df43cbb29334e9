"""Which function a name means: real Releases read, refuse and compile what is predicted."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.called import CRASHING, PROGRAMS, REFUSED, UNUSED, written
from compat_tests.helpers.eras import versions
from portable.prediction import predict
from portable.runtime.executors import ExecutionFailed, find_executor
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

READER = Path(__file__).parents[1] / "helpers" / "forked_reader.py"


@pytest.mark.parametrize("version", versions("0.4.33", "0.6.2", "0.10.2", "0.12.0.1"))
def test_readers_refuse_a_name_twice_and_a_call_of_nothing(
    version: str, release: Callable[[str], Environment], tmp_path: Path
) -> None:
    """A module sees its own names alone: a function around it is not there, nor one inside."""
    asked, told = tmp_path / "asked", tmp_path / "told"
    asked.write_bytes(pickle.dumps([written(name).data for name in PROGRAMS]))
    python = release(f"jaxlib {version}").python
    subprocess.run([python, "-I", READER, asked, told], check=True, timeout=300)
    marks = dict(zip(PROGRAMS, told.read_text(), strict=True))
    assert {name for name, mark in marks.items() if mark != "+"} == REFUSED


@pytest.mark.parametrize("version", versions("0.4.33", "0.12.0.1"))
@pytest.mark.parametrize("name", sorted({*PROGRAMS} - REFUSED))
def test_what_main_calls_is_what_is_predicted(
    name: str, version: str, release: Callable[[str], Environment]
) -> None:
    """Main is that of the outermost module, and calls what stands there."""
    artifact, x = written(name), np.asarray([3, 5], np.float32)
    predicted = predict(artifact, f"jaxlib {version}", stage=Stage.EXECUTE)
    with find_executor("pjrt", release(f"jaxlib {version}")) as executor:
        if predicted.compatible:
            (found,) = executor.compile(artifact).run([x])
            assert found.tolist() == [6, 10]
        else:
            with pytest.raises(
                ExecutionFailed, match="SIGSEGV" if name in {*CRASHING, UNUSED} else "main"
            ):
                executor.compile(artifact)
