"""Types and attributes that contain themselves: readers follow them until they crash or hang."""

from __future__ import annotations

import pytest

from compat_tests.helpers.bytecode_writer import UNKNOWN_LOCATION, Artifact, entry
from portable.bytecode import MalformedArtifact, read
from portable.bytecode.fields import ATTRIBUTES, POINTERS, TYPES
from portable.bytecode.layouts import BUILTIN, VHLO, Layout, table
from portable.inspection import inspect
from portable.prediction import predict

LEAVES = {TYPES: (VHLO, entry(4)), ATTRIBUTES: (BUILTIN, entry(UNKNOWN_LOCATION))}
# One item of each encoding; of what points to others, the entry of a number.
NUMBERS = {
    "type": "{0}",
    "types": "1 {0}",
    "attribute": "{0}",
    "attributes": "1 {0}",
    "optional": "{1}",
    "pairs": "1 {0} {0}",
    "string": "0",
    "strings": "1 0",
    **dict.fromkeys(("varint", "svarint", "double", "resource"), "0"),
    **dict.fromkeys(("varints", "svarints", "doubles"), "1 0"),
}
LAYOUTS = [
    pytest.param(dialect, kind, code, layout, id=f"{dialect}-{layout.name}")
    for dialect in (BUILTIN, VHLO)
    for kind in (TYPES, ATTRIBUTES)
    for code, layout in table(dialect, kind).items()
    if any(POINTERS.get(encoding, ("",))[0] == kind for _, encoding in layout.fields)
]


def _artifact(kind: str, dialect: str, entries: list[bytes]) -> bytes:
    """Return an artifact with a leaf of each kind, and some entries of one kind after it."""
    listed = {one: [leaf] for one, leaf in LEAVES.items()}
    listed[kind] += [(dialect, data) for data in entries]
    return bytes(Artifact(types=listed[TYPES], attributes=listed[ATTRIBUTES], strings=("a",)))


def _entry(layout: Layout, code: int, kind: str, number: int) -> bytes:
    numbers = [code]
    for _, encoding in layout.fields:
        own = POINTERS.get(encoding, ("",))[0] == kind
        at = number if own else 0
        numbers += map(int, NUMBERS[encoding].format(at, at << 1 | 1).split())
    return entry(*numbers)


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize(("dialect", "kind", "code", "layout"), LAYOUTS)
def test_what_contains_itself_is_damage(
    dialect: str, kind: str, code: int, layout: Layout, length: int
) -> None:
    """An entry of any kind that leads back to itself, by any number of others, is not read."""
    circle = [_entry(layout, code, kind, 1 + (at + 1) % length) for at in range(length)]
    data = _artifact(kind, dialect, circle)
    assert "contains itself" in inspect(data).damage
    with pytest.raises(MalformedArtifact, match="contains itself"):
        predict(data, "jaxlib 0.12.0.1")


@pytest.mark.parametrize(("dialect", "kind", "code", "layout"), LAYOUTS)
def test_what_contains_others_is_read(dialect: str, kind: str, code: int, layout: Layout) -> None:
    """Entries of any kind one in another, the same one twice too, are no circle."""
    chain = [_entry(layout, code, kind, at) for at in (0, 1, 1, 2, 3, 2)]
    read(data := _artifact(kind, dialect, chain))
    assert "contains itself" not in inspect(data).damage
