"""One Case: a program, its inputs and expected outputs, and the artifacts sealed for it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from portable.errors import PortableError
from portable.system.documents import parse_toml
from portable.system.files import FileError, read_file
from portable.tolerance import Tolerance, demand_count, demand_distance
from portable.verdict import Stage
from portable.version import Version

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Case",
    "CorpusError",
    "KnownException",
    "Oracle",
    "Sealed",
    "Tensor",
    "case_folders",
    "find_case",
    "load_case",
    "load_corpus",
]

MANIFEST = "case.toml"
PROGRAM = "program.mlir"
ARTIFACTS = "artifacts"
SUFFIX = ".mlir.bc"
SCHEMA = 2


class CorpusError(PortableError):
    """A Case, or the corpus, is not as `docs/adding-a-case.md` says it should be."""


class Oracle(enum.Enum):
    """Where the expected outputs come from: never the code under test."""

    NUMPY = "numpy"
    INTERPRETER_AND_XLA = "interpreter and XLA"
    FRAMEWORK = "framework"
    NONE = "none"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Tensor:
    """One input or expected output.

    Args:
        name: The argument's name, or the number of the result.
        dtype: The numpy or ml_dtypes name; a `.npy` file has bytes for bfloat16.
        path: The `.npy` file.
    """

    name: str
    dtype: str
    path: Path


@dataclass(frozen=True, slots=True)
class KnownException:
    """A Release that is known not to do what the tables say.

    Args:
        consumer: The Releases, as `jaxlib==0.10.2`.
        stage: The Stage that fails.
        reason: Why.
        link: Where it is reported or measured.
    """

    consumer: str
    stage: Stage
    reason: str
    link: str


@dataclass(frozen=True, slots=True)
class Sealed:
    """One sealed artifact.

    Args:
        target: The Version it was written for.
        producer: The Release that wrote it, as `jaxlib-0.4.13`.
        path: The file.
    """

    target: Version
    producer: str
    path: Path


@dataclass(frozen=True, slots=True)
class Case:
    """One feature.

    Args:
        name: Its folder; unique in a corpus.
        directory: Where it is.
        feature: What it shows, in words.
        family: The kind of feature, for example `collectives`: the folder that it is in.
        first: The lowest target at which it can be written and read.
        provenance: Where the program comes from.
        oracle: Where the expected outputs come from.
        expression: The numpy expression over the inputs; empty for other oracles.
        agreeing: Who else computed the same.
        reason: Why there are no expected outputs, or only one witness.
        every_minor: Whether it is sealed at every minor from `first` on.
        tolerance: How far an output may be off.
        inputs: In the order of the arguments.
        expected: In the order of the results.
        exceptions: Releases known to differ.
    """

    name: str
    directory: Path
    feature: str
    family: str
    first: Version
    provenance: str
    oracle: Oracle
    expression: str
    agreeing: tuple[str, ...]
    reason: str
    every_minor: bool
    tolerance: Tolerance
    inputs: tuple[Tensor, ...]
    expected: tuple[Tensor, ...]
    exceptions: tuple[KnownException, ...]

    @property
    def program_path(self) -> Path:
        """The program as MLIR text."""
        return self.directory / PROGRAM

    @property
    def program(self) -> str:
        """The MLIR text."""
        try:
            return read_file(self.program_path).decode("utf-8")
        except UnicodeDecodeError as error:
            raise CorpusError(
                f"byte {error.start} is not UTF-8", where=str(self.program_path)
            ) from error

    @property
    def artifacts(self) -> tuple[Sealed, ...]:
        """The sealed artifacts, lowest target first."""
        folder = self.directory / ARTIFACTS
        found = [_sealed(path) for path in folder.iterdir()] if folder.is_dir() else []
        return tuple(sorted(found, key=lambda sealed: (sealed.target, sealed.producer)))


def load_corpus(directory: Path) -> tuple[Case, ...]:
    """Load every Case of a corpus, or of one family.

    Args:
        directory: The corpus, with a folder for each family; or the folder of a family.

    Returns:
        The Cases, by name.

    Raises:
        CorpusError: It is not a corpus, a Case is malformed, or two have one name.
    """
    folders = case_folders(directory)
    if not folders:
        raise CorpusError("no Cases here", where=str(directory), hint="name a corpus with --corpus")
    for one, next_one in pairwise(folders):
        if one.name == next_one.name:
            raise CorpusError(f"two Cases are named {one.name!r}", where=f"{one}, {next_one}")
    return tuple(map(load_case, folders))


def case_folders(directory: Path) -> list[Path]:
    """Find the Cases of a corpus or of one family without reading them.

    Args:
        directory: The corpus, or the folder of a family.

    Returns:
        Their folders, by name.
    """
    if not directory.is_dir():
        return []  # a name with a null byte is none, over which some Pythons' glob raises
    manifests = [*directory.glob(f"[!.]*/{MANIFEST}"), *directory.glob(f"[!.]*/[!.]*/{MANIFEST}")]
    return sorted((path.parent for path in manifests), key=lambda folder: folder.name)


def find_case(directory: Path, name: str) -> Case:
    """Load the Case of a name.

    Args:
        directory: The corpus, or the folder of a family.
        name: The name of the Case.

    Returns:
        The Case.

    Raises:
        CorpusError: There is none, or it is malformed.
    """
    for folder in case_folders(directory):
        if folder.name == name:
            return load_case(folder)
    raise CorpusError(
        f"no Case {name!r}", where=str(directory), hint="'portable corpus list' names them"
    )


def load_case(directory: Path) -> Case:
    """Load one Case, strictly: an unknown or missing key is an error.

    Args:
        directory: Its folder.

    Returns:
        The Case.

    Raises:
        CorpusError: It is malformed.
    """
    path = directory / MANIFEST
    try:
        fields = parse_toml(read_file(path))
        return _case(directory, fields)
    except CorpusError:
        raise
    except FileError as error:
        raise CorpusError(error.what, where=str(path)) from error
    except (AttributeError, KeyError, TypeError, ValueError, PortableError) as error:
        raise CorpusError(f"malformed Case: {error!r}", where=str(path)) from error


def _case(directory: Path, fields: dict[str, Any]) -> Case:
    if fields.pop("schema") != SCHEMA:
        raise CorpusError(f"the schema is not {SCHEMA}", where=str(directory / MANIFEST))

    def tensors(key: str, folder: str) -> tuple[Tensor, ...]:
        return tuple(
            Tensor(_plain(name), _text(dtype), directory / folder / f"{name}.npy")
            for name, dtype in fields.pop(key, {}).items()
        )

    case = Case(
        name=directory.name,
        directory=directory,
        feature=_text(fields.pop("feature")),
        family=directory.parent.name,
        first=Version.parse(fields.pop("first")),
        provenance=_text(fields.pop("provenance")),
        oracle=Oracle(fields.pop("oracle")),
        expression=_text(fields.pop("expression", "")),
        agreeing=tuple(map(_text, _list(fields.pop("agreeing", [])))),
        reason=_text(fields.pop("reason", "")),
        every_minor=_flag(fields.pop("every_minor", False)),
        tolerance=_tolerance(**fields.pop("tolerance", {})),
        inputs=tensors("inputs", "inputs"),
        expected=tensors("expected", "expected"),
        exceptions=tuple(map(_exception, _list(fields.pop("exception", [])))),
    )
    if fields:
        raise CorpusError(f"unknown key {min(fields)!r}", where=str(directory / MANIFEST))
    return case


def _tolerance(ulps: object = 0, relative: object = 0.0, absolute: object = 0.0) -> Tolerance:
    return Tolerance(demand_count(ulps), demand_distance(relative), demand_distance(absolute))


def _exception(row: dict[str, str]) -> KnownException:
    stage = Stage.parse(row["stage"])
    consumer, reason, link = (_text(row[key]) for key in ("consumer", "reason", "link"))
    return KnownException(consumer, stage, reason, link)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is not a string")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r:.60} is not an array")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r:.60} is neither true nor false")
    return value


def _plain(name: str) -> str:
    """Refuse the name of a tensor that leads out of its folder, or is hidden from the seals."""
    if "/" in name or name.startswith("."):
        raise ValueError(f"{name!r:.60} is not a name of a file")
    return name


def _sealed(path: Path) -> Sealed:
    target, plus, producer = path.name.removesuffix(SUFFIX).partition("+")
    if not plus or not producer or not path.name.endswith(SUFFIX):
        raise CorpusError("not named TARGET+PRODUCER.mlir.bc", where=str(path))
    return Sealed(Version.parse(target), producer, path)
