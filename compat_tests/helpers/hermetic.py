"""Keep a test to this machine: an empty cache of its own, and no network, also for its children."""

from __future__ import annotations

import ipaddress
import itertools
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

__all__ = ["HERMETIC", "NetworkRefused", "isolate"]

# The folders of tests that run so.
HERMETIC = frozenset({"adversarial", "property", "unit"})
# Nothing listens on the port called `discard`: whoever asks this proxy is refused at once.
_DEAD_PROXY = "http://127.0.0.1:9"
_CLIENTS = {
    "PIP_NO_INDEX": "1",
    "UV_OFFLINE": "1",
    "UV_PYTHON_DOWNLOADS": "never",
    **{f"{scheme}_proxy": _DEAD_PROXY for scheme in ("http", "https", "ftp", "all")},
    **{f"{scheme}_PROXY": _DEAD_PROXY for scheme in ("HTTP", "HTTPS", "FTP", "ALL")},
    "no_proxy": "127.0.0.1,localhost",
    "NO_PROXY": "127.0.0.1,localhost",
}
# What says where things are found or kept, and would make a test depend on who runs it.
_FOREIGN = ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_FIND_LINKS", "PORTABLE_OFFLINE")
_LOCAL_NAMES = frozenset({"", "localhost", "0.0.0.0", "::"})  # noqa: S104 - compared, not bound
_numbers = itertools.count()
_refusing = False


class NetworkRefused(AssertionError):
    """A hermetic test asked for a machine that is not this one."""


def isolate(monkeypatch: pytest.MonkeyPatch, base: Path) -> None:
    """Give one test an empty cache, and refuse the network to it and its children.

    Args:
        monkeypatch: Of the test: all is undone with it.
        base: A folder to name the caches in; they are not made.
    """
    caches = base / f"caches-{next(_numbers)}"
    for variable in ("PORTABLE_CACHE", "PIP_CACHE_DIR", "UV_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(caches / variable.lower()))
    for variable in _FOREIGN:
        monkeypatch.delenv(variable, raising=False)
    for variable, value in _CLIENTS.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys.modules[__name__], "_refusing", True)


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if not _refusing:
        return
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        address = arguments[1]
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        address = (arguments[0],)
    else:
        return
    if isinstance(address, tuple) and not _is_local(address[0]):
        raise NetworkRefused(f"{event} of {address[0]!r}: this test may not use the network")


def _is_local(host: object) -> bool:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
    try:
        return name in _LOCAL_NAMES or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


# There is no way to take an audit hook away again: it looks at `_refusing`.
sys.addaudithook(_watch)
