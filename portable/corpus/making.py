"""Make Cases: write one to its folder, or make one of a program with what is installed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from portable.corpus.case import ARTIFACTS, PROGRAM, SCHEMA, SUFFIX, CorpusError, Oracle, load_case
from portable.corpus.tensors import save_tensor
from portable.errors import PortableError
from portable.pinning.pipeline import minimum, pin
from portable.releases import installed_library
from portable.runtime.executors import compare_all, find_executor, random_inputs, signature
from portable.system import scratch
from portable.system.files import read_file, write_file
from portable.tolerance import Tolerance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from portable.artifact import Artifact
    from portable.corpus.case import Case
    from portable.runtime.executors.tensors import Array

__all__ = ["Draft", "Evidence", "make_case", "usual_tolerance", "write_case"]

# Relative tolerance across executors by result type; every other type must be equal.
_TOLERANCES = {
    "float64": 1e-12, "complex128": 1e-12, "float32": 1e-5, "complex64": 1e-5,
    "float16": 2e-3, "bfloat16": 1.6e-2,
    "float8_e5m2": 0.25, "float8_e5m2fnuz": 0.25, "float8_e4m3fn": 0.13, "float8_e4m3fnuz": 0.13,
    "float8_e4m3b11fnuz": 0.13, "float8_e4m3": 0.13, "float8_e3m4": 0.07,
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9_-]+")
# Who executes the program of a new Case, and what they are called in its manifest.
_WITNESSES = {"interpreter": "StableHLO interpreter", "pjrt": "XLA CPU"}


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known of a Case before anything is executed."""

    name: str
    family: str
    text: str
    provenance: str
    oracle: str = ""
    inputs: Mapping[str, object] = field(default_factory=dict)
    range: tuple[float, float] = (-2.0, 2.0)
    tolerance: float | None = None
    first: str = ""
    every_minor: bool = False
    # Which oracles an Advisory says to compute something else: `xla`, `interpreter`.
    wrong: tuple[str, ...] = ()
    # Of a whole program, which is a numpy function rather than an expression.
    expected: tuple[Array, ...] | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a Case is expected to compute, and who says so."""

    oracle: Oracle
    inputs: Mapping[str, Array] = field(default_factory=dict)
    expected: tuple[Array, ...] = ()
    agreeing: tuple[str, ...] = ()
    reason: str = ""
    tolerance: Tolerance = field(default_factory=Tolerance)


def make_case(corpus: Path, family: str, name: str, program: Path) -> Case:
    """Make a Case of a program, with the library and the executors that are installed.

    Its artifacts are for the minimum target and for the newest. What it computes of random inputs
    is expected where the interpreter and XLA agree.

    Args:
        corpus: The corpus; it need not exist.
        family: The folder of the Case in it.
        name: The name of the Case.
        program: A file of MLIR text.

    Returns:
        The Case, not sealed yet.

    Raises:
        CorpusError: There is such a Case, or the executors contradict each other.
        PortableError: The program cannot be pinned.
    """
    for word in (family, name):
        if not _NAME.fullmatch(word):
            raise CorpusError(f"{word!r} is not a name", hint="use letters, digits, '_' and '-'")
    directory = corpus / family / name
    if directory.exists():
        raise _exists(directory)
    text = read_file(program).decode("utf-8")
    library = installed_library()
    if library is None:
        raise CorpusError("no library that writes artifacts is installed", hint="install jaxlib")
    lowest = minimum(program).version
    if lowest is None:
        raise CorpusError("the program cannot be written for any target", where=str(program))
    pinned = [pin(program, target) for target in (lowest, "current")]
    artifacts = {one.target.version: one.artifact for one in pinned}
    evidence = _witnessed(pinned[-1].artifact, str(library))
    draft = Draft(name, family, text, f"made of {program.name}")
    producer = f"{library.distribution}-{library.version}"
    directory.parent.mkdir(parents=True, exist_ok=True)
    with scratch.folder(str(directory.parent)) as stage:  # a Case is there whole or not at all
        made = Path(stage, name)
        write_case(made, draft, evidence, str(lowest))
        (made / ARTIFACTS).mkdir()
        for target, artifact in artifacts.items():
            write_file(made / ARTIFACTS / f"{target}+{producer}{SUFFIX}", artifact.data)
        try:
            made.rename(directory)
        except OSError as error:  # somebody else has made it meanwhile
            raise _exists(directory) from error
    return load_case(directory)


def _exists(directory: Path) -> CorpusError:
    return CorpusError("a Case of this name exists", where=str(directory), hint="choose another")


def _witnessed(artifact: Artifact, library: str) -> Evidence:
    """Execute by all witnesses, and keep what they agree on."""
    outputs: dict[str, list[Array]] = {}
    reasons = []
    wanted = signature(artifact)
    inputs = random_inputs(wanted, 0)
    for name, called in _WITNESSES.items():
        try:
            with find_executor(name) as executor:
                outputs[called] = executor.compile(artifact).run(inputs)
        except PortableError as error:
            reasons.append(f"{called}: {error.what}")
    if reasons:
        return Evidence(Oracle.NONE, reason="; ".join(reasons))
    expected, other = outputs.values()
    tolerance = usual_tolerance(expected)
    for comparison in compare_all(expected, other, tolerance):
        if not comparison.same:
            raise CorpusError(f"{' and '.join(outputs)} disagree: {comparison}")
    return Evidence(
        Oracle.INTERPRETER_AND_XLA,
        {f"arg{number}": array for number, array in enumerate(inputs)},
        tuple(expected),
        tuple(f"{called} of {library}" for called in outputs),
        tolerance=tolerance,
    )


def usual_tolerance(expected: Iterable[Array], relative: float | None = None) -> Tolerance:
    """Return how far executors are usually apart, by the widest type of the results.

    Args:
        expected: The results.
        relative: Instead of what is usual.
    """
    if relative is None:
        relative = max((_TOLERANCES.get(array.dtype.name, 0.0) for array in expected), default=0.0)
    # Values near zero are differences of values near one.
    return Tolerance(relative=relative, absolute=relative)


def write_case(directory: Path, draft: Draft, evidence: Evidence, first: str) -> None:
    """Write a Case that is not there yet.

    Args:
        directory: Its folder; must not exist.
        draft: The program.
        evidence: What it computes.
        first: The lowest target at which it can be written and read.
    """
    directory.mkdir(parents=True)
    (directory / PROGRAM).write_text(draft.text, "utf-8")
    for folder, arrays in (
        ("inputs", dict(evidence.inputs)),
        ("expected", {str(n): array for n, array in enumerate(evidence.expected)}),
    ):
        for name, array in arrays.items():
            (directory / folder).mkdir(exist_ok=True)
            save_tensor(directory / folder / f"{name}.npy", array)
    (directory / "case.toml").write_text(_manifest(draft, evidence, first), "utf-8")


def _manifest(draft: Draft, evidence: Evidence, first: str) -> str:
    fields: dict[str, object] = {
        "schema": SCHEMA,
        "feature": draft.name.replace("_", " "),
        "first": first,
        "provenance": draft.provenance,
        "oracle": str(evidence.oracle),
    }
    if evidence.oracle is Oracle.NUMPY and draft.oracle:
        fields["expression"] = draft.oracle
    if evidence.agreeing:
        fields["agreeing"] = list(evidence.agreeing)
    if evidence.reason:
        fields["reason"] = evidence.reason
    if draft.every_minor:
        fields["every_minor"] = True
    # JSON strings, numbers, booleans and arrays are TOML too.
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())
    tables: dict[str, dict[str, object]] = {
        "tolerance": {
            "relative": evidence.tolerance.relative,
            "absolute": evidence.tolerance.absolute,
        },
        "inputs": {name: array.dtype.name for name, array in evidence.inputs.items()},
        "expected": {str(n): array.dtype.name for n, array in enumerate(evidence.expected)},
    }
    for title, rows in tables.items():
        if rows and (title != "tolerance" or evidence.tolerance.relative):
            text += f"\n[{title}]\n"
            text += "".join(f"{key} = {json.dumps(value)}\n" for key, value in rows.items())
    return text
