"""A table with a wrong row is an error that names the file and the row: it is never passed over."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.tables import forget
from portable.containers.exported import _OPENED as EXPORTED
from portable.containers.saved_model import _OPENED as SAVED_MODEL
from portable.containers.torch_xla import _MEASURED
from portable.matrix import listed
from portable.prediction.tables import demand_resolved as resolved
from portable.releases import (
    Specifier,
    TableError,
    advisories,
    releases,
    shipped_versions,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA = Path(table._DATA)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the tables, which is read instead of them."""
    copy = tmp_path / "data"
    shutil.copytree(table._DATA, copy)
    monkeypatch.setattr(table, "_DATA", str(copy))
    forget()
    yield copy
    monkeypatch.undo()
    forget()


def _releases() -> object:
    return releases()


DEFECTS: list[tuple[str, str, str, Callable[[], object], str]] = [
    # A Feature that is misspelt, of an op, a type, an attribute, a location, or in words.
    ("advisories.toml", "op:vhlo.composite_v1", "op:composite", resolved, "composite-not-comp"),
    ("advisories.toml", "op:vhlo.composite_v1", "op:vhlo.composite_v9", resolved, "'op:vhlo.c"),
    ("advisories.toml", '"type:i2"', '"type:i2_v1"', resolved, "i2-nondeterministic"),
    ("advisories.toml", '"type:i2"', '"typ:i2"', resolved, "i2-nondeterministic"),
    ("advisories.toml", "location:file_line_col_range", "location:range", resolved, "range-loc"),
    ("advisories.toml", '"add of booleans"', '"add of bools"', resolved, "add-of-booleans"),
    # Rows that are never reached.
    ("advisories.toml", 'id = "shardy-unknown"', 'id = "range-locations"', resolved, "duplicated"),
    ("advisories.toml", '"jaxlib"', '"jaxlb"', resolved, "advisory 1: no Release of 'jaxlb'"),
    ("advisories.toml", '"<0.4.36"', '"<0.4.1"', resolved, "advisory 1: specifier '<0.4.1'"),
    ("advisories.toml", '"<0.4.36"', '"<0.4.36x"', resolved, "advisory 1: '<0.4.36x' is not"),
    ("advisories.toml", 'effect = "refuses"', 'effect = "refuse"', resolved, "'refuse' is not"),
    ("advisories.toml", 'stage = "decode"', 'stage = "reads"', resolved, "'reads' is not one of"),
    ("refusals.toml", "vhlo.dot_general_v2", "vhlo.dot_general_v5", resolved, "dot-algorithm"),
    ("refusals.toml", "with padding that", "with a padding that", resolved, "dynamic-conv-padd"),
    ("refusals.toml", 'last = "0.19.10"', 'last = "1.2.0"', resolved, "refusal 1: last 1.2.0"),
    ("refusals.toml", 'name = "sdy"\ndistribution = "jaxlib"', 'name = "sdy"\ndistribution = "jax"',
     resolved, "dialect 1: no Release of 'jax'"),
    # Keys that are misspelt: what is optional would just not be there.
    ("releases.toml", "current_below =", "curent_below =", _releases, "unknown key 'curent_below'"),
    ("releases.toml", "week_12", "weak_12", _releases, "unknown key 'weak_12'; valid keys"),
    ("advisories.toml", "link =", "lnk =", resolved, "unknown key 'lnk'"),
    ("versions.toml", "note =", "not =", resolved, "unknown key 'not'"),
    ("refusals.toml", 'since = "0.19.9"', 'since = "0.19.9"\nrefuses = ""', resolved, "'refuses'"),
    ("aliases.toml", "versions =", "version =", resolved, "alias 1: unknown key 'version'"),
    ("promises.toml", "note =", "not =", resolved, "promise 1: unknown key 'not'"),
    ("published.toml", "reason = ", "reasn = ", resolved, "without_library 1: unknown key 'reasn'"),
    ("assumptions.toml", "tried =", "tired =", resolved, "unknown key 'tired'"),
    ("assumptions.toml", "says =", "note = 1\nsays =", resolved, "unknown key 'note'"),
    ("assumptions.toml", "clamp of floats", "clamp of flots", resolved, "feature 'clamp of flots"),
    ("assumptions.toml", 'name = "no-ties"', 'name = "no-nan"', resolved, "no-nan is duplicated"),
    ("tried.toml", "tried =", "tryed =", resolved, "tried 1: unknown key 'tryed'"),
    ("tried.toml", "i1 splat", "i1 spat", resolved, "tried 1: feature 'i1 spat"),
    ("tried.toml", "of f64 that", "of f65 that", resolved, "feature 'exponential of f65"),
    ("tried.toml", '"tensorflow"', '"tensorfow"', resolved, "tried 1: no Release of 'tensorfow'"),
    # What was published beside what was measured.
    ("published.toml", '"jax-cuda12-pjrt"', '"jax-cuda12-prjt"', resolved, "no Release of 'jax-"),
    ("published.toml", '"jax-cuda13-pjrt"', '"jax-cuda12-pjrt"', resolved, "-pjrt is duplicated"),
    ("published.toml", '"0.4.24", ', '"0.4.23", ', resolved, "published 1: 0.4.23 is listed after"),
    ("published.toml", '"0.4.24", ', '"0.4.99", ', resolved, "published 1: 0.4.25 is listed after"),
    ("published.toml", '"0.4.24", ', '"0.4.24x", ', resolved, "published 1: "),
    # Versions and Releases that are there twice, or out of order.
    ("versions.toml", 'version = "0.11.0"', 'version = "0.10.0"', shipped_versions, "version 3:"),
    ("versions.toml", 'version = "0.11.0"', 'version = "0.9.9"', shipped_versions, "version 3:"),
    ("versions.toml", 'version = "0.11.0"', 'version = "0.11.1"', shipped_versions, "version 3:"),
    ("releases.toml", 'version = "0.4.18"', 'version = "0.4.13"', _releases, "release 2: jaxlib 0"),
    ("releases.toml", 'version = "0.4.18"', 'version = "0.4.99"', _releases, "0.4.19 is listed"),
    ("releases.toml", 'minimum = "0.9.0"', 'minimum = "0.14.0"', _releases, "release 1:"),
    ("releases.toml", 'current_below = "1.9.0"', 'current_below = "1.7.0"', _releases, "iree-base"),
]  # fmt: skip


@pytest.mark.usefixtures("data")
def test_the_copy_is_read_without_an_error() -> None:
    """What is wrong below is the one row."""
    for load in {one[3] for one in DEFECTS}:
        load()


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: f"{defect[0]}: {defect[2]}")
def test_a_wrong_row_is_an_error_that_names_it(
    data: Path, defect: tuple[str, str, str, Callable[[], object], str]
) -> None:
    """Loading fails; the message has the file, the row and what is wrong, in one line."""
    name, right, wrong, load, says = defect
    text = (data / name).read_text()
    assert right in text
    (data / name).write_text(text.replace(right, wrong, 1))
    with pytest.raises(TableError) as error:
        load()
    assert name in str(error.value)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.toml")), ids=lambda path: path.stem)
def test_a_table_is_read_row_by_row_as_it_is_as_a_whole(path: Path) -> None:
    """Every row of the file is found, at its position, and says what it says to a TOML parser."""
    name = str(path.relative_to(DATA).with_suffix(""))
    for kind, whole in tomllib.loads(path.read_text()).items() if name != "history" else ():
        found = table.rows(name, kind)
        assert [row.where for row in found] == [
            f"{name}.toml {kind} {position}" for position in range(1, len(whole) + 1)
        ]
        words = {key for fields in whole for key in fields if type(fields[key]) is str}
        for key in sorted(words):
            said = [
                row.word(key) for row, fields in zip(found, whole, strict=True) if key in fields
            ]
            assert said == [fields[key] for fields in whole if key in fields], key
        assert [row._fields for row in found] == whole


@pytest.mark.parametrize(("name", "kind"), [("releases", "release"), ("advisories", "advisory")])
def test_rows_by_distribution_are_those_of_the_whole_table(name: str, kind: str) -> None:
    """Each is with those of its distribution, in the order of the file."""
    by_distribution: dict[str, list[table.Row]] = {}
    for row in table.rows(name, kind):
        named = table.normalize_name(row.text("distribution"))
        by_distribution.setdefault(named, []).append(row)
    found = table.rows_by_distribution(name, kind)
    assert {named: list(each) for named, each in found.items()} == by_distribution


def test_rows_of_a_kind_that_a_table_lacks_are_an_error() -> None:
    """A heading that is misspelt does not leave its rows out."""
    with pytest.raises(TableError, match=r"refusals\.toml: there is no \[\[refused\]\]"):
        table.rows("refusals", "refused")


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ('version = "0.4.18"', "version = 0.4.18", "releases.toml release 2: cannot read: "),
        ('distribution = "jaxlib"', 'distro = "jaxlib"', "release 1: distribution is missing"),
    ],
)
def test_a_row_that_is_no_toml_is_an_error_that_names_it(
    data: Path, right: str, wrong: str, says: str
) -> None:
    """A row is parsed alone, so the error has its position and not a line."""
    text = (data / "releases.toml").read_text()
    (data / "releases.toml").write_text(text.replace(right, wrong, 1))
    with pytest.raises(TableError, match=says):
        releases("jaxlib")


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("jaxlib>=0.4.18", "jaxlb>=0.4.18", "contradiction 1: UnknownDistribution"),
        ('observed = "compatible"', 'observed = "fine"', "contradiction 1: ValueError"),
        ("i1-255-not-visible", "empty-module-in-format-6", "contradiction 2: empty-module"),
        ('link = "', 'lnk = "', "contradiction 1: KeyError"),
    ],
)
def test_a_wrong_contradiction_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str, says: str
) -> None:
    """The list of contradictions is a table too."""
    copy = tmp_path / "contradictions.toml"
    copy.write_text(listed._TABLE.read_text().replace(right, wrong, 1))
    monkeypatch.setattr(listed, "_TABLE", copy)
    forget()
    with pytest.raises(TableError, match=says):
        listed.contradictions()
    forget()


def test_every_specifier_of_a_container_is_one_and_excludes_its_refusals() -> None:
    """No release both opens and refuses a form of a container."""
    for opens, refuses in (*EXPORTED.values(), *SAVED_MODEL.values(), (_MEASURED, "")):
        opened = Specifier.parse(opens)
        if refuses:
            assert opened.versions.is_disjoint(Specifier.parse(refuses).versions), opens


_COUNT = """
import sys
import portable
from portable.releases import table

parsed, parse = [], table.parse_toml
table.parse_toml = lambda data: parsed.append(data) or parse(data)
portable.predict(sys.argv[1], "jaxlib 0.10.2")
print(sum(b"\\neffect = " in data for data in parsed))
"""


def test_a_prediction_parses_only_the_advisories_that_it_may_need() -> None:
    """Of hundreds: every short command would pay for the others."""
    artifact = str(Path(__file__).parents[2] / "docs" / "examples" / "tan.mlir.bc")
    ended = subprocess.run(
        [sys.executable, "-c", _COUNT, artifact], capture_output=True, text=True, check=True
    )
    assert len(advisories()) > 100
    assert int(ended.stdout) < len(advisories()) / 20
