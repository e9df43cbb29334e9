"""What MLIR says, captured: what fails inside `DiagnosticCapture` becomes a `LibraryError`."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

from portable.errors import PortableError
from portable.verdict import Diagnostic, Severity

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["LOCK", "DiagnosticCapture", "LibraryError", "location_text"]

LOCK = threading.RLock()
"""Held while native code runs. The stablehlo calls hold the GIL from start to end, so it costs no
parallelism, and it keeps the diagnostics of two threads that share a context apart."""
# MLIR prints whole modules into its notes; what a person needs stands at the beginning.
_MESSAGE_LIMIT = 400


class LibraryError(PortableError):
    """LibStablehlo refused; `diagnostics` says why."""

    def __init__(
        self,
        what: str,
        *,
        diagnostics: tuple[Diagnostic, ...] = (),
        where: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.diagnostics = diagnostics

    def record(self) -> dict[str, object]:
        """Return the fields as plain data, the diagnostics among them."""
        return super().record() | {"diagnostics": [d.record() for d in self.diagnostics]}


class DiagnosticCapture:
    """Runs native code; turns its failure into a LibraryError with what MLIR said.

    A class, not a generator with `contextmanager`: serializing a small program would notice.

    Args:
        what: What failed, if it does.
        context: The context of the native code.
        failures: The exceptions that the bindings raise.
    """

    __slots__ = ("_context", "_emitted", "_failures", "_handler", "_heard", "_what")

    def __init__(self, what: str, context: Any, failures: tuple[type[Exception], ...]) -> None:
        self._what = what
        self._context = context
        self._failures = failures
        self._heard: list[Diagnostic] = []

    def __enter__(self) -> None:
        LOCK.acquire()
        # Without this flag the bindings put the diagnostics, whole modules among them, into the
        # exception and never show them to a handler.
        self._emitted = self._context.emit_error_diagnostics
        self._context.emit_error_diagnostics = True
        self._handler = self._context.attach_diagnostic_handler(self._capture)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._handler.detach()
        self._context.emit_error_diagnostics = self._emitted
        # The handler holds `_capture`, and so this object: a cycle through native code, which the
        # garbage collector does not see and which would keep the context alive.
        del self._handler, self._context
        LOCK.release()
        if isinstance(error, self._failures):
            raise self._failure(error) from None

    def _capture(self, diagnostic: Any) -> bool:
        self._heard.append(_diagnostic(diagnostic))
        return True

    def _failure(self, error: Exception) -> LibraryError:
        errors = [d for d in self._heard if d.severity is Severity.ERROR]
        first = errors[0] if errors else Diagnostic(Severity.ERROR, _shorten(str(error)))
        return LibraryError(
            f"{self._what}: {first.message}",
            where=first.location if first.location != "unknown" else None,
            diagnostics=tuple(self._heard) or (first,),
        )


def _diagnostic(native: Any) -> Diagnostic:
    """Copy a native diagnostic, which dies with the handler's call."""
    return Diagnostic(
        Severity(str(native.severity).rpartition(".")[2].lower()),
        _shorten(native.message),
        location_text(native.location),
        tuple(_diagnostic(note) for note in native.notes),
    )


def _shorten(message: str) -> str:
    message = message.strip()
    return message if len(message) <= _MESSAGE_LIMIT else message[:_MESSAGE_LIMIT] + "..."


def location_text(location: Any) -> str:
    """Return a native location as MLIR prints it, without `loc(...)` around it."""
    printed = str(location)
    match = re.fullmatch(r"loc\((.*)\)", printed, re.DOTALL)
    return _shorten(match[1] if match else printed)
