"""The tables agree with each other: nothing in one is missing in another."""

from __future__ import annotations

import inspect

import pytest

from portable.bytecode.tables import Format
from portable.bytecode.vhlo import enum_case, minimum, ops
from portable.features.conditions import TESTS
from portable.features.rules import rules
from portable.version import Version


@pytest.mark.parametrize("form", sorted(rules().downgrades))
def test_a_downgrade_leads_to_the_form_before(form: str) -> None:
    """The older form is one of the same operation, and ends where the newer one begins."""
    older = rules().downgrades[form].to
    assert older.rpartition("_v")[0] == form.rpartition("_v")[0]
    until, since = ops()[older].lifetime.until, Version.parse(ops()[form].lifetime.since)
    assert until is not None
    assert Version.parse(until) < since
    assert ops()[form].lifetime.until is None


def test_every_form_that_has_an_older_one_can_be_downgraded() -> None:
    """No operation of a second form lacks its rule."""
    forms = {name for name in ops() if not name.endswith("_v1")}
    assert forms == set(rules().downgrades)


@pytest.mark.parametrize("form", sorted(rules().downgrades))
def test_conditions_speak_of_what_the_operation_has(form: str) -> None:
    """Each condition is known and names an attribute that the form has and the older one lacks."""
    rule = rules().downgrades[form]
    new = set(ops()[form].attributes) - set(ops()[rule.to].attributes)
    asked = {argument for condition in rule.when for argument in condition.arguments}
    assert asked == new
    for condition in rule.when:
        assert condition.test in TESTS
        assert condition.failure
        assert "{" not in condition.failure


def test_constraints_speak_of_operations_that_exist() -> None:
    """Each constraint applies to known operations and is a known test of their attributes."""
    for op, constraints in rules().constraints.items():
        for constraint in constraints:
            assert op in ops()
            assert constraint.when
            for when in constraint.when:
                inspect.signature(TESTS[when.test]).bind(None, *when.arguments)
            assert Version.parse(constraint.since) > Version.parse(minimum())


def test_every_format_has_a_version() -> None:
    """Every bytecode format that can be read has the Version that introduced it."""
    assert set(rules().formats) == set(range(Format.ODS_PROPERTIES + 1))


def test_enum_values_have_names() -> None:
    """Values of enum attributes are told by name, and others are not."""
    assert enum_case("api_version_v1", 4) == "API_VERSION_TYPED_FFI"
    assert enum_case("comparison_direction_v1", 5) == "LT"
    assert enum_case("comparison_direction_v1", 6) is None
    assert enum_case("string_v1", 0) is None
