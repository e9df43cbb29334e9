"""These tests use no network and no cache of whoever runs them: that is enforced, not agreed on."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from compat_tests.helpers.hermetic import NetworkRefused
from portable.matrix.store import default_path
from portable.runtime.environments import Environments, installer
from portable.system import children

# Of the block that is kept for documentation: nobody has it.
NOWHERE = "192.0.2.1"
FETCH = f"import urllib.request; urllib.request.urlopen('http://{NOWHERE}/', timeout=60)"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: socket.create_connection((NOWHERE, 80), timeout=1),
        lambda: socket.create_connection(("pypi.org", 443), timeout=1),
        lambda: socket.getaddrinfo("pypi.org", 443),
        lambda: socket.gethostbyname("pypi.org"),
        lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (NOWHERE, 53)),
        lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 80)),
    ],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_this_process_reaches_no_other_machine(ask: object) -> None:
    """Neither by name nor by address, whichever way it is tried."""
    assert callable(ask)
    with pytest.raises(NetworkRefused, match="may not use the network"):
        ask()


def test_this_machine_is_reached() -> None:
    """A server on loopback is part of a test."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_hang_up, args=(server,), daemon=True).start()
        with socket.create_connection(("localhost", server.getsockname()[1]), timeout=5) as ours:
            assert ours.recv(1) == b""


def test_a_child_reaches_no_other_machine() -> None:
    """What honours a proxy is refused by it at once."""
    assert "refused" in _refusal([sys.executable, "-c", FETCH])


def test_pip_reaches_no_index(tmp_path: Path) -> None:
    """It has none; what a test gives it is a folder of wheels."""
    done = children.run(installer._pip("download", "numpy", "-d", str(tmp_path)), timeout=60)
    assert done.returncode != 0
    assert "No matching distribution" in done.stderr


@pytest.mark.skipif(installer.find_uv() is None, reason="uv is not installed")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pip", "install", "--dry-run", "-p", sys.executable, "numpy<1"], "network was disabled"),
        (["python", "install", "3.8"], "downloads are not allowed"),
    ],
)
def test_uv_fetches_no_package_and_no_interpreter(words: list[str], said: str) -> None:
    """It is offline."""
    assert said in _refusal([str(installer.find_uv()), *words])


def _refusal(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    return done.stdout + done.stderr


def test_the_cache_is_empty_and_nobody_elses() -> None:
    """Environments, observations and the clients' own caches are below the test's own folder."""
    environments = Environments()
    assert environments.all() == ()
    assert not environments.directory.exists()
    theirs = Path.home() / ".cache"
    for cache in (os.environ["UV_CACHE_DIR"], os.environ["PIP_CACHE_DIR"], str(default_path())):
        assert not Path(cache).is_relative_to(theirs)


def _hang_up(server: socket.socket) -> None:
    server.accept()[0].close()
