"""Changing a module: find ops, put others in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from portable.version import Version

__all__ = ["Attribute", "DoesNotApply", "Editor", "NothingToDo", "Operation"]

# The bindings ship no types; these names say what is meant.
Operation: TypeAlias = Any
Value: TypeAlias = Any
Type: TypeAlias = Any
Attribute: TypeAlias = Any


class DoesNotApply(PortableError):
    """A rewrite that was requested cannot be done, or has nothing to do."""


class NothingToDo(DoesNotApply):
    """Rewrites that were named are not needed; `names` says which.

    Args:
        names: The rewrites.
        target: The Version that was to be reached.
    """

    def __init__(self, names: frozenset[str], target: Version) -> None:
        super().__init__(
            f"not required in this program: {', '.join(sorted(names))} to reach {target}",
            target=str(target),
            hint="remove it, or allow exact, which applies only what is required",
        )
        self.names = names


class Editor:
    """One module while it is rewritten.

    Args:
        ir: The namespace of the bindings, with the context of the module entered.
        module: Owned by the caller; rewritten in place.
        target: The Version to reach.
        run: Runs a pass pipeline on a module.
    """

    def __init__(
        self, ir: Any, module: Any, target: Version, run: Callable[[Any, str], None]
    ) -> None:
        self.ir = ir
        self.run = run
        self.module = module
        self.target = target
        self.gone: set[int] = set()
        """The ids of the objects of ops that were replaced: those must not be used any more."""

    def select(self, names: frozenset[str]) -> dict[str, list[Operation]]:
        """Return the ops of these names, by name, inner ones before those around them."""
        found: dict[str, list[Operation]] = {}
        for operation in self.operations(names):
            found.setdefault(operation.name, []).append(operation)
        return found

    def operations(self, names: frozenset[str] | None = None) -> list[Operation]:
        """Return the ops of these names, or all, inner ones before those around them."""
        found: list[Operation] = []
        proceed = self.ir.WalkResult.ADVANCE

        def visit(operation: Operation) -> Any:
            if names is None or operation.name in names:
                found.append(operation)
            return proceed

        self.module.operation.walk(visit)
        return found

    def refuse(self, operation: Operation, reason: str) -> DoesNotApply:
        """Return the error for an op that a rewrite cannot rewrite."""
        where = str(operation.location).removeprefix("loc(").removesuffix(")")
        return DoesNotApply(f"{operation.name}: {reason}", where=where)

    def emit(
        self,
        before: Operation,
        name: str,
        operands: Sequence[Value],
        results: Sequence[Type],
        attributes: Mapping[str, Attribute | str] | None = None,
        *,
        regions: int = 0,
    ) -> Operation:
        """Put a new op in front of another, with its location.

        Args:
            before: The other op.
            name: For example `stablehlo.iota`.
            operands: Its operands.
            results: The types of its results.
            attributes: By name; text is parsed.
            regions: How many empty regions it gets.

        Returns:
            The new op.
        """
        return self.ir.Operation.create(
            name,
            results=list(results),
            operands=list(operands),
            attributes={
                key: self.ir.Attribute.parse(value) if isinstance(value, str) else value
                for key, value in (attributes or {}).items()
            },
            regions=regions,
            loc=before.location,
            ip=self.ir.InsertionPoint(before),
        )

    def replace(self, operation: Operation, values: Sequence[Value]) -> None:
        """Use other values instead of the results of an op, and erase it."""
        for old, new in zip(operation.results, values, strict=True):
            old.replace_all_uses_with(new)
        operation.operation.erase()
        self.gone.add(id(operation))

    def names(self, attributes: Any) -> list[str]:
        """Return the names of the attributes of an op, or of a dictionary."""
        # Iterating gives names on newer bindings, named attributes on older ones.
        return [item if isinstance(item, str) else item.name for item in attributes]

    def copy_regions(self, source: Operation, destination: Operation) -> None:
        """Give `destination`, whose regions are empty, copies of those of `source`."""
        if not len(source.regions):
            return
        clone = source.operation.clone()
        for region, empty in zip(clone.regions, destination.regions, strict=True):
            for block in list(region.blocks):
                block.append_to(empty)
        clone.operation.erase()

    def tensor(self, shape: Sequence[int], element: Type) -> Type:
        """Return the type of a tensor."""
        return self.ir.RankedTensorType.get(list(shape), element)

    def retyped(self, value: Value, element: Type) -> Type:
        """Return the type of `value` with another element type."""
        kind = self.ir.RankedTensorType(value.type)
        return self.ir.RankedTensorType.get(kind.shape, element, kind.encoding)

    def element(self, value: Value) -> Type:
        """Return the element type of a tensor."""
        return self.ir.ShapedType(value.type).element_type

    def convert(self, before: Operation, value: Value, element: Type) -> Value:
        """Return `value` with another element type; `value` itself if it has that already."""
        if self.element(value) == element:
            return value
        converted = self.retyped(value, element)
        return self.emit(before, "stablehlo.convert", [value], [converted]).result
