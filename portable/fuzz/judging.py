"""Whether a Release computes something else than it should, as far as rounding does not explain it.

The interpreter of StableHLO says what is right, and how much rounding matters: it runs the same
program on inputs that are a few ulps off. An element that changes much or that jumps says nothing;
what is left is compared with a margin. What the specification leaves open besides is a table,
`data/left_open.toml`, for programs that are reduced to few ops.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from portable.fuzz.forms import identity
from portable.releases import runnable_releases
from portable.runtime.executors.tensors import dtype_of
from portable.system.documents import parse_toml
from portable.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from portable.runtime.executors.tensors import Array

__all__ = [
    "CRASH",
    "Departure",
    "LeftOpen",
    "departure",
    "flushed",
    "left_open",
    "nudged",
    "nudged_text",
    "open_row",
]

CRASH = "crash"
"""How the sort of difference begins where a process ends."""

_TABLE = Path(__file__).parent / "data" / "left_open.toml"
_FLOATS = re.compile(r"(?<=[x<])(f64|f32|f16|bf16|f8\w+|f6\w+|f4\w+)(?=>)")
_FUNCTION = re.compile(r"func\.func (?:\w+ )?@(\w+)\(")
_NAME = re.compile(r"%\w+")
_BEGINS = ("%", '"', "return", "func.", "stablehlo.")
_CONSTANT = re.compile(r"(%\w+) = stablehlo\.constant dense<([^>]*)> : tensor<([^ ]*)>")
_REDUCERS = re.compile(r"stablehlo\.(add|multiply|maximum|minimum|and|or|xor)\b")
_REDUCTIONS = re.compile(r'init: (%\w+)|"stablehlo\.reduce(?:_window)?"\(([^)]*)\)')
_CALLED = re.compile(r"@(\w+)")
_DECIMAL = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?")
# Below this precision, that of bfloat16, a few roundings are as large as what is computed.
_COARSE = 2.0**-7
_ULPS = 64
_SPREADS = 16.0


@dataclass(frozen=True, slots=True)
class Departure:
    """How an output differs from what it should be.

    Args:
        kind: What sort of difference: `NaN for a number`, `another integer` and so on.
        output: Which output.
        index: Where in it.
        expected: The value there, as text.
        actual: What it was.
    """

    kind: str
    output: int
    index: tuple[int, ...]
    expected: str
    actual: str

    def __str__(self) -> str:
        where = ", ".join(map(str, self.index))
        return f"output {self.output} [{where}]: {self.expected} became {self.actual}"


def nudged(arrays: Sequence[Array], seed: int) -> list[Array]:
    """Return inputs that are a few ulps off, where they are floats."""
    random = np.random.default_rng(seed)
    return [_nudged(array, random) for array in arrays]


def nudged_text(text: str, seed: int) -> str:
    """Return a program whose constants are a few ulps off, where they are floats."""
    random = np.random.default_rng(seed)

    def nudge(number: re.Match[str], epsilon: float) -> str:
        return repr(float(number[0]) * (1 + epsilon * int(random.choice((-3, -2, 2, 3)))))

    def line(one: str) -> str:
        kinds = _FLOATS.findall(one)
        if "stablehlo.constant" not in one or not kinds:
            return one
        epsilon = _epsilon(dtype_of(kinds[-1]))
        return _DECIMAL.sub(lambda number: nudge(number, epsilon), one)

    return "".join(map(line, text.splitlines(keepends=True)))


def _nudged(array: Array, random: np.random.Generator) -> Array:
    if array.dtype.kind == "c":
        made = np.empty_like(array)
        made.real, made.imag = _nudged(array.real, random), _nudged(array.imag, random)
        return made
    if not _is_float(array):
        return array
    epsilon = _epsilon(array.dtype)
    factor = 1 + epsilon * random.integers(-3, 4, array.shape)
    with np.errstate(all="ignore"):
        return np.asarray(array.astype(np.float64) * factor).astype(array.dtype)


def departure(
    text: str,
    expected: Sequence[Array],
    spread: Sequence[Sequence[Array]],
    actual: Sequence[Array],
) -> Departure | None:
    """Find where outputs differ by more than rounding explains.

    Args:
        text: The program.
        expected: What it should compute.
        spread: What it should compute for inputs that are a few ulps off.
        actual: What it did compute.

    Returns:
        The first such difference; None if there is none.
    """
    precisions = _precisions(text, len(expected))
    for number, (right, found) in enumerate(zip(expected, actual, strict=True)):
        if right.shape != found.shape:
            return Departure("another shape", number, (), str(right.shape), str(found.shape))
        near = [arrays[number] for arrays in spread]
        for kind, wrong in _wrong(right, near, found, precisions[number]):
            if wrong.any():
                place = tuple(int(i) for i in np.argwhere(wrong)[0])
                return Departure(kind, number, place, str(right[place]), str(found[place]))
    return None


def _precisions(text: str, outputs: int) -> list[float]:
    """Return the epsilon of the least precise type that each output of a program comes from."""
    functions = _functions(text)
    ops = functions.get("main", [])
    made = {_NAME.findall(op)[0]: op for op in ops if " = " in op}
    returned = _NAME.findall(ops[-1].partition(" : ")[0]) if ops else []
    if len(returned) != outputs:  # it is written as neither the generator nor MLIR does
        return [_coarsest([text])] * outputs
    found = []
    for name in returned:
        wanted, sources = [name], set[str]()
        while wanted:
            one = wanted.pop()
            op = made.get(one) or "".join(functions.get(one, ()))
            if op not in sources:
                sources.add(op)
                wanted += _CALLED.findall(op) + (_NAME.findall(op) if one in made else [])
        found.append(_coarsest(sources))
    return found


def _functions(text: str) -> dict[str, list[str]]:
    """Return the functions of a program, each as the texts of its ops."""
    found: dict[str, list[str]] = {}
    ops: list[str] = []
    depth = inside = 0
    for line in text.splitlines():
        before, depth = depth, depth + line.count("{") - line.count("}")
        if match := _FUNCTION.search(line):
            ops, inside = found.setdefault(match[1], []), depth
        elif before == inside and line.lstrip().startswith(_BEGINS):
            ops.append(line)
        elif ops:
            ops[-1] += line
    return found


def _coarsest(texts: Iterable[str]) -> float:
    names = {name for text in texts for name in _FLOATS.findall(text)}
    return max((_epsilon(dtype_of(name)) for name in names), default=0.0)


def _wrong(
    right: Array, near: Sequence[Array], found: Array, epsilon: float, largest: float = 0.0
) -> list[tuple[str, Array]]:
    """Return where an output differs, by the sort of difference."""
    if right.dtype.kind == "c":
        return [
            pair
            for part in ("real", "imag")
            for pair in _wrong(
                getattr(right, part),
                [getattr(one, part) for one in near],
                getattr(found, part),
                epsilon,
                _largest(np.abs(right)),
            )
        ]
    if not _is_float(right):
        stable = np.ones(right.shape, bool)
        for one in near:
            stable &= one == right
        kind = "another boolean" if right.dtype == bool else "another integer"
        return [(kind, stable & (found != right))]
    stable = np.ones(right.shape, bool)
    with np.errstate(all="ignore"):
        wide, other = right.astype(np.float64), found.astype(np.float64)
        nearby = [one.astype(np.float64) for one in near]
        for one in nearby:
            stable &= (np.isnan(one) == np.isnan(wide)) & (np.isinf(one) == np.isinf(wide))
        nan = np.isnan(wide), np.isnan(other)
        finite = np.isfinite(wide) & np.isfinite(other)
        spread = np.max([np.abs(one - wide) for one in nearby] or [np.zeros(right.shape)], axis=0)
        spread = np.where(np.isfinite(spread), spread, 0.0)
        largest = largest or _largest(np.abs(wide))
        margin = _ULPS * epsilon * largest + _SPREADS * spread + _least(right.dtype)
        far = finite & (np.abs(wide - other) > margin)
        bounded = np.abs(wide) < np.sqrt(float(_info(right.dtype).max))
    coarse = epsilon > _COARSE
    return [
        ("NaN for a number", stable & np.isfinite(wide) & nan[1] & ~np.bool_(coarse)),
        ("a number for NaN", stable & nan[0] & ~nan[1]),
        ("infinity for a number", stable & bounded & np.isinf(other) & ~np.bool_(coarse)),
        ("another number", stable & far & ~np.bool_(coarse)),
    ]


def flushed(arrays: Sequence[Array]) -> list[Array]:
    """Replace denormal numbers by zero: executors flush them, each at other places."""
    return [
        _flushed(array) if _is_float(array) or array.dtype.kind == "c" else array
        for array in arrays
    ]


def _flushed(array: Array) -> Array:
    if array.dtype.kind == "c":
        made = np.empty_like(array)
        made.real, made.imag = _flushed(array.real), _flushed(array.imag)
        return made
    with np.errstate(invalid="ignore"):  # bfloat16 complains of NaN
        small = np.abs(array) < _info(array.dtype).smallest_normal
    return np.where(small, np.zeros_like(array), array)


def _largest(sizes: Array) -> float:
    return float(sizes[np.isfinite(sizes)].max(initial=0.0))


def _is_float(array: Array) -> bool:
    return array.dtype.kind == "f" or array.dtype.name.startswith(("bfloat", "float"))


def _info(dtype: Any) -> Any:
    if dtype.isbuiltin == 1:
        return np.finfo(dtype)
    import ml_dtypes

    return ml_dtypes.finfo(dtype)


def _epsilon(dtype: Any) -> float:
    return float(_info(dtype).eps)


def _least(dtype: Any) -> float:
    """Return the smallest number with full precision: smaller ones may become zero."""
    return float(_info(dtype).smallest_normal)


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """Something that the specification does not say.

    Args:
        id: What to call it.
        program: A pattern that the text of a reduced program has.
        kinds: The sorts of difference that it explains; all but crashes if there are none.
        why: The sentence of the specification, or what of it is missing.
        releases: The Releases that have it, as a requirement; all if it is empty.
        defect: Whether it is a defect that is known, and nothing that is left open.
        identities: Whether it explains programs that begin every reduction with an identity, too.
    """

    id: str
    program: re.Pattern[str]
    kinds: tuple[str, ...]
    why: str
    releases: str = ""
    defect: bool = False
    identities: bool = True

    def explains(self, text: str, kind: str, releases: Sequence[str]) -> bool:
        """Say whether it is why a program shows this sort of difference on Releases."""
        return (
            (kind in self.kinds if self.kinds else not kind.startswith(CRASH))
            and (not self.releases or (bool(releases) and {*releases} <= _within(self.releases)))
            and self.program.search(text) is not None
            and (self.identities or not _begins_with_identities(text))
        )


def _begins_with_identities(text: str) -> bool:
    """Whether the reductions of a program begin with what changes no value by what they do."""
    constants = {name: (value, kind) for name, value, kind in _CONSTANT.findall(text)}
    does = set(_REDUCERS.findall(text))
    for begins, operands in _REDUCTIONS.findall(text):
        names = _NAME.findall(operands)
        for name in [begins] if begins else names[len(names) // 2 :]:
            value, kind = constants.get(name, ("", ""))
            if _plain(value) not in {_plain(identity(op, kind)) for op in does if kind}:
                return False
    return True


def _plain(number: str) -> str:
    """Write a number of a constant in one way: MLIR writes `0.000000e+00`, the generator `0.0`."""
    return _DECIMAL.sub(lambda match: repr(float(match[0])), number.replace(" ", ""))


@cache
def _rows() -> tuple[LeftOpen, ...]:
    table = parse_toml(read_file(_TABLE))
    return tuple(
        LeftOpen(
            row["id"],
            re.compile(row["program"]),
            tuple(row.get("kinds", ())),
            row["why"],
            row.get("releases", ""),
            row.get("defect", False),
            row.get("identities", True),
        )
        for row in table["open"]
    )


@cache  # of the requirements in the table
def _within(requirement: str) -> frozenset[str]:
    return frozenset(map(str, runnable_releases(requirement)))


def left_open(text: str, kind: str, releases: Sequence[str] = ()) -> LeftOpen | None:
    """Return what leaves open that a reduced program computes something else; None if nothing does.

    Args:
        text: The program.
        kind: The sort of difference.
        releases: Where it was seen.
    """
    found = [row for row in _rows() if row.explains(text, kind, releases)]
    # A defect of some Releases says more than what is open to all.
    return min(found, key=lambda row: not row.releases, default=None)


def open_row(name: str) -> LeftOpen | None:
    """Return the row of a name; None if there is none."""
    return next((row for row in _rows() if row.id == name), None)
