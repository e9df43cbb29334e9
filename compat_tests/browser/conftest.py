"""The built site, served on this machine, and a browser that looks at it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from compat_tests.helpers.browser import chromium, resize, scheme
from tools.playground import npm_package
from tools.site import build

AXE = "axe-core@4.14.1"
AXE_INTEGRITY = (
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/"
    "pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
)


class Server:
    """The site on a loopback port.

    Attributes:
        address: Where it is.
        requests: The paths that were requested.
    """

    def __init__(self, site: Path) -> None:
        requests: list[str] = []

        class Handler(SimpleHTTPRequestHandler):
            extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

            def log_message(self, *_: object) -> None:
                requests.append(self.path)

        handler = functools.partial(Handler, directory=str(site))
        self.requests = requests
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Answer nothing any more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site."""
    return build(tmp_path_factory.mktemp("site"))


@pytest.fixture
def server(site: Path) -> Iterator[Server]:
    """Serve the site."""
    server = Server(site)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Fetch axe-core."""
    folder = npm_package(AXE, AXE_INTEGRITY, tmp_path_factory.mktemp("axe"))
    return (folder / "axe.min.js").read_text("utf-8")


@pytest.fixture(scope="session")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start the browser."""
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        driver.set_script_timeout(60)
        yield driver


@pytest.fixture
def browser(chrome: Any) -> Any:
    """Return the browser as it is at first: light, wide, with a network."""
    resize(chrome, 1280, 900)
    scheme(chrome, dark=False)
    chrome.get("about:blank")
    for kind in ("browser", "performance"):
        chrome.get_log(kind)
    return chrome
