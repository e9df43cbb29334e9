"""The look at what a serializer has just written sees what a careful reading sees."""

from __future__ import annotations

from pathlib import Path

from portable.bytecode import read
from portable.bytecode.entries import TYPES
from portable.bytecode.layouts import VHLO
from portable.bytecode.quick_scan import QuickScan

ARTIFACTS = sorted((Path(__file__).parents[2] / "corpus").glob("*/*/artifacts/*.mlir.bc"))


def test_quick_scan_agrees_with_reading_on_every_sealed_artifact() -> None:
    """Header, dialects and the first byte of every entry are those that the full reader finds."""
    assert len(ARTIFACTS) > 3000
    for path in ARTIFACTS:
        data = path.read_bytes()
        seen, content = QuickScan(data), read(data)
        assert seen.header == content.header, path
        assert seen.dialects == [dialect.name for dialect in content.dialects], path
        expected: dict[tuple[str, str], bytes] = {}
        for entries in (content.pool.attributes, content.pool.types):
            for dialect, group in entries.groups():
                key = entries.kind, dialect
                expected[key] = expected.get(key, b"") + entries.first_bytes(group)
        assert seen.firsts == expected, path


def test_quick_scan_never_misses_a_kind_of_type() -> None:
    """`may_have` says of each kind of type that reading finds that it is there."""
    met = set()
    for path in ARTIFACTS:
        data = path.read_bytes()
        seen, pool = QuickScan(data), read(data).pool
        outlines = (pool.outline(TYPES, index) for index in range(len(pool.types)))
        names = {outline.name for outline in outlines if outline.dialect == VHLO}
        missed = [name for name in names if not seen.may_have(TYPES, VHLO, name)]
        assert not missed, path
        met |= names
    assert {"quant_per_axis_v1", "future_v1"} <= met
