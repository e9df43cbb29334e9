"""StableHLO programs: load one from whatever holds it, and read artifacts back into one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from portable import libstablehlo
from portable.artifact import Artifact, NotAnArtifact
from portable.bytecode import MAGIC, read
from portable.containers import kind_of_file
from portable.containers.kind import CONTAINERS
from portable.errors import PortableError
from portable.system.files import read_file

if TYPE_CHECKING:
    from portable.libstablehlo import Library, Module

__all__ = ["InvalidProgram", "Program", "deserialize", "load"]

# An `ir.Module`, MLIR text, MLIR bytecode, an Artifact, or the path of a file with one of them.
Program: TypeAlias = "Module | str | bytes | Artifact | os.PathLike[str]"


class InvalidProgram(PortableError):
    """The input is no StableHLO program."""


def load(program: Program, library: Library | None = None) -> tuple[Library, Module]:
    """Return `program` as a module that the caller of this function owns and may change.

    A module is copied inside its context; everything else is parsed into a new context.

    Args:
        program: An `ir.Module`, MLIR text, MLIR bytecode, an Artifact, or a path. A `str` is text
            when it holds a newline or a brace, else a path.
        library: The bindings to use; by default those of the module, else the first installed.

    Returns:
        The bindings and the module.

    Raises:
        InvalidProgram: The input is empty or of a wrong type.
        LibraryError: It does not parse or verify.
        MalformedArtifact: It is a damaged artifact.
        FileError: The path cannot be read.
        LibraryNotFound: No libStablehlo is installed.
    """
    owner = libstablehlo.library_of(program)
    if owner is not None and owner.is_module(program):
        return owner, owner.clone(program)
    library = library or libstablehlo.find()
    source, where = _source(program)
    if isinstance(source, Artifact):
        return library, _decode(source, library.context(), library)
    if not source.strip():
        raise InvalidProgram("the program is empty", where=where)
    try:
        return library, library.parse(source, library.context())
    except libstablehlo.LibraryError as error:
        if where:
            error.where = f"{where}:{(error.where or '').removeprefix(_UNNAMED)}"
        raise


# What MLIR calls the file of text that it was handed from memory.
_UNNAMED = '"-":'


def _source(program: Program) -> tuple[str | bytes | Artifact, str | None]:
    """Return what `program` holds, and its path if it has one."""
    where = None
    if isinstance(program, os.PathLike) or (isinstance(program, str) and _is_path(program)):
        where = os.fspath(program)
        program = read_file(program)
    if isinstance(program, (bytes, bytearray, memoryview)):
        return _from_bytes(bytes(program), where), where
    if isinstance(program, (str, Artifact)):
        return program, where
    raise InvalidProgram(
        f"cannot take a program from {type(program).__name__}",
        hint="pass an ir.Module, MLIR text or bytecode, an Artifact, or a path",
    )


def _is_path(text: str) -> bool:
    return bool(text.strip()) and not any(mark in text for mark in "\n{")


def _from_bytes(data: bytes, where: str | None) -> str | bytes | Artifact:
    if data.startswith(MAGIC):
        try:
            return Artifact.from_bytes(data, where=where)
        except NotAnArtifact:
            return data  # plain MLIR bytecode: a program all the same
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        kind = kind_of_file(data)
        if kind in CONTAINERS:
            hint = "portable inspect lists them, portable pin writes it anew"
            raise InvalidProgram(
                f"a {kind}, which has programs inside", where=where, hint=hint
            ) from None
        raise InvalidProgram(
            f"neither MLIR text nor MLIR bytecode (begins {data[:4].hex(' ')})", where=where
        ) from None


def deserialize(artifact: Artifact | bytes | os.PathLike[str], context: Any = None) -> Module:
    """Read a portable artifact into a module of the StableHLO dialect.

    Unlike the bare binding, which takes an empty file for an empty module, this refuses what is no
    portable artifact, and reads the whole structure in Python before native code sees it.

    Args:
        artifact: An Artifact, its bytes, or a path.
        context: The `ir.Context` that the module will live in; by default a new one of the first
            installed libStablehlo.

    Returns:
        An `ir.Module`.

    Raises:
        NotAnArtifact: The bytes are empty, text, or bytecode that is not portable.
        MalformedArtifact: They are damaged or have trailing bytes.
        LibraryError: The installed libStablehlo cannot read them.
        FileError: The path cannot be read.
        LibraryNotFound: No libStablehlo is installed.
    """
    if isinstance(artifact, (str, os.PathLike)):
        artifact = Artifact.load(Path(artifact))
    elif not isinstance(artifact, Artifact):
        artifact = Artifact.from_bytes(bytes(artifact))
    if context is None:
        library = libstablehlo.find()
        return _decode(artifact, library.context(), library)
    owner = libstablehlo.library_of(context)
    if owner is None or not owner.is_context(context):
        raise InvalidProgram(f"{type(context).__name__} is not a context of MLIR bindings")
    return _decode(artifact, context, owner)


def _decode(artifact: Artifact, context: Any, library: Library) -> Module:
    for _ in read(artifact.data).operations():
        pass  # reading checks every length and index, which native code does not
    return library.deserialize(artifact.data, context)
