"""The tables of VHLO check themselves: a row that is wrong is an error that names it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from portable.bytecode import vhlo
from portable.bytecode.validation import check_layouts, check_vhlo
from portable.releases import shipped_versions
from portable.system.tables import InvalidTable, read_table

DATA = Path(vhlo.__file__).parent / "data"
# Table, a row as it is, what it is changed to, and what the error says.
DEFECTS = [
    # Versions that are none, and lives that end before they begin.
    ("vhlo.ini", "add_v1 = 0.9.0 -", "add_v1 = 0.9 -", "[ops] add_v1"),
    ("vhlo.ini", "add_v1 = 0.9.0 -", "add_v1 = 0.9.0", "[ops] add_v1"),
    ("vhlo.ini", "async_done_v1 = 1.15.0", "async_done_v1 = 1.15.3", "has a patch"),
    ("vhlo.ini", "async_done_v1 = 1.15.0", "async_done_v1 = 1.99.0", "1.99.0 is not in the"),
    ("vhlo.ini", "cbrt_v1 = 0.9.0 1.9.0", "cbrt_v1 = 0.9.0 0.8.0", "[ops] cbrt_v1"),
    ("vhlo.ini", "cbrt_v1 = 0.9.0 1.9.0", "cbrt_v1 = 0.9.0 1.22.0", "[ops] cbrt_v1"),
    ("vhlo.ini", "buffer_v1 = 1.13.0", "buffer_v1 = 0.8.0", "[types] buffer_v1"),
    ("vhlo.ini", "current = 1.22.0", "current = 1.19.0", "ends at 1.19.0, not between"),
    # Forms that do not follow each other.
    ("vhlo.ini", "cbrt_v1 = 0.9.0 1.9.0", "cbrt_v1 = 0.9.0 1.8.0", "no form begins with"),
    ("vhlo.ini", "cbrt_v1 = 0.9.0 1.9.0", "cbrt_v1 = 0.9.0 -", "cbrt_v2 is there"),
    ("vhlo.ini", "cbrt_v1 = 0.9.0 1.9.0", "cbrs_v1 = 0.9.0 1.9.0", "cbrs_v1"),
    ("vhlo.ini", "cbrt_v2 = 1.10.0", "cbrt_v3 = 1.10.0", "cbrt_v"),
    # Twice, out of order, misspelt.
    ("vhlo.ini", "and_v1 =", "add_v1 =", "'add_v1' in section 'ops' already exists"),
    ("vhlo.ini", "and_v1 =", "aaa_v1 =", "[ops] aaa_v1: is out of order"),
    ("vhlo.ini", "xor_v1 =", "xor =", "[ops] xor: is no name with a number"),
    ("vhlo.ini", "[enums]", "[enum]", "has the sections"),
    ("vhlo.ini", "| lhs rhs\nafter_all", "lhs rhs\nafter_all", "[ops] add_v1"),
    ("vhlo.ini", "add_v1 = 0.9.0 - | | lhs rhs", "add_v1 = 0.9.0 - | | lhs lhs", "has lhs twice"),
    ("vhlo.ini", "lower | a", "lower? | a", "'lower?' is no name"),
    ("vhlo.ini", "fft_type_v1 = FFT", "fft_kind_v1 = FFT", "fft_kind_v1 is no attribute"),
    ("vhlo.ini", "FFT:0 IFFT:1", "FFT:0 FFT:1", "has FFT twice"),
    ("vhlo.ini", "FFT:0 IFFT:1", "FFT:0 IFFT:0", "twice or out of order"),
    ("vhlo.ini", "FFT:0 IFFT:1", "FFT:1 IFFT:0", "twice or out of order"),
    ("vhlo.ini", "FFT:0 IFFT:1", "FFT:0 IFFT", "has a value without a number"),
    # Codes that are skipped, twice, or lead to what is not there.
    ("layouts.ini", "41 = buffer_v1", "43 = buffer_v1", "[vhlo types] 43: is in the place of 41"),
    ("layouts.ini", "41 = buffer_v1", "40 = buffer_v1", "'40' in section 'vhlo types' already"),
    ("layouts.ini", "31 = i2_v1", "31 = i3_v1", "i3_v1 is not in [types] of vhlo.ini"),
    ("layouts.ini", "31 = i2_v1", "31 = ui2_v1", "has ui2_v1 twice"),
    ("layouts.ini", "42 = future_v1 elements:types\n", "", "future_v1 of vhlo.ini has no layout"),
    ("layouts.ini", "elements:types", "elements:typs", "no encoding is called 'typs'"),
    ("layouts.ini", "pre_size:svarint size", "size:svarint size", "has size twice"),
    ("layouts.ini", "pre_size:svarint size", "pre-size:svarint size", "'pre-size' is no name"),
    ("layouts.ini", "precision_v1 value:varint", "precision_v1 value:svarint", "is an enum"),
    ("layouts.ini", "[builtin widths]", "[builtin width]", "has the sections"),
    ("layouts.ini", "i2_v1 = 2", "i3_v1 = 2", "i3_v1 is no scalar type of vhlo"),
    ("layouts.ini", "i2_v1 = 2", "i2_v1 = two", "'two' is not a number of bits"),
    ("layouts.ini", "i2_v1 = 2\n", "", "the scalar type i2_v1 has no width"),
    ("layouts.ini", "f80 = 80", "f90 = 80", "f90 is no scalar type of builtin"),
]  # fmt: skip


def _check(folder: Path) -> None:
    module = str(folder.parent / "vhlo.py")
    table = read_table(module, "vhlo.ini")
    check_vhlo(table)
    check_layouts(read_table(module, "layouts.ini"), table)


def test_the_tables_are_right() -> None:
    """What ships passes the checks that the rows below do not."""
    _check(DATA)


def test_every_form_came_with_a_version_that_shipped() -> None:
    """A Version between two that shipped would be one that no reader can have."""
    shipped = {str(row.version.target) for row in shipped_versions()}
    since = {op.lifetime.since for op in vhlo.ops().values()}
    for kind in ("types", "attributes"):
        since |= {row.since for row in vhlo.lifetimes(kind).values()}
    assert since <= shipped


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: f"{defect[0]}: {defect[2]}")
def test_a_wrong_row_is_an_error_that_names_it(
    tmp_path: Path, defect: tuple[str, str, str, str]
) -> None:
    """The message has the file, the row and what is wrong."""
    name, right, wrong, says = defect
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    text = (data / name).read_text("utf-8")
    assert right in text
    (data / name).write_text(text.replace(right, wrong, 1), "utf-8")
    with pytest.raises(InvalidTable) as error:
        _check(data)
    assert error.value.where == name
    assert says in str(error.value)
