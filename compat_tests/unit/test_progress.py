"""Progress of long work without a terminal: lines with how much, how fast and how long still."""

from __future__ import annotations

import pytest

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
