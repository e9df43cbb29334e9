"""Chromium, driven without types: what tests of pages have in common."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

__all__ = ["chromium", "every", "first", "resize", "scheme", "wait"]

_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """Start a browser that logs what it requests and complains of; skip where there is none.

    `PORTABLE_BROWSER=required` insists on it.
    """
    binary = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if os.environ.get("PORTABLE_BROWSER") != "required":
        pytest.importorskip("selenium", reason="selenium is not installed")
        if binary is None or driver is None:
            pytest.skip("chromium and chromedriver are not on this machine")
    assert binary, "install Debian's chromium"
    assert driver, "install Debian's chromium-driver"
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = binary
    for option in _OPTIONS:
        options.add_argument(option)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = Chrome(options=options, service=Service(driver))
    try:
        yield browser
    finally:
        browser.quit()


def resize(browser: Any, width: int, height: int) -> None:
    """Give the page this size."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def scheme(browser: Any, *, dark: bool) -> None:
    """Prefer dark or light colours."""
    feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def every(page: Any, selector: str) -> list[Any]:
    """Return all elements that match."""
    found: list[Any] = page.find_elements("css selector", selector)
    return found


def first(page: Any, selector: str) -> Any:
    """Return the first element that matches."""
    return page.find_element("css selector", selector)


def wait(page: Any, condition: Callable[[], bool], seconds: int = 10) -> None:
    """Wait until something holds."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(page, seconds).until(lambda _: condition())
