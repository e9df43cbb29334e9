"""Find out what each Release compiles: execute a program of every op with every element type.

The programs are those of one op that `portable.fuzz` has: every form of every op of the language
with every combination of element types, one for the same op signatures, and one with each choice of
each attribute. Beside them stand those of `custom_calls.toml`. A Release compiles and executes each
in a worker that is kept warm. What one of them refuses is put down to the only op signature that is
computed in none of its programs. A result is right where two Releases agree on it, or one and the
reference interpreter.

    python -m tools capabilities                        on all Releases of the table; write it
    python -m tools capabilities --on 'jaxlib 0.5.3'    on these, which it may not have yet
    python -m tools capabilities --ops reduce           only programs of these ops
    python -m tools capabilities --types i4 ui4         only programs of these element types
    python -m tools capabilities --between --on 'iree-base-compiler 3.11.0'
                                        only what the Releases beside it do not agree about

What was executed is kept in `.tox/capabilities`, one file for each Release; a run that was ended
goes on where it was. All takes some minutes for each Release.
"""

from __future__ import annotations

import argparse
import base64
import datetime
import functools
import hashlib
import itertools
import json
import math
import sys
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import ml_dtypes
import numpy as np
from packaging.version import Version as PackageVersion

from portable import bindings, pin
from portable.artifact import Artifact
from portable.bytecode import read
from portable.errors import PortableError
from portable.fuzz import one_op_programs
from portable.prediction import examine, predict
from portable.prediction.forms import Reading
from portable.prediction.signatures import CALL, IN, signatures_by_name
from portable.releases import find_release, releases
from portable.releases.advisory import Effect, advisories_for
from portable.releases.capability import TABLE, Ability, is_inside, parse
from portable.runtime.environments import Environments, Recipe
from portable.runtime.executors import (
    BITS,
    ExecutionFailed,
    Tolerance,
    compare,
    executor_of,
    find_executor,
    random_inputs,
)
from portable.runtime.executors.tensors import dtype_named, dtype_of, stored
from portable.system.files import read_file, write_file
from portable.system.shares import in_shares
from portable.system.worker.answer import CouldNotObserve
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from portable.releases import Release
    from portable.releases.capability import Executions
    from portable.runtime.environments import Environment
    from portable.runtime.executors import Executor
    from portable.runtime.executors.tensors import Array

    Results: TypeAlias = Mapping[str, Mapping[str, Any]]
    Column: TypeAlias = dict[str, Ability]

__all__ = [
    "LIMIT_S",
    "STORE",
    "Program",
    "arrays",
    "execute",
    "executed",
    "executor_for",
    "load_programs",
    "main",
    "references",
    "same",
    "supports",
    "table",
    "unknown",
]

STORE = Path(__file__).parent.parent / ".tox" / "capabilities"
_PROGRAMS = STORE / "programs.jsonl"
# What counts first for what is right: the interpreter of this Release.
_REFERENCE = ("interpreter", "jaxlib 0.10.2")
_CALLS = Path(__file__).with_name("custom_calls.toml")
_SPECIAL = Path(__file__).with_name("special.toml")
# Every Release reads it.
_CALLED_AT = "0.14.0"
_UNKNOWN_CALL = f"{CALL} no_such_target"
_DIGITS = 12
_SEED = 0
# How often a program is run, because a result may be another each time.
_TIMES = 4
LIMIT_S = 30.0
# After how many crashes of an op it is not tried any more: those that the interpreter lacks end its
# process each time, and starting TensorFlow takes seconds.
_PATIENCE = {"interpreter": 3, "tensorflow": 8}
_LONGEST_REASON = 200
# How far results may be off, and so many roundings.
_RELATIVE, _ABSOLUTE, _ROUNDINGS = 1e-3, 1e-5, 8
# Of the larger of two numbers. So many roundings of a float of a byte are more, of f8E8M0FNU eight
# times as much: all would be the same.
_HALF = 0.5
# What is left of numbers near one that cancel out.
_CANCELLED = 0.25
# Beside what became of programs stands which custom calls a Release carries handlers of.
_HANDLERS = "handlers"
# Another result each time.
_RANDOM = frozenset({"rng"})
# What memory holds: two Releases agree on it by chance.
_NOT_WRITTEN = frozenset({f"{CALL} AllocateBuffer", f"{CALL} triton_kernel_call"})
_ENDED = {
    Outcome.INCOMPATIBLE: Ability.REFUSES,
    Outcome.CRASHED: Ability.CRASHES,
}


# What upstream's interpreter, as XLA, computes only where it is written as arithmetic.
_QUANTIZED = "quantized-to-arithmetic"


@dataclass(frozen=True, slots=True)
class Program:
    """A program of one op.

    Args:
        name: The op, and what tells its programs apart.
        artifact: The oldest artifact that it can be.
        signatures: Its op signatures.
    """

    name: str
    artifact: Artifact
    signatures: frozenset[str]

    @property
    def op(self) -> str:
        """The op that it is about."""
        return self.name.partition(" ")[0]

    @property
    def own(self) -> frozenset[str]:
        """The signatures of that op, with what is in its body."""
        inside = f"{IN}{self.op}"
        return frozenset(
            one
            for one in self.signatures
            if one.endswith(inside) or (one.partition(" ")[0] == self.op and IN not in one)
        )

    def is_of(self, types: Collection[str]) -> bool:
        """Say whether it is about one of some element types."""
        named = {one.rstrip("?") for signature in self.own for one in signature.split()[1:]}
        return not named.isdisjoint(types)

    def judged(self) -> Program:
        """Return what shows what it computes: quantized types as the arithmetic they stand for."""
        if not any("quant" in one for one in self.signatures):
            return self
        try:
            pinned = pin(self.artifact, _CALLED_AT, allow={_QUANTIZED})
        except PortableError:  # as what expresses another type than f32
            return self
        return replace(self, artifact=pinned.artifact)


def load_programs() -> list[Program]:
    """Return the programs, enumerating them where that was not done before."""
    if not _PROGRAMS.exists():
        _enumerate()
    rows = map(json.loads, _PROGRAMS.read_text("utf-8").splitlines())
    enumerated = [
        Program(name, Artifact.from_bytes(base64.b64decode(data)), frozenset(signatures))
        for name, data, signatures in rows
    ]
    return [*enumerated, *custom_calls(), *special()]


def special() -> Iterator[Program]:
    """Yield programs of ops that are known by more than their types: see `special.toml`."""
    for row in tomllib.loads(_SPECIAL.read_text("utf-8"))["programs"]:
        for (element, zero), index in itertools.product(
            row["elements"].items(), row.get("indices", [""])
        ):
            text = row["text"].replace("ELEMENT", element).replace("ZERO", zero)
            artifact = pin(text.replace("INDEX", index), _CALLED_AT).artifact
            named = signatures_by_name(Reading(read(artifact.data), artifact.data))
            name = f"{row['op']} {row['what']} {element} {index}".rstrip()
            yield Program(name, artifact, frozenset(row.get("signatures", named)))


def custom_calls() -> Iterator[Program]:
    """Yield a program for each target of custom calls that some Release may have built in."""
    table = tomllib.loads(_CALLS.read_text("utf-8"))
    attributes = dict.fromkeys(table["plain"], "") | table["attributes"]
    texts = {
        target: f'''func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
            %0 = stablehlo.custom_call @"{target}"(%a) {{{more}}} : (tensor<4xf32>) -> tensor<4xf32>
            return %0 : tensor<4xf32>
        }}'''
        for target, more in attributes.items()
    }
    for target, text in (texts | table["programs"]).items():
        name = f"{CALL} {target}"
        yield Program(name, pin(text, _CALLED_AT).artifact, frozenset({name}))


def _enumerate() -> None:
    """Write the programs: as artifacts for the first Version that can express them."""
    library = bindings.find("jaxlib")
    context = library.context()
    seen: set[str] = set()
    lines = []
    for one in one_op_programs():
        module = library.parse(one.program.text, context)
        data = library.serialize(module, one.program.since.target)
        signatures = signatures_by_name(Reading(read(data), data)).keys()
        values = one.variables.items()
        choices = {f"{one.form} {key} = {value}" for key, value in values if key.islower()}
        if not {*signatures, *choices} <= seen:
            seen |= {*signatures, *choices}
            name = f"{one.form.op} {hashlib.sha256(data).hexdigest()[:_DIGITS]}"
            lines.append(json.dumps([name, base64.b64encode(data).decode(), sorted(signatures)]))
    STORE.mkdir(parents=True, exist_ok=True)
    write_file(_PROGRAMS, "\n".join(lines).encode())


def execute(engine: str, release: Release, programs: Sequence[Program], workers: int = 1) -> None:
    """Execute on a Release what was not executed on it before, and keep what became of it.

    Args:
        engine: What executes.
        release: The Release.
        programs: What to execute.
        workers: How many processes of the Release share the programs.
    """
    path = _path(engine, release)
    done = _results(engine, release)
    missing = [program for program in programs if program.name not in done]
    if not missing:
        return
    environment = Environments().get(release, to_execute=True)
    with path.open("a", encoding="utf-8") as kept:

        def keep(name: str, result: Mapping[str, Any]) -> None:
            kept.write(json.dumps({"program": name, **result}) + "\n")
            kept.flush()

        with environment.worker() as worker:
            handlers = worker.ask({"kind": "probe"}).payload.get("handlers", {})
        keep(_HANDLERS, {"targets": handlers.get(environment.recipe.platform, [])})
        crashed: Counter[str] = Counter()
        run = functools.partial(_execute, engine, environment, crashed=crashed, keep=keep)
        in_shares(missing, workers, run)


def _execute(
    engine: str,
    environment: Environment,
    programs: Iterable[Program],
    crashed: Counter[str],
    keep: Callable[[str, Mapping[str, Any]], None],
) -> None:
    """Execute programs in one process of a Release."""
    release = find_release(environment.consumer)
    with find_executor(engine, environment, limit=LIMIT_S) as executor:
        for program in programs:
            if crashed[program.op] > _PATIENCE.get(engine, math.inf):
                result: dict[str, Any] | None = {
                    "ended": Ability.UNTRIED.value,
                    "reason": "the op crashed each time",
                }
            else:
                times = 1 if program.op in _RANDOM else _TIMES
                result = executed(executor, program.artifact, release, times)
            if result is None:
                result = {"ended": Ability.UNTRIED.value, "reason": "took too long"}
            crashed[program.op] += result["ended"] == Ability.CRASHES.value
            keep(program.name, result)


def _path(engine: str, release: Release) -> Path:
    return STORE / f"{release.distribution}-{release.version}-{engine}.jsonl"


def executor_for(release: Release) -> str:
    """Return the name of the Executor that a Release comes with."""
    return executor_of(Recipe.of(release, to_execute=True).driver)


def executed(
    executor: Executor, artifact: Artifact, release: Release, times: int = 1
) -> dict[str, Any] | None:
    """Execute a program.

    Args:
        executor: What executes it.
        artifact: The program.
        release: What it runs on: what this one does not read is not tried.
        times: How often it is run.

    Returns:
        The letter of an Ability as `ended`, and `reason`, or `outputs` as they are kept; None where
        it took too long, which says as much of the machine as of the Release.

    Raises:
        CouldNotObserve: The Release cannot execute here, whatever the program.
    """
    predicted = predict(artifact, release)
    if not predicted.compatible and predicted.stage <= Stage.DECODE:
        return {"ended": Ability.UNTRIED.value, "reason": predicted.reason}
    try:
        executable = executor.compile(artifact)
        try:
            inputs = random_inputs(executable.signature, _SEED)
            types = [dtype_of(one.element) for one in executable.signature.results]
            outputs, *others = (
                [_kept(*one) for one in zip(executable.run(inputs), types, strict=True)]
                for _ in range(times)
            )
        except CouldNotObserve as error:  # it has no such arrays
            seen = Ability.COMPILES if executor.capabilities.ahead else Ability.UNTRIED
            return {"ended": seen.value, "reason": error.what}
    except ExecutionFailed as failure:
        verdict = failure.verdict
        if verdict.outcome is Outcome.HUNG:
            return None
        ended = _ENDED[verdict.outcome].value
        return {"ended": ended, "reason": verdict.reason[:_LONGEST_REASON]}
    except CouldNotObserve:  # no device, or no Executor: that is nothing to learn
        raise
    except PortableError as error:  # what the Executor cannot be given
        return {"ended": Ability.UNTRIED.value, "reason": error.what}
    if any(other != outputs for other in others):
        return {"ended": Ability.MIXED.value, "reason": "computes something else each time"}
    return {"ended": Ability.COMPUTES.value, "outputs": outputs}


def _kept(array: Array, dtype: np.dtype[Any] | None) -> list[Any]:
    # XLA gives random bits as unsigned integers, whatever their type: it is the bits that count.
    if dtype is not None and array.dtype.kind == "u" and array.itemsize == dtype.itemsize:
        array = array.view(dtype)
    raw = base64.b64encode(stored(array).tobytes()).decode()
    return [array.dtype.name, list(array.shape), raw]


def arrays(outputs: Iterable[Sequence[Any]]) -> list[Array]:
    """Return the arrays of `outputs`, as `executed` gives them.

    Args:
        outputs: The dtype, the shape and the bytes of each, in base64.
    """
    return [
        np.frombuffer(base64.b64decode(raw), dtype_named(name)).reshape(shape)
        for name, shape, raw in outputs
    ]


def _results(engine: str, release: Release) -> dict[str, dict[str, Any]]:
    """Return what became of each program, by its name."""
    path = _path(engine, release)
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {result["program"]: result for result in map(json.loads, lines)}


def references(runs: Sequence[Results]) -> dict[str, list[Array]]:
    """Find what programs compute: what two runs agree on, the first runs first.

    Args:
        runs: What became of each program in each run.

    Returns:
        The outputs, by the program; without those that no two agree on, as with random numbers,
        and those that nothing writes.
    """
    computed: dict[str, list[list[Array]]] = defaultdict(list)
    for run in runs:
        for name, result in run.items():
            if "outputs" in result:
                computed[name].append(arrays(result["outputs"]))
    agreed: dict[str, list[Array]] = {}
    for name, outputs in computed.items():
        pairs = itertools.combinations(outputs, 2)
        right = next((one for one, other in pairs if same(one, other)), None)
        compared = name not in _NOT_WRITTEN and name.partition(" ")[0] not in _RANDOM
        if right is not None and compared:
            agreed[name] = right
    return agreed


def same(expected: Sequence[Array], found: Sequence[Array]) -> bool:
    """Say whether two lists of arrays are the same, up to a sum of a few numbers.

    Args:
        expected: The one.
        found: The other.
    """
    return len(expected) == len(found) and all(
        compare(one, other, _near(one.dtype)).same
        for one, other in zip(expected, found, strict=True)
    )


def _near(dtype: np.dtype[Any]) -> Tolerance:
    """Return how far off a sum of a few numbers of a type may be."""
    if dtype.name.startswith(("bool", "int", "uint")):
        return BITS
    epsilon = float(ml_dtypes.finfo(dtype).eps)
    relative = min(max(_RELATIVE, _ROUNDINGS * epsilon), _HALF)
    return Tolerance(relative=relative, absolute=max(_ABSOLUTE, _CANCELLED * epsilon))


def supports(
    programs: Sequence[Program],
    results: Results,
    right: Mapping[str, list[Array]],
    advised: Callable[[Program, Ability], bool | None] = lambda *_: False,
) -> dict[str, Ability]:
    """Say what a Release makes of op signatures.

    Args:
        programs: What was executed.
        results: What became of each, by its name.
        right: What they compute.
        advised: Whether an Advisory says why a program ends so, and no signature of it is to
            blame; None for perhaps, which counts where each is computed in others.

    Returns:
        What it makes of each signature that programs show.
    """
    ended = [
        (program, _ended(results[program.name], right.get(program.name))) for program in programs
    ]
    # What compiles is not to blame; what computes the same is not to blame for other results.
    compiled, computed = (
        _passing(ended, {Ability.COMPUTES, Ability.COMPILES, Ability.WRONG}),
        _passing(ended, {Ability.COMPUTES}),
    )
    found = dict.fromkeys(computed, Ability.COMPUTES)
    for program, end in ended:
        if end in {Ability.COMPUTES, Ability.UNTRIED} or (explained := advised(program, end)):
            continue
        own = program.own
        blamed = program.signatures - (compiled if end in _NOT_COMPILED else computed)
        if len(blamed) > 1:
            blamed &= own
        for signature in blamed:
            # One that is refused here and crashes there may crash anywhere.
            found[signature] = max(end, found.get(signature, end), key=_GRAVITY.index)
        if not blamed and explained is False:
            mixed = Ability.MIXED if end in _NOT_COMPILED else Ability.COMPILES
            for signature in own:
                found[signature] = max(mixed, found.get(signature, mixed), key=_GRAVITY.index)
    return found


def _passing(ended: Sequence[tuple[Program, Ability]], ends: Collection[Ability]) -> frozenset[str]:
    """Return the signatures that passed in a program about their op.

    In a program about another op they may have been left out, because nothing is computed from
    them: there they count only if no program about their own op failed.
    """
    passed, beside, failed = (set[str]() for _ in range(3))
    for program, end in ended:
        if end in ends:
            passed |= program.own
            beside |= program.signatures
        else:
            failed |= program.own
    return frozenset(passed | (beside - failed))


_UNREMARKABLE = {Ability.COMPUTES.value, Ability.UNTRIED.value}
_NOT_COMPILED = {Ability.REFUSES, Ability.CRASHES}
_EFFECTS = {
    Ability.REFUSES: Effect.REFUSES,
    Ability.CRASHES: Effect.CRASHES,
    Ability.WRONG: Effect.WRONG_RESULT,
    Ability.MIXED: Effect.WRONG_RESULT,
}
_GRAVITY = [
    *(Ability.COMPUTES, Ability.COMPILES, Ability.WRONG),
    *(Ability.REFUSES, Ability.CRASHES, Ability.MIXED),
]


def _ended(result: Mapping[str, Any], right: list[Array] | None) -> Ability:
    if "outputs" not in result:
        return Ability(result["ended"])
    if right is None:
        return Ability.COMPILES
    found = arrays(result["outputs"])
    return Ability.COMPUTES if same(right, found) else Ability.WRONG


def unknown(programs: Sequence[Program], known: str) -> list[Program]:
    """Return the programs about whose op the table has no row.

    Args:
        programs: What could be executed.
        known: The table as it is.
    """
    columns = [column for one in parse(known).values() for column in _earlier(one).values()]
    signatures = set[str]().union(*columns)
    return [one for one in programs if signatures.isdisjoint(one.own)]


def table(
    programs: Sequence[Program],
    known: str,
    *,
    adding: bool = False,
    of: Collection[Release] | None = None,
) -> str:
    """Return the table, of everything that was executed here and what stood in it before.

    Args:
        programs: What was to be executed.
        known: The table as it is: what it says of a Release that was not executed here stays.
        adding: Whether what it says of others stays too: the programs are not all that there are.
        of: Where the programs are not of all ops, the Releases to write of: what is said of other
            ops stays, and what other Releases computed says only what is right.
    """
    names = {program.name for program in programs}
    # The newest first: it is right more often.
    newest = sorted(releases(), key=lambda one: one.date)[::-1]
    runs = {one: _results(executor_for(one), one) for one in newest if _runs(one)}
    before = parse(known)
    calls = _calls(before)
    # A run that was ended says more than nothing, and less than one that was not.
    standing = {(name, one) for name, section in before.items() for one in section.executed}
    runs = {
        one: results
        for one, results in runs.items()
        if (names <= results.keys() and not adding)
        or (results and adding is ((one.distribution, one.version) in standing))
    }
    engine, name = _REFERENCE
    right = references([_results(engine, find_release(name)), *runs.values()])
    if of is not None:
        runs = {one: results for one, results in runs.items() if one in of}
    lines = [_HEAD]
    for distribution, group in itertools.groupby(releases(), lambda one: one.distribution):
        section = before.get(distribution)
        earlier = _earlier(section) if section else {}
        listed = [one for one in group if one in runs or one.version in earlier]
        if not listed:
            continue
        learnt = {
            one.version: _learnt(programs, one, runs[one], right) for one in listed if one in runs
        }
        if adding:
            earlier |= {one: column | earlier[one] for one, column in learnt.items()}
        if of is not None:
            learnt = {
                one: earlier[one] | _news(_own(programs, column), earlier[one])
                if one in earlier
                else column
                for one, column in learnt.items()
            }
        found = [(earlier if adding else earlier | learnt)[one.version] for one in listed]
        recipe = Recipe.of(listed[0], to_execute=True)
        _fill(found, [*earlier.values()], names, calls)
        dates = [_executed_on(one) for one in listed if one in runs]
        date = max([*dates, section.date] if section else dates)
        partly = {*section.partly} if section else set()
        if of is None and not adding:
            partly -= learnt.keys()
        columns = dict(zip((one.version for one in listed), found, strict=True))
        lines += _section(distribution, recipe.platform, date, columns, partly)
    return "\n".join(lines) + "\n"


def _section(
    distribution: str,
    platform: str,
    date: str,
    columns: Mapping[str, Column],
    partly: Collection[str],
) -> Iterator[str]:
    listed = " ".join(version + "~" * (version in partly) for version in columns)
    yield f"[{distribution}]\t{platform}\t{date}\t{listed}"
    yield from _rows([*columns.values()])


def disagreed(known: str, release: Release) -> frozenset[str]:
    """Return the op signatures of which the neighbours of a Release do not make the same.

    Args:
        known: The table.
        release: The Release, between two that were executed.
    """
    section = parse(known)[release.distribution]
    columns, order = _earlier(section), PackageVersion(release.version)
    whole = [one for one in section.executed if one not in {*section.partly, release.version}]
    older = columns[next(one for one in reversed(whole) if PackageVersion(one) < order)]
    newer = columns[next(one for one in whole if PackageVersion(one) > order)]
    return frozenset(
        one for one in older.keys() | newer.keys() if older.get(one) is not newer.get(one)
    )


def in_part(programs: Sequence[Program], known: str, release: Release) -> str:
    """Return the table with what a Release makes of what its neighbours do not agree about.

    Args:
        programs: What was executed on it.
        known: The table as it is.
        release: The Release, between two that were executed.
    """
    engine, name = _REFERENCE
    newest = sorted(filter(_runs, releases()), key=lambda one: one.date)[::-1]
    runs = (_results(executor_for(one), one) for one in newest)
    right = references([_results(engine, find_release(name)), *runs])
    found = _learnt(programs, release, _results(executor_for(release), release), right)
    asked = disagreed(known, release)
    column: Column = {
        one: ability
        for one, ability in _own(programs, found).items()
        if one in asked and ability is not Ability.UNTRIED
    }
    lines = [_HEAD]
    for distribution, section in parse(known).items():
        columns, partly, date = _earlier(section), {*section.partly}, section.date
        if distribution == release.distribution:
            unordered = columns | {release.version: column}
            columns = {one: unordered[one] for one in sorted(unordered, key=PackageVersion)}
            partly.add(release.version)
            date = max(date, _executed_on(release))
        lines += _section(distribution, section.platform, date, columns, partly)
    return "\n".join(lines) + "\n"


def _own(programs: Sequence[Program], column: Column) -> Column:
    """Return what is said of the ops that programs are about, with what is in their bodies."""
    own: set[str] = set().union(*(program.own for program in programs))
    return {one: ability for one, ability in column.items() if one in own}


def _news(column: Column, earlier: Column) -> Column:
    """Leave out what says less than what stood there: this time nothing was compared with it."""
    compared = {Ability.COMPUTES, Ability.WRONG}
    return {
        one: ability
        for one, ability in column.items()
        if not (ability is Ability.COMPILES and earlier.get(one) in compared)
    }


def _earlier(section: Executions) -> dict[str, Column]:
    """Return what a section of the table says, by the version of the Release."""
    columns: dict[str, Column] = {version: {} for version in section.executed}
    for op, rows in section.rows.items():
        for outcomes, types in rows:
            for column, letter in zip(columns.values(), outcomes, strict=True):
                column.update((f"{op} {one}", Ability(letter)) for one in types.split(";"))
    return columns


def _learnt(
    programs: Sequence[Program],
    release: Release,
    results: Results,
    right: Mapping[str, list[Array]],
) -> Column:
    carried = results[_HANDLERS]["targets"]
    calls = {f"{CALL} {target}": Ability.COMPUTES for target in carried}
    tried = [program for program in programs if program.name in results]

    def advised(program: Program, end: Ability) -> bool | None:
        subject = examine(program.artifact)
        certain = {*subject.present, *(name for name, occurs in subject.forms.items() if occurs)}
        found = advisories_for(release, {*subject.present, *subject.forms})
        if any(one.effect is _EFFECTS.get(end) and one.feature in certain for one in found):
            return True
        return None if found else False

    return supports(tried, results, right, advised) | calls


def _calls(known: Mapping[str, Executions]) -> set[str]:
    """Return the custom calls that any distribution was executed with or carries handlers of."""
    return {
        f"{CALL} {target}"
        for section in known.values()
        for _, targets in section.rows.get(CALL, ())
        for target in targets.split(";")
    }


def _fill(
    found: Sequence[Column],
    earlier: Sequence[Column],
    names: Collection[str],
    elsewhere: Collection[str],
) -> None:
    """Say of each Release what only others have a row for.

    Of a call that one carries a handler of, the others make what they make of unknown ones. What
    stood in no row before, of ops in a body, computed.
    """
    signatures: set[str] = set().union(*found)
    signatures |= {*elsewhere}
    calls = {one for one in signatures.difference(names) if one.startswith(f"{CALL} ")}
    for column in found:
        if unknown := column.get(_UNKNOWN_CALL):
            column.update(dict.fromkeys(calls - column.keys(), unknown))
    for column in earlier:
        inside = filter(is_inside, signatures - column.keys())
        column.update(dict.fromkeys(inside, Ability.COMPUTES))


def _rows(found: Sequence[Column]) -> Iterator[str]:
    """Yield the signatures of each op that Releases make the same of."""
    rows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for signature in sorted(set().union(*found)):
        outcomes = "".join(one.get(signature, Ability.UNTRIED).value for one in found)
        op, _, types = signature.partition(" ")
        if not (is_inside(types) and {*outcomes} <= _UNREMARKABLE):
            rows[op, outcomes].append(types)
    return (f"{op}\t{outcomes}\t{';'.join(types)}" for (op, outcomes), types in rows.items())


def _executed_on(release: Release) -> str:
    modified = _path(executor_for(release), release).stat().st_mtime
    return str(datetime.datetime.fromtimestamp(modified, datetime.UTC).date())


_HEAD = """\
# What Releases compile and compute: op, what each Release makes of it, op signatures; derived by
# python -m tools capabilities. c computes, k compiles to results that nothing was compared with,
# r refuses, x crashes, w computes something else, m now this and now that, - not tried: what the
# Release cannot read, and what no program shows alone. Ops in the body of another: what fails."""


def _runs(release: Release) -> bool:
    try:
        return bool(executor_for(release))
    except PortableError:  # no environment, or nothing to execute with
        return False


def _execute_all(programs: Sequence[Program], on: Iterable[Release], workers: int) -> None:
    """Execute programs where that was not done before, and by what says what is right."""
    engine, reference = _REFERENCE
    execute(engine, find_release(reference), [program.judged() for program in programs])
    for release in on:
        execute(executor_for(release), release, programs, workers)
        print(f"{release}: {len(programs)} programs", flush=True)


def main() -> int:
    """Execute, and write the table; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = read_file(TABLE).decode()
    standing = [f"{name} {one}" for name, of in parse(known).items() for one in of.executed]
    parser.add_argument("--on", nargs="+", default=standing, metavar="RELEASE")
    parser.add_argument("--new", action="store_true", help="only what the table has no row of")
    parser.add_argument("--workers", type=int, default=1, help="processes of each Release")
    parser.add_argument("--ops", nargs="+", metavar="OP", help="only programs of these ops")
    parser.add_argument("--types", nargs="+", metavar="TYPE", help="only those of these elements")
    parser.add_argument(
        "--between",
        action="store_true",
        help="only what the neighbours of each Release do not agree about",
    )
    chosen = parser.parse_args()
    programs = load_programs()
    if chosen.between:
        for release in map(find_release, chosen.on):
            asked = disagreed(known, release)
            some = [program for program in programs if not asked.isdisjoint(program.own)]
            _execute_all(some, [release], chosen.workers)
            known = in_part(some, known, release)
        write_file(TABLE, known.encode())
        return 0
    if chosen.new:
        programs = unknown(programs, known)
    if chosen.ops:
        programs = [program for program in programs if program.op in chosen.ops]
    if chosen.types:
        programs = [program for program in programs if program.is_of(chosen.types)]
    _execute_all(programs, map(find_release, chosen.on), chosen.workers)
    of = [*map(find_release, chosen.on)] if chosen.ops or chosen.types else None
    write_file(TABLE, table(programs, known, adding=chosen.new, of=of).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
