"""What ended a command, as one error; unexpected exceptions too."""

from __future__ import annotations

import os

from portable.errors import PortableError
from portable.system.files import file_error

__all__ = ["InternalError", "OutOfMemory", "as_error", "ended_by"]

_TRACEBACK = "PORTABLE_TRACEBACK"


class InternalError(PortableError):
    """A defect of `portable` itself."""


class OutOfMemory(PortableError):
    """The memory that this process may use did not suffice."""


def as_error(error: Exception) -> PortableError:
    """Return any exception as an error that prints as one line.

    Args:
        error: What ended a command.

    Returns:
        The error itself; what the operating system said; or an `InternalError`, with the place
        where it was raised. With PORTABLE_TRACEBACK=1 a defect is raised again instead.

    Raises:
        Exception: As above.
    """
    if isinstance(error, PortableError):
        return error
    if isinstance(error, OSError):
        return _refused(error)
    if isinstance(error, MemoryError):
        return OutOfMemory("out of memory", hint="raise the limit, or use a smaller input")
    if os.environ.get(_TRACEBACK, "0") not in {"", "0"}:
        raise error
    import traceback  # cold start: a defect is rare

    place = traceback.extract_tb(error.__traceback__)[-1]
    return InternalError(
        f"internal error: {type(error).__name__}: {error}",
        where=f"{place.filename.rpartition(os.sep)[2]}:{place.lineno}",
        hint=f"set {_TRACEBACK}=1 for a traceback, and report it",
    )


def _refused(error: OSError) -> PortableError:
    if error.filename is None and not _stands():
        return file_error("use", error, "the current directory")
    return file_error("use", error, os.fsdecode(error.filename or "a file"))


def _stands() -> bool:
    """Return whether the current directory still exists."""
    try:
        os.getcwd()  # noqa: PTH109 - cold start
    except OSError:
        return False
    return True


def ended_by(error: BaseException | None) -> int | None:
    """Return the exit code of the signal that an exception stands for, None for any other.

    What a signal raises may come in the middle of anybody's code: Python before 3.12 turns it into
    a RuntimeError where a class is made.

    Args:
        error: What ended a command.
    """
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return 130
        if isinstance(error, SystemExit) and isinstance(error.code, int) and error.code > 128:
            return error.code
        error = error.__cause__ or error.__context__
    return None
