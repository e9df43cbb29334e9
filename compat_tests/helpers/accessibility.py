"""What axe-core finds wrong with the page that is open."""

from __future__ import annotations

from typing import Any

__all__ = ["violations"]

_RUN = """
const done = arguments[arguments.length - 1];
const line = (one) =>
  `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))}`;
axe.run(arguments[0]).then(
  (found) => done(found.violations.map(line)), (error) => done([String(error)]));
"""


def violations(page: Any, axe: str, part: str = "html") -> list[str]:
    """Run axe-core.

    Args:
        page: The browser.
        axe: The source of axe-core.
        part: A selector: what to look at.

    Returns:
        A line for each rule that is violated.
    """
    page.execute_script(axe)
    found: list[str] = page.execute_async_script(_RUN, part)
    return found
