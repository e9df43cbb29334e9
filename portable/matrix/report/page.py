"""The Matrix as one static HTML page that needs no network: a heat map to look into."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

from portable.escaping import json_text, line
from portable.matrix.document import parse, record
from portable.matrix.report.tally import totals

if TYPE_CHECKING:
    from portable.matrix import Matrix

__all__ = ["render"]

_HERE = Path(__file__).parent


def render(matrix: Matrix) -> str:
    """Write the page.

    Its data is the document of the Matrix; `page.js` draws it. A content security policy lets the
    browser run that script alone and reach nothing, whatever the names of files hold.

    Args:
        matrix: What to write.

    Returns:
        HTML, in ASCII where it is data.
    """
    style, script = _read("page.css"), _read("page.js")
    parts = {
        "style": style,
        "script": script,
        "style-hash": _hash(style),
        "script-hash": _hash(script),
        "totals": html.escape(line("; ".join(totals(matrix)))),
        "data": _data(matrix),
    }
    # In one pass: what is put in may look like a mark itself.
    return re.sub(r"\{\{([a-z-]+)\}\}", lambda mark: parts[mark[1]], _read("page.html"))


def _data(matrix: Matrix) -> str:
    document = record(matrix)
    rows = document["cells"]
    assert isinstance(rows, list)  # noqa: S101 - for the type checker: `record` makes it one
    positions = (position for row in rows for position in row if position is not None)
    # How a prediction and an observation agree is for `Cell` to say, not for the page.
    agreements = {
        position: str(cell.agreement)
        for position, cell in zip(positions, parse(document).cells, strict=True)
    }
    known = [agreements[position] for position in range(len(agreements))]
    text = json_text(document | {"agreements": known})
    # The end of the script, or a comment in it, must not be found in the data.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _read(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
