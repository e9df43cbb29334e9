"""Export PyTorch's own samples of its ops, and compare what they compute with eager PyTorch.

python -m tools opinfo int32 float16       ops that take these dtypes; what is noted already stays
python -m tools opinfo int32 --only sort   those whose names match an expression, anew
python -m tools opinfo int32 --again       those that were not equal, anew

What is found stands in compat_tests/data/opinfo.json as soon as it is measured. A few of the
samples of an op are one program; where that is not equal to eager, each is one by itself. Floats
are near where they are within 4 times eager's own error against float64, or 4 roundings of the
largest value.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import itertools
import json
import logging
import re
import signal
import sys
import textwrap
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.errors import PortableError
from portable.exporters.frameworks import first_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.runtime.executors import Executor

NOTED = Path(__file__).parent.parent / "compat_tests" / "data" / "opinfo.json"
EQUAL, RANDOM, UNTRACED, REFUSED = "equal", "random", "not traced", "refused"
DIFFERS, NOT_RUN, LATE, NO_SAMPLES = "differs", "not executed", "too long", "no samples"
UNTYPED = "untyped error"
_WORST = (DIFFERS, UNTYPED, NOT_RUN, REFUSED, UNTRACED, RANDOM, EQUAL)
_SAMPLES, _OF_THE_FIRST, _SECONDS, _SHOWN = 4, 80, 90, 110
_TIMES = 4
# The values of what was not written are none.
_UNWRITTEN = {
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
}
# PyTorch does not say where among equal values these are.
_ANY_PLACE = {"kthvalue", "median", "nanmedian", "topk"}


@dataclass(frozen=True, slots=True)
class _Program:
    """Samples of an op as one function of all their tensors.

    Args:
        op: Its OpInfo.
        samples: What it is called with.
    """

    op: Any
    samples: Sequence[Any]

    def tensors(self) -> list[Any]:
        """Return copies of the tensors of all samples."""
        return [leaf.clone() for given in self._given() for leaf in given[0] if _is_tensor(leaf)]

    def __call__(self, *tensors: Any) -> list[Any]:
        from torch.utils import _pytree as pytree

        left, made = iter(tensors), []
        for leaves, spec in self._given():
            full = [next(left) if _is_tensor(leaf) else leaf for leaf in leaves]
            first, args, kwargs = pytree.tree_unflatten(full, spec)
            made.append(self._kept(self.op.op(first, *args, **kwargs)))
        return made

    def _given(self) -> Iterator[tuple[list[Any], Any]]:
        from torch.utils import _pytree as pytree

        for sample in self.samples:
            yield pytree.tree_flatten((sample.input, sample.args, sample.kwargs))

    def _kept(self, made: Any) -> Any:
        import torch

        if self.op.name in _UNWRITTEN:
            return made.masked_fill(torch.ones_like(made, dtype=torch.bool), 0)
        if self.op.name in _ANY_PLACE and isinstance(made, tuple):
            return made[0]
        return made


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _attempt(program: _Program, executor: Executor) -> tuple[str, str]:
    """Return what becomes of a program, and why."""
    try:
        return _compared(program, executor)
    except Exception as error:  # noqa: BLE001 - whatever is raised that should not be
        return UNTYPED, first_line(error)


def _compared(program: _Program, executor: Executor) -> tuple[str, str]:
    import torch
    from torch.utils import _pytree as pytree

    from compat_tests.helpers.torch_calls import Calls
    from portable.exporters import export_torch
    from portable.exporters.exported import ArgumentKind

    eager = program(*program.tensors())
    try:
        wide = program(*map(_widened, program.tensors()))
    except Exception:  # noqa: BLE001 - of PyTorch's: there is none in float64
        wide = eager
    model = Calls(program)
    try:
        made = export_torch(model, tuple(program.tensors()), target="1.9.0", allow=["exact"])
    except PortableError as error:
        try:
            torch.export.export(model, tuple(program.tensors()))
        except Exception:  # noqa: BLE001 - any of PyTorch's
            return UNTRACED, error.what
        return REFUSED, error.what
    drawn = any(argument.kind is ArgumentKind.SEED for argument in made.arguments)
    try:
        got = made(*program.tensors(), executor=executor, **({"seed": 1} if drawn else {}))
    except PortableError as error:
        return NOT_RUN, error.what
    if drawn:
        return RANDOM, ""
    trees = [pytree.tree_leaves(tree) for tree in (got, eager, wide)]
    for mine, theirs, exact in zip(*trees, strict=True):
        why = _difference(mine, theirs, exact)
        if why:
            return DIFFERS, why
    return EQUAL, ""


def _widened(x: Any) -> Any:
    import torch

    if x.is_complex():
        return x.to(torch.complex128)
    return x.double() if x.is_floating_point() else x


def _difference(mine: Any, theirs: Any, exact: Any) -> str:
    """Return how a result differs; nothing if it does not."""
    import torch

    if not (_is_tensor(mine) and _is_tensor(theirs)):
        return "" if mine == theirs else f"{mine!r} for {theirs!r}"
    if (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
        kinds = (f"{x.dtype}{list(x.shape)}".removeprefix("torch.") for x in (mine, theirs))
        return " for ".join(kinds)
    if not (theirs.is_floating_point() or theirs.is_complex()):
        far = mine != theirs
    else:
        rounding = torch.finfo(theirs.dtype).eps
        mine, theirs, exact = (_reals(x) for x in (mine, theirs, exact))
        exact = exact if exact.shape == theirs.shape else theirs
        finite = torch.isfinite(mine) & torch.isfinite(theirs)
        own = (theirs - exact)[finite & torch.isfinite(exact)].abs()
        largest = theirs[finite].abs()
        near = max(
            _TIMES * float(own.max() if own.numel() else 0),
            _TIMES * rounding * float(largest.max() if largest.numel() else 0),
        )
        same = (mine == theirs) | (mine.isnan() & theirs.isnan())
        far = ~same & ~(finite & ((mine - theirs).abs() <= near))
    if not far.any():
        return ""
    some = [x[far].flatten()[:3].tolist() for x in (mine, theirs)]
    return f"{int(far.sum())} of {far.numel()}: {some[0]} for {some[1]}"


def _reals(x: Any) -> Any:
    import torch

    if x.is_complex():
        return torch.view_as_real(x.to(torch.complex128))
    return x.double()


class _Late(BaseException):
    """An op took too long; no `Exception`, which frameworks catch."""


def _late(*_: object) -> None:
    raise _Late


def _found(op: Any, dtype: Any, executor: Executor) -> dict[str, str]:
    """Return what becomes of the samples of an op: the worst, and why."""
    import torch

    torch.manual_seed(0)
    try:
        all_of_them = op.sample_inputs("cpu", dtype, requires_grad=False)
        samples = list(itertools.islice(all_of_them, _OF_THE_FIRST))
    except Exception as error:  # noqa: BLE001 - of PyTorch's own tests
        return {NO_SAMPLES: first_line(error)[:_SHOWN]}
    chosen = samples[:: max(1, len(samples) // _SAMPLES)][:_SAMPLES]
    chosen = [sample for sample in chosen if _runs(_Program(op, [sample]))]
    if not chosen:
        return {NO_SAMPLES: "none that runs"}
    found, _ = _attempt(_Program(op, chosen), executor)
    if found in {EQUAL, RANDOM}:
        return {found: ""}
    each = [_attempt(_Program(op, [sample]), executor) for sample in chosen]
    worst = next(one for one in _WORST if one in {found for found, _ in each})
    why = next(why for found, why in each if found == worst)
    count = sum(found == worst for found, _ in each)
    return {worst: f"{count} of {len(each)} samples: {textwrap.shorten(why, _SHOWN)}"}


def _runs(program: _Program) -> bool:
    try:
        program(*program.tensors())
    except Exception:  # noqa: BLE001 - any of PyTorch's
        return False
    return True


def measure(dtype: str, word: str, *, again: bool = False) -> None:
    """Measure the ops of a dtype and note each at once."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    from portable.runtime.executors import find_executor

    noted: dict[str, Any] = {"releases": {}, "dtypes": {}}
    if NOTED.exists():
        noted = json.loads(NOTED.read_text("utf-8"))
    known: dict[str, dict[str, str]] = noted["dtypes"].setdefault(dtype, {})
    kind = getattr(torch, dtype)
    signal.signal(signal.SIGPROF, _late)
    with find_executor("pjrt") as executor:
        for op in op_db:
            name = f"{op.name}.{op.variant_test_name}".rstrip(".")
            old = known.get(name)
            wanted = re.search(word, name) if word else old is None or (again and not _is_good(old))
            if not wanted or kind not in op.supported_dtypes("cpu"):
                continue
            try:
                signal.setitimer(signal.ITIMER_PROF, _SECONDS)
                known[name] = _found(op, kind, executor)
            except _Late:
                known[name] = {LATE: f"over {_SECONDS} s"}
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            print(dtype, name, known[name], flush=True)
            noted["dtypes"][dtype] = dict(sorted(known.items()))
            noted["releases"] = {r: importlib.metadata.version(r) for r in _RELEASES}
            NOTED.write_text(json.dumps(noted, indent=0) + "\n", encoding="utf-8")


_RELEASES = ("torch", "torchax", "jaxlib")


def _is_good(found: dict[str, str]) -> bool:
    return bool({EQUAL, RANDOM} & found.keys())


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dtypes", nargs="+", metavar="DTYPE")
    parser.add_argument("--only", default="", metavar="EXPRESSION")
    parser.add_argument("--again", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for dtype in chosen.dtypes:
        measure(dtype, chosen.only, again=chosen.again)
    return 0


if __name__ == "__main__":
    sys.exit(main())
