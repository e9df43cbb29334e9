"""Export the programs that people have as they would, and compare each with eager execution.

python -m tools zoo_programs jax                measure those of tools/zoo_jax.py
python -m tools zoo_programs torch              measure those of tools/zoo_torch.py
python -m tools zoo_programs jax --only WORD    those whose names have a word in them
python -m tools zoo_programs torch --new        those that are not noted yet

What is found stands in compat_tests/data/model_zoo_FRAMEWORK.json as soon as it is measured;
`python -m tools model_zoo write` makes the page of it. Times are of the processor, because other
processes may run; memory is the peak above what the process held before, as Linux counts it. Of
both, the least of a few calls in turn, ours first, of one where they are long.
"""

from __future__ import annotations

import argparse
import copy
import ctypes
import functools
import gc
import importlib
import importlib.metadata
import json
import re
import statistics
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from portable.errors import PortableError
from portable.exporters.frameworks import first_line
from portable.pinning.pipeline import NotExpressible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from portable.exporters import ExportedArtifact
    from portable.runtime.executors import Executor
    from portable.runtime.executors.tensors import Array

_T = TypeVar("_T")

_DATA = Path(__file__).parent.parent / "compat_tests" / "data"
NOTED = {name: _DATA / f"model_zoo_{name}.json" for name in ("torch", "jax")}
# The Versions at which something of the zoo becomes expressible, lowest first.
TARGETS = ("0.9.0", "1.0.0", "1.1.0", "1.4.0", "1.9.0", "current")
# By the largest value: some roundings of the dtype, which sums in another order may cost.
NEAR = {"float16": 2**-9, "bfloat16": 2**-6, "float64": 1e-12, "complex128": 1e-12}
_NEAR = 5e-6
_TIMES = 4  # of eager's own error
_SHOWN = 90


class Subject(Protocol):
    """One program, as its framework's user has it."""

    @property
    def releases(self) -> tuple[str, ...]:
        """The distributions whose versions are noted."""

    def trace(self) -> None:
        """Do what comes before the backend: is not timed, raises what the framework cannot."""

    def export(self, target: str) -> ExportedArtifact:
        """Export it."""

    def backend(self) -> object:
        """Make the framework's own call."""

    def eager(self) -> list[Array]:
        """Run it without exporting it."""

    def wide(self) -> list[Array]:
        """Run it in float64, if it can be."""

    def call(self, exported: ExportedArtifact, executor: Executor) -> list[Array]:
        """Run what was exported, called as the program is."""


def measure(framework: str, word: str, *, new: bool = False) -> None:
    """Measure the programs of a framework and note each at once."""
    from portable.runtime.executors import find_executor

    path = NOTED[framework]
    noted: dict[str, Any] = {"releases": {}, "programs": {}}
    if path.exists():
        noted = json.loads(path.read_text("utf-8"))
    subjects = dict(_SUBJECTS[framework]())
    noted["programs in all"] = len(subjects)
    with find_executor("pjrt") as executor:
        _measured(next(iter(subjects.values())), executor)  # imports what is imported once
        for name, make in subjects.items():
            if word not in name or (new and name in noted["programs"]):
                continue
            gc.freeze()  # what is left of the programs before is not looked through between calls
            found, releases = _measured(make, executor)
            known = noted["programs"] | {name: found}
            noted["programs"] = {one: known[one] for one in subjects if one in known}
            noted["releases"] |= {r: importlib.metadata.version(r) for r in releases}
            print(name, found, flush=True)
            path.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")


def _measured(make: Callable[[], Subject], executor: Executor) -> tuple[Any, tuple[str, ...]]:
    """Return what is found of one program; a reason where it does not export or run."""
    try:
        subject = make()
    except Exception as error:  # noqa: BLE001 - the package's own: this version cannot build it
        return {"not built": first_line(error)[:_SHOWN]}, ()
    try:
        subject.trace()
    except PortableError as error:
        return {"not traced": _short(error)}, subject.releases
    for target in TARGETS:
        try:
            exported, first = _cost(functools.partial(subject.export, target))
        except NotExpressible:
            continue
        except PortableError as error:
            return {"refused": _short(error)}, subject.releases
        found: dict[str, Any] = {"target": target}
        try:
            got, eager = subject.call(exported, executor), subject.eager()
            far, near = _distance(got, eager)
            near = near or _as_exact(got, eager, subject.wide())
            found |= {"difference": far, "equal": near}
        except PortableError as error:
            found["not executed"] = _short(error)
        return found | _ratios(first, subject, target), subject.releases
    return {"refused": "no target"}, subject.releases


def _ratios(first: _Cost, subject: Subject, target: str) -> dict[str, float]:
    """Return what an export costs over the backend's own call, if that can do it."""
    ours = [first]
    try:
        theirs = [_cost(subject.backend)[1]]
        while sum(cost.seconds for cost in ours) < _SECONDS and len(ours) < _CALLS:
            ours.append(_cost(functools.partial(subject.export, target))[1])
            theirs.append(_cost(subject.backend)[1])
    except Exception as error:  # any framework's  # noqa: BLE001 - the backend lacks what we have
        print("   backend alone:", first_line(error))
        return {}
    seconds, peaks = ([min(c[at] for c in costs) for costs in (ours, theirs)] for at in (0, 1))
    return {"ratio": round(seconds[0] / seconds[1], 2), "memory": round(peaks[0] / peaks[1], 2)}


_SECONDS, _CALLS = 2, 25


class _Cost(NamedTuple):
    seconds: float
    peak: int


def _cost(call: Callable[[], _T]) -> tuple[_T, _Cost]:
    """Do something, and return what it took: of the processor, and of memory, at least 1 MiB."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # begins a new peak
    held, start = _kilobytes("VmRSS"), time.process_time()
    made = call()
    took = time.process_time() - start
    return made, _Cost(took, max(_kilobytes("VmHWM") - held, 1024))


def _kilobytes(what: str) -> int:
    status = Path("/proc/self/status").read_text("ascii")
    (found,) = re.findall(rf"^{what}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found)


def _as_exact(got: list[Array], eager: list[Array], wide: list[Array]) -> bool:
    """Say whether floats are about as near to those of float64 as eager's own are."""
    import numpy as np

    for mine, theirs, exact in zip(got, eager, wide, strict=True):
        if mine.dtype.kind != "f" or (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
            return False
        errors = [float(np.abs(x.astype(np.float64) - exact).max()) for x in (mine, theirs)]
        if not errors[0] <= _TIMES * errors[1]:
            return False
    return True


def _distance(got: list[Array], wanted: list[Array]) -> tuple[float, bool]:
    """Return the largest difference by the largest value, and whether all are near."""
    import numpy as np

    worst, equal = 0.0, len(got) == len(wanted)
    for mine, theirs in zip(got, wanted, strict=False):
        if (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
            return float("inf"), False
        wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
        one, other = mine.astype(wide), theirs.astype(wide)
        finite = np.isfinite(other)
        equal &= bool(np.array_equal(one[~finite], other[~finite], equal_nan=True))
        scale = float(np.abs(other[finite]).max(initial=0.0))
        distance = float(np.abs(one - other)[finite].max(initial=0.0))
        far = distance / scale if scale else distance
        exact = theirs.dtype.kind in "biu" or "int" in theirs.dtype.name
        equal &= far <= (0 if exact else NEAR.get(theirs.dtype.name, _NEAR))
        worst = max(worst, far)
    return worst, equal


class _JaxSubject:
    releases = ("jax", "equinox", "flax", "dm-haiku", "optax")

    def __init__(self, build: Callable[[], tuple[Any, tuple[Any, ...]]]) -> None:
        self.function, self.args = build()

    def trace(self) -> None:
        """Leave it to the backend, of which it is a part."""

    def export(self, target: str) -> ExportedArtifact:
        from portable.exporters import export_jax

        if hasattr(self.function, "clear_cache"):
            self.function.clear_cache()
        return export_jax(self.function, *self.args, target=target, allow=["exact"])

    def backend(self) -> object:
        import jax

        function = self.function
        if isinstance(function, type(jax.jit(len))):
            function.clear_cache()
        else:
            function = jax.jit(functools.partial(_called, function))
        return jax.export.export(function)(*self.args).mlir_module_serialized

    def eager(self) -> list[Array]:
        return self._arrays(self.function(*self.args))

    def wide(self) -> list[Array]:
        return self.eager()

    def call(self, exported: ExportedArtifact, executor: Executor) -> list[Array]:
        return self._arrays(exported(*self.args, executor=executor))

    def _arrays(self, value: Any) -> list[Array]:
        import jax
        import numpy as np

        from portable.exporters.functions import is_key

        leaves = map(jax.numpy.asarray, jax.tree_util.tree_leaves(value))
        return [np.asarray(jax.random.key_data(x) if is_key(x) else x) for x in leaves]


def _called(function: Any, *args: Any) -> Any:
    """Call a function that JAX knows nothing of yet."""
    return function(*args)


class _TorchSubject:
    releases = ("torch", "torchax", "jaxlib", "torchvision", "timm", "transformers")

    def __init__(self, build: Callable[[], tuple[Any, tuple[Any, ...]]]) -> None:
        self.module, self.args = build()
        self._program: Any = None

    def trace(self) -> None:
        import torch

        from portable.exporters import traced

        with torch.no_grad():
            self._program = traced.trace(self.module, self.args, None, None)

    def export(self, target: str) -> ExportedArtifact:
        from portable.exporters import export_torch

        return export_torch(self._program, target=target, allow=["exact"])

    def backend(self) -> object:
        from torchax.export import exported_program_to_stablehlo

        return exported_program_to_stablehlo(self._program)[1].mlir_module_serialized

    def eager(self) -> list[Array]:
        import torch

        with torch.no_grad():
            return self._arrays(self.module(*self.args))

    def wide(self) -> list[Array]:
        import torch
        from torch.utils._pytree import tree_map

        given = tree_map(lambda x: x.double() if x.is_floating_point() else x, self.args)
        with torch.no_grad():
            return self._arrays(copy.deepcopy(self.module).double()(*given))

    def call(self, exported: ExportedArtifact, executor: Executor) -> list[Array]:
        return self._arrays(exported(*self.args, executor=executor))

    def _arrays(self, value: Any) -> list[Array]:
        from torch.utils import _pytree as pytree

        from portable.exporters.frameworks import from_torch

        return [from_torch(x) for x in pytree.tree_leaves(value) if x is not None]


def _subjects(
    module: str, kind: Callable[[Any], Subject]
) -> Iterator[tuple[str, Callable[[], Subject]]]:
    for program in importlib.import_module(module).PROGRAMS:
        yield f"{program.group}: {program.name}", functools.partial(kind, program.build)


_SUBJECTS: dict[str, Callable[[], Iterator[tuple[str, Callable[[], Subject]]]]] = {
    "jax": functools.partial(_subjects, "tools.zoo_jax", _JaxSubject),
    "torch": functools.partial(_subjects, "tools.zoo_torch", _TorchSubject),
}


def page() -> list[str]:
    """Return the lines of the page of docs about these programs."""
    lines: list[str] = []
    for framework, path in NOTED.items():
        found = json.loads(path.read_text("utf-8"))
        lines += ["", f"## Programs of {_TITLES[framework]}", ""]
        lines += [*_summary(found), ""]
        lines += ["| program | target | difference / largest value | time | memory | or why not |"]
        lines += ["|---|---|---|---|---|---|"]
        lines += [_row(name, entry) for name, entry in found["programs"].items()]
    return lines


_TITLES = {"jax": "JAX", "torch": "PyTorch"}


def _summary(found: dict[str, Any]) -> list[str]:
    entries = found["programs"].values()
    releases = ", ".join(f"{name} {version}" for name, version in found["releases"].items())
    equal = sum(entry.get("equal", False) for entry in entries)
    lowest = sum(entry.get("target") == TARGETS[0] for entry in entries)
    unbuilt = sum("not built" in entry for entry in entries)
    untraced = sum("not traced" in entry for entry in entries)
    differ = sum(not entry.get("equal", True) for entry in entries)
    unrun = sum("not executed" in entry for entry in entries)
    refused = sum("refused" in entry for entry in entries)
    return textwrap.wrap(
        f"{len(entries)} of {found['programs in all']} programs are measured, with {releases}: "
        f"{equal} are equal to eager, {differ} differ, {unrun} "
        f"are exported and not executed, {refused} are refused, {untraced} are not traced by "
        f"the framework itself, {unbuilt} are not built by this version of their package; "
        f"{lowest} are at {TARGETS[0]}. Over the backend's own call, the export takes "
        f"{_spread(entries, 'ratio')} of the time, {_spread(entries, 'memory')} of the memory.",
        100,
    )


def _spread(entries: Collection[dict[str, float]], of: str) -> str:
    found = [entry[of] for entry in entries if of in entry]
    return f"{statistics.median(found):.2f}x (median of {len(found)}; at most {max(found):.2f}x)"


def _row(name: str, entry: dict[str, Any]) -> str:
    far = f"{entry['difference']:.1e}" if "difference" in entry else ""
    differs = "" if entry.get("equal", True) else "differs"
    reasons = (entry.get(kind) for kind in ("refused", "not executed", "not traced", "not built"))
    why = next(filter(None, reasons), differs)
    costs = [f"{entry[of]:.2f}x" if of in entry else "" for of in ("ratio", "memory")]
    cells = [f"`{name}`", entry.get("target", ""), far, *costs, why]
    return f"| {' | '.join(cells)} |"


def _short(error: PortableError) -> str:
    text = textwrap.shorten(error.what, _SHOWN, placeholder=" ...")
    return text.replace("|", "\\|").replace("<", "&lt;")


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("framework", choices=sorted(_SUBJECTS))
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--new", action="store_true")
    chosen = parser.parse_args()
    measure(chosen.framework, chosen.only, new=chosen.new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
