"""Plant defects in the rooms that decide a Verdict, and count those that the hermetic tests notice.

python -m tools mutation                   a sample of all mutants; writes docs/mutation.md
python -m tools mutation --minutes 10      stop then; the next run goes on
python -m tools mutation --again           run the survivors again, by tests that are new
python -m tools mutation --quick           only by the tests that notice most; the next run goes on

cosmic-ray makes the mutants: it changes the source, so that decorated functions, properties, class
bodies and tables at module level are mutated like the rest. Each runs in a process that is forked
with pytest, numpy and hypothesis loaded, in a copy of the checkout, by those tests only that reach
its line (a first run measures which, and what processor time they take), until one fails: a few
fast ones first, then those of the samples (`tools.results`), which notice most, then all others.
None is left out, so that a survivor is one that all of these tests let pass. What tests do in
processes of their own is not measured: those run where they reach the line themselves too.
Which mutants are in the sample depends on the seed, their text and the function they are in: those
of unchanged code stay.
`compat_tests/data/mutants.toml` gives the reasons of survivors that were looked at.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import itertools
import json
import os
import py_compile
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import traceback
from collections import Counter, defaultdict
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import cosmic_ray.plugins
import coverage
import hypothesis  # noqa: F401 - loaded once, before the forks
import ml_dtypes  # noqa: F401 - the same
import numpy as np  # noqa: F401 - the same
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import mutate_code, use_mutation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Mutant", "mutants"]

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "mutation.md"
_TEMPLATE = Path(__file__).with_name("mutation.md")
REVIEWED = ROOT / "compat_tests" / "data" / "mutants.toml"
ROOMS = ("bytecode", "features", "prediction", "policy", "containers")
TESTS = ("compat_tests/unit", "compat_tests/property")
# They make environments and processes, for minutes, or look at source and pages: none of them says
# what these rooms do.
_ELSEWHERE = (
    *("architecture", "children", "digests", "docs", "errors", "export_requests", "fuzz"),
    *("fuzz_hunting", "own_releases", "plain_words", "playground", "release_audit", "site"),
    "tools",
)
# One replacement for each operator where cosmic-ray has eleven, and both sides of each comparison.
_REPLACED = {
    "BinaryOperator": "Add_Sub Sub_Add Mul_FloorDiv Div_Mul FloorDiv_Mul Mod_Add Pow_Mul "
    "RShift_LShift LShift_RShift BitOr_BitAnd BitAnd_BitOr BitXor_BitAnd",
    "ComparisonOperator": "Eq_NotEq NotEq_Eq Lt_LtE Lt_GtE LtE_Lt LtE_Gt Gt_GtE Gt_LtE "
    "GtE_Gt GtE_Lt Is_IsNot IsNot_Is",
    "UnaryOperator": "Delete_Not Delete_USub",
}
OPERATORS = (
    *(
        f"core/Replace{kind}_{one}"
        for kind, replacements in _REPLACED.items()
        for one in replacements.split()
    ),
    *(f"core/Replace{one}" for one in ("AndWithOr", "OrWithAnd", "TrueWithFalse", "FalseWithTrue")),
    *(f"core/Replace{one}" for one in ("ContinueWithBreak", "BreakWithContinue")),
    "core/AddNot",
    "core/ExceptionReplacer",
    "core/NumberReplacer",
    "core/RemoveDecorator",
    "core/ZeroIterationForLoop",
)
# A cache that is taken away changes how long something takes and nothing else.
_CACHES = ("@cache", "@lru_cache", "@functools.cache", "@functools.lru_cache")
_PYTEST = ["-q", "-p", "no:cacheprovider", "--assert=plain", "--tb=short", "--hypothesis-seed=0"]
# Of its own: pytest removes what others left in the shared one, which may take long.
_PYTEST += ["--basetemp=.temporary"]
# What looks at the source of all modules, and reaches none.
_OF_SOURCE = {"compat_tests/unit/test_noticed.py::test_values_cannot_be_changed"}
_MODULES = tuple(f"portable.{room}." for room in ROOMS)
_PASSED, _NONE = 0, 5
_PATIENCE = 10
# A defect is mostly noticed by the first tests of the files that reach its line most often.
_LIKELY, _FIRST = 3, 40
# Of the samples, where there is little time.
_QUICK = 10
# What is said of the samples, in every field.
_SAMPLES = "compat_tests/property/test_results.py"


class Mutant(NamedTuple):
    """One change of the source.

    Args:
        path: Of the module, in the checkout.
        operator: The operator of cosmic-ray.
        occurrence: Its number among those of this operator in the module.
        line: Where it is, from 1.
        key: What names it as long as its line and function stay as they are.
    """

    path: str
    operator: str
    occurrence: int
    line: int
    key: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of a module, without those that can change nothing at run time."""
    source = path.read_text("utf-8")
    lines = source.splitlines()
    unseen = _unseen(ast.parse(source))
    nodes = list(ast_nodes(get_ast(source)))
    seen: Counter[str] = Counter()
    for name in OPERATORS:
        operator = cosmic_ray.plugins.get_operator(name)()
        positions = (
            (node, start) for node in nodes for start, _ in operator.mutation_positions(node)
        )
        for occurrence, (node, (line, column)) in enumerate(positions):
            if any(start <= (line, column) < end for start, end in unseen):
                continue
            if node.parent and node.parent.type in {"parameters", "param"}:
                continue
            text = lines[line - 1].strip()
            if text.startswith(_CACHES):
                continue
            where = ASTQuery(node).get_definition_name() or ""
            key = f"{path.stem}:{where}: {name.removeprefix('core/')}: {text}"
            seen[key] += 1
            yield Mutant(str(path.relative_to(ROOT)), name, occurrence, line, f"{key} #{seen[key]}")


Place = tuple[int, int]


def _unseen(tree: ast.Module) -> list[tuple[Place, Place]]:
    """Return where annotations and what only type checkers read begin and end."""
    found = []
    for node in ast.walk(tree):
        parts: tuple[ast.If | ast.expr | None, ...] = ()
        if isinstance(node, ast.FunctionDef):
            parts = (node.returns,)
        elif isinstance(node, ast.arg | ast.AnnAssign):
            parts = (node.annotation,)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            parts = (node,)
        for part in parts:
            if part is not None:
                end = part.end_lineno or part.lineno, part.end_col_offset or 0
                found.append(((part.lineno, part.col_offset), end))
    return found


def sample(share: float, seed: int, only: list[str]) -> list[Mutant]:
    """Return the mutants of a share, by seed, in an order that is the same for a seed."""
    chosen = []
    for path in sorted(p for room in ROOMS for p in (ROOT / "portable" / room).glob("*.py")):
        if only and not any(part in str(path) for part in only):
            continue
        for mutant in mutants(path):
            digest = hashlib.sha256(f"{seed}:{mutant.key}".encode()).digest()
            chosen.append((int.from_bytes(digest[:8]) / 2**64, mutant))
    return [mutant for rank, mutant in sorted(chosen) if rank < share]


class _Measuring:
    """Tells coverage which test runs, and measures how long each takes."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured = measured
        self.seconds: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._measured.switch_context(nodeid)
        # What one test fills every later one depends on, without reaching it.
        for name, module in list(sys.modules.items()):
            if name.startswith(_MODULES):
                for value in list(vars(module).values()):
                    getattr(value, "cache_clear", lambda: None)()

        self.seconds[nodeid] -= _cpu_seconds()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] += _cpu_seconds()


def _cpu_seconds() -> float:
    """Return what this process and its ended children took: it depends less on other work."""
    return sum(os.times()[:4])


class _Choosing:
    """Keeps the requested tests, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self._rank = {test: rank for rank, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept = [item for item in items if item.nodeid in self._rank]
        items[:] = sorted(kept, key=lambda item: self._rank[item.nodeid])


class Bench:
    """A copy of the checkout, in which mutants are planted one after the other.

    Args:
        folder: Where it is, with what was measured; kept for the next run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "copy"
        self._reach = folder / "reached.json"
        self._copy()
        # Of each test file: its digest, and for each test its seconds and the lines it reaches.
        self._known: dict[str, Any] = {"rooms": "", "files": {}}
        if self._reach.exists():
            self._known = json.loads(self._reach.read_text("utf-8"))

    def _copy(self) -> None:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "-co", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        wanted = {name for name in listed.stdout.decode().split("\0") if (ROOT / name).is_file()}
        for path in self.folder.glob("*/**/*.py"):
            if str(path.relative_to(self.folder)) not in wanted:
                path.unlink()
        for name in wanted:
            source, target = ROOT / name, self.folder / name
            if target.is_file() and target.read_bytes() == source.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            if target.suffix == ".py":
                # By what is in the source: two mutants of one size may be made in one second.
                mode = py_compile.PycInvalidationMode.CHECKED_HASH
                py_compile.compile(str(target), invalidation_mode=mode)

    def measure(self, minutes: float) -> None:
        """Learn which lines each test reaches, unless that is known of its file.

        Raises:
            SystemExit: A test fails without any mutant.
        """
        rooms = _digest(path for room in ROOMS for path in self._modules(room))
        if self._known["rooms"] != rooms:
            self._known = {"rooms": rooms, "files": {}}
        known = self._known["files"]
        digests = {
            str(path.relative_to(self.folder)): _digest([path, *self._read_by(path)])
            for folder in TESTS
            for path in sorted((self.folder / folder).glob("test_*.py"))
            if path.stem.removeprefix("test_") not in _ELSEWHERE
        }
        due = [name for name, digest in digests.items() if known.get(name, [""])[0] != digest]
        if due:
            found = self._measured(due, 60 * minutes)
            known |= {name: [digests[name], found.get(name, {})] for name in due}
            self._reach.write_text(json.dumps(self._known), "utf-8")
        for name in known.keys() - digests.keys():
            del known[name]
        self._reached: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        self._seconds: dict[str, float] = {}
        for _, tests in known.values():
            for test, (seconds, reached) in tests.items():
                self._seconds[test] = seconds
                for path, lines in reached.items():
                    for line in lines:
                        self._reached[path][line].add(test)

    def _read_by(self, path: Path) -> Iterator[Path]:
        """Yield the tools whose samples a test file takes."""
        if str(path.relative_to(self.folder)) == _SAMPLES:
            yield from sorted((self.folder / "tools").glob("made_*.py"))
            yield self.folder / "tools" / "results.py"

    def _modules(self, room: str) -> list[Path]:
        return sorted((self.folder / "portable" / room).glob("*.py"))

    def _measured(self, files: list[str], timeout: float) -> dict[str, dict[str, Any]]:
        """Run test files; return the seconds and lines of each of their tests."""
        data, seconds = self.folder / ".reached", self.folder / ".seconds"

        def run() -> int:
            measured = coverage.Coverage(
                data_file=str(data),
                config_file=False,
                source=[str(self.folder / "portable" / room) for room in ROOMS],
            )
            plugin = _Measuring(measured)
            measured.start()
            code = pytest.main([*_PYTEST, *files], plugins=[plugin])
            measured.stop()
            measured.save()
            seconds.write_text(json.dumps(plugin.seconds))
            return int(code)

        data.unlink(missing_ok=True)
        if self._forked(run, timeout) != _PASSED:
            output = (self.folder / ".output").read_text("utf-8", "replace")
            raise SystemExit(f"the tests do not pass without mutants:\n{output[-4000:]}")
        return self.collected(data, seconds)

    def collected(self, data: Path, seconds: Path) -> dict[str, dict[str, Any]]:
        """Return what coverage and the plugin wrote, by test file and test."""
        found: dict[str, dict[str, Any]] = defaultdict(dict)
        for test, took in json.loads(seconds.read_text()).items():
            found[test.partition("::")[0]][test] = [took, defaultdict(list)]
        reached = coverage.CoverageData(str(data))
        reached.read()
        for path in reached.measured_files():
            name = "portable" + path.rpartition("/portable")[2]
            for line, tests in reached.contexts_by_lineno(path).items():
                for test in tests:
                    known = found[test.partition("::")[0]].get(test)
                    if known is not None:
                        known[1][name].append(line)
        return found

    def tests(self, mutant: Mutant) -> list[list[str]]:
        """Return the tests that reach a mutant: of the likeliest files, of the samples, the others.

        The fastest come first.
        """
        reached = self._reached.get(mutant.path, {})
        tree = ast.parse((self.folder / mutant.path).read_text("utf-8"))
        lines, inside = _statement(tree, mutant.line)
        found: set[str] = set().union(*(reached.get(line, set()) for line in lines))
        if not inside:
            # Run while it is imported: whoever reaches anything of the module depends on it.
            found = set().union(*reached.values()) | (_OF_SOURCE & self._seconds.keys())
        samples = sorted(test for test in found if test.startswith(_SAMPLES))
        ordered = sorted(found.difference(samples), key=lambda test: self._seconds[test])
        files = Counter(test.partition("::")[0] for test in ordered)
        likely = {name for name, _ in files.most_common(_LIKELY)}
        first = [test for test in ordered if test.partition("::")[0] in likely][:_FIRST]
        rest = [test for test in ordered if test not in set(first)]
        return [first, samples, rest]

    def try_out(self, mutant: Mutant, *, quick: bool) -> tuple[str, str]:
        """Plant a mutant, run its tests, and take it out again.

        Args:
            mutant: What is planted.
            quick: Whether the others are left out, and most of the samples.

        Returns:
            What became of it, and what the line was changed to.
        """
        path = self.folder / mutant.path
        operator = cosmic_ray.plugins.get_operator(mutant.operator)()
        before = path.read_text("utf-8")
        after = mutate_code(before, operator, mutant.occurrence)
        changed = _changed(before, after)
        rounds = self.tests(mutant)
        if not any(rounds):
            return "survived", f"{changed} (no test reaches it)"
        if quick:
            rounds = [rounds[0], rounds[1][:_QUICK]]
        with use_mutation(path, operator, mutant.occurrence):
            for tests in filter(None, rounds):
                files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
                usual = sum(self._seconds[test] for test in tests)
                code = self._forked(partial(_tests, files, tests), 30 + 5 * usual)
                if code not in {_PASSED, _NONE}:
                    ended = code not in {None, -signal.SIGXCPU}
                    return "killed" if ended else "timed out", changed
        return "suspected" if quick else "survived", changed

    def _forked(self, job: Callable[[], int], timeout: float) -> int | None:
        """Return the exit code of a job in a process of its own; None if it takes too long.

        Args:
            job: Returns the exit code.
            timeout: In seconds of processor time, after which SIGXCPU ends the process. By the
                clock it may take `_PATIENCE` times as long: it waits, or the machine is busy.
        """
        child = os.fork()
        if child == 0:
            code = 70
            try:
                os.setpgid(0, 0)
                resource.setrlimit(resource.RLIMIT_CPU, (int(timeout), resource.RLIM_INFINITY))
                self._settle()
                code = job()
            except BaseException:  # noqa: BLE001 - whatever it is, the process ends here
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        end = time.monotonic() + _PATIENCE * timeout
        pause = itertools.chain([0.02] * 50, itertools.repeat(0.1))
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                _kill(child)
                return os.waitstatus_to_exitcode(status)
            time.sleep(next(pause))
        _kill(child)
        os.waitpid(child, 0)
        return None

    def _settle(self) -> None:
        """Make the copy what this process and its children import and write to."""
        os.chdir(self.folder)
        sys.dont_write_bytecode = True
        os.environ |= {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        os.environ.pop("TOX_ENV_NAME", None)
        ours = {"compat_tests", "portable", "tools"}
        for name in [name for name in sys.modules if name.partition(".")[0] in ours]:
            del sys.modules[name]
        here = {"", str(ROOT), str(ROOT / "tools")}
        sys.path[:] = [str(self.folder), *(entry for entry in sys.path if entry not in here)]
        output = os.open(self.folder / ".output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, source in enumerate((nothing, output, output)):
            os.dup2(source, target)


def _tests(files: list[str], tests: list[str]) -> int:
    return int(pytest.main([*_PYTEST, "-x", *files], plugins=[_Choosing(tests)]))


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _kill(child: int) -> None:
    """End a process and all that it started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        return


def _statement(tree: ast.Module, line: int) -> tuple[range, bool]:
    """Return the lines of the innermost statement there, and whether it is in a function."""
    found, inside = range(line, line + 1), False
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            continue
        if isinstance(node, ast.match_case):
            first, body = node.pattern.lineno, node.body
            last = body[-1].end_lineno or first
        else:
            first, last = node.lineno, node.end_lineno or node.lineno
            body = getattr(node, "body", [])
        if not first <= line <= last:
            continue
        if isinstance(node, ast.FunctionDef) and line >= body[0].lineno:
            inside = True
        if body and line >= body[0].lineno:
            continue
        found = range(first, min(last, body[0].lineno - 1 if body else last) + 1)
    return found, inside


def _changed(before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    for one, other in zip(old, new, strict=False):
        if one != other:
            return other.strip() or "(deleted)"
    return "(deleted)"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--share", type=float, default=0.15, help="of all mutants (0.15)")
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--minutes", type=float, default=600, help="to spend on mutants")
    parser.add_argument("--only", nargs="*", default=[], metavar="PATH", help="parts of paths")
    parser.add_argument("--again", action="store_true", help="run the survivors again")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build" / "mutation", help="what is kept for later"
    )
    parser.add_argument("--quick", action="store_true", help="by the tests that notice most")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--count", action="store_true", help="only count the sample")
    return parser.parse_args()


def main() -> int:
    """Run the sample; return 1 if more survive than the aim allows."""
    options = _arguments()
    chosen = sample(options.share, options.seed, options.only)
    if options.count:
        print(len(chosen), Counter(Path(mutant.path).parent.name for mutant in chosen))
        return 0
    state: dict[str, list[str]] = {}
    options.folder.mkdir(parents=True, exist_ok=True)
    if (options.folder / _STATE).exists():
        state = json.loads((options.folder / _STATE).read_text("utf-8"))
    due = [
        mutant
        for mutant in chosen
        if mutant.key not in state
        or (options.again and state[mutant.key][0] == "survived")
        or (not options.quick and state[mutant.key][0] == "suspected")
    ]
    if due and not options.page:
        _run(due, state, options)
    run = [m for m in chosen if state.get(m.key, ["suspected"])[0] != "suspected"]
    text, share = _page(run, len(chosen), state, options.seed)
    if not options.only:
        PAGE.write_text(text, "utf-8")
    if len(run) < len(chosen):
        print(f"{len(chosen) - len(run)} of {len(chosen)} are still to run")
        return 2
    return 0 if share >= _AIM else 1


def _run(due: list[Mutant], state: dict[str, list[str]], options: argparse.Namespace) -> None:
    bench = Bench(options.folder)
    bench.measure(minutes=30)
    end = time.monotonic() + 60 * options.minutes
    for number, mutant in enumerate(due):
        if time.monotonic() > end:
            return
        outcome, changed = bench.try_out(mutant, quick=options.quick)
        state[mutant.key] = [outcome, changed]
        (options.folder / _STATE).write_text(json.dumps(state, indent=1), "utf-8")
        if outcome != "killed":
            place = f"{mutant.path}:{mutant.line}"
            print(f"{number}/{len(due)} {outcome}: {place}: {mutant.key} -> {changed}", flush=True)


_AIM = 0.9
_STATE = "outcomes.json"


def _page(
    run: list[Mutant], sampled: int, state: dict[str, list[str]], seed: int
) -> tuple[str, float]:
    """Return the page, and the share of the mutants that are not equivalent and die."""
    reviewed = tomllib.loads(REVIEWED.read_text("utf-8"))
    equivalent, known = reviewed["equivalent"], reviewed["survives"]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    rows = []
    for mutant in run:
        outcome, changed = state[mutant.key]
        if outcome == "survived":
            outcome = "equivalent" if mutant.key in equivalent else outcome
            reason = equivalent.get(mutant.key) or known.get(mutant.key) or "not looked at"
            before = mutant.key.rpartition(" #")[0].split(": ", 2)[2]
            row = [f"`{mutant.path.removeprefix('portable/')}:{mutant.line}`", f"`{before}`"]
            rows.append([*row, f"`{changed}`", outcome, reason])
        counts[mutant.path][outcome] += 1
    total = sum(counts.values(), Counter())
    dead = total["killed"] + total["timed out"]
    share = dead / ((total.total() - total["equivalent"]) or 1)
    made = Counter(
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / "portable" / room).glob("*.py")
        for _ in mutants(path)
    )
    table = [
        [
            f"`{path.removeprefix('portable/')}`",
            *(str(n) for n in (made[path], count.total(), count["killed"] + count["timed out"])),
            *(str(count[outcome]) for outcome in ("survived", "equivalent")),
        ]
        for path, count in [*sorted(counts.items())]
    ]
    table.append(
        ["all", str(made.total()), str(total.total()), str(dead)]
        + [str(total[outcome]) for outcome in ("survived", "equivalent")]
    )
    head = ["module", "mutants", "run", "killed", "survived", "equivalent"]
    text = _TEMPLATE.read_text("utf-8").format(
        version=version("cosmic-ray"),
        seed=seed,
        run=len(run),
        sampled=sampled,
        made=made.total(),
        date=datetime.now(UTC).date(),
        killed=f"{share:.1%}",
        timed=total["timed out"],
        table=_table(head, table),
        survivors=_table(["where", "line", "mutant", "", "why"], sorted(rows)),
    )
    print(f"{share:.1%} of {total.total() - total['equivalent']} die; {dict(total)}")
    return text, share


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in lines)


if __name__ == "__main__":
    sys.exit(main())
