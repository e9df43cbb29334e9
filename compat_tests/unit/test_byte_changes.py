"""Single changed bytes, orders of uses and resources: predicted as real jaxlibs were seen to do.

`PORTABLE_BYTE_CHANGES=1/1` takes every change instead of one in 97; `python -m tools byte_changes`
asks the Releases again and writes the record.
"""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

import pytest

from compat_tests.adversarial.generators.use_lists import orders, program, resources
from compat_tests.helpers.bytecode_writer import operation, varint
from portable.bytecode import MalformedArtifact, read
from portable.bytecode import scan as scan_module
from tools.byte_changes import ARTIFACTS, READERS, RECORD, changes, predicted, unpack
from tools.enumeration import part

RECORDED: dict[str, dict[str, Any]] = json.loads(RECORD.read_text("utf-8"))
FIRST, EACH = part(os.environ.get("PORTABLE_BYTE_CHANGES", "7/97"))
# What jaxlib 0.10.2 and 0.12.0.1 read, on 2026-11-23, of all that `resources` makes.
READ = {
    "no sections", "nothing", "data of nobody", "an empty group of others", "one of others",
    "an empty group", "a declaration", "a declaration of any kind", "two of one name", "data",
    "data and more in the section",
}  # fmt: skip


@pytest.mark.parametrize("name", ARTIFACTS)
def test_a_changed_byte_is_predicted_as_it_was_seen(name: str) -> None:
    """Nothing that is read is refused, and nothing more than on record is refused and predicted."""
    row, made = RECORDED[name], list(changes(ARTIFACTS[name].read_bytes()))
    real = [unpack(row["marks"][reader]) for reader in READERS]
    assert [len(found) for found in real] == [len(made)] * len(READERS)
    for at in range(FIRST - 1, len(made), EACH):
        offset, value, data = made[at]
        for reader, found, one in zip(READERS, real, predicted(data), strict=True):
            change = [offset, value]
            assert (one == "-" and found[at] == "+") == (change in row["lucky"][reader]), change
            assert (one == "+" and found[at] != "+") == (change in row["green"][reader]), change


def _uses(name: str) -> tuple[int, bool, list[int]]:
    """Parse the name of an artifact of `orders`: uses, whether pairs, numbers."""
    _, uses, order = name.split(", ", 2)
    kind, _, numbers = order.partition(" ")
    listed = [int(number) for number in numbers.strip("(,)").split(",") if number]
    return int(uses.split()[0]), kind == "pairs", listed


def _applies(uses: int, *, pairs: bool, numbers: list[int]) -> bool:
    """Whether some order of the uses is what is written, by trying all orders."""
    if uses < 2:
        return True
    if not pairs:
        return tuple(numbers) in itertools.permutations(range(uses))
    places = list(range(4))  # readers have room for four, where there are fewer uses
    for source, target in zip(numbers[::2], numbers[1::2], strict=False):
        if source >= 4:
            return False
        places[source] = target
    return not len(numbers) % 2 and tuple(places[:uses]) in itertools.permutations(range(uses))


@pytest.mark.parametrize("patterns", [False, True])
def test_orders_of_uses_are_read_if_they_can_be_applied(
    monkeypatch: pytest.MonkeyPatch, *, patterns: bool
) -> None:
    """All 3,534, of arguments and results, as both jaxlibs were seen to read and refuse them."""
    monkeypatch.setattr(scan_module, "_COMPILE_WORTHWHILE", 0 if patterns else 1 << 60)
    count = 0
    for name, data in orders():
        uses, pairs, numbers = _uses(name)
        applies = _applies(uses, pairs=pairs, numbers=numbers)
        assert _is_read(data) == applies, name
        count += 1
    assert count == 3534


def test_numbers_of_an_order_have_32_bits() -> None:
    """Readers keep them in 32 bits: one that is larger by 2**32 is the same number."""
    body = [operation(2, results=[0], operands=[0])]  # with the end of the function, two uses
    for first, applies in ((1, True), (1 | 1 << 32, True), (1 << 32, False), (2 | 1 << 32, False)):
        order = b"\1" + varint(2 << 1) + varint(first) + varint(0)
        assert _is_read(bytes(program(body, 2, order))) == applies, first


def test_resources_are_read_as_readers_do() -> None:
    """What counts, names, sizes, kinds and alignments they accept."""
    made = dict(resources())
    assert {name for name, data in made.items() if _is_read(data)} == READ


def _is_read(data: bytes) -> bool:
    try:
        read(data).scan()
    except MalformedArtifact:
        return False
    return True
