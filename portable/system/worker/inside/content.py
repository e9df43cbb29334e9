"""Bytes in and out of a job: a path, base64, or text."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answer import Job, Payload

__all__ = ["given", "given_target", "returned"]

# Nine digits: a component of 2**63 and more aborts the process in every release.
_MOST_DIGITS = 9


def given(job: Job) -> bytes:
    """Return the bytes that a job is about.

    Args:
        job: With one of `path`, `data` (base64) and `text`.

    Returns:
        The bytes.
    """
    if "path" in job:
        return Path(job["path"]).read_bytes()
    if "data" in job:
        return base64.b64decode(job["data"], validate=True)
    return str(job["text"]).encode()


def given_target(job: Job, current: str) -> str:
    """Return the Version to write for, as X.Y.0.

    Several releases refuse a target whose patch is not zero where the same X.Y.0 works.

    Args:
        job: With `target`, or without to mean the current Version.
        current: The current Version of the Release.

    Returns:
        The target.
    """
    parts = str(job.get("target") or current).split(".")
    if len(parts) != 3 or not all(p.isdigit() and len(p) <= _MOST_DIGITS for p in parts):
        raise ValueError(f"not a Version: {job.get('target')!r}")
    return f"{int(parts[0])}.{int(parts[1])}.0"


def returned(job: Job, name: str, data: bytes) -> Payload:
    """Describe bytes that a job made: digest and size, and the bytes themselves if wanted.

    Args:
        job: With `out` (a file to write), or `want` (names to return as base64), or neither.
        name: What the bytes are.
        data: The bytes.

    Returns:
        `NAME_sha256`, `NAME_size`, and `NAME` (base64) when wanted.
    """
    payload: Payload = {f"{name}_sha256": hashlib.sha256(data).hexdigest()}
    payload[f"{name}_size"] = len(data)
    if "out" in job:
        Path(job["out"]).write_bytes(data)
    elif name in job.get("want", ()):
        payload[name] = base64.b64encode(data).decode()
    return payload
