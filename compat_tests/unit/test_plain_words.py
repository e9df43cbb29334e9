"""Messages, docstrings, comments and pages use the field's words, in plain sentences.

Each row is a phrase that was once used here, and what to write instead.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Case is ignored; \b is implied at both ends.
INSTEAD = {
    r"held against": "checked against, compared with",
    r"(written|write|writes) anew": "rewritten, re-pinned",
    r"rid(e|es|ing) along": "pass through",
    r"ruined": "consumed, damaged",
    r"asked of": "queried",
    r"(to|can|cannot|could) be had": "available, not available",
    r"open dimensions?": "dynamic dimension",
    r"(a|the|no|every) doors?": "adapter, backend",
    r"lay(s|ing)? open": "inline, return all values",
    r"nowhere": "a broken link, /dev/null, unknown key",
    r"nobody": "name what is missing: not recorded, unknown, not locked",
    r"(is|are|was|were) told": "reported, configured",
    r"foretells?": "predict",
    r"foretold": "predicted",
    r"unless told otherwise": "by default",
    r"speaks? (of|up to)": "applies to, is valid up to, names",
    r"teach(es)?": "see '... --help'",
    r"without a word": "no output, silently",
    r"what stands between": "blockers",
    r"stands? beside": "is installed with, is next to",
    r"at one go": "at once",
    r"makes no sense": "invalid",
    r"are announced": "exceed the remaining size",
    r"hung to": "timed out after ... while",
    r"that says something": "non-empty",
    r"is there (already|twice)": "exists, is duplicated",
    r"something is there": "destination exists",
    r"name a new place": "choose another path",
    r"how sure": "confidence",
    r"as it is, \d": "minimum target without rewriting",
    r"(was|were|when|is|are) asked for": "requested, on first use",
    r"could not be asked": "could not be run",
    r"(only|that|which) .{1,20} tells?": "shows, defines, has",
}


def _read() -> dict[str, str]:
    """Return what people read: pages, and strings, docstrings and comments of the code."""
    found = {}
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob(".github/**/*.md")):
        found[str(path.relative_to(ROOT))] = path.read_text()
    for folder in ("portable", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text()
            strings = [
                node.value
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
            comments = re.findall(r"^\s*# (.*)|  # (.*)", text, re.MULTILINE)
            found[str(path.relative_to(ROOT))] = "\n".join(
                [*strings, *(own or behind for own, behind in comments)]
            )
    return found


def test_no_phrase_is_used() -> None:
    """In pages, the product and the tools; the table says what to write instead."""
    texts = _read()
    assert {"README.md", "docs/glossary.md", "portable/errors.py"} <= set(texts)
    assert "This is not in the text" not in texts["portable/errors.py"]
    assert "An exception means" in texts["portable/errors.py"]
    used = [
        f"{where}: {text[max(at - 40, 0) : at + 60]!r}; write: {instead}"
        for where, text in texts.items()
        for phrase, instead in INSTEAD.items()
        for at in _used(phrase, text.lower())
    ]
    assert used == []


def _used(phrase: str, text: str) -> list[int]:
    """Return where a phrase stands in a text in lower case, as words of their own."""
    # What is before it is looked at afterwards: ten times as fast as a search that does.
    found = (one.start() for one in re.finditer(rf"(?:{phrase})(?!\w)", text))
    return [at for at in found if not re.match(r"\w", text[at - 1 : at])]


def test_every_phrase_is_found_where_it_is_used() -> None:
    """The patterns match what they are for."""
    for phrase, sample in {
        "nobody": "Nobody knows.",
        r"(is|are|was|were) told": "it is told twice",
        r"as it is, \d": "as it is, 1.4.0 can express it",
    }.items():
        assert _used(phrase, sample.lower())
    assert not _used("nobody", "snobody, nobodys")
