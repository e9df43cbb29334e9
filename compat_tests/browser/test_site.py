"""The site in a real browser: search, filters, narrow, dark, accessible, and from one host."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from compat_tests.browser.conftest import Server
from compat_tests.helpers.accessibility import violations
from compat_tests.helpers.browser import every, first, resize, scheme, wait
from tools.site import LISTING_BYTES, LISTINGS, PAGE_BYTES

PAGES = ("index", "tutorial", "findings", "matrix/observed", "reference/exit-codes", "howto/ci")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_complete_and_asks_no_other_host(
    browser: Any, server: Server, axe: str, name: str
) -> None:
    """Its title, no complaint, no request elsewhere; axe-core finds nothing in what we wrote."""
    browser.get(f"{server.address}/{name}.html")
    assert first(browser, "article h1").text
    assert browser.get_log("browser") == []
    requests = [
        json.loads(entry["message"])["message"]["params"]["request"]["url"]
        for entry in browser.get_log("performance")
        if '"Network.requestWillBeSent"' in entry["message"]
    ]
    assert requests
    assert all(one.startswith((server.address, "data:")) for one in requests), requests
    assert violations(browser, axe, "article") == []


_LOADED = "return performance.getEntriesByType('resource').map((one) => one.name)"


def test_every_page_is_light(browser: Any, server: Server, site: Path) -> None:
    """With all that it loads, compressed as servers send it, it is within the site's budget.

    Two listings, which are long, have a budget of their own.
    """

    @cache
    def weight(path: str) -> int:
        return len(gzip.compress((site / path.lstrip("/")).read_bytes()))

    weights = {}
    for path in sorted(site.rglob("*.html")):
        name = str(path.relative_to(site))
        if name.startswith("playground/"):
            continue  # has a budget of its own
        browser.get(f"{server.address}/{name}")
        # The index of the search comes last, from a thread of its own.
        wait(browser, lambda: any("search.json" in one for one in browser.execute_script(_LOADED)))
        loaded = browser.execute_script(_LOADED)
        paths = {urlsplit(one).path for one in loaded if one.startswith(server.address)}
        weights[name] = sum(map(weight, paths | {name}))
    assert len(weights) > 50
    listings = {f"{Path(name).stem}.html" for name in LISTINGS}
    allowed = {name: LISTING_BYTES if name in listings else PAGE_BYTES for name in weights}
    heavy = {name: size for name, size in weights.items() if not 50_000 < size <= allowed[name]}
    assert heavy == {}


@pytest.mark.parametrize("dark", [False, True])
def test_a_page_fits_a_narrow_window(browser: Any, server: Server, *, dark: bool) -> None:
    """Nothing but tables and code scrolls sideways at 400 px; the colours follow the system."""
    resize(browser, 400, 800)
    scheme(browser, dark=dark)
    browser.get(f"{server.address}/tutorial.html")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    shown = [float(part) for part in colour.partition("(")[2].strip(")").split(",")[:3]]
    assert (sum(shown) < 380) is dark


def test_findings_are_filtered(browser: Any, server: Server) -> None:
    """Words leave the entries that have them all; an empty field leaves all."""
    browser.get(f"{server.address}/findings.html")
    field = first(browser, ".filter input")
    total = sum(one.is_displayed() for one in every(browser, "article h3"))
    field.send_keys("gather tensorflow")
    left = [one.text for one in every(browser, "article h3") if one.is_displayed()]
    assert "gather-batching-lost-tensorflow" in " ".join(left)
    assert 0 < len(left) < total
    assert first(browser, ".filter [role=status]").text == f"{len(left)} of {total}"
    field.clear()
    field.send_keys(" ")
    assert sum(one.is_displayed() for one in every(browser, "article h3")) == total


def test_the_observed_matrix_is_filtered(browser: Any, server: Server) -> None:
    """Rows of a long table, by what stands in them."""
    browser.get(f"{server.address}/matrix/observed.html")
    field = first(browser, ".filter input")
    field.send_keys("jaxlib 0.4.30")
    rows = field.find_elements("xpath", "following::table[1]//tbody/tr")
    left = [one.text for one in rows if one.is_displayed()]
    assert left
    assert all("jaxlib 0.4.30" in one for one in left)


def test_the_site_is_searched(browser: Any, server: Server) -> None:
    """A word that one page is about leads there, without a request to anybody else."""
    from selenium.webdriver import ActionChains

    browser.get(f"{server.address}/index.html")
    first(browser, ".md-search__button").click()
    ActionChains(browser).pause(1).send_keys("composites-to-calls").perform()
    # The results are in a tree of their own.
    text = """return [...document.querySelectorAll("*")]
      .map((one) => one.shadowRoot?.textContent ?? "").join("")"""
    wait(browser, lambda: "Downgrades" in browser.execute_script(text))
