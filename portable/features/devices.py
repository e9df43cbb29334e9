"""For how many devices a module says that it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from portable.bytecode import Bytecode

__all__ = ["replicas_and_partitions"]


def replicas_and_partitions(content: Bytecode, module: Mapping[str, int]) -> tuple[int, int]:
    """Return for how many replicas a module is, and into how many parts it is partitioned.

    Args:
        content: The artifact.
        module: The attributes of its module, each by its number.

    Returns:
        Both; 1 where the module says nothing that makes sense.
    """
    replicas, partitions = (
        _count(content, module.get(f"mhlo.num_{what}")) for what in ("replicas", "partitions")
    )
    return replicas, partitions


def _count(content: Bytecode, attribute: int | None) -> int:
    value = None if attribute is None else content.pool.attribute(attribute).fields.get("value")
    return value if isinstance(value, int) and value > 0 else 1
