"""The Matrix as one static HTML page that needs no network: a heat map to look into."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

from portable.escaping import line
from portable.matrix.document import parse, record
from portable.matrix.report.tally import conclusion, totals
from portable.system.page import fill, page, read

if TYPE_CHECKING:
    from portable.matrix import Matrix

__all__ = ["render"]

_HERE = Path(__file__).parent


def render(matrix: Matrix) -> str:
    """Write the page: its data is the document of the Matrix, which `page.js` draws.

    Args:
        matrix: What to write.

    Returns:
        HTML, in ASCII where it is data.
    """
    words = {"conclusion": conclusion(matrix), "totals": "; ".join(totals(matrix))}
    return page(
        "StableHLO compatibility matrix",
        fill(read(_HERE / "page.html"), {k: html.escape(line(text)) for k, text in words.items()}),
        style=read(_HERE / "page.css"),
        script=read(_HERE / "page.js"),
        data=_data(matrix),
    )


def _data(matrix: Matrix) -> dict[str, object]:
    document = record(matrix)
    rows = document["cells"]
    assert isinstance(rows, list)  # noqa: S101 - for the type checker: `record` makes it one
    positions = (position for row in rows for position in row if position is not None)
    # How a prediction and an observation agree is for `Cell` to say, not for the page.
    agreements = {
        position: str(cell.agreement)
        for position, cell in zip(positions, parse(document).cells, strict=True)
    }
    return document | {"agreements": [agreements[one] for one in range(len(agreements))]}
