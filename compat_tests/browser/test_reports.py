"""The pages that commands write: complete, accessible, narrow and dark; both of one style."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat_tests.helpers.accessibility import violations
from compat_tests.helpers.browser import every, first, resize, scheme
from compat_tests.helpers.matrices import cell, matrix, observed
from portable.cli import main
from portable.matrix.report import render

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
