"""The playground in a real browser: what is dropped is read, and nothing leaves the page."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compat_tests.browser.conftest import Server
from compat_tests.helpers.accessibility import violations
from compat_tests.helpers.browser import every, first, resize, scheme, wait
from tools.playground import EXAMPLES, MOST_BYTES, ROOT

ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"
CONTAINERS = ROOT / "compat_tests" / "data" / "containers"
TAN = ARTIFACTS / "tan+1.4.0.mlir.bc"
HOSTILE = "<img src=x onerror=\"document.title='broken'\">\u202e\x1b[31m.mlir.bc"
LOADING = 120


def _open(browser: Any, server: Server, link: str = "") -> None:
    browser.get("about:blank")
    browser.get(f"{server.address}/playground/index.html{link}")
    wait(browser, lambda: bool(_said(browser, "status").startswith("Ready")), LOADING)


def _said(browser: Any, name: str) -> str:
    text: str = browser.execute_script(f"return document.getElementById('{name}').textContent")
    return text


@pytest.fixture(scope="module")
def loaded(chrome: Any, site: Path) -> Iterator[tuple[Any, Server]]:
    """Load the page once."""
    server = Server(site)
    resize(chrome, 1280, 900)
    scheme(chrome, dark=False)
    _open(chrome, server)
    yield chrome, server
    server.stop()


@pytest.fixture
def page(loaded: tuple[Any, Server]) -> Any:
    """Return the page, wide and light, with nothing said yet."""
    browser, _ = loaded
    resize(browser, 1280, 900)
    scheme(browser, dark=False)
    _forget(browser)
    browser.get_log("browser")
    return browser


def _forget(page: Any) -> None:
    page.execute_script(
        "for (const id of ['says', 'error', 'diff', 'target'])"
        "document.getElementById(id).textContent = ''; window.scrollTo(0, 0)"
    )


def _answer(page: Any) -> str:
    """Wait for a sentence: what it is, or why it cannot be read."""
    wait(page, lambda: bool(_said(page, "says") or _said(page, "error")), 60)
    return _said(page, "says") or _said(page, "error")


def _drop(page: Any, *paths: Path) -> str:
    """Drop files or folders, as a person does."""
    at = {
        "x": 640,
        "y": 200,
        "data": {"items": [], "files": list(map(str, paths)), "dragOperationsMask": 1},
    }
    for kind in ("dragEnter", "dragOver", "drop"):
        page.execute_cdp_cmd("Input.dispatchDragEvent", {"type": kind, **at})
    return _answer(page)


def _choose(page: Any, name: str, index: int) -> None:
    from selenium.webdriver.support.ui import Select

    Select(first(page, f"#{name}")).select_by_index(index)


def test_a_dropped_artifact_is_read(page: Any, axe: str) -> None:
    """What it is, who reads it and why not, its ops with Versions, a graph; all accessible."""
    says = _drop(page, TAN)
    assert says.startswith(
        "A portable artifact, written for StableHLO 1.4.0; its bytes need 1.4.0."
    )
    refused = first(page, "#map .square.refuses")
    refused.click()
    assert "needs 1.4.0" in _said(page, "why")
    assert [one.text for one in every(page, "#ops tbody tr td:first-child")][-1] == "vhlo.tan_v1"
    assert len(every(page, "#graph rect")) == 2
    assert len(every(page, "#graph path")) == 1
    assert page.get_log("browser") == []
    assert violations(page, axe) == []


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (CONTAINERS / "gate-vjp2-jax-0.10.2.exported", "jax.export.Exported"),
        (CONTAINERS / "gate-jax2tf-0.7.1-tensorflow-2.20.0", "TensorFlow SavedModel"),
        (ROOT / "corpus" / "torch_xla" / "torch_xla_2_9_0" / "container", "torch_xla directory"),
    ],
    ids=["exported", "saved-model", "torch-xla"],
)
def test_a_dropped_container_is_opened(page: Any, source: Path, kind: str) -> None:
    """A file or a folder; each artifact in it can be chosen."""
    assert f"in a {kind}" in _drop(page, source)
    names = [one.get_attribute("textContent") for one in every(page, "#items option")]
    assert names
    assert all(source.name in one for one in names)
    if len(names) > 1:
        _forget(page)
        _choose(page, "items", 1)
        assert f"in a {kind}" in _answer(page)


def test_the_last_one_dropped_is_shown(page: Any) -> None:
    """An answer that comes after the next file was dropped is not: nothing says whose it is."""
    page.execute_script(
        "window.said = []; new MutationObserver(() =>"
        "window.said.push(document.getElementById('says').textContent))"
        ".observe(document.getElementById('says'), { childList: true });"
        "const list = document.getElementById('examples');"
        "for (const index of [8, 7, 1]) { list.selectedIndex = index;"
        "list.dispatchEvent(new Event('change')); } list.selectedIndex = 0"
    )
    wait(page, lambda: _said(page, "says").startswith("A portable artifact, written"), 60)
    assert len(page.execute_script("return window.said")) == 1


def test_every_example_is_read(page: Any) -> None:
    """Ten of them."""
    assert len(every(page, "#examples option")) == 1 + len(EXAMPLES) == 11
    for number in range(1, 11):
        page.execute_script("document.getElementById('says').textContent = ''")
        _choose(page, "examples", number)
        assert _answer(page).startswith("A portable artifact"), number


def test_consumers_are_chosen_and_ops_filtered(page: Any) -> None:
    """The target for some consumers; a mistake is a sentence; the table is filtered by words."""
    _drop(page, TAN)
    field = first(page, "#specs")
    field.clear()
    field.send_keys("jaxlib==0.4.30\n")
    wait(page, lambda: "Rewritten for that target, it would do." in _said(page, "target"))
    assert "1.1.0" in _said(page, "target")
    field.clear()
    field.send_keys("jaxlibb\n")
    wait(page, lambda: "did you mean jaxlib" in _said(page, "error"))
    first(page, "#filter").send_keys("tan")
    assert [one.text for one in every(page, "#ops tbody tr") if one.is_displayed()] == [
        "vhlo.tan_v1 1 1.4.0 1.9.0 1.4.0"
    ]


def test_two_files_are_compared(page: Any) -> None:
    """Ops added, removed and changed, and what forces each Version."""
    _drop(page, TAN)
    first(page, "#other").send_keys(str(ARTIFACTS / "add_f32+0.9.0.mlir.bc"))
    wait(page, lambda: "Different programs" in _said(page, "diff"))
    rows = [one.text for one in every(page, "#diff table:last-child tbody tr")]
    assert rows == ["vhlo.add_v1 0 1 added", "vhlo.tan_v1 1 0 removed"]
    first(page, "#other").send_keys(str(TAN))
    wait(page, lambda: "The same program" in _said(page, "diff"))


def test_bad_files_are_answered_by_a_sentence(page: Any, tmp_path: Path) -> None:
    """Empty, damaged, text, too large, an empty folder; the page goes on after each."""
    cases = {
        "empty": (b"", "The file is empty"),
        "cut.mlir.bc": (TAN.read_bytes()[:90], "damaged"),
        "notes.txt": (b"module {}\n", "This is text"),
        "noise": (os.urandom(5000), ""),
    }
    for name, (content, says) in cases.items():
        (tmp_path / name).write_bytes(content)
        assert says in _drop(page, tmp_path / name), name
        _forget(page)
    large = tmp_path / "large.bin"
    with large.open("wb") as file:
        file.truncate(200 << 20)
    assert "200 MB is more than the 64 MB" in _drop(page, large)
    (tmp_path / "folder").mkdir()
    assert "no file" in _drop(page, tmp_path / "folder")
    assert "A portable artifact" in (_drop(page, TAN), _said(page, "says"))[1]


def test_hostile_names_stay_text(page: Any, tmp_path: Path) -> None:
    """Of files, and of what is in them: markup is shown, escapes by their numbers."""
    path = tmp_path / HOSTILE.replace("/", "")
    path.write_bytes(TAN.read_bytes())
    title = page.title
    _drop(page, path, CONTAINERS / "gate-vjp2-jax-0.10.2.exported")
    shown = _said(page, "items")
    assert "<img src=x onerror=" in shown
    assert r"\u{202e}\u{1b}[31m" in shown
    assert page.title == title
    assert every(page, "img") == []


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_narrow_window(page: Any, axe: str, *, dark: bool) -> None:
    """At 400 px nothing but tables and the graph scrolls sideways; the contrast is enough."""
    resize(page, 400, 800)
    scheme(page, dark=dark)
    _choose(page, "examples", 3 if dark else 4)
    _answer(page)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 400
    assert violations(page, axe) == []


def test_the_keyboard_is_enough(page: Any) -> None:
    """Tab leads to the examples, an arrow chooses one, and arrows walk over the squares."""
    from selenium.webdriver import ActionChains, Keys

    page.execute_script("document.getElementById('examples').focus()")
    page.switch_to.active_element.send_keys(Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert _answer(page)
    wait(page, lambda: page.switch_to.active_element.get_attribute("id") == "result")
    for _ in range(20):
        if "square" in (page.switch_to.active_element.get_attribute("class") or ""):
            break
        ActionChains(page).send_keys(Keys.TAB).perform()
    seen = [page.switch_to.active_element.get_attribute("aria-label")]
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_LEFT, Keys.ARROW_UP):
        ActionChains(page).send_keys(key).perform()
        seen.append(page.switch_to.active_element.get_attribute("aria-label"))
        assert seen[-1].partition(":")[0] in _said(page, "why")
    assert seen[0] == seen[-1]
    assert len(set(seen)) == 4


def test_a_link_leads_to_the_same_page(page: Any, loaded: tuple[Any, Server]) -> None:
    """The link holds a small file in its fragment, which is never sent; damaged, it says so."""
    _, server = loaded
    says = _drop(page, TAN)
    page.execute_script("document.getElementById('link').click()")
    wait(page, lambda: "#" in page.current_url)
    link = "#" + page.current_url.partition("#")[2]
    _open_link(page, server, link)
    assert _answer(page) == says
    assert all("tan" not in one for one in server.requests)
    _open_link(page, server, "#name=x&file=AAAA")
    assert _answer(page) == "The link is damaged."
    _open(page, server)


def _open_link(page: Any, server: Server, link: str) -> None:
    page.get("about:blank")
    page.get(f"{server.address}/playground/index.html{link}")
    wait(page, lambda: bool(_said(page, "says") or _said(page, "error")), LOADING)


def test_nothing_is_requested_after_loading(browser: Any, site: Path) -> None:
    """It reads with the server gone; whatever tries to leave is refused by the policy."""
    server = Server(site)
    begin = time.monotonic()
    _open(browser, server)
    loaded = time.monotonic()
    before = list(server.requests)
    sizes = {
        name: (site / name.partition("?")[0].lstrip("/")).stat().st_size
        for name in set(before)
        if name.startswith("/playground/")
    }
    assert sum(sizes.values()) <= MOST_BYTES
    server.stop()
    browser.get_log("performance")
    assert _drop(browser, TAN).startswith("A portable artifact")
    read = time.monotonic()
    for address in (f"{server.address}/index.html", "https://example.org/", "data:,x"):
        refused = browser.execute_async_script(
            "const [address, done] = arguments;"
            "fetch(address).then(() => done('sent'), () => done('refused'))",
            address,
        )
        assert refused == "refused"
    sent = [
        entry["message"]
        for entry in browser.get_log("performance")
        if '"Network.requestWillBeSent"' in entry["message"]
        and '"url":"blob:' not in entry["message"]
        and "csp" not in entry["message"]
    ]
    assert len(server.requests) == len(before)
    assert [one for one in sent if "127.0.0.1" in one and '"type":"Fetch"' not in one] == []
    # Reading is a part of what starting Python takes, whatever the machine.
    assert read - loaded < loaded - begin


@pytest.mark.parametrize("missing", ["WebAssembly", "DecompressionStream", "Worker"])
def test_an_old_browser_is_told(browser: Any, server: Server, missing: str) -> None:
    """A sentence, never a blank page."""
    source = {"source": f"delete window.{missing};"}
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", source)
    try:
        browser.get(f"{server.address}/playground/index.html")
        wait(browser, lambda: bool(_said(browser, "error")), LOADING)
        assert missing in _said(browser, "error")
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_a_part_that_is_missing_is_told(browser: Any, site: Path, tmp_path: Path) -> None:
    """A site that was copied by halves says which file it lacks."""
    (tmp_path / "playground").mkdir()
    for path in (site / "playground").iterdir():
        if path.name != "python_stdlib.zip":
            (tmp_path / "playground" / path.name).symlink_to(path)
    server = Server(tmp_path)
    try:
        browser.get(f"{server.address}/playground/index.html")
        wait(browser, lambda: bool(_said(browser, "error")), LOADING)
        assert "python_stdlib.zip: 404" in _said(browser, "error")
    finally:
        server.stop()
