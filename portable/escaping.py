r"""Foreign text made fit to show: no terminal, log, CI runner, browser or parser obeys it.

Names in artifacts, file names, policies and what compilers say may hold any character. `line` shows
what cannot be seen by its number (`\x1b`, `\n`, `\u202e`, `\udcff`); everything that prints or
writes text goes through it, or through `block` where a text has lines of its own, or `json_text`.
They are idempotent: a text that has been escaped may be escaped again.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "block",
    "code_span",
    "json_pieces",
    "json_text",
    "line",
    "markdown",
    "one_line",
    "program_text",
    "shortened",
]

LONGEST_WORD = 1000
LONGEST_LINE = 10_000
# So many times the length of a message are looked at, of which white space is most.
_SEEN = 20

# Printable by what Python knows of them, and yet nothing to see.
_INVISIBLE = frozenset(
    chr(code)
    for first, last in (
        (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800),
        (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF),
    )
    for code in range(first, last + 1)
)  # fmt: skip
# The runners of GitHub take `::` at the beginning of a line, behind any space, and `##[` anywhere
# in it; those of Azure Pipelines and TeamCity `##vso[` and `##teamcity[`.
_AT_START = re.compile(r"^( *):(?=:)")
# How many tokens of a JSON document are put together in one piece.
_TOKENS = 4096
_ANYWHERE = re.compile(r"#(?=#\w*\[)")
_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")
_WORDS = re.compile(r"[A-Za-z0-9][\w .,+()-]*", re.ASCII)
_LINE_ENDS = re.compile(r"\r\n?|\n")


def line(text: str, limit: int = LONGEST_LINE) -> str:
    """Make any text one printable line that nothing obeys.

    Args:
        text: Any text.
        limit: How long it may be; what is longer loses its middle, as do longer words, and says so.

    Returns:
        The line, without its end.
    """
    shown = _guarded(_visible(text))
    return shortened(_WORD.sub(lambda word: shortened(word[0], LONGEST_WORD), shown), limit)


def one_line(text: str, limit: int = 500) -> str:
    """Make a message, which may have lines, one printable line.

    Args:
        text: Any text.
        limit: How long it may be; what is longer ends in an ellipsis.

    Returns:
        The line, its words with single spaces between them.
    """
    # What is far behind the limit is not shown, and need not be escaped.
    begin = text[: limit * _SEEN]
    shown = _guarded(_visible(" ".join(begin.split())))
    whole = len(begin) == len(text) and len(shown) <= limit
    return shown if whole else shown[: limit - 3] + "..."


def block(text: str) -> str:
    """Make a text that has lines printable; line ends stay.

    Args:
        text: Any text.

    Returns:
        Complete lines, of which a runner obeys none.
    """
    return "\n".join(_guarded(_visible(one)) for one in _LINE_ENDS.split(text))


def json_text(value: object, indent: int | None = None) -> str:
    r"""Write plain data as JSON, in printable ASCII.

    Args:
        value: Dictionaries, lists, texts and numbers; a lone surrogate, which no JSON can carry, is
            written as the six characters `\udcff`, a number that is not finite as a text.
        indent: By how many spaces; None writes one line.

    Returns:
        The document, without a line end.
    """
    return "".join(json_pieces(value, indent))


def json_pieces(value: object, indent: int | None = None) -> Iterator[str]:
    """Write plain data as JSON piece by piece: a large document is never whole in memory.

    Args:
        value: As for `json_text`.
        indent: As for `json_text`.

    Yields:
        The pieces of the document, in order.
    """
    import json  # cold start: text needs none of it

    encoder = json.JSONEncoder(
        ensure_ascii=False,
        allow_nan=False,
        indent=indent,
        separators=(",", ":") if indent is None else None,
    )
    # A token is one text here, so nothing that is escaped lies across two pieces.
    tokens = encoder.iterencode(value if _is_finite(value) else _finite(value))
    while batch := "".join(islice(tokens, _TOKENS)):
        yield _ANYWHERE.sub(r"\\u0023", re.sub(r"[^\n -~]", _json_escape, batch))


def program_text(text: str) -> str:
    r"""Make a program printable without changing what it says.

    MLIR escapes what its strings hold; only what a runner would look for is left, and `\23` is a
    number sign to MLIR.

    Args:
        text: What MLIR printed.

    Returns:
        The program.
    """
    return "\n".join(_ANYWHERE.sub(r"\\23", _visible(one, "\t")) for one in text.split("\n"))


def markdown(text: str) -> str:
    """Make a text part of a line or a table of Markdown.

    Args:
        text: Any text.

    Returns:
        Words and Versions as they are, anything else as `code_span`; fit for a cell.
    """
    return text if _WORDS.fullmatch(text) else code_span(text).replace("|", "\\|")


def code_span(text: str) -> str:
    """Quote a text, so that nothing in it is Markdown or HTML.

    Args:
        text: Any text.
    """
    text = one_line(text, 1000) or " "
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " * (text[:1] == "`" or text[-1:] == "`")
    return f"{fence}{space}{text}{space}{fence}"


def shortened(text: str, limit: int) -> str:
    """Cut the middle out of a long text and say how long it is.

    Args:
        text: The text.
        limit: How long it may be.

    Returns:
        The text, or its beginning and its end.
    """
    if len(text) <= limit:
        return text
    mark = f"...[{len(text):,} characters]..."
    rest = max(limit - len(mark), 0)
    return text[: rest - rest // 3] + mark + text[len(text) - rest // 3 :]


def _visible(text: str, allowed: str = "") -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c in allowed or (c.isprintable() and c not in _INVISIBLE) else _number(c) for c in text
    )


def _number(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _guarded(text: str) -> str:
    return _ANYWHERE.sub(r"\\x23", _AT_START.sub(r"\1\\x3a", text))


def _json_escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xD800 <= code < 0xE000:
        return f"\\\\u{code:04x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _is_finite(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or value - value == 0


def _finite(value: object) -> object:
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(inside) for key, inside in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value
