"""What happens in the child stays in the child."""

import os
import signal
import time
from pathlib import Path

import pytest

from portable import PortableError, Version
from portable.system.children import ChildCrashed, ChildFailed, ChildHung, call


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the folder of these tests: a child imports nothing from the current one."""
    monkeypatch.chdir(tmp_path)


def _crash(number: int) -> None:
    os.write(2, b"last words\n")
    os.kill(os.getpid(), number)


def _noisy(version: Version) -> Version:
    print("python says hello")
    os.write(1, b"native code says hello")
    return version.target


def _refuse() -> None:
    raise PortableError("no", hint="yes")


def _defect() -> None:
    raise ZeroDivisionError


def test_a_value_comes_back_although_the_child_prints() -> None:
    """Output of Python and of native code on descriptor 1 does not mix with the answer."""
    assert call(_noisy, Version(1, 2, 3), timeout=60) == Version(1, 2, 0)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_crash_is_an_exception(number: signal.Signals) -> None:
    """It names the signal and keeps what was said on descriptor 2."""
    with pytest.raises(ChildCrashed, match=number.name) as caught:
        call(_crash, int(number), timeout=60)
    assert caught.value.said == "last words"


def test_a_hang_ends() -> None:
    """The time limit holds."""
    with pytest.raises(ChildHung, match="timed out after 1 s"):
        call(time.sleep, 60, timeout=1)


def test_an_error_of_ours_comes_back_as_itself() -> None:
    """The caller sees the type it would see in its own process."""
    with pytest.raises(PortableError, match="no; yes"):
        call(_refuse, timeout=60)


def test_a_defect_is_not_silent() -> None:
    """Any other exception is reported with its last line."""
    with pytest.raises(ChildFailed, match="ZeroDivisionError"):
        call(_defect, timeout=60)


def test_relative_paths_mean_what_they_mean_to_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child that answers has been started in another directory, or the directory is gone."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        assert call(os.getcwd, timeout=60) == str(tmp_path / name)
    (tmp_path / "second").rmdir()
    with pytest.raises(ChildFailed, match="FileNotFoundError"):
        call(os.getcwd, timeout=60)
    assert call(os.getpid, timeout=60) != os.getpid()
