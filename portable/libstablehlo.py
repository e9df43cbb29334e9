"""The only door to the MLIR bindings that carry libStablehlo.

Three namespaces are accepted: jaxlib's, torch-mlir's and upstream's own `mlir`. They share one API
but differ in how a context learns its dialects; `_DOORS` is the whole difference. Everything that
MLIR says is captured and returned as `Diagnostic` values: an exception of the bindings carries none
of it, and printing to the terminal of whoever called is nobody's wish.

The stablehlo calls hold the GIL from start to end, so one lock around them costs no parallelism and
keeps the diagnostics of two threads that share a context apart.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from portable.errors import PortableError
from portable.verdict import Diagnostic, Severity
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Library", "LibraryError", "LibraryNotFound", "Module", "find", "library_of"]

# The bindings ship no types; these names say what is meant.
Module: TypeAlias = Any
Context: TypeAlias = Any

_LOCK = threading.RLock()
# MLIR prints whole modules into its notes; what a person needs stands at the beginning.
_MESSAGE_LIMIT = 400


class LibraryNotFound(PortableError):
    """No bindings with libStablehlo are installed, or not the ones that were asked for."""


class LibraryError(PortableError):
    """LibStablehlo refused; `diagnostics` says why."""

    def __init__(
        self, what: str, *, diagnostics: tuple[Diagnostic, ...] = (), **fields: str | None
    ) -> None:
        super().__init__(what, **fields)
        self.diagnostics = diagnostics

    def record(self) -> dict[str, object]:
        """Return the fields as plain data, the diagnostics among them."""
        return super().record() | {"diagnostics": [d.record() for d in self.diagnostics]}


@dataclass(frozen=True, slots=True)
class _Door:
    """Where one distribution keeps its bindings, and what a context of theirs needs."""

    distribution: str
    package: str
    stablehlo: str
    register: Callable[[Any, Context], None]


def _register_jaxlib(ir: Any, context: Context) -> None:
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext  # noqa: PLC0415 - imports a compiler
    from jaxlib.mlir.dialects import chlo, mhlo, sdy  # noqa: PLC0415 - imports a compiler

    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    chlo.register_dialect(context)
    mhlo.register_mhlo_dialect(context)
    sdy.register_dialect(context)


def _register_nothing(_ir: Any, _context: Context) -> None:
    """Do nothing: these bindings register their dialects in every new context."""


_DOORS = (
    _Door("jaxlib", "jaxlib.mlir", "jaxlib.mlir.dialects.stablehlo", _register_jaxlib),
    _Door("torch-mlir", "torch_mlir", "torch_mlir._mlir_libs._stablehlo", _register_nothing),
    _Door("mlir", "mlir", "mlir.dialects.stablehlo", _register_nothing),
)


@dataclass(frozen=True, slots=True)
class Library:
    """One installed libStablehlo, seen through its Python bindings.

    Args:
        distribution: The distribution that carries it, for example `jaxlib`.
        release: Its release, for example `0.10.2`; empty when the metadata is missing.
    """

    distribution: str
    release: str
    _ir: Any
    _passes: Any
    _stablehlo: Any
    _register: Callable[[Any, Context], None]

    @property
    def name(self) -> str:
        """The Release, as `distribution version`."""
        return f"{self.distribution} {self.release}".strip()

    @property
    def current(self) -> Version:
        """The StableHLO Version that this library writes by default."""
        return Version.parse(self._stablehlo.get_current_version())

    @property
    def minimum(self) -> Version:
        """The oldest StableHLO Version that this library accepts as a target."""
        return Version.parse(self._stablehlo.get_minimum_version())

    def context(self) -> Context:
        """Return a new context that parses every dialect the distribution carries."""
        with _LOCK:
            context = self._ir.Context()
            self._register(self._ir, context)
            self._stablehlo.register_dialect(context)
            # Loads quant and vhlo, which no registry names.
            self._stablehlo.deserialize_portable_artifact(context, b"")
            return context

    def is_module(self, value: object) -> bool:
        """Say whether `value` is an `ir.Module` of these bindings."""
        return isinstance(value, self._ir.Module)

    def is_context(self, value: object) -> bool:
        """Say whether `value` is an `ir.Context` of these bindings."""
        return isinstance(value, self._ir.Context)

    def parse(self, source: str | bytes, context: Context) -> Module:
        """Parse and verify MLIR text or (non-portable) MLIR bytecode.

        Args:
            source: The program.
            context: Where the module will live.

        Returns:
            The module.

        Raises:
            LibraryError: It does not parse or does not verify.
        """
        with self._native("does not parse as MLIR", context):
            return self._ir.Module.parse(source, context=context)

    def clone(self, module: Module) -> Module:
        """Copy a module inside its context; the original is not touched."""
        with _LOCK:
            copy = self._ir.Module.create(loc=module.operation.location)
            source, target = module.operation.attributes, copy.operation.attributes
            for item in source:
                # Iterating gives names on newer bindings, named attributes on older ones.
                name = item if isinstance(item, str) else item.name
                target[name] = source[name]
            for operation in module.body.operations:
                copy.body.append(operation.operation.clone())
            return copy

    def run(self, module: Module, pipeline: str) -> None:
        """Run a pass pipeline on `module`, in place.

        Args:
            module: Owned by the caller.
            pipeline: For example `builtin.module(strip-debuginfo)`.

        Raises:
            LibraryError: A pass failed.
        """
        context = module.context
        with self._native(f"the pass pipeline {pipeline} failed", context):
            self._passes.PassManager.parse(pipeline, context=context).run(module.operation)

    def serialize(self, module: Module, target: Version, *, mixed: bool = False) -> bytes:
        """Write a portable artifact. Rewrites `module` in place, also on failure.

        Args:
            module: Owned by the caller.
            target: The Version to write for; its patch must be zero.
            mixed: Let other dialects through.

        Returns:
            The artifact.

        Raises:
            LibraryError: The module cannot be expressed at `target`.
        """
        with self._native("libStablehlo cannot serialize the program", module.context):
            return bytes(
                self._stablehlo.serialize_portable_artifact(
                    module, str(target), allow_other_dialects=mixed
                )
            )

    def deserialize(self, data: bytes, context: Context) -> Module:
        """Read a portable artifact. The bytes are trusted: see `portable.deserialize`.

        Args:
            data: The artifact.
            context: Where the module will live.

        Returns:
            The module, in the StableHLO dialect.

        Raises:
            LibraryError: This library cannot read it.
        """
        with self._native("libStablehlo cannot read the artifact", context):
            return self._stablehlo.deserialize_portable_artifact(context, data)

    def operations(self, module: Module) -> dict[str, tuple[int, str]]:
        """Count the ops of `module`.

        Args:
            module: Not changed.

        Returns:
            Op name -> how often it occurs and the location of the first, in order of appearance.
        """
        found: dict[str, tuple[int, str]] = {}

        def visit(operation: Any) -> Any:
            count, first = found.get(operation.name, (0, ""))
            found[operation.name] = (count + 1, first or _location(str(operation.location)))
            return self._ir.WalkResult.ADVANCE

        with _LOCK:
            module.operation.walk(visit)
        return found

    @contextmanager
    def editing(self, module: Module) -> Iterator[Any]:
        """Hand out the bindings to change `module` with, inside its context.

        Args:
            module: Owned by the caller.

        Yields:
            The `ir` namespace of the bindings.

        Raises:
            LibraryError: What was done to the module is refused.
        """
        context = module.context
        with self._native("a rewrite failed", context), context, self._ir.Location.unknown():
            yield self._ir

    def relocate(self, module: Module, rewrite: Callable[[str], str]) -> None:
        """Rewrite the location of every op and block argument of `module`, in place.

        Args:
            module: Owned by the caller.
            rewrite: From a location as MLIR prints it, `loc(...)`, to the one it becomes.
        """
        with _LOCK:
            # By their text: not all bindings hash a location by its value.
            places = [(place, str(place.location)) for place in _places(module, self._ir)]
            distinct = list(dict.fromkeys(location for _, location in places))
            # Parsed in one go as the locations of empty modules: the bindings disagree on how to
            # make a location from an attribute.
            text = "".join(f"module {{}} {rewrite(location)}\n" for location in distinct)
            parsed = self.parse(f"module {{\n{text}}}", module.context)
            moved = [operation.operation.location for operation in parsed.body.operations]
            known = dict(zip(distinct, moved, strict=True))
            for place, location in places:
                if isinstance(place, self._ir.BlockArgument):
                    place.set_location(known[location])
                else:
                    place.location = known[location]

    def erase_calls(self, module: Module, name: str) -> None:
        """Erase the custom calls of `name` that return nothing, in place.

        Args:
            module: Owned by the caller.
            name: The target of the calls.
        """
        found: list[Any] = []

        def visit(operation: Any) -> Any:
            if operation.name == "stablehlo.custom_call" and not len(operation.results):
                called = self._ir.StringAttr(operation.attributes["call_target_name"]).value
                if called == name:
                    found.append(operation)
            return self._ir.WalkResult.ADVANCE

        with _LOCK:
            module.operation.walk(visit)
            for operation in found:
                operation.erase()

    def expose(self, module: Module) -> list[str]:
        """Make `main` return every tensor that its own ops compute, in place.

        Args:
            module: Owned by the caller; has a `main` of one block.

        Returns:
            The op that computes each, with its location, in the order of the new results.
        """
        ir = self._ir
        with _LOCK, module.context, ir.Location.unknown():
            functions = [operation.operation for operation in module.body.operations]
            (main,) = (f for f in functions if _symbol(f, ir) == "main")
            block = main.regions[0].blocks[0]
            *operations, end = list(block.operations)
            values = [
                (result, op.operation)
                for op in operations
                for result in op.operation.results
                if isinstance(result.type, ir.RankedTensorType)
            ]
            results = [result for result, _ in values]
            taken, given = [a.type for a in block.arguments], [result.type for result in results]
            main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(taken, given))
            if "res_attrs" in main.attributes:
                del main.attributes["res_attrs"]
            with ir.InsertionPoint(end):
                ir.Operation.create("func.return", operands=results)
            end.operation.erase()
            return [f"{op.name} at {_location(str(op.location))}" for _, op in values]

    @contextmanager
    def _native(self, what: str, context: Context) -> Iterator[None]:
        """Run native code; turn its failure into a LibraryError with what MLIR said."""
        heard: list[Diagnostic] = []

        def listen(diagnostic: Any) -> bool:
            heard.append(_diagnostic(diagnostic))
            return True

        with _LOCK:
            # Without this flag the bindings put the diagnostics, whole modules among them, into the
            # exception and never show them to a handler.
            emitted = context.emit_error_diagnostics
            context.emit_error_diagnostics = True
            handler = context.attach_diagnostic_handler(listen)
            try:
                yield
            except (self._ir.MLIRError, ValueError, RuntimeError, SystemError) as error:
                errors = tuple(d for d in heard if d.severity is Severity.ERROR)
                first = errors[0] if errors else Diagnostic(Severity.ERROR, _shorten(str(error)))
                raise LibraryError(
                    f"{what}: {first.message}",
                    where=first.location or None,
                    diagnostics=tuple(heard) or (first,),
                ) from None
            finally:
                handler.detach()
                context.emit_error_diagnostics = emitted


def find(distribution: str | None = None) -> Library:
    """Open the installed libStablehlo.

    Args:
        distribution: `jaxlib`, `torch-mlir` or `mlir`; by default the first that is installed.

    Returns:
        The library.

    Raises:
        LibraryNotFound: It is not installed, or its bindings are older than what `portable` drives.
    """
    doors = [door for door in _DOORS if distribution in {None, door.distribution}]
    for door in doors:
        if importlib.util.find_spec(door.package.partition(".")[0]) is not None:
            library = _open(door)
            if library is not None:
                return library
    wanted = " or ".join(door.distribution for door in doors) or repr(distribution)
    raise LibraryNotFound(
        f"no libStablehlo is installed ({wanted})",
        hint="install one: pip install 'stablehlo-portable[jaxlib]'",
    )


def library_of(value: object) -> Library | None:
    """Return the Library whose bindings made `value`; None when it is foreign to all of them."""
    home = type(value).__module__
    for door in _DOORS:
        if home.startswith(door.package + "."):
            return _open(door)
    return None


def _symbol(operation: Any, ir: Any) -> str:
    attributes = operation.attributes
    return ir.StringAttr(attributes["sym_name"]).value if "sym_name" in attributes else ""


def _places(module: Module, ir: Any) -> Iterator[Any]:
    """Yield every op and every block argument: all that carries a location."""
    found: list[Any] = []

    def visit(operation: Any) -> Any:
        found.append(operation)
        found.extend(a for region in operation.regions for block in region for a in block.arguments)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    yield from found


_OPENED: dict[str, Library] = {}


def _open(door: _Door) -> Library | None:
    with _LOCK:
        if door.distribution in _OPENED:
            return _OPENED[door.distribution]
        try:
            ir = importlib.import_module(f"{door.package}.ir")
            passes = importlib.import_module(f"{door.package}.passmanager")
            stablehlo = importlib.import_module(door.stablehlo)
        except ImportError:
            return None  # a namesake, or a build without StableHLO
        release = _release(door.distribution)
        if not hasattr(stablehlo, "register_stablehlo_passes") or not hasattr(ir, "WalkResult"):
            raise LibraryNotFound(
                f"{door.distribution} {release} has bindings too old to drive",
                hint="pip install --upgrade 'stablehlo-portable[jaxlib]'",
            )
        stablehlo.register_stablehlo_passes()
        library = Library(door.distribution, release, ir, passes, stablehlo, door.register)
        _OPENED[door.distribution] = library
        return library


def _release(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _diagnostic(native: Any) -> Diagnostic:
    """Copy a native diagnostic, which dies with the handler's call."""
    return Diagnostic(
        Severity(str(native.severity).rpartition(".")[2].lower()),
        _shorten(native.message),
        _location(str(native.location)),
        tuple(_diagnostic(note) for note in native.notes),
    )


def _shorten(message: str) -> str:
    message = message.strip()
    return message if len(message) <= _MESSAGE_LIMIT else message[:_MESSAGE_LIMIT] + "..."


def _location(printed: str) -> str:
    match = re.fullmatch(r"loc\((.*)\)", printed, re.DOTALL)
    return _shorten(match[1] if match else printed)
