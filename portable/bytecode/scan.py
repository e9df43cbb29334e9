"""All operations of an artifact at once: how often each kind of operation occurs.

Most operations have no region, one result and few operands, and thousands of them differ in
nothing but their location and the values they use. So one pattern reads such an operation in C,
and what it has in common with others, its Shape, is looked at once. Everything else goes through
the careful `Walker`.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import islice, takewhile
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.encoding import Cursor
from portable.bytecode.operations import Walker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from portable.bytecode.operations import Operation, Sizes

    Key: TypeAlias = tuple[bytes, ...]

__all__ = ["Scan", "Shape", "scan"]

# Below this many operations in a row the pattern does not pay.
_WORTHWHILE = 12
_CHUNK = 2048


class Shape(NamedTuple):
    """What operations have in common that differ only in location and values.

    Args:
        name: The operation name.
        attributes: The attribute dictionary; -1 if there is none.
        properties: The property entry; -1 if there is none.
        results: The types of the results.
        operands: How many operands there are.
        regions: How many regions there are.
        operand_types: The types of the operands, where they were asked for and are known.
    """

    name: int
    attributes: int
    properties: int
    results: tuple[int, ...]
    operands: int
    regions: int
    operand_types: tuple[int | None, ...] | None
