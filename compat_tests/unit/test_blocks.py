"""What MLIR's verifier refuses of blocks that are well-formed: where they end, and values used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.bytecode_writer import Artifact, entry, operation, region, varint
from portable.bytecode import read

if TYPE_CHECKING:
    from collections.abc import Sequence

_F32 = ("vhlo", entry(4))
_NAMES = (
    "builtin.module",
    "vhlo.func_v1",
    "vhlo.abs_v1",
    "vhlo.return_v1",
    "?other.op",
    "vhlo.if_v1",
)
_FUNC, _ABS, _RETURN, _OTHER, _IF = range(1, 6)
_SUCCESSOR = 8
# Ops of a block: `a0` is an abs of value 0, with one result; `r0` and `r` return, `o` is unknown,
# `s` returns and names a block, `i(...)` has a region of its own.
_SOUND = ""
_END = "a block does not end with an operation that ends it"
_EARLY_END = "an operation ends a block and is not the last one in it"
_EMPTY = "a block without operations"
_NEXT = "an operation of VHLO with successors"


def _op(text: str) -> bytes:
    operands = [int(text[1:])] if text[1:] else []
    match text[0]:
        case "a":
            return operation(_ABS, results=[0], operands=operands)
        case "r":
            return operation(_RETURN, operands=operands)
        case "s":
            return varint(_RETURN) + bytes([_SUCCESSOR]) + varint(0) + varint(1) + varint(0)
    return operation(_OTHER, results=[0] if text[0] == "p" else ())


def _unreadable(blocks: Sequence[str], owner: int = _IF) -> str:
    """Return what is said of a region of some blocks."""
    ops = [[_op(one) for one in block.split()] for block in blocks]
    values = sum(one[0] in "ap" for block in blocks for one in block.split())
    body = varint(len(ops)) + varint(values)
    body += b"".join(varint(len(block) << 1) + b"".join(block) for block in ops)
    top = operation(0, regions=[region([operation(owner, regions=[body])])], isolated=True)
    artifact = Artifact(names=_NAMES, types=[_F32], operations=[top])
    return read(bytes(artifact)).scan().invalid.partition(" (byte")[0]


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (["r"], _SOUND),
        (["p r"], _SOUND),
        (["p a0 r1"], _SOUND),
        (["p"], _SOUND),  # whether it ends a block is not known
        (["p a0"], _END),
        (["r", "p a0"], _END),
        (["r r"], _EARLY_END),
        (["r p"], _EARLY_END),
        (["p r r"], _EARLY_END),
        (["r", "r r"], _EARLY_END),
        ([""], _EMPTY),
        (["r", ""], _EMPTY),
        (["a0 r"], "value 0 is used before it is defined"),
        (["a1 p r"], "value 1 is used before it is defined"),
        (["r1", "p p r"], "value 1 is used before it is defined"),
        # No operation leads to a second block, which so is not looked at.
        (["r", "a0 r"], _SOUND),
        (["r", "a1 p r", "r"], _SOUND),
        (["s"], _NEXT),
        (["p s", "r"], _NEXT),
    ],
)
def test_blocks_of_vhlo_are_what_the_verifier_takes(blocks: list[str], said: str) -> None:
    """The first thing that is wrong is said; in a region of an unknown op nothing is."""
    assert _unreadable(blocks) == said
    loose = "s" not in "".join(blocks)
    assert _unreadable(blocks, _OTHER) == (_SOUND if loose else said)


def test_a_value_around_a_region_is_used_after_it_is_defined() -> None:
    """Its own op defines its values behind its regions."""
    for use, said in ((0, _SOUND), (1, "value 1 is used before it is defined")):
        inner = region([operation(_RETURN, operands=[use])])
        body = [operation(_OTHER, results=[0]), operation(_IF, results=[0], regions=[inner])]
        outer = region([*body, operation(_RETURN)], values=2)
        top = operation(0, regions=[region([operation(_IF, regions=[outer])])], isolated=True)
        artifact = Artifact(names=_NAMES, types=[_F32], operations=[top])
        assert read(bytes(artifact)).scan().invalid.partition(" (byte")[0] == said
