"""The playground in Chromium: from its address to the first Verdict, against Pyodide alone."""

from __future__ import annotations

import functools
import shutil
import tempfile
import threading
import time
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.benches.figure import ROOT, Figure, compare, ratio
from tools.playground import INTEGRITY, PYODIDE, make, npm_package

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["bench_playground"]

# As Pyodide's own page has it, and in a worker, as it advises.
_BARE = """<!doctype html><title>Pyodide alone</title><body><script type="module">
const worker = new Worker(URL.createObjectURL(new Blob([
  `import {{ loadPyodide }} from "{address}/pyodide.mjs";
  const python = await loadPyodide({{ indexURL: "{address}/" }});
  python.runPython("1"); self.postMessage("ready")`,
], {{ type: "text/javascript" }})), {{ type: "module" }});
worker.onmessage = () => {{ document.body.id = "ready"; }};
</script>"""
_SECONDS = 120


class _Quiet(SimpleHTTPRequestHandler):
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def _chromium() -> Iterator[Any]:
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    options.add_argument("--headless")
    options.add_argument("--no-sandbox")
    browser = Chrome(options=options, service=Service(shutil.which("chromedriver") or ""))
    # Each load is that of somebody who comes for the first time.
    browser.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
    try:
        yield browser
    finally:
        browser.quit()


def _until(browser: Any, condition: str) -> None:
    end = time.monotonic() + _SECONDS
    while not browser.execute_script(f"return Boolean({condition})"):
        if time.monotonic() > end:
            raise TimeoutError(condition)
        time.sleep(0.005)


def bench_playground() -> Iterator[Figure]:
    """Load the page and read an example, and load Pyodide alone, by turns."""
    says = "document.getElementById('says')?.textContent"
    ready = "document.getElementById('status')?.textContent.startsWith('Ready')"
    choose = (
        "const list = document.getElementById('examples'); list.selectedIndex = 1;"
        "list.dispatchEvent(new Event('change', { bubbles: true }))"
    )
    with tempfile.TemporaryDirectory() as name:
        page = Path(name, "playground")
        shutil.copytree(ROOT / "docs" / "playground", page)
        make(page)
        bare = npm_package(PYODIDE, INTEGRITY, Path(name))
        with _served(page) as ours, _served(bare) as theirs, _chromium() as browser:
            (bare / "bare.html").write_text(_BARE.format(address=theirs), "utf-8")

            def playground() -> Callable[[], object]:
                browser.get("about:blank")

                def verdict() -> None:
                    browser.get(f"{ours}/index.html")
                    _until(browser, ready)
                    browser.execute_script(choose)
                    _until(browser, says)

                return verdict

            def pyodide() -> Callable[[], object]:
                browser.get("about:blank")

                def loaded() -> None:
                    browser.get(f"{theirs}/bare.html")
                    _until(browser, "document.body.id")

                return loaded

            def read() -> Callable[[], object]:
                browser.get(f"{ours}/index.html")
                _until(browser, ready)

                def verdict() -> None:
                    browser.execute_script(choose)
                    _until(browser, says)

                return verdict

            whole, alone, verdict = compare(playground, pyodide, read, rounds=3)
            yield ratio("playground, first Verdict / Pyodide alone", 2.5, whole, alone)
            yield Figure("playground, Verdict after loading", verdict, 3, "s")
