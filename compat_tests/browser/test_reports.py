"""The pages that commands write: complete, accessible, narrow and dark; both of one style."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compat_tests.adversarial.generators.injection import EVERYTHING, artifacts
from compat_tests.helpers.accessibility import violations
from compat_tests.helpers.browser import every, first, resize, scheme
from compat_tests.helpers.matrices import cell, matrix, observed
from portable.cli import main
from portable.fleet import Expiring, Outlook, Plan, Transition
from portable.fleet.report import as_html, calendar_html
from portable.matrix.report import render
from portable.verdict import Stage
from portable.version import Version

ARTIFACTS = Path(__file__).parents[1] / "data" / "artifacts"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write one of each."""
    folder = tmp_path_factory.mktemp("reports")
    words = ["gate", str(ARTIFACTS), "--for", "jaxlib>=0.4.30", "tensorflow>=2.16"]
    assert main([*words, "--report", str(folder / "gate.html"), "-o", str(folder / "gate")]) == 1
    cells = [
        cell(name, consumer, observed(consumer))
        for name in ("tan+1.4.0", "location_range+1.0.0")
        for consumer in ("jaxlib 0.4.13", "jaxlib 0.4.33")
    ]
    (folder / "matrix.html").write_text(render(matrix(*cells), "html"), "utf-8")
    return folder


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["gate", "matrix"])
def test_a_report_is_for_everybody(
    browser: Any, reports: Path, axe: str, name: str, *, dark: bool
) -> None:
    """One sentence first; axe-core finds nothing; at 420 px no text is cut off."""
    scheme(browser, dark=dark)
    browser.get((reports / f"{name}.html").as_uri())
    assert first(browser, "header .conclusion").text.endswith(".")
    assert browser.get_log("browser") == []
    # A policy that lets no other script run holds for axe-core too.
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    try:
        browser.refresh()
        assert violations(browser, axe) == []
    finally:
        browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})
    resize(browser, 420, 800)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 420


def test_the_matrix_names_its_artifacts_before_any_click(browser: Any, reports: Path) -> None:
    """In the sentence, and in the list."""
    browser.get((reports / "matrix.html").as_uri())
    assert "tan+1.4.0, location_range+1.0.0" in first(browser, ".conclusion").text
    shown = [one.text for one in every(browser, "#artifacts li") if one.is_displayed()]
    assert shown == ["tan+1.4.0, written for 1.4.0", "location_range+1.0.0, written for 1.0.0"]


LONG = "W" * 4000
HOSTILE = (
    f"{EVERYTHING}</script></style><svg/onload=alert(1)><iframe src=//127.0.0.1:9></iframe>"
    f"<meta http-equiv=refresh content='0;url=//127.0.0.1:9'>{LONG}"
)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write one of each, with hostile and long text wherever an input has text."""
    folder = tmp_path_factory.mktemp("attacked")
    tree = folder / "tree"
    tree.mkdir()
    source = ARTIFACTS / "custom_calls+1.0.0.mlir.bc"
    for number, data in enumerate(artifacts(HOSTILE, source)):
        (tree / f"{number} <img src=x onerror=alert(1)> {'W' * 150}.mlir.bc").write_bytes(data)
    words = ["gate", str(tree), "--for", "jaxlib>=0.4.30", "--report", str(folder / "gate.html")]
    assert main([*words, "-o", str(folder / "gate")]) != 0
    one = cell("tan+1.4.0", "jaxlib 0.4.13", observed("jaxlib 0.4.13", said=HOSTILE))
    one = replace(one, item=replace(one.item, name=HOSTILE))
    (folder / "matrix.html").write_text(render(matrix(one), "html"), "utf-8")
    expiring = Expiring(Version(1, 0, 0), HOSTILE, datetime.date(2027, 1, 1), 10**9)
    outlooks = [
        Outlook(change, HOSTILE, HOSTILE, (HOSTILE, *map(str, range(40)))) for change in Transition
    ]
    plan = Plan(
        (HOSTILE,), (HOSTILE,), Stage.DECODE, tuple(outlooks), 1, 1,
        (HOSTILE,), ((HOSTILE, 1),), HOSTILE, (expiring,),
    )  # fmt: skip
    (folder / "plan.html").write_text(as_html(plan, (HOSTILE,), HOSTILE), "utf-8")
    today = datetime.date(2026, 11, 25)
    (folder / "calendar.html").write_text(calendar_html([expiring] * 9, today), "utf-8")
    return folder


@pytest.mark.parametrize("name", ["gate", "matrix", "plan", "calendar"])
def test_hostile_text_stays_text(browser: Any, attacked: Path, name: str) -> None:
    """It runs nothing, reaches nothing, adds no element and widens no page."""
    page = (attacked / f"{name}.html").as_uri()
    resize(browser, 420, 800)
    browser.get_log("performance")
    browser.get(page)
    click = "for (const one of document.querySelectorAll('summary, button')) one.click()"
    browser.execute_script(click)
    assert browser.get_log("browser") == []
    said = [json.loads(one["message"])["message"] for one in browser.get_log("performance")]
    assert {
        one["params"]["request"]["url"].partition("#")[0]
        for one in said
        if one["method"] == "Network.requestWillBeSent"
    } <= {page}
    assert every(browser, "img, iframe, svg, object, embed, base, meta[http-equiv=refresh]") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 420
