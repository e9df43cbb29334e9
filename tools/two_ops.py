"""Find what Releases compute otherwise where two ops meet, one behind or before programs of one.

From programs of one op, whose result is returned alone, the table of capabilities was learnt. Here
another op takes the result, beside which it is returned or alone, or makes what the op takes. What
is predicted to compute the same is compared with what the first Release computes; what differs, or
fails, is printed for people to judge: how far rounding goes nothing here knows.

    python -m tools two_ops 3000 --seed fresh --on 'jaxlib 0.12.0.1' 'jaxlib 0.5.3'
    python -m tools two_ops 3000 --seed fresh --before --on 'jaxlib 0.12.0.1' 'tensorflow 2.21.0'
"""

from __future__ import annotations

import argparse
import math
import random
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from portable import bindings
from portable.artifact import Artifact
from portable.bindings import LibraryError
from portable.errors import PortableError
from portable.fuzz import one_op_programs
from portable.prediction import predict
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.runtime.executors import find_executor, random_inputs
from portable.verdict import Stage
from tools.capabilities import LIMIT_S, executor_for, same

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.fuzz import Generated
    from portable.releases import Release
    from portable.runtime.executors.tensors import Array

__all__ = ["Pair", "main", "pairs"]

_RETURN = re.compile(r'  "func\.return"\((.*)\) : \((.*)\) -> \(\)')
_TAKEN = re.compile(r"@main\((.*?)\) -> \(")
_TENSOR = re.compile(r"tensor<((?:\d+x)*)([a-z]\w*(?:<\w+>)?)>")
_TYPE = re.compile(r"tensor<(?:[^<>]|<[^<>]*>)*>")
_ARGUMENT = re.compile(rf"(%\w+): ({_TYPE.pattern})")
_CONVERTED = ("bf16", "f16", "f32", "f64", "i1", "i8", "i32", "ui8")
_LINE = 160
# How often the results of the one op are returned too.
_BESIDE = 2 / 3


class _Tensor(NamedTuple):
    """A tensor type."""

    sizes: tuple[int, ...]
    element: str

    @classmethod
    def parse(cls, text: str) -> _Tensor | None:
        """Return a type of static sizes and a plain element type; None for another."""
        found = _TENSOR.fullmatch(text)
        if found is None:
            return None
        return cls(tuple(map(int, found[1].split("x")[:-1])), found[2])

    def __str__(self) -> str:
        return f"tensor<{'x'.join([*map(str, self.sizes), self.element])}>"


class Pair(NamedTuple):
    """A program in which two ops meet.

    Args:
        name: What they are.
        text: The program.
        artifact: It for the first Version that expresses it.
    """

    name: str
    text: str
    artifact: Artifact


def _behind(of: _Tensor) -> Iterator[tuple[str, _Tensor]]:
    """Yield ops that take %v of some type, as MLIR, each with the type of what it gives."""
    sizes, element = of
    yield f"optimization_barrier %v : {of}", of
    yield f"add %v, %v : {of}", of
    yield f"multiply %v, %v : {of}", of
    flat, truths = of._replace(sizes=(math.prod(sizes),)), of._replace(element="i1")
    yield f"reshape %v : ({of}) -> {flat}", flat
    yield f"compare EQ, %v, %v : ({of}, {of}) -> {truths}", truths
    spread = of._replace(sizes=(2, *sizes))
    places = [*range(len(sizes))]
    dims = [at + 1 for at in places]
    yield f"broadcast_in_dim %v, dims = {dims} : ({of}) -> {spread}", spread
    if not element.startswith("complex"):
        for to in _CONVERTED:
            converted = of._replace(element=to)
            yield f"convert %v : ({of}) -> {converted}", converted
    if len(sizes) > 1:
        turned = of._replace(sizes=sizes[::-1])
        yield f"transpose %v, dims = {places[::-1]} : ({of}) -> {turned}", turned
    if sizes and sizes[0]:
        part, twice, one = (
            of._replace(sizes=each) for each in ((1, *sizes[1:]), (2 * sizes[0], *sizes[1:]), ())
        )
        cuts = ", ".join(f"0:{size}" for size in part.sizes)
        yield f"slice %v [{cuts}] : ({of}) -> {part}", part
        yield f"reverse %v, dims = [0] : {of}", of
        yield f"concatenate %v, %v, dim = 0 : ({of}, {of}) -> {twice}", twice
        over = f"contracting_dims = {places} x {places}"
        yield f"dot_general %v, %v, {over} : ({of}, {of}) -> {one}", one


def _before(of: _Tensor) -> Iterator[tuple[str, Sequence[_Tensor]]]:
    """Yield ops that give some type, as MLIR, each with the types of %0, %1, %2 that it takes."""
    sizes, element = of
    yield f"optimization_barrier %0 : {of}", [of]
    yield f"add %0, %1 : {of}", [of, of]
    truths = of._replace(element="i1")
    yield f"select %0, %1, %2 : {truths}, {of}", [truths, of, of]
    if not element.startswith("complex"):
        for name in _CONVERTED:
            source = of._replace(element=name)
            yield f"convert %0 : ({source}) -> {of}", [source]
    one, flat = of._replace(sizes=()), of._replace(sizes=(math.prod(sizes),))
    yield f"broadcast_in_dim %0, dims = [] : ({one}) -> {of}", [one]
    yield f"reshape %0 : ({flat}) -> {of}", [flat]
    if len(sizes) > 1:
        turned = of._replace(sizes=sizes[::-1])
        yield f"transpose %0, dims = {[*range(len(sizes))][::-1]} : ({turned}) -> {of}", [turned]
    if sizes:
        row, more = of._replace(sizes=sizes[-1:]), of._replace(sizes=tuple(n + 2 for n in sizes))
        last = len(sizes) - 1
        yield f"broadcast_in_dim %0, dims = [{last}] : ({row}) -> {of}", [row]
        cuts = ", ".join(f"1:{size + 1}" for size in sizes)
        yield f"slice %0 [{cuts}] : ({more}) -> {of}", [more]
        yield f"reverse %0, dims = [{last}] : {of}", [of]
    if sizes and sizes[0] > 1:
        part, rest = (
            of._replace(sizes=(1, *sizes[1:])),
            of._replace(sizes=(sizes[0] - 1, *sizes[1:])),
        )
        yield f"concatenate %0, %1, dim = 0 : ({rest}, {part}) -> {of}", [rest, part]


def _taken(program: Generated, chosen: random.Random) -> tuple[str, str] | None:
    """Put an op behind a program; return what it is, and the program."""
    text = program.text
    ended = _RETURN.search(text)
    if ended is None:
        return None
    values, types = ended[1].split(", "), _TYPE.findall(ended[2])
    before = f"-> ({', '.join(types)}) {{"
    at = chosen.randrange(len(values))
    of = _Tensor.parse(types[at]) if len(types) == len(values) else None
    if of is None or text.count(before) != 1:
        return None
    op, given = chosen.choice([*_behind(of)])
    beside = chosen.random() < _BESIDE
    names, kinds = [*values] * beside, [*types] * beside
    place = chosen.randrange(2) * len(names)
    names.insert(place, "%w")
    kinds.insert(place, str(given))
    lines = f"  %w = stablehlo.{op.replace('%v', values[at])}\n"
    lines += f"  return {', '.join(names)} : {', '.join(kinds)}"
    text = text[: ended.start()] + lines + text[ended.end() :]
    return op.partition(" :")[0], text.replace(before, f"-> ({', '.join(kinds)}) {{")


def _given(program: Generated, chosen: random.Random) -> tuple[str, str] | None:
    """Put an op before a program; return what it is, and the program."""
    text = program.text
    head = _TAKEN.search(text)
    arguments = _ARGUMENT.findall(head[1]) if head else []
    at = chosen.randrange(len(arguments)) if arguments else 0
    of = _Tensor.parse(arguments[at][1]) if arguments else None
    if head is None or of is None:
        return None
    op, types = chosen.choice([*_before(of)])
    name, _ = arguments.pop(at)
    arguments += [(f"%n{number}", str(one)) for number, one in enumerate(types)]
    taken = ", ".join(map(": ".join, arguments))
    line = f"  {name} = stablehlo.{op.replace('%', '%n')}\n"
    first = text.index("\n") + 1
    return op.partition(" :")[0], text[:first].replace(head[1], taken, 1) + line + text[first:]


def pairs(count: int, seed: str, *, before: bool = False) -> Iterator[Pair]:
    """Yield programs in which two ops meet.

    Args:
        count: How many are tried: of some shapes and types there is none.
        seed: Another seed has others.
        before: Whether the second op stands before the program of one.
    """
    library = bindings.find("jaxlib")
    context = library.context()
    chosen = random.Random(seed)  # noqa: S311 - the same programs of a seed, no secrets
    single = [*one_op_programs()]
    for _ in range(count):
        one = chosen.choice(single)
        made = (_given if before else _taken)(one.program, chosen)
        if made is None or one.program.text.count("func.func") != 1:
            continue
        try:
            module = library.parse(made[1], context)
            data = library.serialize(module, one.program.since.target)
        except LibraryError:  # the op takes no such type
            continue
        yield Pair(f"{one.form.op}, {made[0]}", made[1], Artifact.from_bytes(data))


def _computed(release: Release, made: Sequence[Pair]) -> Iterator[tuple[Pair, list[Array] | str]]:
    """Yield what a Release computes of what it is predicted to; or how it fails."""
    environment = Environments().get(release, to_execute=True)
    with find_executor(executor_for(release), environment, limit=LIMIT_S) as executor:
        for one in made:
            if not predict(one.artifact, release, stage=Stage.EXECUTE).compatible:
                continue
            try:
                executable = executor.compile(one.artifact)
                inputs = random_inputs(executable.signature, 0)
                yield one, [np.array(each) for each in executable.run(inputs)]
            except PortableError as error:
                yield one, error.what


def main() -> int:
    """Execute and compare; return 1 where something differs or fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("count", type=int, metavar="N", help="how many programs are tried")
    parser.add_argument("--seed", required=True, help="another seed has other programs")
    parser.add_argument("--before", action="store_true", help="put the other op before")
    parser.add_argument("--on", nargs="+", required=True, metavar="RELEASE")
    chosen = parser.parse_args()
    made = [*pairs(chosen.count, chosen.seed, before=chosen.before)]
    right: dict[str, list[Array]] = {}
    wrong = 0
    for name in chosen.on:
        seen = other = 0
        for one, found in _computed(find_release(name), made):
            seen += 1
            says = found if isinstance(found, str) else ""
            if isinstance(found, list) and not same(right.setdefault(one.text, found), found):
                says = "computes something else"
            if says:
                other += 1
                print(f"{name}: {one.name}: {says}"[:_LINE], one.text, sep="\n", flush=True)
        print(f"{name}: {seen} of {len(made)} programs are green, {other} differ or fail")
        wrong += other
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
