"""Collectives with a root: broadcasts from one process, reductions to one.

A collective_permute leaves zeros on every process that it sends nothing to, which is what both do
with processes that they do not concern.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable.pinning.rewrites.channels import Channels
from portable.pinning.rewrites.groups import groups_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.pinning.rewrites.editor import Editor
    from portable.pinning.rewrites.groups import Groups

__all__ = ["broadcasts", "has_dynamic_root", "has_fixed_root", "reductions", "slices"]

_DYNAMIC, _GLOBAL = "has_dynamic_root", "use_global_device_ids"


def has_dynamic_root(_editor: Editor, operation: Any) -> bool:
    """Say whether the root of a collective is a value."""
    return _DYNAMIC in operation.attributes


def has_fixed_root(editor: Editor, operation: Any) -> bool:
    """Say whether the root of a collective is the first of each group."""
    return not has_dynamic_root(editor, operation)


def broadcasts(editor: Editor, operations: Sequence[Any]) -> None:
    """Hand on what the roots have: each time, twice as many processes have it."""
    channels = Channels(editor)
    for operation in operations:
        groups = groups_of(editor, operation)
        made = []
        for value in operation.operands:
            bits, back = _as_integers(editor, operation, value)
            parts = [_sent(editor, operation, channels, part, groups) for part in bits]
            made.append(back(parts))
        editor.replace(operation, made)


def reductions(editor: Editor, operations: Sequence[Any]) -> None:
    """Reduce on all processes, and keep the result where the root is."""
    channels = Channels(editor)
    for operation in operations:
        if has_dynamic_root(editor, operation):
            raise editor.refuse(
                operation, "its root is a runtime value, which a permutation cannot use"
            )
        groups = groups_of(editor, operation)
        _refuse_others(editor, operation, groups)
        kept = {"replica_groups", _GLOBAL} & set(editor.names(operation.attributes))
        attributes = {name: operation.attributes[name] for name in kept}
        if channels.of(operation) and _GLOBAL not in kept:
            raise editor.refuse(operation, "it reduces over replicas and partitions")
        made = []
        for operand, result in zip(operation.operands, operation.results, strict=True):
            # A reduction to a wider type is one of converted operands.
            value = editor.convert(operation, operand, editor.element(result))
            whole = editor.emit(
                operation,
                "stablehlo.all_reduce",
                [value],
                [result.type],
                attributes | channels.next(operation),
                regions=1,
            )
            editor.copy_regions(operation, whole)
            roots = [(group[0], group[0]) for group in groups]
            made.append(_permuted(editor, operation, channels, whole.result, roots))
        editor.replace(operation, made)


def slices(editor: Editor, operations: Sequence[Any]) -> None:
    """Gather what all processes of the group have, and take what the root has."""
    channels = Channels(editor)
    for operation in operations:
        _refuse_others(editor, operation, groups_of(editor, operation))
        *values, roots = operation.operands
        made = []
        for number, value in enumerate(values):
            if not value.type.has_static_shape:
                raise editor.refuse(
                    operation, "its root is a runtime value, and the sizes are unknown"
                )
            gathered = _gathered(editor, operation, channels, value)
            root = _element(editor, operation, roots, number)
            made.append(_row(editor, operation, gathered, root, value.type))
        editor.replace(operation, made)


def _refuse_others(editor: Editor, operation: Any, groups: Groups) -> None:
    """Refuse what a collective over all processes does not do."""
    named = sorted(number for group in groups for number in group)
    if named != list(range(len(named))):
        raise editor.refuse(operation, "its groups do not include every process")
    module = editor.module.operation.attributes
    replicas = str(module["mhlo.num_replicas"]) if "mhlo.num_replicas" in module else ""
    if Channels(editor).of(operation) and not replicas.startswith("1 "):
        raise editor.refuse(
            operation, "it exchanges between partitions, and mhlo.num_replicas is not known to be 1"
        )


def _permuted(
    editor: Editor,
    operation: Any,
    channels: Channels,
    value: Any,
    pairs: Sequence[tuple[int, int]],
) -> Any:
    """Send a value between the processes of `pairs`; the others get zeros."""
    text = f"dense<{[list(pair) for pair in pairs]}> : tensor<{len(pairs)}x2xi64>"
    return editor.emit(
        operation,
        "stablehlo.collective_permute",
        [value],
        [value.type],
        {"source_target_pairs": text} | channels.next(operation),
    ).result


def _sent(editor: Editor, operation: Any, channels: Channels, bits: Any, groups: Groups) -> Any:
    """Return integers as the first process of each group has them, elsewhere zeros."""
    roots = [(group[0], group[0]) for group in groups]
    held = _permuted(editor, operation, channels, bits, roots)
    reach, longest = 1, max(map(len, groups))
    while reach < longest:
        pairs = [
            pair for group in groups for pair in zip(group[:reach], group[reach:], strict=False)
        ]
        more = _permuted(editor, operation, channels, held, pairs)
        held = editor.emit(operation, "stablehlo.or", [held, more], [held.type]).result
        reach *= 2
    return held


def _as_integers(editor: Editor, operation: Any, value: Any) -> Any:
    """Return the bits of a value as tensors of integers, and how to make the value of them."""
    ir, element = editor.ir, editor.element(value)
    if isinstance(element, ir.IntegerType):
        return [value], lambda parts: parts[0]
    if isinstance(element, ir.ComplexType):
        halves = [_part(editor, operation, value, name) for name in ("real", "imag")]
        (real, back), (imaginary, _) = (_as_integers(editor, operation, h) for h in halves)

        def joined(parts: Sequence[Any]) -> Any:
            sides = [back([part]) for part in parts]
            return editor.emit(operation, "stablehlo.complex", sides, [value.type]).result

        return [*real, *imaginary], joined
    if not isinstance(element, ir.FloatType) or element.width not in {4, 8, 16, 32, 64}:
        raise editor.refuse(operation, f"no integer type has the width of {element}")
    kind = editor.retyped(value, ir.IntegerType.get_unsigned(element.width))
    bits = editor.emit(operation, "stablehlo.bitcast_convert", [value], [kind]).result

    def floats(parts: Sequence[Any]) -> Any:
        back = editor.retyped(parts[0], element)
        return editor.emit(operation, "stablehlo.bitcast_convert", list(parts), [back]).result

    return [bits], floats


def _part(editor: Editor, operation: Any, value: Any, name: str) -> Any:
    kind = editor.retyped(value, editor.ir.ComplexType(editor.element(value)).element_type)
    return editor.emit(operation, f"stablehlo.{name}", [value], [kind]).result


def _gathered(editor: Editor, operation: Any, channels: Channels, value: Any) -> Any:
    """Return what every process of the group has, along a new first dimension."""
    kind = editor.ir.RankedTensorType(value.type)
    (count,) = {len(group) for group in groups_of(editor, operation)}
    one, all_of_them = (
        editor.tensor([size, *kind.shape], kind.element_type) for size in (1, count)
    )
    row = editor.emit(operation, "stablehlo.reshape", [value], [one]).result
    channel = channels.next(operation)
    attributes = {"replica_groups": operation.attributes["replica_groups"]} | channel
    if channel:
        attributes[_GLOBAL] = "unit"
    attributes["all_gather_dim"] = "0 : i64"
    return editor.emit(operation, "stablehlo.all_gather", [row], [all_of_them], attributes).result


def _element(editor: Editor, operation: Any, values: Any, number: int) -> Any:
    """Return one element of a vector, as a tensor without dimensions."""
    element = editor.element(values)
    attributes = {
        "start_indices": f"array<i64: {number}>",
        "limit_indices": f"array<i64: {number + 1}>",
        "strides": "array<i64: 1>",
    }
    one = editor.emit(
        operation, "stablehlo.slice", [values], [editor.tensor([1], element)], attributes
    ).result
    return editor.emit(operation, "stablehlo.reshape", [one], [editor.tensor([], element)]).result


def _row(editor: Editor, operation: Any, rows: Any, number: Any, kind: Any) -> Any:
    """Return one of `rows`."""
    shape = list(editor.ir.RankedTensorType(kind).shape)
    zero = editor.emit(
        operation,
        "stablehlo.constant",
        [],
        [number.type],
        {"value": f"dense<0> : {number.type}"},
    ).result
    sizes = ", ".join(map(str, [1, *shape]))
    row = editor.emit(
        operation,
        "stablehlo.dynamic_slice",
        [rows, number, *[zero] * len(shape)],
        [editor.tensor([1, *shape], editor.element(rows))],
        {"slice_sizes": f"array<i64: {sizes}>"},
    ).result
    return editor.emit(operation, "stablehlo.reshape", [row], [kind]).result
