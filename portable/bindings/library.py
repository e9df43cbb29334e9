"""One installed libStablehlo: what `portable` uses of its bindings."""

from __future__ import annotations

import io
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

from portable.bindings.diagnostics import LOCK, DiagnosticCapture, LibraryError, location_text
from portable.bindings.returning import (
    COMPOSITES_TO_CALLS,
    ReturnedValue,
    inline_calls,
    return_all_values,
)
from portable.bindings.unwritable import PROBE, unwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.version import Version

__all__ = ["Context", "Library", "Module"]


class Module(Protocol):
    """An `ir.Module` of any of the bindings, which document it."""

    @property
    def context(self) -> Any:
        """The `ir.Context` of the module."""

    @property
    def operation(self) -> Any:
        """Itself as an `ir.Operation`; `get_asm` prints it, with locations too."""

    @property
    def body(self) -> Any:
        """The block with its functions."""

    def __str__(self) -> str:
        """Return the program as MLIR text."""


# The bindings ship no types; the name says what is meant.
Context: TypeAlias = Any

_REFINE = (
    "builtin.module(inline,stablehlo-refine-shapes,func.func(stablehlo-canonicalize-dynamism))"
)
_EXPAND = "builtin.module(stablehlo-compatibility-expander{{target={target}}})"


@dataclass(frozen=True, slots=True)
class Library:
    """One installed libStablehlo, seen through its Python bindings.

    Args:
        distribution: The distribution that carries it, for example `jaxlib`.
        release: Its release, for example `0.10.2`; empty when the metadata is missing.
        current: The StableHLO Version that this library writes by default.
        minimum: The oldest StableHLO Version that this library accepts as a target.
    """

    distribution: str
    release: str
    current: Version
    minimum: Version
    _ir: Any
    _passes: Any
    _stablehlo: Any
    _register: Callable[[Any, Context], None]
    _find: Callable[[str], Library]
    _refine: Callable[[bytes], bytes] | None = None

    def __reduce__(self) -> tuple[Callable[[str], Library], tuple[str]]:
        return self._find, (self.distribution,)  # in another process it is opened there

    @property
    def name(self) -> str:
        """The Release, as `distribution version`."""
        return f"{self.distribution} {self.release}".strip()

    def context(self) -> Context:
        """Return a new context that parses every dialect the distribution carries."""
        with LOCK:
            context = self._ir.Context()
            self._register(self._ir, context)
            self._stablehlo.register_dialect(context)
            # Loads quant and vhlo, which no registry names.
            self._stablehlo.deserialize_portable_artifact(context, b"")
            return context

    def is_module(self, value: object) -> TypeGuard[Module]:
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
            module: Module = self._ir.Module.parse(source, context=context)
            return module

    def clone(self, module: Module) -> Module:
        """Copy a module inside its context; the original is not touched."""
        with LOCK:
            original = module.operation
            copy: Module = self._ir.Module.create(loc=original.location)
            source, target = original.attributes, copy.operation.attributes
            for item in source:
                # Iterating gives names on newer bindings, named attributes on older ones.
                name = item if isinstance(item, str) else item.name
                target[name] = source[name]
            body = copy.body
            for operation in module.body.operations:
                body.append(operation.operation.clone())
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

    def refine(self, module: Module) -> Module:
        """Give all values of a program the shapes that follow from those of its arguments.

        Args:
            module: Owned by the caller, and consumed.

        Returns:
            The program. Those of jaxlib have ops also for custom calls of dynamic shapes, such as
            `stablehlo.dynamic_reduce_window`, and none for assertions of shapes, which hold.

        Raises:
            LibraryError: A pass failed, or an assertion does not hold.
        """
        context = module.context
        if self._refine is None:
            self.run(module, _REFINE)
            return module
        with self._native("the shapes cannot be refined", context):
            stream = io.BytesIO()
            module.operation.write_bytecode(stream)
            refined: Module = self._ir.Module.parse(self._refine(stream.getvalue()), context)
            return refined

    def serialize(
        self, module: Module, target: Version, *, mixed: bool = False, expand: bool = False
    ) -> bytes:
        """Write a portable artifact. Rewrites `module` in place, also on failure.

        Args:
            module: Owned by the caller.
            target: The Version to write for; its patch must be zero.
            mixed: Let other dialects through.
            expand: First rewrite into older ops what upstream's expander can.

        Returns:
            The artifact.

        Raises:
            LibraryError: The module cannot be expressed at `target`.
        """
        context, version = module.context, str(target)
        with self._native("libStablehlo cannot serialize the program", context):
            if expand:
                pipeline = _EXPAND.format(target=version)
                self._passes.PassManager.parse(pipeline, context=context).run(module.operation)
            return bytes(
                self._stablehlo.serialize_portable_artifact(
                    module, version, allow_other_dialects=mixed
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
            module: Module = self._stablehlo.deserialize_portable_artifact(context, data)
            return module

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
            found[operation.name] = (count + 1, first or location_text(operation.location))
            return self._ir.WalkResult.ADVANCE

        with LOCK:
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
        with LOCK:
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

        with LOCK:
            module.operation.walk(visit)
            for operation in found:
                operation.erase()

    def return_all_values(self, module: Module) -> list[ReturnedValue]:
        """Make `main` return every tensor that it computes, those of what it calls too, in place.

        Args:
            module: Owned by the caller; has a `main` of one block.

        Returns:
            What computes each, in the order of the new results.
        """
        self.run(module, COMPOSITES_TO_CALLS)
        with LOCK, module.context, self._ir.Location.unknown():
            inline_calls(module, self._ir)
            return return_all_values(module, self._ir)

    def unwritable(self, module: Module, error: LibraryError) -> LibraryError:
        """Name what in a program has no place in a portable artifact, where that is the error.

        Args:
            module: Not changed.
            error: Why it cannot be serialized.

        Returns:
            An error that names the attributes and types, or the same one.
        """

        def accepts(attribute: Any) -> bool:
            probe = self.parse(PROBE, module.context)
            block = probe.body.operations[0].regions[0].blocks[0]
            block.operations[0].operation.attributes["probe"] = attribute
            try:
                self.serialize(probe, self.current.target)
            except LibraryError:
                return False
            return True

        with LOCK, module.context, self._ir.Location.unknown():
            return unwritable(error, module, self._ir, accepts)

    def _native(self, what: str, context: Context) -> DiagnosticCapture:
        """Run native code; what fails is said in words."""
        failures = (self._ir.MLIRError, ValueError, RuntimeError, SystemError)
        return DiagnosticCapture(what, context, failures)


def _places(module: Module, ir: Any) -> Iterator[Any]:
    """Yield every op and every block argument: all that carries a location."""
    found: list[Any] = []

    def visit(operation: Any) -> Any:
        found.append(operation)
        found.extend(a for region in operation.regions for block in region for a in block.arguments)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    yield from found
