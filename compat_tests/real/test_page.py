"""The HTML page in a real browser, with what real Releases did with sealed artifacts.

Needs Chromium with its driver and selenium; `tox -e browser` insists on them.
"""

from __future__ import annotations

import shlex
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compat_tests.helpers.browser import chromium, every, first, resize, scheme, wait
from compat_tests.helpers.matrices import cell, observed
from compat_tests.helpers.matrices import matrix as matrix_of
from compat_tests.helpers.sealed import CASES
from portable.cli import main
from portable.matrix import Agreement, Matrix, Run, Store, collect, merge
from portable.matrix.report import render, reproducer
from portable.releases import find_release
from portable.verdict import Stage

pytestmark = pytest.mark.old_releases

PROGRAMS = ("abs_f32", "tan_f32", "dot_general_algorithm_bf16_x3")
CONSUMERS = ("jaxlib 0.4.13", "jaxlib 0.4.30", "jaxlib 0.4.33", "jaxlib 0.10.2")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start a browser."""
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    """Ask real Releases to read sealed artifacts."""
    items = collect([str(CASES[name].directory) for name in PROGRAMS])
    with Store(":memory:") as store:
        real = Run(store).observe(items, [find_release(name) for name in CONSUMERS])
    # One that a table foretold otherwise, whatever the tables learn.
    listed = cell("location_range+1.0.0", "jaxlib 0.4.33", observed("jaxlib 0.4.33"), listed="why")
    return merge([real, matrix_of(listed, date=real.date)])


@pytest.fixture
def page(browser: Any, matrix: Matrix, tmp_path: Path) -> Any:
    """Open the page of the matrix at 1280 x 800."""
    _open(browser, matrix, tmp_path)
    return browser


def _open(browser: Any, matrix: Matrix, folder: Path, *, dark: bool = False) -> None:
    path = folder / "report.html"
    path.write_text(render(matrix, "html"), "utf-8")
    resize(browser, 1280, 800)
    scheme(browser, dark=dark)
    browser.get(path.as_uri())


def _square(page: Any, words: str) -> Any:
    (found,) = (
        one
        for one in every(page, "#squares .square")
        if words in (one.get_attribute("aria-label") or "")
    )
    return found


def test_a_square_tells_what_happened_and_how_to_see_it_again(
    page: Any, matrix: Matrix, capsys: pytest.CaptureFixture[str]
) -> None:
    """A click opens the panel: the cells, the diagnostics, the command."""
    wanted = next(
        one
        for one in matrix.cells
        if one.observed and not one.observed.compatible and one.item.claimed
    )
    assert wanted.item.claimed
    _square(page, f"{wanted.release}, artifacts for {wanted.item.claimed.target}:").click()
    panel = first(page, "#panel")
    assert panel.is_displayed()
    assert str(wanted.release) in first(page, "#panel h2").text
    (row,) = (one for one in every(page, "#cells details") if wanted.item.name in one.text)
    if not row.get_attribute("open"):
        row.find_element("css selector", "summary").click()
    command = row.find_element("css selector", ".command").text
    assert command == reproducer(wanted, matrix.stage)
    assert main(shlex.split(command)[1:]) == 1
    assert f"{wanted.release}: 1 of 1 fail" in capsys.readouterr().out
    assert wanted.observed
    assert wanted.observed.reason in " ".join(row.text.split())
    assert wanted.predicted.reason in row.text


def test_the_command_is_the_same_where_inputs_were_given(browser: Any, tmp_path: Path) -> None:
    """The page gives the inputs, and the Release that said what is right, as other reports do."""
    one = cell("tan+1.4.0", "jaxlib 0.4.33", observed("jaxlib 0.4.33"))
    given = ("--inputs=it's x.npz", "--rtol=0.1")
    item = replace(one.item, given=given, reference="jaxlib==0.10.2")
    executed = matrix_of(replace(one, item=item), stage=Stage.EXECUTE)
    _open(browser, executed, tmp_path)
    _square(browser, "jaxlib 0.4.33, artifacts for 1.4.0:").click()
    (row,) = every(browser, "#cells details")
    if not row.get_attribute("open"):
        row.find_element("css selector", "summary").click()
    command = row.find_element("css selector", ".command").text
    assert command == reproducer(executed.cells[0], Stage.EXECUTE)
    assert shlex.split(command)[-2:] == list(given)


def test_the_squares_say_what_the_matrix_says(page: Any, matrix: Matrix) -> None:
    """Every square's share is that of its cells."""
    labels = [
        one.get_attribute("aria-label") for one in every(page, "#squares .square[aria-label]")
    ]
    for release in matrix.releases:
        for claimed in {one.item.claimed for one in matrix.cells if one.item.claimed}:
            inside = [
                one
                for one in matrix.cells
                if one.release == release
                and one.item.claimed
                and one.item.claimed.target == claimed.target
            ]
            good = sum(one.verdict.compatible for one in inside)
            says = f"{good} of {len(inside)} compatible" if inside else "none"
            start = f"{release}, artifacts for {claimed.target}: {says}"
            assert any(label.startswith(start) for label in labels), start


def test_contradictions_come_first(page: Any, matrix: Matrix) -> None:
    """They stand above the map, counted; a click shows the cell."""
    found = [one for one in matrix.cells if one.agreement is Agreement.CONTRADICTS]
    title = first(page, "#contradictions-title")
    assert f"{len(found)} contradiction" in title.text
    assert title.location["y"] < first(page, "#squares").location["y"]
    row = every(page, "#contradictions li button")[-1]
    assert "explained: why" in row.text
    row.click()
    assert "location_range+1.0.0" in first(page, "#cells").text
    assert "Predicted" in first(page, "#cells dl").text


def test_filters_choose_cells(page: Any, matrix: Matrix) -> None:
    """By outcome and by text together; the squares count what is left; one button clears."""
    bad = [one for one in matrix.cells if str(one.verdict.outcome) == "incompatible"]
    first(page, ".chip[data-value=incompatible]").click()
    assert first(page, "#shown").text.startswith(f"{len(bad)} of {len(matrix.cells)} ")
    first(page, "#text").send_keys("0.4.13 tan")
    left = [one for one in bad if "tan" in one.item.name and "0.4.13" in str(one.release)]
    assert left
    wait(page, lambda: first(page, "#shown").text.startswith(f"{len(left)} of "))
    counts = [
        int(one.text) for one in every(page, "#squares .square:not(.none):not(.dim)") if one.text
    ]
    assert sum(counts) == len(left)
    first(page, "#clear").click()
    assert first(page, "#shown").text == ""
    assert not first(page, "#clear").is_displayed()


def test_the_keyboard_is_enough(page: Any) -> None:
    """Arrows walk over the squares, Enter opens one, Escape goes back to it."""
    from selenium.webdriver import ActionChains, Keys

    page.execute_script("document.querySelector('.square[tabindex=\"0\"]').focus()")
    begin = page.switch_to.active_element.get_attribute("aria-label")
    ActionChains(page).send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP).perform()
    second = page.switch_to.active_element.get_attribute("aria-label")
    assert second.split(",")[0] != begin.split(",")[0]
    assert second.split(":")[0].split(",")[1] == begin.split(":")[0].split(",")[1]
    ActionChains(page).send_keys(Keys.ENTER).perform()
    assert first(page, "#panel").is_displayed()
    assert page.switch_to.active_element.get_attribute("id") == "panel-title"
    ActionChains(page).send_keys(Keys.ESCAPE).perform()
    assert not first(page, "#panel").is_displayed()
    assert page.switch_to.active_element.get_attribute("aria-label") == second


def test_the_address_leads_back_to_a_square(page: Any) -> None:
    """Whoever gets the link sees the same panel; an address that is no link does nothing."""
    _square(page, "jaxlib 0.4.33, artifacts for 0.9.0:").click()
    link, title = page.current_url, first(page, "#panel h2").text
    assert link.endswith("#jaxlib%200.4.33%2F0.9.0")
    for address in ("#%", "#nowhere/1.0.0", "#filters"):
        page.get("about:blank")
        page.get(link.partition("#")[0] + address)
        assert not first(page, "#panel").is_displayed()
    page.get("about:blank")
    page.get(link)
    assert first(page, "#panel").is_displayed()
    assert first(page, "#panel h2").text == title
    assert page.get_log("browser") == []


def test_it_asks_for_nothing_and_complains_of_nothing(page: Any) -> None:
    """The browser requests the one file, and its console stays empty."""
    for kind in ("browser", "performance"):
        page.get_log(kind)  # what came before
    page.refresh()
    every(page, "#squares .square:not(.none)")[0].click()
    assert page.get_log("browser") == []
    sent = [
        entry["message"]
        for entry in page.get_log("performance")
        if '"Network.requestWillBeSent"' in entry["message"]
    ]
    assert sent
    assert all('"url":"file://' in one or '"url":"data:' in one for one in sent), sent


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [(1280, 800), (420, 800)])
def test_it_fits_the_window(
    browser: Any, matrix: Matrix, tmp_path: Path, size: tuple[int, int], *, dark: bool
) -> None:
    """Nothing but the map itself scrolls sideways; the screenshot is of that size."""
    _open(browser, matrix, tmp_path, dark=dark)
    resize(browser, *size)
    shot = tmp_path / "page.png"
    assert browser.save_screenshot(str(shot))
    assert struct.unpack(">II", shot.read_bytes()[16:24]) == size
    assert browser.execute_script("return document.documentElement.scrollWidth") <= size[0]
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    lightness = sum(int(part) for part in colour.strip("rgb()").split(","))
    assert (lightness < 200) is dark


def test_hostile_names_stay_text(browser: Any, tmp_path: Path) -> None:
    """No script runs but the page's, and the name is shown as it is."""
    one = cell("tan+1.4.0", "jaxlib 0.4.13", observed("jaxlib 0.4.13"))
    name = "a</script><img src=x onerror=\"document.title='broken'\">"
    hostile = replace(one, item=replace(one.item, name=name, path=name))
    _open(browser, matrix_of(hostile), tmp_path)
    every(browser, "#squares .square:not(.none)")[0].click()
    assert name in first(browser, "#cells").text
    assert browser.title == "StableHLO compatibility matrix"
    assert every(browser, "img") == []


def test_twenty_thousand_cells_are_drawn(browser: Any, matrix: Matrix, tmp_path: Path) -> None:
    """All are counted, and the panel draws the first of them and more when asked."""
    base = [one for one in matrix.cells if one.item == matrix.cells[0].item]
    cells = [
        replace(one, item=replace(one.item, name=f"artifact {number}"))
        for number in range(5000)
        for one in base
    ]
    items = tuple(one.item for one in cells[:: len(base)])
    releases = tuple(one.release for one in base)
    _open(browser, Matrix(Stage.DECODE, items, releases, tuple(cells), matrix.date), tmp_path)
    assert f"{len(cells):,} cells" in first(browser, "#totals").text
    every(browser, "#squares .square:not(.none)")[0].click()
    assert len(every(browser, "#cells details")) == 60
    first(browser, "#panel .more").click()
    assert len(every(browser, "#cells details")) == 120
