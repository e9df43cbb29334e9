"""Collectives: started and waited for, of several operands, over meshes by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from portable.pinning.rewrites.channels import Channels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.pinning.rewrites.editor import Editor

__all__ = ["has_mesh_name", "is_any", "is_variadic", "meshes", "split", "synchronous"]

_MESH_NAME = re.compile(r"(mesh = )@([\w.$-]+)")


def is_any(_editor: Editor, _operation: Any) -> bool:
    """Accept every op of the names requested."""
    return True


def synchronous(editor: Editor, starts: Sequence[Any]) -> None:
    """Do at once what async_start starts, in its place."""
    for start in starts:
        block = start.regions[0].blocks[0]
        for argument, operand in zip(block.arguments, start.operands, strict=True):
            argument.replace_all_uses_with(operand)
        *operations, end = list(block.operations)
        values = list(end.operands)
        dones = [use.owner for result in start.results for use in result.uses]
        for done in dones:
            if done.operation.name != "stablehlo.async_done":
                raise editor.refuse(start, f"its future is used by {done.operation.name}")
        for operation in operations:
            operation.operation.move_before(start)
        for done in dones:
            editor.replace(done.operation, values)
        start.operation.erase()


def is_variadic(_editor: Editor, operation: Any) -> bool:
    """Say whether a collective has several operands, all of them data."""
    return len(operation.results) > 1 and "has_dynamic_root" not in operation.attributes


def split(editor: Editor, collectives: Sequence[Any]) -> None:
    """Give every operand a collective of its own, and that a channel of its own."""
    channels = Channels(editor)
    for collective in collectives:
        names = editor.names(collective.attributes)
        attributes = {name: collective.attributes[name] for name in names}
        pairs = zip(collective.operands, collective.results, strict=True)
        made = []
        for number, (operand, result) in enumerate(pairs):
            one = editor.emit(
                collective,
                collective.name,
                [operand],
                [result.type],
                attributes | (channels.next(collective) if number else {}),
                regions=len(collective.regions),
            )
            editor.copy_regions(collective, one)
            made.append(one.result)
        editor.replace(collective, made)


def has_mesh_name(_editor: Editor, operation: Any) -> bool:
    """Say whether the replica groups are given by the name of a mesh."""
    attributes = operation.attributes
    groups = str(attributes["replica_groups"]) if "replica_groups" in attributes else ""
    return _MESH_NAME.search(groups) is not None


def meshes(editor: Editor, collectives: Sequence[Any]) -> None:
    """Write the mesh in place of its name; remove meshes that nothing names any more."""
    known = {
        operation.attributes["sym_name"].value: operation
        for operation in editor.select(frozenset({"sdy.mesh"})).get("sdy.mesh", [])
    }
    for collective in collectives:
        groups = str(collective.attributes["replica_groups"])
        name = _MESH_NAME.search(groups)
        if name is None or name[2] not in known:
            raise editor.refuse(collective, "its mesh is not defined in the program")
        mesh = _stablehlo_mesh(str(known[name[2]].attributes["mesh"]))
        collective.attributes["replica_groups"] = editor.ir.Attribute.parse(
            groups.replace(name[0], f"mesh = {mesh}")
        )
    text = str(editor.module)
    for name, operation in known.items():
        if len(re.findall(rf"@{re.escape(name)}\b", text)) == 1:
            operation.operation.erase()


def _stablehlo_mesh(text: str) -> str:
    """Translate `#sdy.mesh<["x"=2, "y"=2]>` into StableHLO's spelling."""
    axes = re.findall(r'"(\w+)"=(\d+)', text)
    named = ", ".join(
        f'#stablehlo.mesh_axis<name = "{name}", size = {size}>' for name, size in axes
    )
    devices = re.search(r"device_ids=\[([^\]]*)\]", text)
    if devices is None:
        return f"#stablehlo.mesh<axes = [{named}]>"
    count = len(devices[1].split(","))
    ids = f"dense<[{devices[1]}]> : tensor<{count}xi64>"
    return f"#stablehlo.mesh<axes = [{named}], device_ids = {ids}>"
