"""Make Cases: from the tables of `tools/families`, from whole programs, or from one MLIR file.

An existing Case is left exactly as it is. Run by the newest jaxlib with jax beside it:

    python -m tools new_case --all                     every Case of the tables
    python -m tools new_case abs_f32 whole_attention   these
    python -m tools new_case my_feature --program my_feature.mlir

then `python -m tools seal` writes its artifacts and seals it. The keys of a `[[family]]`:

    name, args, result   templates: `$x` is a value of the variable x; args are those of `main`
    body, returns        the ops, and what is returned (by default %0); `after`: further functions
    program              the whole module, instead of args, result, body and returns
    over.x               the values of x: a list, the name of one in `lists.toml`, or `@name` in one
    cases                which combinations become Cases: "all", or values by variable (or several)
    oracle               a numpy expression over the arguments, which computes the results
    inputs, range        values by argument; bounds of random ones (by default -2 to 2)
    tolerance, wrong     a relative tolerance; executors that an Advisory says to be wrong
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from portable.corpus import Oracle
from portable.corpus.making import Draft, Evidence, usual_tolerance, write_case
from portable.tolerance import Tolerance
from tools.full_scan import NEVER, Scanner
from tools.oracles import (
    Array,
    Native,
    NotExecutable,
    evaluate,
    random_inputs,
    signature,
)
from tools.programs import Program, load_programs
from tools.whole_programs import WHOLE_PROGRAMS, WholeProgram

if TYPE_CHECKING:
    from collections.abc import Iterable


CORPUS = Path(__file__).parent.parent / "corpus"

# Families that move values and never compute one.
_EXACT = frozenset({"shapes", "constants", "locations", "attributes"})


def draft_program(program: Program, *, every_minor: bool = False) -> Draft:
    """Draft the Case of a generated Program."""
    return Draft(
        program.name,
        program.family,
        program.text,
        f"generated from tools/families/{program.family}.toml",
        program.oracle,
        program.inputs or {},
        program.range,
        program.tolerance,
        program.first,
        every_minor,
        program.wrong,
    )


def draft_whole(whole: WholeProgram, scanner: Scanner) -> Draft:
    """Draft the Case of a whole program: lower it with JAX, compute it with numpy.

    Args:
        whole: The program.
        scanner: Prints it without the locations that JAX puts in.
    """
    import jax
    import jax.numpy as jnp

    def traced(*arguments: Array) -> object:
        return whole.function(jnp, *arguments)

    shapes = [jax.ShapeDtypeStruct(np.shape(a), np.asarray(a).dtype) for a in whole.inputs.values()]
    if whole.symbolic:
        (size,) = jax.export.symbolic_shape(whole.symbolic)
        shapes = [jax.ShapeDtypeStruct((size, *s.shape[1:]), s.dtype) for s in shapes]
        text = jax.export.export(jax.jit(traced))(*shapes).mlir_module()
    else:
        text = jax.jit(traced).lower(*shapes).as_text()
    expected = None
    if whole.numpy:
        value = whole.function(np, *whole.inputs.values())
        expected = tuple(map(np.asarray, value if isinstance(value, tuple) else (value,)))
    return Draft(
        whole.name,
        "whole_programs",
        scanner.printed(text).strip() + "\n",
        f"tools/whole_programs.py lowered by jax {jax.__version__}",
        inputs={f"arg{n}": np.asarray(a).tolist() for n, a in enumerate(whole.inputs.values())},
        tolerance=whole.tolerance,
        every_minor=True,
        expected=expected,
    )


def gather_evidence(draft: Draft, scanner: Scanner, native: Native) -> Evidence:
    """Compute what is expected and compare it with the interpreter and XLA.

    Args:
        draft: The Case.
        scanner: Parses the program.
        native: Executes it.

    Raises:
        AssertionError: The numpy oracle and an executor contradict each other.
    """
    try:
        of = signature(scanner, draft.text)
        inputs = _inputs(draft, scanner)
    except NotExecutable as reason:
        return Evidence(Oracle.NONE, reason=str(reason))
    names = {"interpreter": "StableHLO interpreter", "xla": "XLA CPU"}
    outputs: dict[str, tuple[Array, ...]] = {}
    reasons = []
    for executor, name in names.items():
        try:
            answer = native.run(executor, draft.text, tuple(inputs.values()))
            if (types := [a.dtype for a in answer]) != list(of.results):
                raise NotExecutable(f"answers with {types[0]} instead of {of.results[0]}")
            outputs[name] = answer
        except NotExecutable as reason:
            reasons.append(f"{name}: {reason}")
    expected, oracle = draft.expected, Oracle.NUMPY
    if expected is not None:
        expected = tuple(e.astype(d) for e, d in zip(expected, of.results, strict=True))
    elif draft.oracle:
        expected = evaluate(draft.oracle, inputs, of)
    elif len(outputs) == len(names):
        expected, oracle = next(iter(outputs.values())), Oracle.INTERPRETER_AND_XLA
    else:
        return Evidence(Oracle.NONE, reason="; ".join(reasons))
    tolerance = _tolerance(draft, expected)
    for executor in draft.wrong:
        output = outputs.pop(names[executor])
        assert not same(output, expected, tolerance), f"{executor} is not wrong any more"
    for name, output in outputs.items():
        assert same(output, expected, tolerance), f"{name}: {output} is not {expected}"
    jaxlib = importlib.metadata.version("jaxlib")
    agreeing = tuple(f"{name} of jaxlib {jaxlib}" for name in outputs)
    return Evidence(oracle, inputs, expected, agreeing, "; ".join(reasons), tolerance)


def _inputs(draft: Draft, scanner: Scanner) -> dict[str, Array]:
    of = signature(scanner, draft.text)
    if draft.family == "whole_programs":
        given = zip(of.arguments, draft.inputs.values(), strict=True)
        return {name: np.array(value).astype(dtype) for (name, dtype, _), value in given}
    return random_inputs(draft.name, of, draft.range, draft.inputs)


def _tolerance(draft: Draft, expected: Iterable[Array]) -> Tolerance:
    if draft.family in _EXACT:
        return Tolerance()
    return usual_tolerance(expected, draft.tolerance)


def same(found: Iterable[Array], expected: Iterable[Array], tolerance: Tolerance) -> bool:
    """Say whether outputs are what is expected: integers exactly, the others within a tolerance."""
    for a, b in zip(found, expected, strict=True):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        exact = a.dtype.kind in "iub" or "int" in a.dtype.name
        if exact and not np.array_equal(a, b):
            return False
        if not exact and not np.allclose(
            a.astype(wide), b.astype(wide), tolerance.relative, tolerance.absolute, equal_nan=True
        ):
            return False
    return True


def _drafts(scanner: Scanner, names: set[str], everything: bool) -> Iterable[Draft]:
    families: set[str] = set()
    for program in load_programs():
        if not program.case:
            continue
        every_minor = program.family not in families
        families.add(program.family)
        if everything or program.name in names:
            yield draft_program(program, every_minor=every_minor)
    for whole in WHOLE_PROGRAMS:
        if everything or whole.name in names:
            yield draft_whole(whole, scanner)


def main(words: list[str] | None = None) -> int:
    """Make the Cases that are requested and missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="Cases of the tables, or the new one's name")
    parser.add_argument("--all", action="store_true", help="every Case of the tables")
    parser.add_argument("--program", type=Path, help="make one Case from this MLIR file")
    parser.add_argument("--family", default="", help="its family, with --program")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where to put them")
    arguments = parser.parse_args(words)
    scanner = Scanner()
    if arguments.program:
        (name,) = arguments.names
        text = arguments.program.read_text("utf-8")
        drafts: Iterable[Draft] = [Draft(name, arguments.family or "own", text, "written by hand")]
    else:
        drafts = _drafts(scanner, set(arguments.names), arguments.all)
    made = failed = 0
    with Native() as native:
        for draft in drafts:
            directory = arguments.corpus / draft.family / draft.name
            if directory.exists():
                continue
            try:
                evidence = gather_evidence(draft, scanner, native)
                first = draft.first or scanner.minimum(draft.text)
                # Mixed programs have been writable since 1.11, when that was introduced.
                write_case(directory, draft, evidence, "1.11.0" if first == NEVER else first)
                made += 1
            except (AssertionError, ValueError, TypeError, NotExecutable) as error:
                print(f"{draft.name}: {' '.join(str(error).split())[:400]}", file=sys.stderr)
                failed += 1
    print(f"{made} made, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
