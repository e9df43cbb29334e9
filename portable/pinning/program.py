"""StableHLO programs: load one from whatever holds it, and read artifacts back into one."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import resource
import threading
from collections.abc import Callable, KeysView
from typing import TYPE_CHECKING, Any, SupportsBytes, TypeAlias, TypeVar, cast

from portable import bindings
from portable.artifact import Artifact, NotAnArtifact
from portable.bytecode import MAGIC, read
from portable.bytecode.nesting import demand_shallow, demand_shallow_text
from portable.containers import kind_of_file
from portable.containers.opening import CONTAINERS
from portable.errors import PortableError
from portable.pinning.locations import named, naming
from portable.pinning.options import demand_valid
from portable.system import children
from portable.system.files import read_file

if TYPE_CHECKING:
    from portable.artifact import ArtifactLike
    from portable.bindings import Library, Module

__all__ = ["InvalidProgram", "Program", "apart", "deserialize", "load", "text"]

Program: TypeAlias = "Module | ArtifactLike"
"""What every call takes that takes a program: a module, text, bytecode, an artifact, or a path.

A `str` is MLIR text when it holds a newline or a brace, else the path of a file.
"""

_F = TypeVar("_F", bound=Callable[..., Any])


class InvalidProgram(PortableError):
    """The input is not a StableHLO program."""


def apart(function: _F) -> _F:
    """Have a call whose first argument is a program done by a child.

    Native code reads the program, and whatever that does it does to the child. Only an `ir.Module`
    cannot leave this process: it is worked on here.

    Args:
        function: At the top of its module; all its other arguments can be pickled. Keywords that it
            takes as `options` are `PinOptions`.

    Returns:
        The same function, safe for its caller.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def done(program: Program, *arguments: Any, **keywords: Any) -> Any:
        # What is wrong with the call is the caller's error, not a child that failed.
        given = signature.bind(program, *arguments, **keywords).arguments
        demand_valid(given.get("options", {}))
        if children.expendable() or bindings.library_of(program) is not None:
            return function(program, *arguments, **keywords)
        source, where = _source(program)
        if where is None:
            return _in_child(done, source, *arguments, **keywords)
        with naming(where):
            return named(_in_child(done, source, *arguments, **keywords), where)

    return cast("_F", done)


def load(program: Program, library: Library | None = None) -> tuple[Library, Module]:
    """Return `program` as a module that the caller of this function owns and may change.

    A module is copied inside its context; everything else is parsed into a new context, here, after
    a child has parsed it and lived.

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
        TooDeep: It nests deeper than native code survives.
        ChildFailed: It crashes native code, or keeps it busy for ever.
        FileError: The path cannot be read.
        LibraryNotFound: No libStablehlo is installed.
    """
    owner = bindings.library_of(program)
    if owner is not None and owner.is_module(program):
        return owner, owner.clone(program)
    source, where = _source(program)
    with naming(where) if where else contextlib.nullcontext():
        _accept(source, library)
        library = library or bindings.find()
        return library, _parsed(source, library)


def _parsed(source: str | bytes | Artifact, library: Library) -> Module:
    if isinstance(source, Artifact):
        return _decode(source, library.context(), library)
    if not source.strip():
        raise InvalidProgram("the program is empty")
    _demand_shallow(source)
    return library.parse(source, library.context())


def _in_child(function: Callable[..., Any], source: Any, *arguments: Any, **keywords: Any) -> Any:
    """Have a program worked on by a child, for as long as its size allows."""
    # What the caller may pass, and no pickle takes.
    lists = {name: tuple(v) for name, v in keywords.items() if isinstance(v, KeysView)}
    try:
        limit = children.patience(len(source))
        return children.call(function, source, *arguments, timeout=limit, **(keywords | lists))
    except children.ChildFailed as failure:
        failure.hint = failure.hint or _HERE
        raise


_HERE = "an ir.Module is worked on in your own process, without these limits"


def _accept(source: str | bytes | Artifact, library: Library | None) -> None:
    """Have a child parse what is going to be parsed in this process, with half of its stack."""
    if not children.expendable():
        default = resource.getrlimit(resource.RLIMIT_STACK)[0]
        stack = threading.stack_size() or min(_STACK, default if default > 0 else _STACK)
        _in_child(_accepted, source, library, stack // 2)


# What threads have by default, where the system does not say less.
_STACK = 8 << 20


def _accepted(source: str | bytes | Artifact, library: Library | None, stack: int) -> None:
    """Parse a program and let it go again, in a thread with this much stack."""
    failures: list[Exception] = []

    def parse() -> None:
        try:
            _parsed(source, library or bindings.find())
        except Exception as error:  # noqa: BLE001 - raised again below, in the thread that answers
            failures.append(error)

    before = threading.stack_size(stack)
    thread = threading.Thread(target=parse)
    thread.start()
    threading.stack_size(before)
    thread.join()
    for failure in failures:
        raise failure


def _source(program: Program) -> tuple[str | bytes | Artifact, str | None]:
    """Return what `program` holds, and its path if it has one."""
    where = None
    if isinstance(program, os.PathLike) or (isinstance(program, str) and _is_path(program)):
        where = os.fspath(program)
        program = read_file(program)
    if isinstance(program, (str, Artifact)):
        return program, where
    if isinstance(program, (bytearray, memoryview, SupportsBytes)):
        return _from_bytes(bytes(program), where), where
    raise InvalidProgram(
        f"cannot read a program from {type(program).__name__}",
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
            hint = "portable.inspect lists them, portable.repin writes it for another target"
            raise InvalidProgram(
                f"a {kind}, which contains programs", where=where, hint=hint
            ) from None
        raise InvalidProgram(
            f"neither MLIR text nor MLIR bytecode (begins {data[:4].hex(' ')})", where=where
        ) from None


def deserialize(artifact: ArtifactLike, context: Any = None) -> Module:
    """Read a portable artifact into a module of the StableHLO dialect.

    The bare binding takes an empty file for an empty module; this call refuses everything that is
    not a portable artifact. It reads the whole structure in Python first, then a child process
    deserializes it: a crash there is an error here.

    Args:
        artifact: An Artifact, its bytes, or a path.
        context: The `ir.Context` that the module will live in; by default a new one of the first
            installed libStablehlo.

    Returns:
        An `ir.Module`.

    Raises:
        NotAnArtifact: The bytes are empty, text, or bytecode that is not portable.
        MalformedArtifact: They are damaged or have trailing bytes.
        TooDeep: They nest deeper than native code survives.
        LibraryError: The installed libStablehlo cannot read them.
        ChildFailed: They crash native code, or keep it busy for ever.
        FileError: The path cannot be read.
        LibraryNotFound: No libStablehlo is installed.
    """
    artifact = Artifact.of(artifact)
    library = bindings.library_of(context)
    if context is not None and (library is None or not library.is_context(context)):
        raise InvalidProgram(f"{type(context).__name__} is not a context of MLIR bindings")
    _accept(artifact, library)
    library = library or bindings.find()
    return _decode(artifact, library.context() if context is None else context, library)


@apart
def text(artifact: ArtifactLike, *, locations: bool = False) -> str:
    """Return the program in an artifact as MLIR text, as the installed libStablehlo prints it.

    Args:
        artifact: The artifact, its bytes or its path.
        locations: Print source locations too.

    Returns:
        The text, with an end of line.

    Raises:
        PortableError: As `deserialize`.
    """
    module = deserialize(artifact)
    printed: str = module.operation.get_asm(enable_debug_info=locations)
    return printed if printed.endswith("\n") else printed + "\n"


def _demand_shallow(source: str | bytes) -> None:
    """Read a program as far as native code may not: lengths, indices, and how deep it nests."""
    if isinstance(source, str):
        demand_shallow_text(source)
        return
    content = read(source)
    for _ in content.operations():
        pass  # reading checks every length and index, which native code does not
    demand_shallow(content)


def _decode(artifact: Artifact, context: Any, library: Library) -> Module:
    _demand_shallow(artifact.data)
    try:
        return library.deserialize(artifact.data, context)
    except bindings.LibraryError as error:
        claimed = artifact.header.version
        if claimed and claimed > library.current:
            error.hint = (
                f"the artifact is for StableHLO {claimed}, {library.name} reads {library.current}: "
                f"pip install --upgrade {library.distribution}"
            )
        raise
