"""The tables of features check themselves: a mistake is an error that names the row."""

from __future__ import annotations

from copy import deepcopy

import pytest

from portable.features import bridges as bridges_module
from portable.features import rules as rules_module
from portable.features import verifier as verifier_module
from portable.features.bridges import parse_bridges, since
from portable.features.rules import parse_rules
from portable.features.validation import check_bridges, check_rules, check_verifier
from portable.system.tables import InvalidTable, read_table

RULES = read_table(rules_module.__file__, "rules.ini")
BRIDGES = read_table(bridges_module.__file__, "bridges.ini")
VERIFIER = read_table(verifier_module.__file__, "verifier.ini")
MISTAKES = {
    "downgrade of no op": ("downgrades", "tanh_v9", "tanh_v1 |"),
    "downgrade to no op": ("downgrades", "tanh_v2", "tanh_v0 |"),
    "downgrade to what has not ended": ("downgrades", "tanh_v2", "abs_v1 |"),
    "no such test": ("downgrades", "tanh_v2", "tanh_v1 | default_acuracy result_accuracy"),
    "no such attribute": ("downgrades", "tanh_v2", "tanh_v1 | default_accuracy result"),
    "too many arguments": ("downgrades", "tanh_v2", "tanh_v1 | one_operand result_accuracy"),
    "too few arguments": ("downgrades", "tanh_v2", "tanh_v1 | default_accuracy"),
    "constraint on no op": ("constraint reduction_promotes", "ops", "reduce_v7"),
    "constraint that is always met": ("constraint reduction_promotes", "since", "0.9.0"),
    "constraint on nothing": ("constraint reduction_promotes", "when", ""),
    "no such type": ("constraint custom_call_future", "when", "operand_of futur_v1"),
    "no such kind": ("constraint custom_call_dictionary_config", "when", "kind_of x config"),
    "no such value": ("constraint comparison_type_WEAKORDER", "when", "case_of WEAK compare_type"),
    "no such prefix": ("constraint convolution_mixed_f8", "when", "mixed g8"),
    "no number": ("constraint dot_algorithm_f8E4M3FN_operations", "when", "above x num"),
    "format out of order": ("formats", "4", "0.11.0"),
    "format beyond a gap": ("formats", "9", "99.0.0"),
    "location that is always known": ("location location_file_line_col_range", "since", "0.9.0"),
    "type that is not there": ("types", "unchecked_inside", "future_v2"),
    "named and in the table": ("named", "tanh_v2", "1.23.0"),
    "named and not newer": ("named", "exp2_v1", "1.22.0"),
    "removed before it was last": ("removed trace_v1", "refused", "0.19.9"),
    "removed and still there": ("removed abs_v1", "last", "0.19.9"),
}  # fmt: skip


def test_the_tables_are_right() -> None:
    """What ships passes the checks that the mistakes below do not."""
    check_rules(parse_rules(RULES))
    check_bridges(parse_bridges(BRIDGES), since())
    check_verifier(VERIFIER)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_rules_names_its_row(name: str) -> None:
    """One value is changed or added, and the error says where."""
    section, key, value = MISTAKES[name]
    table = deepcopy(RULES)
    table.setdefault(section, {"refused": "1.0.0", "reason": "none"})[key] = value
    with pytest.raises(InvalidTable) as caught:
        check_rules(parse_rules(table))
    assert section in str(caught.value)
    assert caught.value.where == "rules.ini"
    if section in {"downgrades", "formats"}:
        assert key in str(caught.value)


def _without(name: str) -> dict[str, str]:
    return {feature: row for feature, row in BRIDGES["features"].items() if feature != name}


@pytest.mark.parametrize(
    ("features", "row"),
    [
        (_without("tan_v1"), "tan_v1"),
        (BRIDGES["features"] | {"tan_v9": "expander | expander"}, "tan_v9"),
        (BRIDGES["features"] | {"tan_v1": "somebody | does"}, "tan_v1"),
        (BRIDGES["features"] | {"tan_v1": "ours drop-tan | does"}, "tan_v1"),
        (BRIDGES["features"] | {"reduction_promotes": "none | impossible"}, "promotions-to-co"),
    ],
    ids=["missing", "unknown", "by nobody", "no rewrite", "rewrite without a Feature"],
)  # fmt: skip
def test_a_mistake_in_the_bridges_names_its_row(features: dict[str, str], row: str) -> None:
    """A Feature without a bridge, a bridge without a Feature, a rewrite that is not there."""
    with pytest.raises(InvalidTable, match=row) as caught:
        check_bridges(parse_bridges(BRIDGES | {"features": features}), since())
    assert caught.value.where == "bridges.ini"


@pytest.mark.parametrize(
    ("section", "count", "names"),
    [
        ("results", "2", "rng_bit_generatr_v1"),
        ("results", "0", "trace_v1"),
        ("results", "3", "if_v1"),
        ("results", "1", "add_v1"),
        ("results", "two", "add_v1"),
        ("regions", "0", "add_v1"),
        ("operands", "2", "add_v1"),
    ],
    ids=["no op", "removed", "twice", "usual", "no number", "usual too", "no section"],
)
def test_a_mistake_in_what_the_verifier_demands_names_its_row(
    section: str, count: str, names: str
) -> None:
    """An op that VHLO lacks or that is there twice, and what is so without a row."""
    table = deepcopy(VERIFIER)
    table.setdefault(section, {})[count] = names
    with pytest.raises(InvalidTable) as caught:
        check_verifier(table)
    assert caught.value.where == "verifier.ini"
    assert section in str(caught.value)
