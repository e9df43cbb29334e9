"""What becomes of each Feature of the VHLO table below its first Version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from portable.artifact import Artifact
from portable.bytecode import read
from portable.bytecode.vhlo import current, minimum
from portable.features import Analysis, Feature, FeatureKind, Needs, analyze
from portable.features.bridges import bridges, since
from portable.features.rewritten import rewritten
from portable.features.rules import rules
from portable.pinning.rewrites import EXACT, EXPANDED, REWRITES, UnknownRewrite, accuracy, named
from portable.prediction import replacing
from portable.prediction.replacing import replaced
from portable.version import Version
from tools.downgrades import COSTS, PAGE, render

CORPUS = Path(__file__).parents[2] / "corpus"


def test_every_feature_has_a_verdict_and_nothing_else_has() -> None:
    """Every op form, type, attribute, constraint and location above the minimum Version."""
    assert set(bridges().features) == set(since())
    assert {"composite_v1", "f8E4M3_v1", "axis_ref_v1", "reduction_promotes"} <= set(since())
    assert "abs_v1" not in since()


@pytest.mark.parametrize("name", sorted(bridges().features))
def test_a_verdict_says_who_or_why_not(name: str) -> None:
    """The serializer, the expander, a rewrite of ours by its name, or why it is impossible."""
    bridge = bridges().features[name]
    assert bridge.by in {"serializer", "expander", "ours", "none"}
    assert set(bridge.rewrites) <= set(REWRITES)
    assert ("impossible" in bridge.workaround) == (bridge.by == "none")
    assert ("expander" in bridge.workaround) == (bridge.by == "expander")
    if bridge.by == "ours":
        assert bridge.rewrites
    for rewrite in bridge.rewrites:
        assert f"--allow {rewrite}" in bridge.workaround
    if bridge.by == "serializer":
        assert rules().downgrades[name].when == ()


def test_rewrites_and_their_terms_belong_together() -> None:
    """In one order; each looks for a form that needs a newer Version, and bridges a Feature.

    Or it replaces ops that readers of every Version have, and that some do not compile.
    """
    assert list(REWRITES) == list(bridges().rewrites)
    bridged = {name for bridge in bridges().features.values() for name in bridge.rewrites}
    helping = {name for name, terms in bridges().rewrites.items() if terms.helps}
    assert bridged | helping == set(REWRITES)
    for name, terms in bridges().rewrites.items():
        assert terms.does
        assert terms.loses
        assert terms.exact == (terms.bound == "equal bits")
        assert REWRITES[name].needed(Version.parse(minimum())) == set(REWRITES[name].forms)
        if name in helping:
            assert REWRITES[name].needed(Version.parse(current()))


def test_a_target_that_has_the_feature_needs_no_rewrite() -> None:
    """Each op by itself: at 1.9.0 the accuracy of exp is known, that of tanh is not."""
    needed = REWRITES["drop-result-accuracy"].needed(Version(1, 9, 0))
    assert needed == {name for name in accuracy.OPS if name != "stablehlo.exponential"}


def test_the_error_of_every_default_is_known() -> None:
    """For every op that has a `result_accuracy`, in every float type that XLA CPU computes in."""
    kinds = ("bf16", "f16", "f32", "f64")
    ops = {name.removeprefix("stablehlo.") for name in accuracy.OPS}
    assert set(bridges().default_ulps) == {f"{op} {kind}" for op in ops for kind in kinds}


def test_what_the_expander_does_is_known() -> None:
    """Every Feature that it bridges, but locations, says its replacement and how exact."""
    table = bridges()
    expanded = {name for name, bridge in table.features.items() if bridge.by == "expander"}
    assert set(table.defaults) == expanded - {"location_file_line_col_range"}
    assert all(default.does for default in table.defaults.values())
    inexact = {name for name, one in table.defaults.items() if any(one.near)}
    assert inexact == {name for name, one in table.defaults.items() if one.bound != "equal bits"}
    assert inexact == {"tan_v1"}
    assert table.defaults["tan_v1"].near == (2, 16, 8)
    assert set(EXPANDED) <= set(table.defaults)


def _feature(name: str) -> Feature:
    version = Version.parse(since()[name])
    return Feature(FeatureKind.OP, name, version, 3, ("f.mlir:2:8",), "")


def _analysis(*names: str) -> Analysis:
    needs = Needs(None, tuple(_feature(name) for name in names))
    return Analysis(needs, needs, (), (), ())


def test_what_was_rewritten_follows_from_what_the_target_lacks() -> None:
    """Unasked, by what was allowed, or, where that is not known, by what would have been needed."""
    before = _analysis("tan_v1", "cosine_v2", "result_accuracy_v1", "dot_general_v2", "i2_v1")
    found = {one.name: one for one in rewritten(before, Version(1, 0, 0))}
    assert set(found) == {"tan_v1", "drop-result-accuracy", "drop-dot-algorithm"}
    assert found["tan_v1"].near == (2, 16, 8)
    assert found["drop-result-accuracy"].near == (1, 1, 0)  # the worst of cosine, f16 to f64
    assert found["drop-dot-algorithm"].near is None
    assert not any(one.exact for one in found.values())
    (tan,) = rewritten(before, Version(1, 0, 0), ())
    assert "tan_v1" in str(tan)
    assert "3x, first at f.mlir:2:8" in str(tan)
    assert tan.record()["near"] == {"ulps": 2, "complex_ulps": 16, "epsilons": 8}
    assert rewritten(before, Version(1, 6, 0), ()) == ()
    (exact,) = rewritten(_analysis("composite_v1"), Version(0, 9, 0))
    assert exact.exact


def test_what_was_rewritten_for_no_version_is_told_by_what_was_done() -> None:
    """With its count, and how far results may be apart where that is a number."""
    done = {"mhlo-calls-to-ops": 2, "mhlo-calls-to-approximations": 1}
    found = {one.name: one for one in rewritten(_analysis(), Version(1, 0, 0), done, done)}
    assert {name: one.count for name, one in found.items()} == done
    assert found["mhlo-calls-to-ops"].exact
    assert found["mhlo-calls-to-approximations"].near == (8, 8, 0)


def test_an_op_signature_has_the_rewrite_that_replaces_it() -> None:
    """By its name, as capabilities name it; most have none."""
    assert replacing("custom_call mhlo.topk") == ("mhlo-calls-to-ops",)
    assert replacing("custom_call mhlo.erf") == ("mhlo-calls-to-approximations",)
    for signature in ("add quant", "uniform_quantize f32 -> quant", "add quant in reduce"):
        assert replacing(signature) == ("quantized-to-arithmetic",)
    assert replacing("custom_call my_lib.erf") == replacing("add f32") == ()


def test_what_was_replaced_is_counted() -> None:
    """The quantized program of the corpus has one op, the other artifact no quantized one."""
    tests = Path(__file__).parents[1]
    (case,) = (tests.parent / "corpus").glob("*/quantized_add_i8_f32")
    quantized = Artifact.load(min((case / "artifacts").iterdir()))
    plain = Artifact.load(tests / "data" / "artifacts" / "add_f32+0.9.0.mlir.bc")
    assert replaced(quantized, plain) == {"quantized-to-arithmetic": 1}
    assert replaced(plain, quantized) == replaced(quantized, quantized) == {}


def test_of_two_rewrites_the_first_is_told_or_the_one_that_was_allowed() -> None:
    """A collective_broadcast has a rewrite for its operands and another for its root."""
    before = _analysis("collective_broadcast_v2")
    told = [
        [one.name for one in rewritten(before, Version(1, 0, 0), allowed)]
        for allowed in (None, ["dynamic-roots-to-slices"], ["composites-to-calls"])
    ]
    assert told == [["split-collectives"], ["dynamic-roots-to-slices"], []]


@pytest.mark.parametrize("case", sorted((CORPUS / "meshes").iterdir()), ids=lambda case: case.name)
def test_a_mesh_given_by_its_name_is_not_written_out_unasked(case: Path) -> None:
    """The expander lists the groups of a mesh; one that has only a name it does not look up."""
    analysis = analyze(read(max((case / "artifacts").glob("*.bc")).read_bytes()))
    unasked = {
        feature.by_default
        for feature in analysis.minimum.features
        if bridges().features.get(feature.name, ("none",))[0] == "expander"
    }
    assert unasked == {case.name not in {"all_reduce_mesh_symbol", "all_reduce_mesh_function"}}


def test_rewrites_are_chosen_by_name() -> None:
    """`exact` means every exact rewrite that reaches a Version; an error lists the known names."""
    assert named(["drop-dot-algorithm"]) == {"drop-dot-algorithm"}
    exact = named([EXACT])
    assert "composites-to-calls" in exact
    assert "mhlo-calls-to-ops" not in exact  # no Version requires it
    assert not exact & {"drop-dot-algorithm", "drop-result-accuracy"}
    with pytest.raises(UnknownRewrite, match=r"'?composite'?.*composites-to-calls.*exact"):
        named(["composite"])


def test_the_page_of_downgrades_is_derived() -> None:
    """`python -m tools downgrades` would write what is there."""
    assert PAGE.read_text() == render()


def test_every_feature_that_can_be_avoided_was_measured() -> None:
    """But for what the bindings that measured, those for Python 3.11, do not know."""
    measured = json.loads(COSTS.read_text())["features"]
    avoidable = {name for name, row in bridges().features.items() if row.by in {"expander", "ours"}}
    assert avoidable - set(measured) == {"collective_broadcast_v2", "collective_reduce_v1"}
    assert set(measured) <= avoidable
