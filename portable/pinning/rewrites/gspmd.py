"""Shardings of Shardy (sdy) as those of GSPMD (mhlo.sharding), which older readers know."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portable.pinning.rewrites.shardings import refuse_what_is_no_hint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from portable.pinning.rewrites.editor import Attribute, Editor, Operation

__all__ = ["has_shardy", "translate"]

_MESH = "sdy.mesh"
_SHARDING, _PREFIX, _MHLO = "sdy.sharding", "sdy.", "mhlo.sharding"
_LISTS = ("arg_attrs", "res_attrs")
# Those that place what they are given, and those that say something else of it.
_CONSTRAINTS = frozenset({"sdy.sharding_constraint", "sdy.reshard"})
_PASSING = frozenset({"sdy.propagation_barrier"})
_SILENT = frozenset({_MESH, "sdy.sharding_group"})
# As MLIR prints them; names of axes that are no words are refused.
_AXES = re.compile(r'"(\w+)"=(\d+)')
_IDS = re.compile(r"device_ids=\[([\d, ]*)\]")
_ONE = r'<@([\w.$-]+), \[((?:[^\[\]<>"]|"\w+")*)\](?:, replicated=\{[^{}<>]*\})?>'
_TENSOR = re.compile(_ONE)
_AROUND = re.compile(r"#sdy\.sharding(_per_value<\[[, ]*\]>)?")
_DIMENSION = re.compile(r'\{((?:"\w+"(?:, )?)*)\??\}(?:p\d+)?')
_NAME = re.compile(r'"(\w+)"')


@dataclass(frozen=True, slots=True)
class _Mesh:
    """The sizes of the axes in order, and the devices in the order of the axes."""

    sizes: Mapping[str, int]
    devices: np.ndarray[Any, np.dtype[np.int64]]


def has_shardy(editor: Editor, _module: Operation) -> bool:
    """Say whether a module has ops of Shardy, or such attributes on others."""
    return any(
        name.startswith(_PREFIX)
        for operation in editor.operations()
        for name in (operation.name, *editor.names(operation.attributes))
    )


def translate(editor: Editor, _modules: Sequence[Operation]) -> None:
    """Write each sharding over a mesh as the devices of each tile."""
    refuse_what_is_no_hint(editor)
    operations = editor.operations()
    meshes = {
        operation.attributes["sym_name"].value: _mesh(str(operation.attributes["mesh"]))
        for operation in operations
        if operation.name == _MESH
    }
    for operation in operations:
        if operation.name in _CONSTRAINTS:
            sharding = _written(editor, operation, meshes, str(operation.attributes["sharding"]))
            placed = editor.emit(
                operation,
                "stablehlo.custom_call",
                list(operation.operands),
                [result.type for result in operation.results],
                {"call_target_name": '"Sharding"', _MHLO: sharding},
            )
            editor.replace(operation, placed.results)
        elif operation.name in _PASSING:
            editor.replace(operation, list(operation.operands))
        elif operation.name in _SILENT:
            operation.operation.erase()
        else:
            _attributes(editor, operation, meshes)


def _attributes(editor: Editor, operation: Operation, meshes: Mapping[str, _Mesh]) -> None:
    ir, attributes = editor.ir, operation.attributes
    for name in editor.names(attributes):
        if name in _LISTS:
            entries = [
                {key: entry[key] for key in editor.names(entry)}
                for entry in map(ir.DictAttr, ir.ArrayAttr(attributes[name]))
            ]
            for entry in entries:
                if _SHARDING in entry:
                    text = str(entry.pop(_SHARDING))
                    entry[_MHLO] = _written(editor, operation, meshes, text)
            attributes[name] = ir.ArrayAttr.get([ir.DictAttr.get(entry) for entry in entries])
        elif name == _SHARDING:
            text = str(attributes[name])
            attributes[_MHLO] = _written(editor, operation, meshes, text)
        if name.startswith(_PREFIX):
            del attributes[name]


def _written(
    editor: Editor, operation: Operation, meshes: Mapping[str, _Mesh], text: str
) -> Attribute:
    """Return the attribute for a sharding, or for one of each of several results."""
    found = [_tiled(meshes, *match.groups()) for match in _TENSOR.finditer(text)]
    left = _TENSOR.sub("", text)
    if "" in found or not found or _AROUND.fullmatch(left) is None:
        raise editor.refuse(operation, f"its sharding has no form in GSPMD: {text}")
    whole = found[0] if len(found) == 1 else "{" + ", ".join(found) + "}"
    return editor.ir.StringAttr.get(whole)


def _mesh(text: str) -> _Mesh:
    sizes = {name: int(size) for name, size in _AXES.findall(text)}
    ids = _IDS.search(text)
    # Without axes a mesh is one device if it names that, and else all of them.
    count = math.prod(sizes.values()) if sizes else 0
    return _Mesh(sizes, np.array([*map(int, ids[1].split(","))] if ids else range(count), np.int64))


def _tiled(meshes: Mapping[str, _Mesh], name: str, dimensions: str) -> str:
    """Return the tiles and their devices as XLA reads them; empty where that is not known."""
    mesh = meshes.get(name)
    left = _DIMENSION.sub("", dimensions).replace(", ", "")
    if mesh is None or left:
        return ""
    if not mesh.sizes:
        return f"{{maximal device={mesh.devices[0]}}}" if len(mesh.devices) else "{replicated}"
    if len(mesh.devices) != math.prod(mesh.sizes.values()):
        return ""
    axes = [_NAME.findall(match[1]) for match in _DIMENSION.finditer(dimensions)]
    used = [axis for names in axes for axis in names]
    if not set(used) <= set(mesh.sizes):
        return ""
    tiles = [math.prod(mesh.sizes[axis] for axis in names) for names in axes]
    if math.prod(tiles) == 1:
        return "{replicated}"
    order = [*used, *(axis for axis in mesh.sizes if axis not in used)]
    places = [list(mesh.sizes).index(axis) for axis in order]
    devices = mesh.devices.reshape(tuple(mesh.sizes.values())).transpose(places).reshape(-1)
    copies = len(devices) // math.prod(tiles)
    shape = [*tiles, copies] if copies > 1 else tiles
    last = " last_tile_dim_replicate" if copies > 1 else ""
    listed = ",".join(map(str, devices))
    return f"{{devices=[{','.join(map(str, shape))}]{listed}{last}}}"
