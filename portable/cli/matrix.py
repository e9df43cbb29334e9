"""Read or execute artifacts on real Releases, and compare the results with the predictions.

Each Release has its own environment, made if missing, and its own process: a crash or a timeout
is a Verdict. Observations are kept, so that a second run only does what is new, and an
interrupted run continues. The report lists contradictions between prediction and observation
first.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.cli.making import tell_line
from portable.cli.options import add, tolerance_options
from portable.cli.output import demand_apart, note, write_report, write_text
from portable.cli.progress import counting
from portable.cli.usage import BadUsage
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
from portable.system.waits import waiting
from portable.verdict import Stage

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterator, Sequence
    from concurrent.futures import Executor

    from portable.matrix import Item, Matrix
    from portable.releases import Release

__all__ = [
    "EXAMPLES",
    "EXIT_CODES",
    "ClusterUnreachable",
    "DaskMissing",
    "NotObserved",
    "NothingToRun",
    "cluster",
    "newest_jaxlib",
    "options",
    "read_matrix",
    "run",
]

EXAMPLES = """
portable matrix model.mlir.bc --for 'jaxlib>=0.5' -o report.html
portable matrix model.mlir.bc --for jaxlib --stage execute --random 0
portable matrix corpus --artifacts lowest --for jaxlib 'tensorflow>=2.16' --judge predicted
portable matrix --merge monday.json tuesday.json -o both.html
"""
EXIT_CODES = {
    0: "every artifact works on every consumer (--judge predicted: no unexplained contradiction)",
    1: "an artifact does not work, or a contradiction is not explained",
    2: "not everything was observed, could not check, or bad usage",
}

_STAGES = (Stage.DECODE, Stage.ROUNDTRIP, Stage.EXECUTE)
_COMPATIBLE, _PREDICTED = "compatible", "predicted"
_CONNECT_S = 20
_ALONE_S, _LOOK_S = 600, 2.0
"""For how long a cluster may have no workers, and how often that is looked at."""
_RELATIVE = 1e-4
_ENDINGS = {".html": "html", ".json": "json", ".xml": "junit", ".md": "markdown"}


class NothingToRun(PortableError):
    """There are no artifacts, or no consumers."""


class NotObserved(PortableError):
    """Nothing failed, but not everything was observed."""


class DaskMissing(PortableError):
    """`--cluster` was given and dask is not installed."""


class ClusterUnreachable(PortableError):
    """There is no Dask scheduler at the address."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    what = parser.add_argument_group("what to run")
    what.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="artifacts, folders of them, Cases (with case.toml) or a corpus of Cases",
    )
    add(what, "--for")
    what.add_argument(
        "--artifacts",
        choices=[str(pick) for pick in Pick],
        default=str(Pick.ALL),
        help="which artifacts of each Case: all that are sealed, those of the lowest and the "
        "highest Version, or that of the lowest (default: %(default)s)",
    )
    add(what, "--stage", choices=[str(stage) for stage in _STAGES], default=str(Stage.DECODE))
    what.add_argument(
        "--merge",
        dest="earlier",
        action="extend",
        nargs="+",
        default=[],
        metavar="FILE.json",
        help="merge earlier results (written with --format json) instead of running",
    )
    _execution_options(parser.add_argument_group("how to execute artifacts that are not Cases"))
    _running_options(parser.add_argument_group("how to run"))
    _report_options(parser.add_argument_group("the report"))


def _execution_options(group: argparse._ArgumentGroup) -> None:
    add(group.add_mutually_exclusive_group(), "--inputs", "--random")
    group.add_argument(
        "--expected",
        metavar="FILE.npz",
        help="the expected results (default: those of the newest jaxlib among the consumers)",
    )
    tolerance_options(group, rtol=_RELATIVE, atol=None)


def _running_options(how: argparse._ArgumentGroup) -> None:
    add(how, "--timeout", default=LIMIT_S, default_help="%(default)g")
    how.add_argument(
        "--cache",
        metavar="FILE",
        help="where observations are kept (default: beside the environments)",
    )
    add(how, "--require-hashes")
    how.add_argument(
        "--fresh", action="store_true", help="ignore earlier observations and observe again"
    )
    add(how, "--cluster")


def _report_options(out: argparse._ArgumentGroup) -> None:
    add(out, "--output", default="-")
    add(
        out,
        "--format",
        choices=("text", "json", *sorted({*FORMATS} - {"text", "json"})),
        default=None,
        default_help=f"by the ending of --output ({', '.join(_ENDINGS)}), else text",
    )
    add(out, "--all")
    out.add_argument(
        "--judge",
        choices=(_COMPATIBLE, _PREDICTED),
        default=_COMPATIBLE,
        help="what exit code 1 means: an artifact does not work on a consumer (compatible), or an "
        "observation contradicts its prediction without explanation (predicted) "
        "(default: %(default)s)",
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
    """Refuse options that would otherwise be ignored."""
    if chosen.earlier and (chosen.paths or chosen.consumers):
        raise BadUsage(
            "--merge cannot be used together with PATH or --for",
            hint="run first with --format json, then name its result after --merge",
        )
    given = chosen.inputs is not None or chosen.random is not None
    if given and chosen.stage != str(Stage.EXECUTE):
        raise BadUsage("inputs require --stage execute")
    if chosen.expected is not None and not given:
        raise BadUsage("--expected requires inputs", hint="add --inputs FILE.npz or --random 0")


def _earlier(paths: Sequence[str]) -> Matrix:
    return merge([read_matrix(path) for path in paths])


def read_matrix(path: str) -> Matrix:
    """Read what was written with `--format json`."""
    try:
        return load(read_file(path))
    except MalformedMatrix as error:
        error.where = path
        raise


def _observed(chosen: argparse.Namespace) -> Matrix:
    if not chosen.paths or not chosen.consumers:
        raise NothingToRun(
            "missing PATH or --for",
            hint="e.g. portable matrix model.mlir.bc --for 'jaxlib>=0.5'",
        )
    consumers = list(dict.fromkeys(runnable_releases(*chosen.consumers)))
    items = collect(chosen.paths, pick=Pick(chosen.artifacts))
    stage = Stage.parse(chosen.stage)
    environments = Environments(progress=tell_line, require_hashes=chosen.require_hashes)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(scratch.folder()))
        judge = None
        if chosen.random is not None or chosen.inputs:
            judge = _judge(chosen, consumers)
            items = _executable(items, folder, chosen)
        executor = stack.enter_context(cluster(chosen.cluster)) if chosen.cluster else None
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
            return crew.observe(items, consumers)


@contextlib.contextmanager
def _going_on() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        note("interrupted; observations are kept, run the same command again to continue")
        raise


def newest_jaxlib(consumers: Collection[Release]) -> Release | None:
    """Return the newest jaxlib among the consumers, in whatever order they were named."""
    return next((one for one in reversed(releases("jaxlib")) if one in consumers), None)


def _judge(chosen: argparse.Namespace, consumers: Collection[Release]) -> Release | None:
    """Return the Release whose results are expected; None where --expected was given."""
    if chosen.expected:
        return None
    newest = newest_jaxlib(consumers)
    if newest is None:
        raise NothingToRun(
            "no expected results",
            hint="give --expected FILE.npz, or a jaxlib among the consumers",
        )
    return newest


def _executable(
    items: Sequence[Item], folder: Path, chosen: argparse.Namespace
) -> tuple[Item, ...]:
    """Add inputs and expected results to artifacts that are not Cases and can be executed.

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
    """Return the options of execution that were given, for the commands in the report."""
    names = ("inputs", "random", "expected", "ulps", "rtol", "atol")
    values = {name: getattr(chosen, name) for name in names}
    return tuple(
        f"--{name}={value}"
        for name, value in values.items()
        if value is not None and (name, value) not in {("rtol", _RELATIVE), ("ulps", 0)}
    )


@contextlib.contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Connect to a Dask scheduler."""
    try:
        from distributed import Client  # an extra
    except ImportError:
        raise DaskMissing(
            "dask is not installed", hint="pip install 'stablehlo-portable[dask]'"
        ) from None
    try:
        with waiting(address, _CONNECT_S):
            _demand_answer(address)
            client = Client(address, timeout=_CONNECT_S)
    except Exception as error:  # Dask raises anything over what is no scheduler
        said = str(error) or type(error).__name__
        if isinstance(error, TimeoutError):
            said = f"no answer within {_CONNECT_S} s"
        raise ClusterUnreachable(
            f"cannot reach a Dask scheduler: {said}",
            where=address,
            hint="give its address, e.g. tcp://host:8786",
        ) from error
    with client, contextlib.closing(_Attended(client, address)) as attended:
        try:
            yield attended.executor
        except Exception as error:  # what waited for a cancelled task says so in words of its own
            if not attended.is_alone:
                raise
            raise ClusterUnreachable(
                f"no workers for {_ALONE_S} s",
                where=address,
                hint="start some, then repeat the command: what is done is kept",
            ) from error


class _Attended:
    """What submits tasks to a cluster, which are cancelled where it has no workers for long.

    A scheduler keeps them for workers that may come, and so they would be waited for without end.

    Attributes:
        executor: It.
        is_alone: Whether they were cancelled.
    """

    def __init__(self, client: Any, address: str) -> None:
        self.executor: Executor = client.get_executor()
        self.is_alone, self._over = False, threading.Event()
        self._client, self._address = client, address
        threading.Thread(target=self._attend, name="workers", daemon=True).start()

    def _attend(self) -> None:
        while not self._over.wait(_LOOK_S):
            if self._has_workers():
                continue
            with waiting(f"{self._address}: no workers", _ALONE_S):
                until = time.monotonic() + _ALONE_S
                while not self._has_workers() and not self._over.wait(_LOOK_S):
                    if time.monotonic() > until:
                        self.is_alone = True
                        self.executor.shutdown(wait=False)
                        return

    def _has_workers(self) -> bool:
        with contextlib.suppress(Exception):  # of the scheduler, which may be gone too
            return bool(self._client.nthreads())
        return False

    def close(self) -> None:
        """Look no more."""
        self._over.set()


def _demand_answer(address: str) -> None:
    """Raise TimeoutError where a server takes a connection and says nothing: Dask has no limit."""
    import asyncio

    from distributed.comm import connect
    from distributed.security import Security

    async def reach() -> None:
        options = Security().get_connection_args("client")
        comm = await connect(address, timeout=_CONNECT_S, **options)
        comm.abort()

    asyncio.run(asyncio.wait_for(reach(), _CONNECT_S))
