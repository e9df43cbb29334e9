"""The commands and snippets of the pages run, and print what the pages show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.pages import DOCS, TORCH, differences, pages

pytestmark = pytest.mark.old_releases

PAGES = [path for path in pages() if path.relative_to(DOCS).as_posix() not in TORCH]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_a_page_shows_what_its_commands_print(page: Path) -> None:
    """`python -m tools pages` writes what they print now."""
    assert [(one.text, printed) for one, printed in differences(page)] == []


def test_a_wrong_output_and_a_failing_snippet_are_found(tmp_path: Path) -> None:
    """An output that the page does not show is returned with its place; a snippet must succeed."""
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ echo right\nright\n$ echo wrong\nleft\n$ echo a; echo b\n...\n```\n"
    )
    ((command, printed),) = differences(page)
    assert (command.text, printed) == ("echo wrong", "wrong\n")
    assert page.read_text()[command.begin : command.end] == "left\n"
    page.write_text(
        '```text title="x/name"\nhere\n```\n\n'
        '```python\nassert open("x/name").read() == "here\\n"\n```\n'
    )
    assert differences(page) == []
    page.write_text("```python\nassert False\n```\n")
    with pytest.raises(Exception, match="AssertionError"):
        differences(page)
