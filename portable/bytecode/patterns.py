"""Patterns that read whole operations in C.

An operation is: name, mask, location, then what the mask announces. The patterns know the masks of
operations with at most one result and a few operands; numbers of up to three bytes. Whatever they
do not match is left to the careful `Walker`.
"""

from __future__ import annotations

from functools import cache
from itertools import islice, takewhile
from operator import attrgetter, itemgetter, methodcaller
from typing import TYPE_CHECKING

from portable.bytecode.operations import Mask

if TYPE_CHECKING:
    from re import Match, Pattern
    from typing import TypeAlias

    from portable.bytecode.encoding import Buffer

    Key: TypeAlias = tuple[bytes | None, ...]

__all__ = [
    "DEFINES",
    "ENDS",
    "ENTRIES",
    "FORMS",
    "GROUPS",
    "encoded",
    "entry_pattern",
    "matches",
    "needs_care",
    "number",
    "number_pattern",
]

_MOST_OPERANDS = 8
_INLINED = 3
_LONGEST = 3
_HAS_GROUP = attrgetter("lastindex")

_WITH_RESULT_AND_OPERANDS = tuple(
    int(Mask.RESULTS | Mask.OPERANDS | form)
    for form in (Mask.PROPERTIES, 0, Mask.PROPERTIES | Mask.ATTRIBUTES, Mask.ATTRIBUTES)
)
_WITH_OPERANDS = (*_WITH_RESULT_AND_OPERANDS, int(Mask.OPERANDS))
_WITHOUT_OPERANDS = tuple(
    int(Mask.RESULTS | form)
    for form in (Mask.PROPERTIES, Mask.ATTRIBUTES, Mask.PROPERTIES | Mask.ATTRIBUTES, 0)
)
_ALONE = tuple(
    int(form) for form in (0, Mask.PROPERTIES, Mask.ATTRIBUTES, Mask.PROPERTIES | Mask.ATTRIBUTES)
)
FORMS = (*_WITH_OPERANDS, *_WITHOUT_OPERANDS, *_ALONE)
"""The masks that the pattern of plain operations knows, in the order of its groups."""
ENTRIES = tuple(int(form | Mask.REGIONS) for form in _WITH_RESULT_AND_OPERANDS)
"""The masks that the pattern of operations with a region knows, in the order of its groups."""
GROUPS = methodcaller("groups")
"""Gets everything that makes the OpSignature of a match: its key."""
ENDS = itemgetter(*(1 + at for at, form in enumerate(FORMS) if not form & Mask.RESULTS))
"""Gets from a key the groups of operations without a result."""
DEFINES = (None,) * (1 + len(_ALONE))
"""What `ENDS` gets of an operation that has one."""

# A plain number: flags are combined once here, which costs more than all the rest of this module.
_CAREFUL = int(Mask.REGIONS | Mask.SUCCESSORS | Mask.USE_LIST_ORDERS)


def needs_care(content: Buffer, position: int) -> bool:
    """Whether the mask of the operation at a position shows that no plain pattern matches it."""
    # The mask follows the name, which is one byte long if that byte is odd.
    head = content[position : position + 2]
    return len(head) == 2 and bool(head[0] & 1 and head[1] & _CAREFUL)


def matches(content: Buffer, start: int, end: int, most: int) -> list[Match[bytes]]:
    """Return the plain operations from `start` on, without a gap, as far as the pattern reads."""
    # Where no operation matches, the last alternative takes a byte and sets no group.
    found = takewhile(_HAS_GROUP, _run_pattern().finditer(content, start, end))
    return list(islice(found, most))


def number(encoded: bytes) -> int:
    """Decode a number that a pattern has found, so it is whole; what follows it does not count."""
    first = encoded[0]
    if first & 1:
        return first >> 1
    length = (first & -first).bit_length()
    return int.from_bytes(encoded[:length], "little") >> length


def encoded(value: int) -> bytes:
    """Encode a number as writers do, in as few bytes as it takes."""
    length = max(1, -(-value.bit_length() // 7))
    return (value << length | 1 << length - 1).to_bytes(length, "little")


@cache
def _run_pattern() -> Pattern[bytes]:
    """Compile the pattern of plain operations: the name in group 1, and a group for each form.

    A form's group holds everything between the location and the operands, so that two operations
    have the same groups exactly if they have the same OpSignature.
    """
    import re  # small artifacts need no patterns, and no `re`

    with_operands = [_form(form) for form in _WITH_OPERANDS]
    without_operands = [_form(form) for form in (*_WITHOUT_OPERANDS, *_ALONE)]
    return re.compile(
        b"(%b)(?:(?:%b)(?:%b)|%b)|."
        % (number_pattern(), b"|".join(with_operands), _operands(), b"|".join(without_operands)),
        re.DOTALL,
    )


@cache
def entry_pattern() -> Pattern[bytes]:
    """Compile the pattern of an operation with one region of one block, to where the block starts.

    Its groups: the name; one for each form, as above; the operands; the length of the section that
    holds the region if it is isolated; how many values the region has; the head of the block.
    """
    import re

    number_ = number_pattern()
    return re.compile(
        rb"(%b)(?:%b)(%b)(?:\x07\x04(%b)|\x05)\x03(%b)(%b)"
        % (number_, b"|".join(map(_form, ENTRIES)), _operands(), number_, number_, number_),
        re.DOTALL,
    )


def _form(form: int) -> bytes:
    """Return the pattern of mask, location and a group with what follows up to the operands."""
    tables = bool(form & Mask.ATTRIBUTES) + bool(form & Mask.PROPERTIES)
    results = rb"\x03" + number_pattern() if form & Mask.RESULTS else b""
    count = b"[" + b"".join(_counts()) + b"]" if form & Mask.OPERANDS else b""
    return b"\\x%02x%b(%b%b%b)" % (
        form,
        number_pattern(),
        number_pattern() * tables,
        results,
        count,
    )


def _operands() -> bytes:
    """Return the pattern of as many numbers as the count before it says."""
    return b"|".join(
        b"(?<=%b)" % code
        + (number_pattern() * count if count <= _INLINED else number_pattern() + b"{%d}" % count)
        for count, code in enumerate(_counts(), 1)
    )


def _counts() -> list[bytes]:
    return [b"\\x%02x" % (count << 1 | 1) for count in range(1, _MOST_OPERANDS + 1)]


@cache
def number_pattern() -> bytes:
    """Return the pattern of a number of up to three bytes; trailing zeros encode its length."""
    lengths = []
    for more in range(_LONGEST):
        first = [byte for byte in range(256) if byte & (2 << more) - 1 == 1 << more]
        # Bytes stand for themselves where they can: escapes take longer to compile.
        escaped = [b"\\" * (byte in b"\\]^-[&~|") + bytes([byte]) for byte in first]
        lengths.append(b"[" + b"".join(escaped) + b"]" + b"." * more)
    return b"(?:" + b"|".join(lengths) + b")"
