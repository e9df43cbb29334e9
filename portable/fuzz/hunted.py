"""What hunts have done and found, each small enough to be kept, and the page about all of them."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from portable.escaping import markdown
from portable.fuzz.causes import Cause, age_of, grouped
from portable.fuzz.one_op import coverable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from portable.fuzz.causes import Group

__all__ = ["FEW_OPS", "SOON_S", "Hunted", "page"]

# A reduction is good that comes to so few ops, and soon.
FEW_OPS, SOON_S = 5, 60
_HUNTS = (
    *("rounds of each seed", "Releases", "programs", "judged", "hours", "core-hours"),
    "not a second time",
    *("reductions", f"to {FEW_OPS} ops", f"of these in {SOON_S} s", "half took, s"),
)
_DEFECTS = (
    *("cause", "of", "found", "Releases", "difference", "first bad", "first good", "alive"),
)
_OPEN = ("left open", "found", "of")


@dataclass(frozen=True, slots=True)
class Hunted:
    """What one hunt has done and found.

    Args:
        seeds: How many rounds there were of each seed.
        programs: How many programs.
        judged: How many of them the interpreter executed.
        seconds: How long it took.
        cpu: The processor time of all its processes, in seconds; 0 where that was not counted.
        unconfirmed: How many differences were not there a second time.
        reductions: How many there were, how many came to `FEW_OPS`, how many of these in `SOON_S`,
            and the seconds that half of all took.
        executed: How many each Release has executed.
        refused: How many each Release has refused.
        computed: Where a program with a form, or a form and an element type, was executed.
        causes: What was found, with how often.
    """

    seeds: Mapping[str, int] = field(default_factory=dict)
    programs: int = 0
    judged: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    unconfirmed: int = 0
    reductions: tuple[int, int, int, int] = (0, 0, 0, 0)
    executed: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    computed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    causes: tuple[tuple[Cause, int], ...] = ()

    @property
    def releases(self) -> list[str]:
        """What it asked."""
        return sorted(self.executed.keys() | self.refused.keys())

    def record(self) -> dict[str, object]:
        """Return it as plain data for JSON; what is in `computed` by the numbers of `releases`."""
        names = self.releases
        numbers = {name: number for number, name in enumerate(names)}
        computed = {key: [numbers[one] for one in found] for key, found in self.computed.items()}
        plain = {name: getattr(self, name) for name in _PLAIN}
        return plain | {
            "cpu": self.cpu,
            "releases": names,
            "computed": computed,
            "causes": [cause.record() | {"found": count} for cause, count in self.causes],
        }

    @classmethod
    def from_record(cls, fields: Mapping[str, Any]) -> Hunted:
        """Return what was written down."""
        names, causes = fields["releases"], []
        for row in fields["causes"]:
            kept = {key: value for key, value in row.items() if key != "found"}
            causes.append((Cause.from_record(kept), int(row["found"])))
        plain = {name: fields[name] for name in _PLAIN}
        return cls(
            **plain | {"reductions": tuple(fields["reductions"])},
            cpu=fields.get("cpu", 0.0),
            computed={key: tuple(names[n] for n in one) for key, one in fields["computed"].items()},
            causes=tuple(causes),
        )


_PLAIN = (
    *("seeds", "programs", "judged", "seconds", "unconfirmed", "reductions", "executed"),
    "refused",
)


def page(hunts: Sequence[Hunted], elements: Collection[str], links: Mapping[str, str] = {}) -> str:
    """Return what hunts have done and found, as Markdown.

    Args:
        hunts: The hunts.
        elements: The element types that their programs could have.
        links: Where more is said about a cause, by its id.
    """
    groups = grouped(itertools.chain(*(one.causes for one in hunts)))
    newest = _newest(one for hunt in hunts for one in hunt.releases)
    defects = [one for one in groups if not one.open]
    alive = [one for one in defects if newest & {*one.releases}]
    hours = sum(one.seconds for one in hunts) / 3600
    said = (
        f"{sum(one.programs for one in hunts)} programs in {hours:.1f} hours; "
        f"{sum(one.judged for one in hunts)} of them could be judged. {len(defects)} cause"
        f"{'s' * (len(defects) != 1)} of differences, {len(alive)} alive in a newest Release "
        "that was asked;"
    )
    lines = [
        "# What hunts found",
        "",
        f"{said} {len(groups) - len(defects)} more that the specification leaves open.",
        "",
        *_table(_HUNTS, map(_hunt, hunts)),
        "",
        "## Defects",
        "",
        *_table(_DEFECTS, (_defect(one, links, alive=one in alive) for one in defects)),
        "",
        "## Left open by the specification",
        "",
        *_table(_OPEN, ([one.id, str(one.found), _ops(one)] for one in groups if one.open)),
        "",
        "## Coverage",
        "",
        *_coverage(hunts, coverable(frozenset(elements))),
    ]
    return "\n".join(lines) + "\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _cell(text: str) -> str:
    return markdown(text) if text else ""


def _hunt(one: Hunted) -> Sequence[str]:
    rounds = ", ".join(f"{count} of {markdown(seed)}" for seed, count in one.seeds.items())
    used = f"{one.cpu / 3600:.2f}" if one.cpu else ""
    numbers = (one.programs, one.judged, f"{one.seconds / 3600:.1f}", used, one.unconfirmed)
    return rounds, _names(one.releases), *map(str, (*numbers, *one.reductions))


def _names(releases: Iterable[str]) -> str:
    """Name Releases, each distribution once."""
    by: dict[str, list[str]] = {}
    for one in sorted(releases, key=age_of):
        name, _, version = one.rpartition(" ")
        by.setdefault(name, []).append(version)
    return "; ".join(markdown(f"{name} {', '.join(versions)}") for name, versions in by.items())


def _newest(releases: Iterable[str]) -> set[str]:
    """Return the newest Release of each distribution."""
    return {*{name.rpartition(" ")[0]: name for name in sorted(releases, key=age_of)}.values()}


def _ops(group: Group) -> str:
    """Say the programs that show it, each once."""
    return ", ".join(_cell(" ".join(cause.ops) or "no op") for cause in _each(group))


def _each(group: Group) -> Iterable[Cause]:
    return {cause.ops: cause for cause, _ in reversed(group.causes)}.values()


def _defect(group: Group, links: Mapping[str, str], *, alive: bool) -> Sequence[str]:
    named = f"[{group.id}]({links[group.id]})" if group.id in links else _cell(group.id)
    most, _ = group.causes[0]
    return (
        named,
        _ops(group),
        str(group.found),
        _names(group.releases),
        _cell(f"{most.kind}: {most.detail}"),
        _cell(group.first),
        _cell(group.last),
        "yes" if alive else "",
    )


def _coverage(hunts: Sequence[Hunted], possible: Collection[str]) -> Iterator[str]:
    """Yield what was executed, of each form and element type that there is."""
    where: dict[str, set[str]] = {}
    for covered, found in itertools.chain(*(one.computed.items() for one in hunts)):
        where.setdefault(covered, set()).update(found)
    executed, refused = Counter[str](), Counter[str]()
    for one in hunts:
        executed.update(one.executed)
        refused.update(one.refused)
    counted = Counter(itertools.chain(*where.values()))
    rows = (
        (markdown(name), *map(str, (executed[name], refused[name], counted[name])))
        for name in sorted(executed | refused, key=age_of)
    )
    heads = ("Release", "executed", "refused", f"forms and types of {len(possible)}")
    yield from _table(heads, rows)
    unknown = [
        markdown(seed) for one in hunts if one.executed and not one.computed for seed in one.seeds
    ]
    if unknown:
        yield ""
        yield f"Which forms the programs of seeds {', '.join(unknown)} had was not kept."
    yield ""
    yield "On how many of these Releases a program with a form and an element type was executed."
    yield "Where there is no number it is not valid."
    yield ""
    elements = sorted({one.partition(" ")[2] for one in possible} - {""})
    forms = sorted(one for one in possible if " " not in one)

    def cells(form: str) -> Iterator[str]:
        for pair in (f"{form} {element}" for element in elements):
            yield str(len(where.get(pair, ()))) if pair in possible else ""

    yield from _table(["form", *map(markdown, elements)], ([form, *cells(form)] for form in forms))
