"""Predicted Verdicts, checked against what the real Releases were seen to do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from portable import Version, inspect
from portable.artifact import Artifact
from portable.bytecode import read, vhlo
from portable.bytecode.layouts import BUILTIN, table
from portable.prediction import Mode, Subject, examine, predict, predict_all, subjects
from portable.prediction.form import FormRule, FormSearch, attributes, ops, types, weaken
from portable.prediction.forms import FORMS, KINDS, Reading
from portable.prediction.subject import Judged
from portable.releases import (
    Release,
    advisories,
    distributions,
    find_release,
    matching_releases,
    releases,
)
from portable.releases.refusal import refusals
from portable.verdict import Basis, Outcome, Stage, worst
from tools.found_forms import BY_FORMAT, FOUND, text

ARTIFACTS = Path(__file__).parents[1] / "data" / "artifacts"
CORPUS = Path(__file__).parents[2] / "corpus"
CONTAINERS = Path(__file__).parents[1] / "data" / "containers"


def _artifact(name: str) -> Artifact:
    return Artifact.load(ARTIFACTS / f"{name}.mlir.bc")


# Truth: these Releases were asked to read these artifacts, or ones just like them.
READS = {
    "add_f32+0.9.0": ("jaxlib 0.4.13", "tensorflow 2.14.1", "jaxlib 0.12.0.1"),
    # Format 4, which jaxlib 0.4.13 (0.13.4) does not write and does read.
    "add_f32+0.14.0": ("jaxlib 0.4.13", "jaxlib 0.4.18", "tensorflow 2.14.1"),
    # Labelled 1.17.0 and using nothing newer than its bytecode: the label is never checked.
    "add_f32+1.17.0": ("jaxlib 0.4.21", "tensorflow 2.16.2"),
    "tan+1.4.0": ("jaxlib 0.4.31",),
    "location_range+1.0.0": ("jaxlib 0.4.36", "tensorflow 2.19.1"),
    "mesh_symbol+1.16.0": ("jaxlib 0.10.0", "jaxlib 0.10.1"),
    "mesh_inline+1.16.0": ("jaxlib 0.10.0", "jaxlib 0.10.2", "jaxlib 0.12.0.1"),
    # The mesh is any symbol of the module around: that of a function here, of a nested one below.
    "mesh_function+1.16.0": ("jaxlib 0.10.1", "jaxlib 0.10.2", "jaxlib 0.12.0.1"),
    "mesh_beside+1.16.0": ("jaxlib 0.10.1", "jaxlib 0.10.2", "jaxlib 0.12.0.1"),
    "mesh_other+1.16.0": ("jaxlib 0.10.1",),
    # Types and channels of which the verifiers thought otherwise over time.
    "send_contradicting+0.9.0": ("jaxlib 0.4.13",),
    "recv_contradicting+0.9.0": ("jaxlib 0.4.13",),
    "add_quantized_and_float+0.9.0": ("jaxlib 0.4.13", "jaxlib 0.4.25"),
    "subtract_quantized+0.9.0": ("jaxlib 0.4.18", "jaxlib 0.12.0.1"),
    "convert_quantized+0.9.0": ("jaxlib 0.4.25",),
    "reshape_quantized+0.9.0": ("jaxlib 0.4.18", "jaxlib 0.4.26"),
    "dot_general_quantized_left+0.9.0": ("jaxlib 0.4.13", "jaxlib 0.4.28"),
    "dot_general_quantized_right+0.9.0": ("jaxlib 0.4.13", "jaxlib 0.12.0.1"),
    "dot_general_two_storages+0.9.0": ("jaxlib 0.4.26",),
    "ceil_quantized+0.9.0": ("jaxlib 0.4.26", "jaxlib 0.12.0.1"),
    "clamp_quantized+0.9.0": ("jaxlib 0.4.26", "jaxlib 0.12.0.1"),
    # Operands of different types: mixed f8 by the oldest and by the newest verifiers.
    "convolution_mixed_f8+0.9.0": ("jaxlib 0.4.13", "jaxlib 0.4.26", "jaxlib 0.11.2"),
    "dynamic_conv_mixed_f8+0.9.0": ("jaxlib 0.4.13", "jaxlib 0.4.28", "jaxlib 0.11.2"),
    "convolution_f32_f16+0.9.0": ("jaxlib 0.4.13", "jaxlib 0.4.26"),
    "dynamic_conv_f32_f16+0.9.0": ("jaxlib 0.4.13", "jaxlib 0.4.28"),
    "dynamic_reshape_f32_to_i32+0.9.0": ("jaxlib 0.4.13", "jaxlib 0.4.28"),
    "convolution_quantized_left+0.9.0": ("jaxlib 0.4.25", "jaxlib 0.4.26"),
    "dynamic_conv_quantized_left+0.9.0": ("jaxlib 0.4.26", "jaxlib 0.4.28"),
    "dynamic_reshape_quantized+0.9.0": ("jaxlib 0.4.26", "jaxlib 0.4.28"),
    "quantize_other_expressed+0.9.0": ("jaxlib 0.4.26", "jaxlib 0.4.28"),
    "dynamic_broadcast_f32_to_f16+0.9.0": ("jaxlib 0.4.26", "jaxlib 0.4.28"),
    "dynamic_conv_float_padding+0.9.0": ("jaxlib 0.4.26", "jaxlib 0.4.28"),
    "dot_general_two_expressed+0.9.0": ("jaxlib 0.4.26", "jaxlib 0.4.28"),
    "bitcast_convert_quantized+0.9.0": ("jaxlib 0.4.24", "jaxlib 0.12.0.1"),
    "reduce_window_promoted_integers+0.9.0": ("jaxlib 0.4.24", "jaxlib 0.12.0.1"),
    "reduce_window_promoted_floats+0.9.0": ("jaxlib 0.4.13", "jaxlib 0.4.23", "jaxlib 0.4.24"),
    "bf16_x9+1.6.0": ("jaxlib 0.5.3",),
    "sdy+1.11.0": ("jaxlib 0.6.2", "jaxlib 0.12.0.1", "tensorflow 2.20.0"),
    "sdy_sharding+1.11.0": ("jaxlib 0.6.2", "jaxlib 0.12.0.1", "tensorflow 2.21.0"),
    "sdy_constraint_in_a_sum+1.11.0": ("tensorflow 2.20.0", "tensorflow 2.21.0"),
    "future_result+1.15.0": ("jaxlib 0.10.1", "jaxlib 0.12.0.1"),
    "quantized_abs+0.9.0": ("jaxlib 0.4.18", "tensorflow 2.14.1"),
    "abs_stored_in_f8+0.9.0": ("jaxlib 0.4.18", "jaxlib 0.4.25"),
    "returned_stored_in_f8+0.9.0": ("jaxlib 0.4.18", "jaxlib 0.4.26", "jaxlib 0.12.0.1"),
}
REFUSES = {
    "add_f32+1.17.0": ("jaxlib 0.4.20", "jaxlib 0.4.13"),
    "tan+1.4.0": ("jaxlib 0.4.30",),
    # Locations as ranges, which StableHLO's own check lets pass for any target.
    "location_range+1.0.0": ("jaxlib 0.4.35", "tensorflow 2.18.1"),
    "mesh_symbol+1.16.0": ("jaxlib 0.10.2", "jaxlib 0.11.0", "jaxlib 0.9.2"),
    "mesh_inline+1.16.0": ("jaxlib 0.9.2",),
    # A mesh of another name, one of the module outside, one of a module inside.
    "mesh_other+1.16.0": ("jaxlib 0.10.2", "jaxlib 0.11.2", "jaxlib 0.12.0.1"),
    "send_contradicting+0.9.0": ("jaxlib 0.4.18", "jaxlib 0.12.0.1"),
    "recv_contradicting+0.9.0": ("jaxlib 0.4.18", "jaxlib 0.12.0.1"),
    "add_quantized_and_float+0.9.0": ("jaxlib 0.4.26", "jaxlib 0.12.0.1"),
    "subtract_quantized+0.9.0": ("jaxlib 0.4.13",),
    "convert_quantized+0.9.0": ("jaxlib 0.4.26", "jaxlib 0.12.0.1"),
    "reshape_quantized+0.9.0": ("jaxlib 0.4.27", "jaxlib 0.12.0.1"),
    "dot_general_quantized_left+0.9.0": ("jaxlib 0.4.30", "jaxlib 0.12.0.1"),
    "dot_general_two_storages+0.9.0": ("jaxlib 0.4.30", "jaxlib 0.12.0.1"),
    "ceil_quantized+0.9.0": ("jaxlib 0.4.18", "jaxlib 0.4.25"),
    "clamp_quantized+0.9.0": ("jaxlib 0.4.18", "jaxlib 0.4.25"),
    "mesh_outside+1.16.0": ("jaxlib 0.10.2", "jaxlib 0.11.2", "jaxlib 0.12.0.1"),
    "mesh_inside+1.16.0": ("jaxlib 0.10.2", "jaxlib 0.11.2", "jaxlib 0.12.0.1"),
    "convolution_mixed_f8+0.9.0": ("jaxlib 0.4.27", "jaxlib 0.4.30", "jaxlib 0.11.1"),
    "dynamic_conv_mixed_f8+0.9.0": ("jaxlib 0.4.30", "jaxlib 0.5.3", "jaxlib 0.11.1"),
    "convolution_f32_f16+0.9.0": ("jaxlib 0.4.27", "jaxlib 0.12.0.1"),
    "dynamic_conv_f32_f16+0.9.0": ("jaxlib 0.4.30", "jaxlib 0.12.0.1"),
    "dynamic_reshape_f32_to_i32+0.9.0": ("jaxlib 0.4.30", "jaxlib 0.12.0.1"),
    "convolution_quantized_left+0.9.0": ("jaxlib 0.4.27", "jaxlib 0.12.0.1"),
    "dynamic_conv_quantized_left+0.9.0": ("jaxlib 0.4.30", "jaxlib 0.12.0.1"),
    "dynamic_reshape_quantized+0.9.0": ("jaxlib 0.4.30", "jaxlib 0.12.0.1"),
    "quantize_other_expressed+0.9.0": ("jaxlib 0.4.30", "jaxlib 0.12.0.1"),
    "dynamic_broadcast_f32_to_f16+0.9.0": ("jaxlib 0.4.30", "jaxlib 0.12.0.1"),
    "dynamic_conv_float_padding+0.9.0": ("jaxlib 0.4.30", "jaxlib 0.12.0.1"),
    "dot_general_two_expressed+0.9.0": ("jaxlib 0.4.30", "jaxlib 0.12.0.1"),
    "bitcast_convert_quantized+0.9.0": ("jaxlib 0.4.13", "jaxlib 0.4.23"),
    "reduce_window_promoted_integers+0.9.0": ("jaxlib 0.4.13", "jaxlib 0.4.23"),
    "bf16_x9+1.6.0": ("jaxlib 0.4.33", "jaxlib 0.5.1", "tensorflow 2.19.1"),
    "sdy+1.11.0": ("jaxlib 0.5.3", "tensorflow 2.19.1"),
    "sdy_sharding+1.11.0": ("jaxlib 0.6.0", "jaxlib 0.6.1"),
    "future_result+1.15.0": ("jaxlib 0.10.0", "jaxlib 0.9.2"),
    "quantized_abs+0.9.0": ("jaxlib 0.4.13",),
    # Read by some processes and refused by others of one Release.
    "abs_stored_in_f8+0.9.0": ("jaxlib 0.4.26", "jaxlib 0.12.0.1"),
}


@pytest.mark.parametrize("name", sorted({*READS, *REFUSES}))
def test_reading_is_predicted_as_it_was_observed(name: str) -> None:
    """What was read is predicted compatible, what was refused incompatible, each with a Stage."""
    artifact = _artifact(name)
    for release in READS.get(name, ()):
        verdict = predict(artifact, release)
        # What it does not compile it reads all the same.
        assert verdict.compatible or verdict.stage > Stage.DECODE, verdict
        assert verdict.basis is Basis.PREDICTED
    for release in REFUSES.get(name, ()):
        verdict = predict(artifact, release)
        assert verdict.outcome is Outcome.INCOMPATIBLE, verdict
        assert verdict.stage in {Stage.WINDOW, Stage.DECODE}
        assert verdict.reason


def test_the_format_is_refused_when_it_is_decoded() -> None:
    """Jaxlib 0.4.18 to 0.4.20 accept the number 6 and then fail; 0.4.13 refuses the number."""
    accepted = predict(_artifact("add_f32+1.17.0"), "jaxlib 0.4.20")
    assert (accepted.outcome, accepted.stage) == (Outcome.INCOMPATIBLE, Stage.DECODE)
    assert "missing BytecodeOpInterface" in accepted.reason
    refused = predict(_artifact("add_f32+1.17.0"), "jaxlib 0.4.13")
    assert refused.stage is Stage.DECODE
    assert "bytecode format 6 is read from 0.15.0 on" in refused.reason


def test_wrong_results_are_predicted_at_execute() -> None:
    """Jaxlib 0.9.1 reads a boolean splat rightly and computes 255 from it; its neighbours do 1."""
    verdict = predict(_artifact("i1_splat_32+1.0.0"), "jaxlib 0.9.1")
    assert (verdict.outcome, verdict.stage) == (Outcome.WRONG_RESULT, Stage.EXECUTE)
    assert predict(_artifact("i1_splat_32+1.0.0"), "jaxlib 0.9.0").compatible
    assert predict(_artifact("i1_splat_32+1.0.0"), "jaxlib 0.10.0").compatible
    assert predict(_artifact("i1_splat_8+1.0.0"), "jaxlib 0.9.1").compatible


def test_crashes_are_predicted() -> None:
    """torch_xla 2.1.0 dies of what it should refuse."""
    verdict = predict(_artifact("add_f32+1.17.0"), "torch-xla 2.1.0")
    assert (verdict.outcome, verdict.stage) == (Outcome.CRASHED, Stage.DECODE)
    assert predict(_artifact("add_f32+0.14.0"), "torch-xla 2.1.0").compatible


def test_batching_dimensions_are_told_from_their_absence() -> None:
    """Jaxlib 0.4.30 loses batching dimensions; a gather in the same form without any is fine."""
    assert (
        predict(_artifact("gather_batching+1.1.0"), "jaxlib 0.4.30").outcome is Outcome.WRONG_RESULT
    )
    assert predict(_artifact("gather_plain+1.17.0"), "jaxlib 0.4.30").compatible


def test_an_algorithm_is_told_by_its_number_and_not_by_an_index() -> None:
    """Here the number of operations is no number but a type, which happens to be the ninth."""
    (artifact,) = [Artifact.load(path) for path in ARTIFACTS.glob("dot_general_f8+*")]
    assert not examine(artifact).occurs("dot_general with an algorithm of nine operations")


def test_what_the_bytes_do_not_tell_is_not_known() -> None:
    """Whether tensorflow 2.16 rounds to f16 on the way to bf16 depends on more than the bytes."""
    verdict = predict(_artifact("integers_become_bf16_by_f16+0.9.0"), "tensorflow 2.16.2")
    assert verdict.compatible
    (unknown,) = verdict.not_known
    assert unknown.stage is Stage.EXECUTE
    assert "f8-identity" in unknown.what
    assert verdict.holds(Stage.DECODE)
    assert verdict.holds(Stage.EXECUTE) is None


def test_what_is_not_promised_is_a_note() -> None:
    """A Release that reads what upstream promises no more is compatible, and it is said."""
    verdict = predict(_artifact("add_f32+0.9.0"), "jaxlib 0.12.0.1")
    assert any("does not promise" in d.message for d in verdict.diagnostics)
    assert not predict(_artifact("tan+1.4.0"), "jaxlib 0.12.0.1").diagnostics


def test_unknown_content_needs_what_the_artifact_claims() -> None:
    """What no table knows is at most as old as the claim; whether newer readers know it is open."""
    claimed = Subject.claim(Version(1, 22, 0), 6)
    subject = replace(claimed, required=Version(0, 15, 0), unknown=("vhlo.future_v1",))
    newer = predict(subject, "jaxlib 0.12.0")
    assert (newer.outcome, newer.stage) == (Outcome.NOT_KNOWN, Stage.DECODE)
    assert newer.reason == "vhlo.future_v1, which the tables do not know"
    verdict = predict(subject, "jaxlib 0.11.2")
    assert verdict.outcome is Outcome.INCOMPATIBLE
    assert "do not know" in verdict.reason


def test_a_newer_bytecode_format_is_refused_by_all() -> None:
    """A format that no Version has cannot be read by any known Release."""
    verdict = predict(Subject(None, 7, None), "jaxlib 0.12.0.1")
    assert not verdict.compatible
    assert "newer than any known" in verdict.reason


def test_an_artifact_below_the_minimum_is_refused() -> None:
    """0.4.0 was dropped with 0.9.0, the only raise of the minimum there ever was."""
    verdict = predict(Subject(Version(0, 4, 0), 0, Version(0, 4, 0)), "jaxlib 0.5.0")
    assert (verdict.outcome, verdict.stage) == (Outcome.INCOMPATIBLE, Stage.WINDOW)


# Of every distribution the oldest, the newest and some between; a consumer without a name.
SAMPLE = [
    *{one for name in distributions() for one in (releases(name)[0], releases(name)[-1])},
    *(find_release(f"jaxlib {version}") for version in ("0.4.20", "0.4.30", "0.5.3", "0.9.1")),
    *matching_releases("stablehlo==1.9.3", "jax-cuda12-pjrt==0.6.0"),
]


WAYS: tuple[Callable[[Path], Judged], ...] = (
    lambda path: path,
    str,
    Path.read_bytes,
    Artifact.load,
    inspect,
    lambda path: inspect(path.read_bytes()),
)


def test_a_path_its_bytes_its_artifact_and_its_inspection_give_the_same_verdicts() -> None:
    """One way to look into an artifact, whatever the caller has of it."""
    cases = [sorted(folder.glob("*.bc")) for folder in sorted(CORPUS.glob("*/*/artifacts"))[::5]]
    # Of these Cases one artifact each, of one library or another.
    chosen = [paths[number % len(paths)] for number, paths in enumerate(cases) if paths]
    # Each artifact in one of the ways: some ninety in each.
    for number, path in enumerate([*sorted(ARTIFACTS.glob("*.bc")), *chosen]):
        given = WAYS[number % len(WAYS)](path)
        (subject,) = subjects(given).values()
        assert subject == examine(Artifact.load(path)), path
        several = SAMPLE[number % 9 :: 9]
        verdicts = predict_all(subject, several)
        assert predict_all(given, several) == verdicts, path
        assert predict(given, several[0]) == verdicts[0], path


def test_a_container_is_judged_as_its_worst_artifact() -> None:
    """By its path, its bytes or its Inspection; who cannot open it reads nothing of it."""
    path = CONTAINERS / "gate-vjp2-jax-0.5.3.exported"
    found = subjects(path)
    assert list(found) == ["primal", "vjp", "vjp.vjp"]
    for release in (
        "jaxlib 0.4.30",
        "jaxlib 0.5.0",
        "jaxlib 0.10.2",
        "jaxlib 0.12.0",
        "libtpu 0.0.30",
    ):
        parts = [predict(subject, release) for subject in found.values()]
        whole = predict(path, release)
        assert whole == predict(path.read_bytes(), release) == predict(inspect(path), release)
        assert whole.holds(Stage.DECODE) is worst(part.holds(Stage.DECODE) for part in parts)
    refused = predict(path, "jaxlib 0.12.0")
    assert (refused.outcome, refused.stage) == (Outcome.INCOMPATIBLE, Stage.OPEN)
    assert "opened by jax>=0.4.30,<0.11.1" in refused.reason
    strange = predict(path, "libtpu 0.0.30")
    assert (strange.outcome, strange.stage) == (Outcome.NOT_KNOWN, Stage.OPEN)
    assert predict(path, "jaxlib 0.10.2").compatible


def test_every_form_that_a_table_names_is_found_or_admitted() -> None:
    """A typing error in a table would turn a Verdict into a warning."""
    named = {row.form for row in refusals()}
    kinds = {*KINDS, "custom_call"}
    words = {row.feature for row in advisories() if row.feature.partition(":")[0] not in kinds}
    not_in_the_bytes = {"composite with regions, as a producer"}
    assert (named | words) - set(FORMS) == not_in_the_bytes
    assert set(FORMS) <= named | words


def test_every_need_of_a_form_can_occur() -> None:
    """A typing error in one would leave the form out wherever it is."""
    names = {f"vhlo.{name}" for name in vhlo.ops()} | {"builtin.module"}
    known = {f"op:{name}" for name in names} | {f"op:{name.rpartition('_v')[0]}" for name in names}
    known |= {f"type:{name.removesuffix('_v1')}" for name in vhlo.lifetimes("types")}
    known |= {f"attribute:{name}" for name in vhlo.lifetimes("attributes")}
    known |= {f"type:{row.name}" for row in table(BUILTIN, "types").values()}
    needed = {one for rule in FORMS.values() for group in rule.needs for one in group}
    assert needed - known == {"dialect:sdy"}
    assert all(group for rule in FORMS.values() for group in rule.needs)


def test_what_lacks_what_a_form_needs_is_not_searched_for_it() -> None:
    """An op that has a form is found; the same artifact without it is not looked through."""
    data = (ARTIFACTS / "mesh_inline+1.16.0.mlir.bc").read_bytes()
    reading = Reading(read(data), data)
    looked: list[Reading] = []

    def find(reading: Reading) -> bool:
        looked.append(reading)
        return True

    cases: list[tuple[tuple[frozenset[str], ...], bool]] = [
        ((), True),
        ((ops("vhlo.all_reduce"),), True),
        ((ops("vhlo.all_reduce_v2", "vhlo.tan_v1"), types({"f32_v1"})), True),
        ((ops("vhlo.tan_v1"),), False),
        ((types({"f32_v1"}), ops("vhlo.tan_v1")), False),
        ((attributes("replica_group_mesh_axes_v1"), types({"i4_v1"})), False),
    ]
    for needs, occurs in cases:
        looked.clear()
        found = FormSearch({"one": FormRule(find, needs)}).forms_in(reading)
        assert found == ({"one": True} if occurs else {})
        assert looked == [reading] * occurs


def test_a_weakened_form_is_looked_for_where_it_was() -> None:
    """Of what it finds only the answer is another: perhaps."""
    data = (ARTIFACTS / "mesh_inline+1.16.0.mlir.bc").read_bytes()
    rule = FormRule(lambda _: True, (ops("vhlo.all_reduce"),), across=True)
    weak = weaken(rule)
    assert (weak.needs, weak.across) == (rule.needs, True)
    assert weak.find(Reading(read(data), data)) is None


def test_forms_are_found_where_they_are_and_nowhere_else() -> None:
    """Else a Release is said to fail with what it can do, or one that fails is not named."""
    assert text().splitlines() == FOUND.read_text("utf-8").splitlines()


def test_the_format_of_the_bytecode_is_a_form() -> None:
    """That which 0.15.0 brought, which readers of earlier Versions do not read."""
    for path in ARTIFACTS.glob("*.bc"):
        artifact = Artifact.load(path)
        subject = examine(artifact)
        assert {subject.occurs(name) for name in BY_FORMAT} == {artifact.header.format == 6}, (
            path.name
        )


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        ("backward", "c x"), ("backward-transitive", "c d x"), ("forward", "b"),
        ("forward-transitive", "a b"), ("full", "b c x"), ("full-transitive", "a b c d x"),
    ],
)  # fmt: skip
def test_modes_choose_the_neighbours_or_all(mode: str, names: str) -> None:
    """As schema registries do: next only, or transitively; on one side, or on both."""
    day = find_release("jaxlib 0.5.0").date
    table = [
        Release("one", "a", day, Version(1, 1, 0)), Release("one", "b", day, Version(1, 3, 9)),
        Release("one", "c", day, Version(1, 4, 1)), Release("one", "d", day, Version(1, 9, 0)),
        Release("other", "x", day, Version(1, 4, 0)),
    ]  # fmt: skip
    chosen = Mode(mode).select(table, Version(1, 4, 0))
    assert " ".join(release.version for release in chosen) == names


def test_modes_predict_for_an_artifact() -> None:
    """An artifact for 1.4.0 is read by newer Releases and by none of the older."""
    artifact, table = _artifact("tan+1.4.0"), matching_releases("jaxlib>=0.4.13")
    assert all(v.compatible for v in predict_all(artifact, table, "backward-transitive"))
    assert not any(v.compatible for v in predict_all(artifact, table, Mode.FORWARD_TRANSITIVE))
    assert [v.consumer for v in predict_all(artifact, table, "full")] == [
        "jaxlib 0.4.30",
        "jaxlib 0.4.31",
    ]
    assert len(predict_all(artifact, table)) == len(table)


def test_verdicts_are_reproducible() -> None:
    """The same artifact and Release give the same Verdict, alone or with others, in one order."""
    for number, path in enumerate(sorted(ARTIFACTS.glob("*.bc"))):
        subject, several = examine(Artifact.load(path)), releases()[number % 15 :: 15]
        alone = tuple(predict(subject, release) for release in several)
        assert predict_all(Artifact.load(path), several) == alone
        assert predict_all(path, map(str, several)) == alone
