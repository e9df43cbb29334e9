"""Measure what predictions are worth: generated programs, predicted and executed.

From programs of one op the table of capabilities was learnt; these have 5 to 50, half of them only
types that most programs have, and three in four are expressed at an older Version. With another
seed they are other programs. What a Release made of each is kept, so that after a change only the
predictions are made again.

    python -m tools measure_predictions 300 --seed fresh    on Releases of every era
    python -m tools measure_predictions 300 --seed fresh --on 'jaxlib 0.10.2'
    python -m tools measure_predictions 9000 --seed fresh --green --on 'iree-base-compiler 3.13.0'
    python -m tools measure_predictions 6000 --around unused --on 'jaxlib 0.4.30'
    python -m tools measure_predictions 300 --seed fresh --against 'jaxlib 0.12.0.1'

With `--against` a Release, what is predicted to compute the same is compared with what that one
computed, and it is counted of how many programs something is not known.

With `--around` they are the programs of one op from which the table was learnt, each put somewhere
else: where nothing uses its results, in a function, in one whose call is unused, in a branch, in a
loop, in one that changes what it takes. The N with the first
digests are a sample of all ops and types, the same each time.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from portable import bindings
from portable.artifact import Artifact
from portable.bindings import LibraryError
from portable.fuzz import generate
from portable.prediction import examine, predict
from portable.releases import find_release
from portable.releases.assumption import assumptions
from portable.releases.capability import Ability
from portable.runtime.environments import Environments
from portable.runtime.executors import find_executor
from portable.verdict import Stage
from portable.version import Version
from tools.capabilities import (
    LIMIT_S,
    STORE,
    arrays,
    executed,
    executor_for,
    load_programs,
    same,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from portable.releases import Release
    from portable.verdict import Verdict
    from tools.capabilities import Program

__all__ = ["AROUND", "Measured", "compared", "doubted", "main", "measure", "surrounded"]

RELEASES = ("jaxlib 0.4.13", "jaxlib 0.4.30", "jaxlib 0.5.3", "jaxlib 0.10.2", "jaxlib 0.12.0.1")
_OPS = (5, 10, 20, 35, 50)
_USUAL = frozenset({"i1", "i32", "i64", "ui8", "bf16", "f16", "f32", "f64", "complex<f32>"})
# Each era of readers has its share of programs that it reads.
_EXPRESSED_AT = ("", "0.13.0", "1.1.0", "1.10.0")
_LISTED = 12
_FAILED = {Ability.REFUSES.value, Ability.CRASHES.value}
# What is another each time in the reason of one and the same refusal.
_NAMES = re.compile(r"%[\w.#-]+|\b\d+\b|0x[0-9a-f]+|\[[\d,]*\](?:\{[^}]*\})?")

# Each program is predicted for any number of Releases.
_examined = cache(examine)


@dataclass(frozen=True, slots=True)
class Measured:
    """One program on one Release.

    Args:
        number: Which program of its seed.
        verdict: What is predicted, up to compiling.
        ended: The letter of an `Ability`: what was seen.
        reason: What the Release said, where it failed.
    """

    number: int
    verdict: Verdict
    ended: str
    reason: str

    @property
    def kind(self) -> str:
        """What was predicted, and what was seen, in words of the report."""
        holds = self.verdict.holds(Stage.COMPILE)
        predicted = {True: "compiles", False: "fails", None: "not known"}[holds]
        if holds is False and self.verdict.stage > Stage.COMPILE:
            predicted = "computes something else"
        seen = "failed" if self.ended in _FAILED else "executed"
        return f"{predicted}, {seen}"


def programs(count: int, seed: str) -> Iterator[Artifact]:
    """Yield generated programs, each for the first Version that expresses it."""
    library = bindings.find("jaxlib")
    context = library.context()
    for number in range(count):
        version = _EXPRESSED_AT[number // len(_OPS) % len(_EXPRESSED_AT)]
        made = generate(
            f"{seed} {number}",
            ops=_OPS[number % len(_OPS)],
            version=Version.parse(version) if version else None,
            elements=_USUAL if number % 2 else (),
        )
        module = library.parse(made.text, context)
        yield Artifact.from_bytes(library.serialize(module, made.since.target))


def _unused(ir: Any, module: Any) -> None:
    """Make main return a constant instead of what it computes, in place."""
    main = _main(module)
    *_, last = main.regions[0].blocks[0].operations
    number = ir.Type.parse("tensor<i32>")
    with ir.InsertionPoint(last):
        value = ir.Attribute.parse("dense<7> : tensor<i32>")
        constant = ir.Operation.create(
            "stablehlo.constant", results=[number], attributes={"value": value}
        )
        ir.Operation.create("func.return", operands=[constant.result])
    last.erase()
    taken = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).inputs
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(taken, [number]))
    if "res_attrs" in main.attributes:
        del main.attributes["res_attrs"]


_CALLED = "func.func @main({parameters}) -> ({types}) {{ {call} return {results} : {types} }}"
_BRANCH = """func.func @main({parameters}) -> ({types}) {{
    %true = stablehlo.constant dense<true> : tensor<i1>
    %always = stablehlo.optimization_barrier %true : tensor<i1>
    %branch:{count} = "stablehlo.if"(%always) ({{
        {call} stablehlo.return {results} : {types}
    }}, {{
        {call} stablehlo.return {results} : {types}
    }}) : (tensor<i1>) -> ({types})
    return {branched} : {types}
}}"""
_LOOP = """func.func @main({parameters}) -> ({types}) {{
    %zero = stablehlo.constant dense<0> : tensor<i32>
    {call}
    %branch:{next} = "stablehlo.while"({results}, %zero) ({{
        ^bb0({carried}, %turn: tensor<i32>):
        %two = stablehlo.constant dense<2> : tensor<i32>
        %less = stablehlo.compare LT, %turn, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
    }}, {{
        ^bb0({carried}, %turn: tensor<i32>):
        %one = stablehlo.constant dense<1> : tensor<i32>
        %after = stablehlo.add %turn, %one : tensor<i32>
        {again}
        stablehlo.return {repeated}, %after : {types}, tensor<i32>
    }}) : ({types}, tensor<i32>) -> ({types}, tensor<i32>)
    return {branched} : {types}
}}"""
# What a loop does not change XLA moves out of it: behind a barrier beside the turn nothing is such.
_TURNING = _LOOP.replace(
    "{again}",
    """%turned:{taking} = stablehlo.optimization_barrier {arguments}%turn : {taken}tensor<i32>
        {turned}""",
)
_IGNORED = """func.func @main({parameters}) -> tensor<i32> {{
    {call}
    %seven = stablehlo.constant dense<7> : tensor<i32>
    return %seven : tensor<i32>
}}"""
AROUND = {
    "unused": None,
    "called": _CALLED,
    "ignored": _IGNORED,
    "branch": _BRANCH,
    "loop": _LOOP,
    "turning": _TURNING,
}
"""Where a program of one op is put, each with the main that calls it."""


def _main(module: Any) -> Any:
    name = '"main"'
    return next(one for one in module.body.operations if str(one.attributes["sym_name"]) == name)


def _called(ir: Any, module: Any, template: str) -> str:
    """Make main a function of another name, and return the text of a main that calls it."""
    inner = _main(module)
    inner.attributes["sym_name"] = ir.StringAttr.get("inner")
    inner.attributes["sym_visibility"] = ir.StringAttr.get("private")
    function = ir.FunctionType(ir.TypeAttr(inner.attributes["function_type"]).value)
    types, taken = ([str(one) for one in side] for side in (function.results, function.inputs))
    given, turned = (
        [f"{name}{number}" for number in range(len(taken))] for name in ("%arg", "%turned#")
    )
    call, turning = (
        f"= func.call @inner({', '.join(one)}) : ({', '.join(taken)}) -> ({', '.join(types)})\n"
        for one in (given, turned)
    )
    count = len(types)
    made, again, branch = (
        ", ".join(f"{name}#{number}" for number in range(count))
        for name in ("%made", "%again", "%branch")
    )
    return template.format(
        parameters=", ".join(f"%arg{number}: {one}" for number, one in enumerate(taken)),
        types=", ".join(types),
        carried=", ".join(f"%carried{number}: {one}" for number, one in enumerate(types)),
        call=f"%made:{count} {call}",
        again=f"%again:{count} {call}",
        turned=f"%again:{count} {turning}",
        arguments="".join(f"{one}, " for one in given),
        taken="".join(f"{one}, " for one in taken),
        taking=len(taken) + 1,
        results=made,
        repeated=again,
        branched=branch,
        count=count,
        next=count + 1,
    )


def surrounded(programs: Iterable[Program], how: str) -> Iterator[Artifact]:
    """Yield the programs of one op, each put somewhere else.

    Those that return nothing, and the few that MLIR prints otherwise than it parses, are left out.

    Args:
        programs: The programs.
        how: A key of `AROUND`.
    """
    library = bindings.find("jaxlib")
    context = library.context()
    template = AROUND[how]
    for program in programs:
        version = program.artifact.header.version
        assert version is not None  # a serializer of StableHLO wrote it
        module = library.deserialize(program.artifact.data, context)
        try:
            with library.editing(module) as ir:
                text = template and _called(ir, module, template)
                if template is None:
                    _unused(ir, module)
            if text:
                whole = f"{str(module).rstrip().removesuffix('}')}{text}\n}}"
                module = library.parse(whole, context)
            yield Artifact.from_bytes(library.serialize(module, version))
        except LibraryError:
            continue


def measure(
    release: Release, artifacts: Sequence[Artifact], seed: str, *, green: bool = False
) -> list[Measured]:
    """Predict programs, and execute those that were not executed before.

    Args:
        release: The Release.
        artifacts: The programs.
        seed: Where they come from: what became of them is kept under its name.
        green: Execute those alone that are predicted to compile.

    Returns:
        One for each program that the Release is predicted to read, and that was executed.
    """
    path = _path(release, seed)
    seen = _seen(path)
    verdicts = [predict(_examined(one), release, stage=Stage.COMPILE) for one in artifacts]
    read = [
        number
        for number, verdict in enumerate(verdicts)
        if _reads(verdict)
        if verdict.holds(Stage.COMPILE) or not green
    ]
    missing = [number for number in read if artifacts[number].digest not in seen]
    if missing:
        path.parent.mkdir(parents=True, exist_ok=True)
        environment = Environments().get(release, to_execute=True)
        with (
            find_executor(executor_for(release), environment, limit=LIMIT_S) as executor,
            path.open("a", encoding="utf-8") as kept,
        ):
            for number in missing:
                digest = artifacts[number].digest
                if (became := executed(executor, artifacts[number], release)) is not None:
                    seen[digest] = became
                    kept.write(json.dumps({"digest": digest, **became}) + "\n")
                    kept.flush()
    found = (
        (number, seen[artifacts[number].digest])
        for number in read
        if artifacts[number].digest in seen
    )
    return [
        Measured(number, verdicts[number], one["ended"], one.get("reason", ""))
        for number, one in found
        if one["ended"] != Ability.UNTRIED.value
    ]


def compared(
    release: Release, against: Release, artifacts: Sequence[Artifact], seed: str
) -> Iterator[tuple[int, bool]]:
    """Yield the programs that two Releases are predicted to compute the same, and whether they do.

    Args:
        release: The one.
        against: The other.
        artifacts: The programs; of those that both executed the results are compared.
        seed: Under which name it is kept what became of them.
    """
    both = release, against
    kept = [_seen(_path(one, seed)) for one in both]
    for number, artifact in enumerate(artifacts):
        ours, theirs = (seen.get(artifact.digest, {}).get("outputs") for seen in kept)
        if ours is None or theirs is None:
            continue
        if all(predict(_examined(artifact), one, stage=Stage.EXECUTE).compatible for one in both):
            yield number, same(arrays(theirs), arrays(ours))


def doubted(release: Release, artifacts: Sequence[Artifact]) -> Iterator[str]:
    """Yield of how many of the programs that a Release reads something is not known, in words."""
    everything = [one.name for one in assumptions()]
    subjects = [*map(_examined, artifacts)]
    subjects = [one for one in subjects if _reads(predict(one, release))]
    for words, stage, assume in (
        ("compiles", Stage.COMPILE, ()),
        ("computes the same", Stage.EXECUTE, ()),
        ("computes the same, with all assumptions", Stage.EXECUTE, everything),
    ):
        verdicts = [predict(one, release, stage=stage, assume=assume) for one in subjects]
        count = sum(one.holds(stage) is None for one in verdicts)
        yield f"  {count:5} of {len(subjects)} not known, whether it {words}"


def _reads(verdict: Verdict) -> bool:
    return verdict.compatible or verdict.stage > Stage.DECODE or bool(verdict.holds(Stage.DECODE))


def _path(release: Release, seed: str) -> Path:
    return STORE / "measured" / seed / f"{release.distribution}-{release.version}.jsonl"


def _seen(path: Path) -> dict[str, dict[str, Any]]:
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {one["digest"]: one for one in map(json.loads, lines)}


def report(release: Release, found: Sequence[Measured]) -> Iterator[str]:
    """Yield lines that say how often predictions were right, and what they were wrong about."""
    counts = Counter(one.kind for one in found)
    yield f"{release}: {len(found)} programs read"
    for kind, count in sorted(counts.items()):
        yield f"  {count:5} {kind}"
        numbers: dict[str, list[int]] = defaultdict(list)
        for one in found:
            if one.kind == kind:
                for cause in _causes(one):
                    numbers[cause].append(one.number)
        ordered = sorted(numbers.items(), key=lambda item: -len(item[1]))
        for cause, those in ordered[:_LISTED]:
            yield f"        {len(those):4} {cause}   (as {', '.join(map(str, those[:3]))})"


def _causes(one: Measured) -> Iterator[str]:
    match one.kind:
        case "compiles, failed":
            yield _NAMES.sub("*", one.reason)
        case "fails, executed":
            yield one.verdict.reason.partition(", executed on")[0]
        case "not known, failed" | "not known, executed":
            yield from {each.what for each in one.verdict.not_known if each.stage <= Stage.COMPILE}


def main() -> int:
    """Measure and report; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("count", type=int, metavar="N", help="how many programs")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--seed", help="another seed has other programs")
    source.add_argument("--around", choices=AROUND, help="programs of one op, put elsewhere")
    parser.add_argument(
        "--green", action="store_true", help="execute those alone that are predicted to compile"
    )
    parser.add_argument(
        "--against", metavar="RELEASE", help="compare results with those of this Release"
    )
    parser.add_argument("--on", nargs="+", default=RELEASES, metavar="RELEASE")
    chosen = parser.parse_args()
    if chosen.around:
        sample = sorted(load_programs(), key=lambda one: one.artifact.digest)[: chosen.count]
        artifacts = list(surrounded(sample, chosen.around))
    else:
        artifacts = list(programs(chosen.count, chosen.seed))
    seed = chosen.seed or chosen.around
    against = find_release(chosen.against) if chosen.against else None
    if against:
        measure(against, artifacts, seed, green=chosen.green)
    for name in chosen.on:
        release = find_release(name)
        lines = [*report(release, measure(release, artifacts, seed, green=chosen.green))]
        if against:
            lines += [*doubted(release, artifacts), *_results(release, against, artifacts, seed)]
        print(*lines, sep="\n", flush=True)
    return 0


def _results(
    release: Release, against: Release, artifacts: Sequence[Artifact], seed: str
) -> Iterator[str]:
    found = [*compared(release, against, artifacts, seed)]
    wrong = [number for number, agree in found if not agree]
    yield f"  {len(found) - len(wrong):5} compute the same as {against}, as predicted"
    if wrong:
        yield f"  {len(wrong):5} compute something else: {', '.join(map(str, wrong))}"


if __name__ == "__main__":
    sys.exit(main())
