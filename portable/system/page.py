"""One static HTML page that needs no network: the frame and the style that all reports share."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

from portable.escaping import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["fill", "page", "read"]

_HERE = Path(__file__).parent


def page(title: str, body: str, *, style: str = "", script: str = "", data: object = None) -> str:
    """Write a page.

    A content security policy lets the browser run that script alone and reach nothing, whatever
    names the page holds.

    Args:
        title: Its title, as text.
        body: HTML; foreign text in it is escaped already.
        style: CSS for what this page alone has.
        script: What draws `data`; it may make text of it, never HTML.
        data: Plain data for the script.

    Returns:
        HTML, in ASCII where it is data.
    """
    styles = f"{read(_HERE / 'page.css')}{style}"
    # The end of the script, or a comment in it, must not be found in the data.
    text = json_text(data).replace("<", "\\u003c").replace(">", "\\u003e")
    parts = {
        "title": html.escape(title),
        "body": body,
        "style": styles,
        "script": script,
        "style-hash": _hash(styles),
        "script-hash": _hash(script),
        "data": text.replace("&", "\\u0026"),
    }
    return fill(read(_HERE / "page.html"), parts)


def fill(template: str, parts: Mapping[str, str]) -> str:
    """Put parts into a template, in one pass: what is put in may look like a mark itself.

    Args:
        template: HTML with marks such as `{{title}}`.
        parts: HTML for each mark.
    """
    return re.sub(r"\{\{([a-z-]+)\}\}", lambda mark: parts[mark[1]], template)


def read(path: Path) -> str:
    """Read a part of a page."""
    return path.read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
