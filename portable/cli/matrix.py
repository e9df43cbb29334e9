"""Have real Releases read or execute artifacts, and compare that with what is predicted.

Each Release has an environment of its own, made if it is missing, and a process of its own: one
that crashes or hangs is a Verdict. What was observed is kept, so a second run only does what is
new, and an interrupted one goes on. Contradictions between prediction and observation come first.

  portable matrix model.mlir.bc --for 'jaxlib>=0.5' -o report.html
  portable matrix model.mlir.bc --for jaxlib --stage execute --random 0
  portable matrix corpus --artifacts lowest --for jaxlib 'tensorflow>=2.16' --judge predicted
  portable matrix --from monday.json tuesday.json -o both.html

Exit code 0: every artifact works on every consumer (--judge predicted: everything was observed,
and no contradiction is unexplained). 1: not so. 2: could not check, or not everything.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from portable.cli.counting import counting
from portable.cli.making import require_hashes_option, tell_line
from portable.cli.output import demand_apart, note, write_report, write_text
from portable.cli.usage import BadUsage, amount, destination, limit, natural
from portable.errors import PortableError
from portable.matrix import MalformedMatrix, Pick, Run, Store, collect
from portable.matrix.document import load
from portable.matrix.inputs import check_expected, with_expected, with_inputs
from portable.matrix.merging import merge
from portable.matrix.report import FORMATS, render
from portable.matrix.run import LIMIT_S
from portable.matrix.store import default_path
from portable.releases import releases, runnable_releases
from portable.runtime.environments import Environments
from portable.runtime.executors.signature import ordered
from portable.runtime.executors.tensors import load_arrays
from portable.system import scratch
from portable.system.files import read_file
from portable.verdict import Stage

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterator, Sequence
    from concurrent.futures import Executor

    from portable.matrix import Item, Matrix
    from portable.releases import Release

__all__ = [
    "ClusterUnreachable",
    "DaskMissing",
    "NotObserved",
    "NothingToRun",
    "newest_jaxlib",
    "options",
    "run",
]

_STAGES = (Stage.DECODE, Stage.ROUNDTRIP, Stage.EXECUTE)
_COMPATIBLE, _PREDICTED = "compatible", "predicted"
_CONNECT_S = 20
_RELATIVE = 1e-4
_ENDINGS = {".html": "html", ".json": "json", ".xml": "junit", ".md": "markdown"}


class NothingToRun(PortableError):
    """There are no artifacts, or no consumers."""


class NotObserved(PortableError):
    """Nothing failed, and not everything was seen to work."""


class DaskMissing(PortableError):
    """A cluster was asked for and dask is not installed."""


class ClusterUnreachable(PortableError):
    """There is no Dask scheduler at the address."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    what = parser.add_argument_group("what to run")
    what.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="an artifact, a folder of them, a Case (with case.toml) or a corpus of Cases",
    )
    what.add_argument(
        "--for",
        dest="consumers",
        nargs="+",
        default=[],
        metavar="SPEC",
        help="the Releases, as requirement specifiers: 'jaxlib>=0.5,<0.11'; jaxlib alone for all",
    )
    what.add_argument(
        "--artifacts",
        choices=[str(pick) for pick in Pick],
        default=str(Pick.ALL),
        help="of each Case: all sealed artifacts (default), the lowest and highest Version, or "
        "the lowest",
    )
    what.add_argument(
        "--stage",
        choices=[str(stage) for stage in _STAGES],
        default=str(Stage.DECODE),
        help="how far to go (default: decode)",
    )
    what.add_argument(
        "--from",
        dest="earlier",
        nargs="+",
        default=[],
        metavar="RESULT.json",
        help="merge earlier results, written with --format json, instead of running",
    )
    _execution_options(parser.add_argument_group("to execute artifacts that are no Cases"))
    _running_options(parser.add_argument_group("how to run"))
    _report_options(parser.add_argument_group("the report"))


def _execution_options(group: argparse._ArgumentGroup) -> None:
    given = group.add_mutually_exclusive_group()
    given.add_argument("--inputs", metavar="X.npz", help="the inputs: arrays named 0, 1, ...")
    given.add_argument("--random", type=natural, metavar="SEED", help="make inputs, from this seed")
    group.add_argument(
        "--expected",
        metavar="Y.npz",
        help="what they compute (default: what the newest jaxlib among the consumers computes)",
    )
    group.add_argument(
        "--ulps",
        type=natural,
        default=0,
        metavar="N",
        help="results may be this many ulps apart (default: %(default)s)",
    )
    group.add_argument(
        "--rtol",
        type=amount,
        default=_RELATIVE,
        metavar="R",
        help="or apart by this share of the larger one (default: %(default)g)",
    )
    group.add_argument(
        "--atol",
        type=amount,
        metavar="A",
        help="or by this much; any one of the three is enough (default: 1e-6 of the largest "
        "expected value, at least 1e-5)",
    )


def _running_options(how: argparse._ArgumentGroup) -> None:
    how.add_argument(
        "--timeout",
        type=limit,
        default=LIMIT_S,
        metavar="SECONDS",
        help="limit for one step of one Release with one artifact (default: %(default)g)",
    )
    how.add_argument(
        "--cache",
        metavar="FILE",
        help="where observations are kept (default: beside the environments)",
    )
    require_hashes_option(how)
    how.add_argument("--fresh", action="store_true", help="observe again what is known already")
    how.add_argument(
        "--cluster", metavar="ADDRESS", help="run on a Dask scheduler, as tcp://host:8786"
    )


def _report_options(out: argparse._ArgumentGroup) -> None:
    out.add_argument(
        "--output", "-o", type=destination, metavar="FILE", default="-", help="where to write it"
    )
    out.add_argument(
        "--format",
        choices=sorted(FORMATS),
        help=f"default: by the ending of FILE ({', '.join(_ENDINGS)}), else text",
    )
    out.add_argument("--all", action="store_true", help="list everything in text and Markdown")
    out.add_argument(
        "--judge",
        choices=(_COMPATIBLE, _PREDICTED),
        default=_COMPATIBLE,
        help="what makes the exit code 1: an artifact that does not work on a consumer (default), "
        "or a contradiction to what is predicted that nobody has explained",
    )


def run(chosen: argparse.Namespace) -> int:
    """Run a matrix, or merge what earlier ones found, and report."""
    _demand_sense(chosen)
    demand_apart(
        chosen.output, chosen.inputs, chosen.expected, chosen.cache, *chosen.paths, *chosen.earlier
    )
    form = chosen.format or _ENDINGS.get(Path(chosen.output).suffix, "text")
    matrix = _earlier(chosen.earlier) if chosen.earlier else _observed(chosen)
    report = render(matrix, form, full=chosen.all)
    write = write_report if form == "text" else write_text
    write(chosen.output, report)
    if chosen.judge == _PREDICTED:
        failed = matrix.unobserved or any(one.unexplained for one in matrix.contradictions)
        return 1 if failed else 0
    if any(cell.observed and not cell.observed.compatible for cell in matrix.cells):
        return 1
    unknown = len(matrix.unobserved) + len(matrix.partial)
    if unknown:
        raise NotObserved(
            f"{unknown} of {len(matrix.cells)} cells were not observed up to {matrix.stage}",
            hint="the report says why",
        )
    return 0


def _demand_sense(chosen: argparse.Namespace) -> None:
    """Refuse what would otherwise be passed over in silence."""
    if chosen.earlier and (chosen.paths or chosen.consumers):
        raise BadUsage(
            "--from reports on what was run, PATH and --for say what to run",
            hint="run first, with --format json, and name its result after --from",
        )
    given = chosen.inputs is not None or chosen.random is not None
    if given and chosen.stage != str(Stage.EXECUTE):
        raise BadUsage("inputs are for executing", hint="add --stage execute")
    if chosen.expected is not None and not given:
        raise BadUsage("--expected says what inputs give", hint="add --inputs X.npz or --random 0")


def _earlier(paths: Sequence[str]) -> Matrix:
    return merge([_document(path) for path in paths])


def _document(path: str) -> Matrix:
    try:
        return load(read_file(path))
    except MalformedMatrix as error:
        error.where = path
        raise


def _observed(chosen: argparse.Namespace) -> Matrix:
    if not chosen.paths or not chosen.consumers:
        raise NothingToRun(
            "name artifacts and consumers",
            hint="as in: portable matrix model.mlir.bc --for 'jaxlib>=0.5'",
        )
    consumers = list(dict.fromkeys(runnable_releases(*chosen.consumers)))
    items = collect(chosen.paths, pick=Pick(chosen.artifacts))
    stage = Stage[chosen.stage.upper()]
    environments = Environments(progress=tell_line, require_hashes=chosen.require_hashes)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(scratch.folder()))
        judge = None
        if chosen.random is not None or chosen.inputs:
            judge = _judge(chosen, consumers)
            items = _executable(items, folder, chosen)
        executor = stack.enter_context(_cluster(chosen.cluster)) if chosen.cluster else None
        store = stack.enter_context(Store(chosen.cache or default_path()))
        crew = Run(
            store,
            stage,
            environments=environments,
            executor=executor,
            limit=chosen.timeout,
            fresh=chosen.fresh,
            progress=stack.enter_context(counting("cells")),
        )
        with _going_on():
            if judge is not None:
                with counting("expected results") as tell:
                    items = crew.judged(items, judge, folder, absolute=chosen.atol, progress=tell)
            return crew.matrix(items, consumers)


@contextlib.contextmanager
def _going_on() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        note("interrupted; what was observed is kept, run it again to go on")
        raise


def newest_jaxlib(consumers: Collection[Release]) -> Release | None:
    """Return the newest jaxlib among the consumers, in whatever order they were named."""
    return next((one for one in reversed(releases("jaxlib")) if one in consumers), None)


def _judge(chosen: argparse.Namespace, consumers: Collection[Release]) -> Release | None:
    """Return the Release whose results are expected; None where what is expected was given."""
    if chosen.expected:
        return None
    newest = newest_jaxlib(consumers)
    if newest is None:
        raise NothingToRun(
            "nothing to compare results with",
            hint="give --expected Y.npz, or a jaxlib among the consumers",
        )
    return newest


def _executable(
    items: Sequence[Item], folder: Path, chosen: argparse.Namespace
) -> tuple[Item, ...]:
    """Give artifacts that are no Cases what to execute them with, as far as they can be executed.

    Raises:
        PortableError: Of the first, where none can.
    """
    inputs = ordered(load_arrays(chosen.inputs, ordered)) if chosen.inputs else chosen.random
    expected = ordered(load_arrays(chosen.expected, ordered)) if chosen.expected else None
    again = _given(chosen)
    found: list[Item] = []
    refused: list[PortableError] = []
    for item in items:
        if item.case:
            found.append(item)
            continue
        try:
            one = with_inputs(item, folder, inputs=inputs, relative=chosen.rtol, ulps=chosen.ulps)
            if expected is not None:
                check_expected(item, expected)
                one = with_expected(one, folder, expected, chosen.atol)
        except PortableError as error:
            refused.append(error)
            one = replace(item, unjudged=str(error))
        found.append(replace(one, given=again))
    if len(refused) == len(found) > 0:
        raise refused[0]
    return tuple(found)


def _given(chosen: argparse.Namespace) -> tuple[str, ...]:
    """Return the words that say what to execute with, for the commands in the report."""
    names = ("inputs", "random", "expected", "ulps", "rtol", "atol")
    values = {name: getattr(chosen, name) for name in names}
    return tuple(
        f"--{name}={value}"
        for name, value in values.items()
        if value is not None and (name, value) not in {("rtol", _RELATIVE), ("ulps", 0)}
    )


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError:
        raise DaskMissing(
            "dask is not installed", hint="pip install 'stablehlo-portable[dask]'"
        ) from None
    try:
        client = Client(address, timeout=_CONNECT_S)
    except (OSError, ValueError) as error:
        raise ClusterUnreachable(
            f"no Dask scheduler answers: {error}", where=address, hint="as tcp://host:8786"
        ) from error
    with client:
        yield client.get_executor()
