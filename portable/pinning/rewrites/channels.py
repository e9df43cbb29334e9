"""The channels that collectives communicate on: no two may share one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from portable.pinning.rewrites.editor import Attribute, Editor, Operation

__all__ = ["CHANNELED", "GROUPED", "Channels"]

GROUPED = frozenset(
    f"stablehlo.{name}"
    for name in (
        "all_gather",
        "all_reduce",
        "all_to_all",
        "collective_broadcast",
        "collective_reduce",
        "reduce_scatter",
    )
)
"""The collectives that name groups of processes."""
CHANNELED = GROUPED | {"stablehlo.collective_permute", "stablehlo.recv", "stablehlo.send"}
"""The ops that communicate on channels."""
_ATTRIBUTE = "channel_handle"
_HANDLE = re.compile(r"handle = (\d+)")


class Channels:
    """Hands out channels that no collective of the module uses.

    Args:
        editor: Of the module.
    """

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._last = -1

    def of(self, operation: Operation) -> int:
        """Return the channel of an op; 0 for none."""
        if _ATTRIBUTE not in operation.attributes:
            return 0
        found = _HANDLE.search(str(operation.attributes[_ATTRIBUTE]))
        return int(found[1]) if found else 0

    def next(self, operation: Operation) -> dict[str, Attribute]:
        """Return the attribute for an op in the place of another: a new channel if that has one."""
        if not self.of(operation):
            return {}
        handle = _HANDLE.sub(f"handle = {self._free()}", str(operation.attributes[_ATTRIBUTE]))
        return {_ATTRIBUTE: self._editor.ir.Attribute.parse(handle)}

    def _free(self) -> int:
        if self._last < 0:
            found = self._editor.select(CHANNELED).values()
            self._last = max((self.of(one) for ones in found for one in ones), default=0)
        self._last += 1
        return self._last
