"""The sealed artifacts show all of VHLO, measured two ways."""

from __future__ import annotations

import re
import tomllib

import pytest

from compat_tests.helpers.sealed import CASES, CORPUS, scanner
from portable.corpus.coverage import COVERAGE, Coverable, measure, shown_by

ROWS = tomllib.loads((CORPUS / COVERAGE).read_text("utf-8"))


def test_coverage_is_complete() -> None:
    """Nothing is missing, and every exclusion is needed and has a reason."""
    found = measure(CORPUS, CASES.values())
    assert found.missing == ()
    assert found.stale == ()
    assert all(found.excluded.values())


@pytest.mark.parametrize(
    "row", [*ROWS["condition"], *ROWS["constraint"]], ids=lambda row: str(row["name"])
)
def test_condition_is_shown_on_both_sides(row: dict[str, str]) -> None:
    """One Case can be written before the Version of the condition, the other only from it on."""
    assert str(CASES[row["above"]].first) == row["version"]
    assert CASES[row["below"]].first < CASES[row["above"]].first


def test_inventory_agrees_with_what_mlir_prints() -> None:
    """Op forms, types, attributes and enum values are those of libStablehlo's own printed VHLO."""
    printed: set[Coverable] = set()
    counted: set[Coverable] = set()
    for case in CASES.values():
        for sealed in case.artifacts[:1]:
            data = sealed.path.read_bytes()
            if (text := scanner().raw(data)) is None:
                continue
            printed |= {Coverable("op", name) for name in re.findall(r'"vhlo\.([\w-]+_v\d)"', text)}
            printed |= {Coverable("type", name) for name in re.findall(r"!vhlo\.(\w+_v\d)", text)}
            for name, value in re.findall(r"#vhlo[.<](\w+_v\d)(?: ([A-Z_0-9]+)>)?", text):
                printed.add(Coverable("attribute", name))
                if value:
                    printed.add(Coverable("value", f"{name} {value}"))
            counted |= shown_by(data)
    counted = {subject for subject in counted if subject.kind != "location"}
    assert printed == counted
    assert len(printed) > 200
