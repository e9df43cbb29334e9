"""Shardings: hints where values lie on several devices, of Shardy (sdy) and GSPMD (mhlo)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from portable.pinning.rewrites.channels import CHANNELED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.pinning.rewrites.editor import Attribute, Editor, Operation

__all__ = ["PLACING", "drop", "is_sharded", "refuse_what_is_no_hint", "remove", "subject_of"]

_CALL = "stablehlo.custom_call"
# Ops, and targets of custom calls, that return what they are given, wherever it lies from there on.
PLACING = frozenset(
    {
        "sdy.propagation_barrier",
        "sdy.reshard",
        "sdy.sharding_constraint",
        "Sharding",
        "xla.sdy.FuncResultSharding",
        "xla.sdy.PropagationBarrier",
    }
)
# Those that return nothing, and say something of other ops.
_SAYING = frozenset({"sdy.mesh", "sdy.sharding_group", "xla.sdy.ShardingGroup"})
_HINTS = PLACING | _SAYING | {"sdy.return"}
_PART = "it computes on the part of a value that one device has, which is no hint"
_OTHERS = "it needs the devices that the program is sharded over"
_PARTIAL = "its sharding is no hint: each device has a part of a sum, or of the value"
# What is no hint; where one is in another, the outer one comes first.
_NEEDING = {
    "sdy.manual_computation": _PART,
    "SPMDFullToShardShape": _PART,
    "SPMDShardToFullShape": _PART,
    "xla.sdy.GlobalToLocalShape": _PART,
    "xla.sdy.LocalToGlobalShape": _PART,
    **dict.fromkeys(sorted(CHANNELED | {"stablehlo.partition_id"}), _OTHERS),
}
_PARTITIONS, _ONE = "mhlo.num_partitions", "1 : i32"
# Attributes whose entries XLA hands through, and those of arguments and results.
_FRONTEND, _LISTS = "mhlo.frontend_attributes", ("arg_attrs", "res_attrs")
_IS_PARTIAL = re.compile(r'unreduced=\{|^"\{.*(manual|unreduced)')


def is_sharded(editor: Editor, module: Operation) -> bool:
    """Say whether anything in a module is about several partitions."""
    if _PARTITIONS in module.attributes and str(module.attributes[_PARTITIONS]) != _ONE:
        return True
    return any(
        subject_of(operation).startswith("sdy.")
        or subject_of(operation) in PLACING | _SAYING
        or _without_shardings(editor, operation.attributes)[1]
        for operation in editor.operations()
    )


def drop(editor: Editor, modules: Sequence[Operation]) -> None:
    """Remove every hint: each value is whole, on one device."""
    refuse_what_is_no_hint(editor)
    remove(editor, modules)


def remove(editor: Editor, modules: Sequence[Operation]) -> None:
    """Remove every sharding of a program that is for one device, where they say nothing."""
    for operation in editor.operations():
        subject = subject_of(operation)
        if subject in _SAYING:
            operation.operation.erase()
        elif subject in PLACING:
            editor.replace(operation, list(operation.operands))
        else:
            _strip(editor, operation)
    for module in modules:
        if _PARTITIONS in module.attributes:
            module.attributes[_PARTITIONS] = editor.ir.Attribute.parse(_ONE)


def subject_of(operation: Operation) -> str:
    """Return the name of an op; of a custom call, its target."""
    name: str = operation.name
    return operation.attributes["call_target_name"].value if name == _CALL else name


def refuse_what_is_no_hint(editor: Editor) -> None:
    """Refuse the first op that needs the devices it is sharded over."""
    operations = editor.operations()
    found = {subject_of(operation): operation for operation in reversed(operations)}
    foreign = [name for name in found if name.startswith("sdy.") and name not in _HINTS]
    for subject in (*_NEEDING, *foreign):
        if subject in found:
            called = f"@{subject}: " if found[subject].name == _CALL else ""
            reason = _NEEDING.get(subject, "it is not known to be a hint")
            raise editor.refuse(found[subject], called + reason)
    for operation in operations:
        shardings = _without_shardings(editor, operation.attributes)[1]
        if operation.name in PLACING and "sharding" in operation.attributes:
            shardings.append(str(operation.attributes["sharding"]))
        if any(map(_IS_PARTIAL.search, shardings)):
            raise editor.refuse(operation, _PARTIAL)
        subject = subject_of(operation)
        used = subject in _SAYING and any(True for one in operation.results for _ in one.uses)
        if used or (subject in PLACING and _types(operation.operands) != _types(operation.results)):
            raise editor.refuse(operation, f"{subject} does not return what it is given")


def _types(values: Sequence[Any]) -> list[Any]:
    return [value.type for value in values]


def _strip(editor: Editor, operation: Operation) -> None:
    for name, left in _without_shardings(editor, operation.attributes)[0].items():
        if left is None:
            del operation.attributes[name]
        else:
            operation.attributes[name] = left


def _without_shardings(
    editor: Editor, attributes: Any
) -> tuple[dict[str, Attribute | None], list[str]]:
    """Return what becomes of the attributes that have shardings, and the shardings as text.

    Others are not read: the bindings have no object for constants of complex numbers.
    """
    ir = editor.ir
    becomes: dict[str, Attribute | None] = {}
    dropped: list[str] = []
    for name in editor.names(attributes):
        if name == "mhlo.sharding" or name.startswith(("sdy.", "xla.sdy.")):
            becomes[name] = None
            dropped.append(str(attributes[name]))
        elif name == _FRONTEND or name in _LISTS:
            value = attributes[name]
            entries = [value] if name == _FRONTEND else ir.ArrayAttr(value)
            left = []
            texts: list[str] = []
            for entry in map(ir.DictAttr, entries):
                changed, found = _without_shardings(editor, entry)
                each = {one: changed.get(one, entry[one]) for one in editor.names(entry)}
                left.append({one: kept for one, kept in each.items() if kept is not None})
                texts += found
            if texts:
                made = [ir.DictAttr.get(entry) for entry in left]
                whole = made[0] if name == _FRONTEND else ir.ArrayAttr.get(made)
                becomes[name] = whole if any(left) else None
                dropped += texts
    return becomes, dropped
