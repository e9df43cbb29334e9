"""At most one live display on the terminal: the innermost of those that are open, if it is due."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Display", "pause", "show"]


class Display(Protocol):
    """What can be drawn on a terminal and removed again, as rich's `Status` and `Progress`."""

    def start(self) -> object:
        """Draw it."""

    def stop(self) -> object:
        """Remove it."""


class _Open:
    """A display, and whether it is drawn or will be."""

    def __init__(self, display: Display, delay: float) -> None:
        self.display = display
        self.delay = delay
        self.timer: threading.Timer | None = None
        self.drawn = False


_AGAIN_S = 0.5
_open: list[_Open] = []
_lock = threading.RLock()


@contextlib.contextmanager
def show(display: Display, *, delay: float = 0.0) -> Iterator[None]:
    """Show a display while the block runs; one around it is hidden meanwhile.

    Args:
        display: What to show.
        delay: After how many seconds without output.
    """
    one = _Open(display, delay)
    with _lock:
        if _open:
            _hide(_open[-1])
        _open.append(one)
        _schedule(one)
    try:
        yield
    finally:
        with _lock:
            _hide(one)
            _open.remove(one)
            if _open:
                _schedule(_open[-1])


def pause() -> None:
    """Hide what is shown, because something is printed; it comes back after its delay."""
    with _lock:
        if _open:
            _hide(_open[-1])
            _schedule(_open[-1], least=_AGAIN_S)


def _schedule(one: _Open, *, least: float = 0.0) -> None:
    delay = max(one.delay, least)
    if not delay:
        _draw(one)
        return
    one.timer = threading.Timer(delay, _draw, [one])
    one.timer.daemon = True
    one.timer.start()


def _draw(one: _Open) -> None:
    with _lock:
        if _open and _open[-1] is one and not one.drawn:
            one.drawn = True
            one.display.start()


def _hide(one: _Open) -> None:
    if one.timer is not None:
        one.timer.cancel()
        one.timer = None
    if one.drawn:
        one.drawn = False
        one.display.stop()
