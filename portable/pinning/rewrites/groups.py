"""The groups of processes of a collective, written out or laid out over a mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from portable.pinning.rewrites.editor import Attribute, Editor, Operation

__all__ = ["Groups", "groups_of"]

Groups: TypeAlias = "list[list[int]]"

_EXPAND = "builtin.module(stablehlo-compatibility-expander{target=1.15.0})"
# Upstream lists the groups of a mesh; of a program that is nothing else, what it does is known.
_PROBE = """
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) {replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}
    : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}"""


def groups_of(editor: Editor, operation: Operation) -> Groups:
    """List the processes of each group.

    Args:
        editor: Of the module.
        operation: A collective with `replica_groups`.

    Returns:
        The groups, each in its order.

    Raises:
        DoesNotApply: There are no groups, or their mesh is not at hand.
    """
    attribute = operation.attributes["replica_groups"]
    if "mesh = @" in str(attribute):
        raise editor.refuse(operation, "its mesh is a name (allow mesh-names-to-meshes as well)")
    if not str(attribute).startswith("dense<"):
        attribute = _listed(editor, attribute)
    groups: Groups = np.array(editor.ir.DenseIntElementsAttr(attribute)).tolist()
    if not groups or not groups[0]:
        raise editor.refuse(operation, "it has no groups of processes")
    return groups


def _listed(editor: Editor, mesh: Attribute) -> Attribute:
    """Return the groups over a mesh as the tensor that upstream's expander makes of them."""
    probe = editor.ir.Module.parse(_PROBE)
    _probed(probe).attributes["replica_groups"] = mesh
    editor.run(probe, _EXPAND)
    return _probed(probe).attributes["replica_groups"]


def _probed(probe: Operation) -> Operation:
    (function,) = probe.body.operations
    return next(iter(function.regions[0].blocks[0].operations))
