"""The commands and snippets of the pages about PyTorch run, and print what the pages show."""

from __future__ import annotations

import pytest

from tools.pages import DOCS, TORCH, differences


@pytest.mark.parametrize("page", sorted(TORCH))
def test_a_page_shows_what_its_commands_print(page: str) -> None:
    """`python -m tools pages docs/PAGE` writes what they print now."""
    assert [(one.text, printed) for one, printed in differences(DOCS / page)] == []
