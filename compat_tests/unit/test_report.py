"""Matrices as text, JSON, JUnit XML, Markdown and HTML: complete, and safe to show."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import shlex
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from compat_tests.helpers.matrices import cell, matrix, observed, sample
from portable.matrix import Cell, Matrix
from portable.matrix.document import load, parse
from portable.matrix.report import FORMATS, UnknownFormat, render, reproducer
from portable.releases import releases
from portable.verdict import Outcome, Stage

OLD = "jaxlib 0.4.13"
# What a file system, or a compiler, can really hand over.
HOSTILE = (
    "a``b`</script><img src=x onerror=alert(1)>`|*_\x1b[31m\x00\udce9\u2028'\"&\n# b --> {{data}}"
)


# A lone surrogate, which a file name that is not UTF-8 becomes, has no place in JSON.
_WRITTEN = HOSTILE.replace("\udce9", "\\udce9")


def _hostile(text: str = HOSTILE) -> Matrix:
    """Return the sample with such texts wherever foreign text stands."""
    seen = observed(OLD, Outcome.INCOMPATIBLE, Stage.DECODE, text)
    one = cell("tan+1.4.0", OLD, seen, note=text)
    name = replace(one.item, name=text, path=text, producer=text)
    contradicting = cell("add_f32+1.17.0", OLD, observed(OLD), listed=text)
    return matrix(replace(one, item=name), contradicting, *sample().cells[:2])


def _everywhere() -> Matrix:
    """Return what no jaxlib does: all of them refuse, each in words of its own."""
    cells = []
    for release in releases("jaxlib"):
        seen = observed(str(release), Outcome.INCOMPATIBLE, Stage.DECODE, f"no, says {release}")
        cells += [cell(name, str(release), seen) for name in ("add_f32+0.9.0", "tan+1.4.0")]
    return matrix(*cells)


def test_there_is_no_other_format() -> None:
    """The error says which there are."""
    with pytest.raises(UnknownFormat, match="text, json, junit, markdown, html"):
        render(sample(), "pdf")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_renders_every_matrix(form: str) -> None:
    """Also one with hostile names, one that was not observed, and one without artifacts."""
    unseen = tuple(replace(one, observed=None) for one in sample().cells)
    empty = replace(sample(), items=(), releases=(), cells=())
    for one in (sample(), _hostile(), replace(sample(), cells=unseen), empty):
        text = render(one, form)
        assert text.endswith("\n")
        text.encode()  # no lone surrogate is left
        assert "\x1b" not in text
        assert "\x00" not in text


@pytest.mark.parametrize("path", ["a b/c.mlir.bc", "it's.mlir.bc", "-o.mlir.bc", "$(rm x)\n`y`.bc"])
def test_the_command_reaches_the_shell_as_it_is_meant(path: str) -> None:
    """A shell splits it into the words that `portable` needs."""
    one = cell("tan+1.4.0", OLD, None)
    command = reproducer(replace(one, item=replace(one.item, path=path)), Stage.EXECUTE)
    *before, argument, option, spec, stage, execute = shlex.split(command)
    assert before == ["portable", "matrix"]
    assert argument.removeprefix("./") == path
    assert not argument.startswith("-")
    assert [option, spec, stage, execute] == ["--for", "jaxlib==0.4.13", "--stage", "execute"]


def test_the_command_executes_as_it_was_executed() -> None:
    """Inputs and tolerances come with it, and the Release that said what is right; once."""
    one = cell("tan+1.4.0", OLD, None)
    given = ("--inputs=it's x.npz", "--rtol=0.1")
    item = replace(one.item, given=given, reference="jaxlib==0.10.2")
    words = shlex.split(reproducer(replace(one, item=item), Stage.EXECUTE))
    consumers = ["--for", "jaxlib==0.4.13", "jaxlib==0.10.2"]
    assert words[3:] == [*consumers, "--stage", "execute", *given]
    same = replace(one, item=replace(item, reference="jaxlib==0.4.13"))
    assert shlex.split(reproducer(same, Stage.EXECUTE))[3:6] == [*consumers[:2], "--stage"]
    words = shlex.split(reproducer(replace(one, item=item), Stage.DECODE))
    assert words[3:] == [*consumers[:2], "--stage", "decode"]


def test_text_has_contradictions_first_and_then_failures_by_consumer() -> None:
    """The unexplained contradiction stands before the listed one, and both before failures."""
    text = render(sample(), "text")
    places = [
        text.index(words)
        for words in (
            "7 artifacts x 3 consumers up to decode, 2026-11-21: 12 cells",
            "11 observed: 5 compatible: reads it; 3 incompatible: does not read it; 1 wrong-result",
            "4 contradictions between prediction and observation, 3 of them not explained",
            "add_f32+1.17.0 on jaxlib 0.4.13 (not explained)",
            "location_range+1.0.0 on iree-base-compiler 3.4.0 (listed as early-ranges)",
            "jaxlib 0.10.2: 3 of 4 fail (1 incompatible: does not read it; 1 wrong-result: ",
            "no Python 3.11 on this machine",
        )
    ]
    assert places == sorted(places)


def test_text_is_a_screenful_unless_asked() -> None:
    """However many artifacts there are; in full, every contradiction has its command."""
    many = _everywhere()
    assert len(many.contradictions) > 40
    assert render(many, "text").count("\n") <= 40
    full = render(many, "text", full=True)
    assert full.count("portable matrix '") == len(many.contradictions)


def test_json_is_the_document() -> None:
    """It can be read back and merged."""
    assert load(render(_hostile(), "json")) == _hostile(_WRITTEN)


def _element(root: ET.Element, name: str) -> ET.Element:
    found = root.find(f".//testcase[@name='{name}']")
    assert found is not None
    return found


def test_junit_says_what_failed_and_why() -> None:
    """A refusal is a failure, a crash or a hang an error, what was not observed is skipped."""
    root = ET.fromstring(render(sample(), "junit"))  # noqa: S314 - we have just written it
    assert [suite.attrib["name"] for suite in root] == [
        "jaxlib 0.4.13",
        "jaxlib 0.10.2",
        "iree-base-compiler 3.4.0",
    ]
    counts = {"tests": 12, "failures": 5, "errors": 2, "skipped": 1}
    assert {key: int(value) for key, value in root.attrib.items()} == counts
    for key, count in counts.items():
        assert sum(int(suite.attrib[key]) for suite in root) == count
    kinds = sorted(one.attrib["type"] for one in (*root.iter("failure"), *root.iter("error")))
    assert kinds == ["contradiction", "crashed", "hung", *["incompatible"] * 3, "wrong-result"]
    failure = _element(root, "location_range+1.0.0").find("failure")
    assert failure is not None
    assert "newer than the current version 5" in failure.attrib["message"]
    assert "--for 'jaxlib==0.4.13' --stage decode" in (failure.text or "")
    skipped = _element(root[0], "all_reduce_two+1.5.0").find("skipped")
    assert skipped is not None
    assert "no Python 3.11" in skipped.attrib["message"]


def test_junit_carries_hostile_text() -> None:
    """An XML parser reads it; what XML cannot carry stands by its number."""
    root = ET.fromstring(render(_hostile(), "junit"))  # noqa: S314 - we have just written it
    names = [one.attrib["name"] for one in root.iter("testcase")]
    assert any(
        name.startswith("a``b`</script><img src=x") and r"\x1b[31m\x00\udce9\u2028" in name
        for name in names
    )


def test_markdown_has_a_table_for_each_distribution() -> None:
    """Consumers by Versions with counts; contradictions marked and listed with a command."""
    text = render(sample(), "markdown")
    assert "| 0.4.13 | 0.13.4 | ✓ | 0/1 | 0/1 ? |  | ✓ ⚠ |" in text
    assert "## iree-base-compiler" in text
    assert "**not explained**" in text
    assert text.index("Contradictions") < text.index("| Release |")
    assert "portable matrix 'artifacts/add_f32+1.17.0.mlir.bc' --for 'jaxlib==0.4.13'" in text


def test_markdown_folds_neighbours_that_did_the_same() -> None:
    """So that 45 jaxlibs are readable."""
    names = ["jaxlib 0.5.0", "jaxlib 0.5.1", "jaxlib 0.5.3"]
    text = render(matrix(*(cell("tan+1.4.0", name, observed(name)) for name in names)), "markdown")
    assert "| 0.5.0 to 0.5.3 (3 Releases) | 1.8.9 to 1.10.0 | ✓ |" in text


def test_foreign_text_is_no_markdown() -> None:
    """Every line with hostile text keeps it inside of one code span."""
    text = render(_hostile(), "markdown")
    lines = [line for line in text.splitlines() if "onerror" in line]
    assert lines
    for line in lines:
        outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
        assert "onerror" not in outside
        assert "<" not in outside
    assert "\n# b" not in text


class _Page(HTMLParser):
    """What a browser would make of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self._open = f"{tag} {dict(attrs).get('id', '')}".strip()

    def handle_data(self, data: str) -> None:
        self.inside.setdefault(self._open, []).append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in {"script", "style"}:
            self._open = ""


def _page(one: Matrix) -> _Page:
    page = _Page()
    page.feed(render(one, "html"))
    return page


def test_nothing_breaks_out_of_the_page() -> None:
    """Hostile names neither end the script nor add an element; the data are all there."""
    plain, hostile = _page(sample()), _page(_hostile())
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in plain.tags]
    assert hostile.inside["script"] == plain.inside["script"]
    text = "".join(hostile.inside["script data"])
    assert "<" not in text
    data: dict[str, Any] = json.loads(text)
    agreements = data.pop("agreements")
    assert parse(data) == _hostile(_WRITTEN)
    assert set(agreements) == {str(one.agreement) for one in _hostile().cells}


def test_the_page_reaches_no_network() -> None:
    """No element names anything outside, and the policy lets only this very script run."""
    page = _page(sample())
    for tag, attributes in page.tags:
        assert "src" not in attributes, tag
        assert (attributes.get("href") or "#").startswith(("#", "data:")), tag
    assert "http" not in "".join([*page.inside["script"], *page.inside["style"]])
    policy = next(a["content"] for _, a in page.tags if "http-equiv" in a) or ""
    for kind in ("script", "style"):
        digest = hashlib.sha256("".join(page.inside[kind]).encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_page_of_many_cells_is_compact() -> None:
    """20,000 cells: most of the page are the names and digests of the artifacts."""
    base = sample().cells[:3]
    cells: list[Cell] = [
        replace(one, item=replace(one.item, name=f"artifact {number}"))
        for number in range(7000)
        for one in base
    ]
    items = tuple(cells[place].item for place in range(0, len(cells), 3))
    many = Matrix(Stage.DECODE, items, sample().releases, tuple(cells), sample().date)
    data = "".join(_page(many).inside["script data"])
    names = sum(len(one.name) + len(one.path) + len(one.digest) for one in items)
    assert len(data) < 2.5 * names


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_contradictions_that_say_the_same_are_one(form: str) -> None:
    """Whatever the numbers in their reasons; those that say something else stand alone."""
    names = [str(release) for release in releases("jaxlib")[:3]]
    said = [f"bytecode version {number} is newer" for number in (6, 7, 8)]
    refused = [
        observed(name, Outcome.INCOMPATIBLE, Stage.DECODE, words)
        for name, words in zip(names, said, strict=True)
    ]
    other = observed("jaxlib 0.12.0", Outcome.INCOMPATIBLE, Stage.DECODE, "unknown attribute")
    cells = [cell("add_f32+0.9.0", str(seen.consumer), seen) for seen in refused]
    text = render(matrix(*cells, cell("quantized_abs+0.9.0", "jaxlib 0.12.0", other)), form)
    assert "jaxlib 0.4.13 and 2 more consumers" in text
    assert len(re.findall(r"(\(|\*\*)not explained", text)) == 2


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    digits = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_the_colours_can_be_told_apart(*, dark: bool) -> None:
    """By lightness alone, in order, for whoever does not see the hues; and text on them is read."""
    style = "".join(_page(sample()).inside["style"])
    light, _, rest = style.partition("prefers-color-scheme: dark")
    colours = dict(re.findall(r"--([a-z0-9-]+): #([0-9a-f]+);", rest if dark else light))
    shares = [colours[f"share-{number}"] for number in range(5)]
    ordered = sorted(shares, key=_luminance, reverse=dark)
    assert ordered == shares
    assert all(_contrast(*pair) > 1.2 for pair in itertools.pairwise(shares))
    texts = [(colours[f"on-{number}"], colours[f"share-{number}"]) for number in range(5)]
    texts += [(colours[ink], colours["page"]) for ink in ("ink", "quiet", "alert")]
    assert all(_contrast(*pair) >= 4.5 for pair in texts)
