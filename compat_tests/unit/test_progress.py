"""Progress of long work without a terminal: lines with how much, how fast and how long still."""

from __future__ import annotations

import re

import pytest

from compat_tests.helpers.terminal import on_terminal
from portable.cli.output import begin
from portable.cli.progress import counting


@pytest.mark.parametrize(
    ("done", "total", "said"),
    [
        (500, None, "500 objects, 50 a second"),
        (500, 2000, "500 of 2,000 objects, 50 a second, 0:00:30 left"),
        (500, 400, "500 of 400 objects, 50 a second"),
        (4, None, "4 objects, 0.4 a second"),
        (71_239, None, "71,239 objects, 7,124 a second"),
    ],
)
def test_a_line_says_rate_and_time_left(
    done: int,
    total: int | None,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A line every ten seconds; without the time left where the total is not known."""
    begin(everything=False, quiet=False)  # another command may have been quiet
    clock = iter([100.0, 105.0, 110.0])
    monkeypatch.setattr("portable.cli.progress.time.monotonic", lambda: next(clock))
    with counting("objects") as tell:
        tell(250, total)
        assert not capsys.readouterr().err
        tell(done, total)
    assert said in capsys.readouterr().err
    assert not capsys.readouterr().err


def test_what_lasts_a_given_time_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """How many there will be is not known, but the time left is; then a line every ten seconds."""
    begin(everything=False, quiet=False)
    clock = iter([100.0, 105.0, 110.0, 220.0])
    monkeypatch.setattr("portable.cli.progress.time.monotonic", lambda: next(clock))
    with counting("executions", lasting=60.0) as tell:
        assert capsys.readouterr().err == "0 executions, 0:01:00 left\n"
        tell(100, None)
        assert not capsys.readouterr().err
        tell(250, None)
        assert capsys.readouterr().err == "250 executions, 25 a second, 0:00:50 left\n"
        tell(1200, None)
        assert capsys.readouterr().err == "1,200 executions, 10 a second\n"


# A terminal is drawn on ten times a second.
LASTING = """
import time
from portable.cli import versions
from portable.cli.progress import counting
def run(chosen):
    with counting("executions", lasting=3600.0) as tell:
        time.sleep(0.3); tell(1234, None); time.sleep(0.3)
    return 0
versions.run = run
"""


def test_a_terminal_shows_count_rate_and_the_time_that_is_left() -> None:
    """From the first moment, before anything is counted."""
    pytest.importorskip("rich")
    shown = on_terminal(["versions"], LASTING).terminal.decode()
    assert re.search(r"0 executions.*0:59:59", shown)
    assert re.search(r"1,234 executions, [\d,]+ a second.*0:59:59", shown)
