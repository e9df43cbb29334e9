"""The pages of the full matrix, made of its raw results in `docs/matrix/*.tsv`.

python -m tools matrix_pages             write docs/matrix/observed.md and its pictures
python -m tools matrix_pages --check     exit 1 if they are not those of the raw results
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from dataclasses import astuple, dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from portable.releases import find_release
from portable.system.files import write_file
from portable.verdict import Outcome, Stage
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "CHANGED",
    "EXECUTED",
    "MARKS",
    "NOT_ASKED",
    "READ",
    "REFUSED",
    "WRITTEN",
    "Results",
    "Row",
    "Surprise",
    "load_results",
    "save_results",
    "write_pages",
]

PAGES = Path(__file__).parent.parent / "docs" / "matrix"
BEHAVIOUR = PAGES.parents[1] / "portable" / "releases" / "data" / "behaviour.tsv"
_TEMPLATE = Path(__file__).with_name("matrix_page.md")

READ = "r"
NOT_ASKED = "."
MARKS = {
    (Outcome.COMPATIBLE, Stage.DECODE): READ,
    (Outcome.INCOMPATIBLE, Stage.DECODE): "x",
    (Outcome.CRASHED, Stage.DECODE): "c",
    (Outcome.HUNG, Stage.DECODE): "h",
    (Outcome.INCOMPATIBLE, Stage.ROUNDTRIP): "t",
    (Outcome.CRASHED, Stage.ROUNDTRIP): "u",
    (Outcome.COMPATIBLE, Stage.ROUNDTRIP): "R",
    (Outcome.COMPATIBLE, Stage.EXECUTE): "E",
    (Outcome.WRONG_RESULT, Stage.EXECUTE): "W",
    (Outcome.INCOMPATIBLE, Stage.EXECUTE): "X",
    (Outcome.CRASHED, Stage.EXECUTE): "C",
    (Outcome.HUNG, Stage.EXECUTE): "H",
}
"""One character for each end of an observation; capital where it was executed."""
EXECUTED = frozenset("EWXCH")
_READS = frozenset("rtuR") | EXECUTED
# What a producer did.
WRITTEN, REFUSED, CHANGED = "w", "x", "!"


@dataclass(frozen=True, slots=True)
class Row:
    """What every Release did with one artifact, or every producer with one Case.

    Args:
        case: The Case.
        target: The Version it was written for.
        origin: `sealed`, or the Release that wrote it first; of a Case, `lowest` or `current`.
        marks: One character for each Release.
    """

    case: str
    target: str
    origin: str
    marks: str


@dataclass(frozen=True, slots=True, order=True)
class Surprise:
    """One contradiction between what was predicted and what was observed.

    Args:
        release: The consumer.
        case: The Case.
        target: The Version the artifact was written for.
        predicted: What was predicted, and why.
        observed: What happened.
        listed: The entry of the list of contradictions that explains it; empty for none.
    """

    release: str
    case: str
    target: str
    predicted: str
    observed: str
    listed: str


@dataclass(frozen=True, slots=True)
class Results:
    """The raw results.

    Args:
        date: The day of the run.
        consumers: The Releases that read.
        artifacts: What they did.
        producers: The jaxlibs that wrote.
        written: What they did.
        surprises: The contradictions.
    """

    date: str
    consumers: tuple[str, ...]
    artifacts: tuple[Row, ...]
    producers: tuple[str, ...]
    written: tuple[Row, ...]
    surprises: tuple[Surprise, ...]


def save_results(results: Results) -> None:
    """Write the raw results."""
    for name, heads, rows in (
        ("artifacts", results.consumers, results.artifacts),
        ("producers", results.producers, results.written),
    ):
        head = [f"# {results.date}", "# " + ", ".join(heads), "case\ttarget\torigin\tmarks"]
        _save(name, [*head, *("\t".join(astuple(row)) for row in rows)])
    _save("contradictions", ["\t".join(astuple(one)) for one in sorted(results.surprises)])


def load_results() -> Results:
    """Read the raw results."""
    date, consumers, artifacts = _load("artifacts")
    _, producers, written = _load("producers")
    lines = (PAGES / "contradictions.tsv").read_text("utf-8").splitlines()
    surprises = tuple(Surprise(*line.split("\t")) for line in lines)
    return Results(date, consumers, artifacts, producers, written, surprises)


def _save(name: str, lines: Iterable[str]) -> None:
    PAGES.mkdir(parents=True, exist_ok=True)
    write_file(PAGES / f"{name}.tsv", ("\n".join(lines) + "\n").encode())


def _load(name: str) -> tuple[str, tuple[str, ...], tuple[Row, ...]]:
    date, heads, _, *lines = (PAGES / f"{name}.tsv").read_text("utf-8").splitlines()
    rows = tuple(Row(*line.split("\t")) for line in lines)
    return date.removeprefix("# "), tuple(heads.removeprefix("# ").split(", ")), rows


def pages(results: Results) -> dict[str, str]:
    """Return the pages by file name."""
    return {
        "observed.md": _page(results),
        "reads.svg": _picture(results),
        "jaxlib.svg": _picture(results, "jaxlib "),
    }


def write_pages(results: Results) -> None:
    """Write the pages, and what the package keeps of the results."""
    for path, text in _written(results).items():
        write_file(path, text.encode())


def _written(results: Results) -> dict[Path, str]:
    texts = {PAGES / name: text for name, text in pages(results).items()}
    return texts | {BEHAVIOUR: behaviour(results)}


def behaviour(results: Results) -> str:
    """Return what `portable releases diff` tells: artifacts that Releases execute differently."""
    lines = [
        f"# {results.date}; python -m tools matrix_pages",
        "# " + ", ".join(results.consumers),
        *(
            f"{row.case}\t{row.target}\t{row.marks}"
            for row in results.artifacts
            if len(EXECUTED.intersection(row.marks)) > 1
        ),
    ]
    return "\n".join(lines) + "\n"


def _page(results: Results) -> str:
    marks = (row.marks for row in results.artifacts)
    columns = [Counter(column) for column in zip(*marks, strict=True)]
    total = sum(columns, Counter[str]())
    lines = {
        "consumers": _consumers(results, columns),
        "producers": _producers(results),
        "contradictions": _contradictions(results),
        "marks": _marks(),
    }
    return Template(_TEMPLATE.read_text("utf-8")).substitute(
        date=results.date,
        artifacts=f"{len(results.artifacts):,}",
        cases=len({row.case for row in results.artifacts}),
        writers=len(results.producers),
        readers=sum(set(column) != {NOT_ASKED} for column in columns),
        asked=f"{total.total() - total[NOT_ASKED]:,}",
        executed=f"{sum(total[mark] for mark in EXECUTED):,}",
        **{
            name: "\n".join(f"| {' | '.join(row)} |" for row in rows)
            for name, rows in lines.items()
        },
    )


def _consumers(results: Results, columns: Sequence[Counter[str]]) -> Iterator[list[str]]:
    for name, marks in zip(results.consumers, columns, strict=True):
        release = find_release(name)
        has = f"{release.current}" + (f" .. {release.below}" if release.below else "")
        counts = [
            sum(marks[mark] for mark in group) for group in (_READS, "x", "ch", "E", "W", "XCH")
        ]
        yield [name, has, *(f"{count:,}" if count else "" for count in counts)]


def _producers(results: Results) -> Iterator[list[str]]:
    for number, name in enumerate(results.producers):
        marks = Counter(row.marks[number] for row in results.written)
        other = sorted({row.case for row in results.written if row.marks[number] == CHANGED})
        yield [name, f"{marks[WRITTEN]:,}", str(marks[REFUSED] or ""), ", ".join(other)]


def _contradictions(results: Results) -> Iterator[list[str]]:
    groups: dict[tuple[str, str], list[Surprise]] = defaultdict(list)
    for one in results.surprises:
        groups[one.listed, one.observed.partition(":")[0]].append(one)
    for (listed, observed), ones in sorted(groups.items()):
        cases = sorted({one.case for one in ones})
        shown = ", ".join(cases[:4]) + (f" and {len(cases) - 4} more" if len(cases) > 4 else "")
        entry = f"[{listed}](../findings.md#{listed})" if listed else "**not explained**"
        yield [entry, observed, str(len({one.release for one in ones})), shown, str(len(ones))]


def _marks() -> Iterator[list[str]]:
    for (outcome, stage), mark in MARKS.items():
        yield [f"`{mark}`", f"{outcome} at {stage}"]
    yield [f"`{NOT_ASKED}`", "not asked"]
    yield [f"`{WRITTEN}`, `{REFUSED}`, `{CHANGED}`", "written, refused, written as another program"]


# Sizes of the picture, in pixels.
_LEFT, _TOP, _CELL = 190, 60, 16
_SQUARE = 'width="14" height="14"'


def _picture(results: Results, of: str = "") -> str:
    """Draw the heat map, or the rows of it whose names begin so."""
    drawn = [y for y, name in enumerate(results.consumers) if name.startswith(of)]
    targets = sorted({row.target for row in results.artifacts}, key=Version.parse)
    minors = list(dict.fromkeys(str(Version.parse(target).target) for target in targets))
    shares = _shares(results, minors)
    width = _LEFT + len(minors) * _CELL + 10
    height = _TOP + len(drawn) * _CELL + 10
    size = f'width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">',
        "<title>Share of artifacts that each Release reads, by the Version they are for</title>",
        f'<rect {size} fill="#ffffff"/>',
    ]
    for x, minor in enumerate(minors):
        at = _LEFT + x * _CELL + 12
        lines.append(f'<text transform="translate({at},{_TOP - 5}) rotate(-60)">{minor}</text>')
    for row, y in enumerate(drawn):
        name, top = results.consumers[y], _TOP + row * _CELL
        lines.append(f'<text x="{_LEFT - 6}" y="{top + 12}" text-anchor="end">{name}</text>')
        for x, minor in enumerate(minors):
            read, asked = shares[y][minor]
            if asked:
                title = f"<title>{name} reads {read} of {asked} for {minor}</title>"
                place = f'x="{_LEFT + x * _CELL}" y="{top}" {_SQUARE}'
                lines.append(f'<rect {place} fill="{_colour(read / asked)}">{title}</rect>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _shares(results: Results, minors: Sequence[str]) -> list[dict[str, tuple[int, int]]]:
    """Return for each consumer how many artifacts of each minor it read, of how many."""
    counts = [{minor: [0, 0] for minor in minors} for _ in results.consumers]
    for row in results.artifacts:
        minor = str(Version.parse(row.target).target)
        for count, mark in zip(counts, row.marks, strict=True):
            count[minor][0] += mark in _READS
            count[minor][1] += mark != NOT_ASKED
    return [{minor: (read, asked) for minor, (read, asked) in one.items()} for one in counts]


def _colour(share: float) -> str:
    """Return a colour from orange (nothing) over white to blue (all): told apart by everybody."""
    low, middle, high = (214, 96, 20), (240, 240, 240), (33, 102, 172)
    begin, end, part = (low, middle, share * 2) if share < 0.5 else (middle, high, share * 2 - 1)
    mixed = (round(b + (e - b) * part) for b, e in zip(begin, end, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def main() -> int:
    """Write the pages, or check them with `--check`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    results = load_results()
    if not parser.parse_args().check:
        write_pages(results)
        return 0
    stale = [
        path.name
        for path, text in _written(results).items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    print(f"stale: {', '.join(stale)}" if stale else "the pages are those of the raw results")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
