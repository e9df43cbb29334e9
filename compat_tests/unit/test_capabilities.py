"""What Releases compile: the table, and what is predicted by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.compiled import COMPILED, FOLDED, ON_IREE, ON_OLDER_IREE, artifact_of
from portable.artifact import Artifact
from portable.bytecode import read
from portable.bytecode.scan import Scan
from portable.policy import ContradictoryPolicy, PolicyError, gate, parse_policy
from portable.prediction import Subject, blamed, examine, predict, signatures, verdicts
from portable.prediction.forms import Reading
from portable.prediction.signatures import signatures_by_name
from portable.releases import find_release, releases
from portable.releases.capability import (
    TABLE,
    Ability,
    capabilities_of,
    computed_everywhere,
    parse,
)
from portable.releases.table import TableError
from portable.system.files import read_file
from portable.verdict import Outcome, Stage
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"
LAPACK = ROOT / "compat_tests" / "data" / "lapack"
CORPUS = ROOT / "corpus"


def _of_corpus(case: str) -> Path:
    return next(CORPUS.glob(f"*/{case}/artifacts/*"))


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("i32", "f32"), set()),
        (("ui2", "ui2"), set()),
        (("i32", "ui2"), {"sort ui2 beside others"}),
    ],
)
def test_a_sort_with_a_type_below_a_byte(types: tuple[str, str], expected: set[str]) -> None:
    """XLA packs two-bit integers: jaxlib 0.12.0.1 refuses them beside i32, and takes them alone."""
    naming = signatures._texts("sort", (0, 1), (0, 1), _Named(types))
    assert {*naming} - {f"sort {one}" for one in types} == expected


class _Named(signatures._Elements):
    """Types by their numbers."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._known = {number: (name, False) for number, name in enumerate(names)}


def _subject(*signatures: str) -> Subject:
    """Return an artifact of which no table but that of capabilities says anything."""
    return replace(Subject.claim(Version.parse("0.9.0"), 1), signatures=frozenset(signatures))


@pytest.mark.parametrize(
    ("case", "signatures"),
    [
        ("add_f32", {"add f32"}),
        ("add_complex_f32", {"add complex<f32>"}),
        ("compare_EQ_FLOAT_f32", {"compare f32 -> bool"}),
        ("is_finite_f32", {"is_finite f32 -> bool"}),
        ("custom_call_plain", {"custom_call foo"}),
        ("sort_two_operands_f32", {"sort f32", "sort i32", "compare f32 -> bool"}),
        ("uniform_quantize_i8_f32", {"uniform_quantize f32 -> quant"}),
        ("reduce_add_f32", {"reduce f32", "add f32", "add f32 in reduce"}),
    ],
)
def test_the_signatures_of_a_program(case: str, signatures: set[str]) -> None:
    """Each op with its element types, neighbours of one type once, a custom call by its target."""
    data = _of_corpus(case).read_bytes()
    found = signatures_by_name(Reading(read(data), data))
    assert found.keys() == signatures


@pytest.mark.parametrize(
    ("types", "different"),
    [(("f32", "f32"), False), (("f32", "i32"), False), (("f32", "bf16"), True)],
)
def test_a_reduction_of_different_floats(types: tuple[str, str], *, different: bool) -> None:
    """XLA refuses one that it would take of each of them alone."""
    naming = signatures._texts("reduce", (0, 1), (0, 1, 0, 1), _Named(types))
    expected = {f"reduce {one}" for one in types} | (
        {"reduce different floats"} if different else set()
    )
    assert {*naming} == expected


SMALL_TABLE = """\
# head
[jaxlib]\tcpu\t2026-11-22\t0.5.0 0.7.0 0.9.0
add\tccc\tf32;bf16
tan\trcc\tf32
sort\txwm\ti4
maximum\trcc\tf32 in reduce
*\t-rc\tof nothing
reverse\trrr\tquant
*\t-cr\tquant of nothing
constant\tcxx\tf6
reshape\tccc\tf6
collective_broadcast\trrr\tf32
all_to_all\trrr\tf32
iota\trrr\ti32 -> i1;i64 -> i1;i64 -> i2
iota\t--r\ti32 -> i1 of nothing
pool\trrr\tf32
pool\tckr\tf32 apart
"""


@pytest.fixture
def put_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Return what puts a table in the place of the one that ships."""
    caches = (capabilities_of, computed_everywhere, verdicts._unsettled, verdicts._verdicts)

    def put(text: str) -> None:
        sections = parse(text)
        monkeypatch.setattr("portable.releases.capability._sections", lambda: sections)
        for cached in caches:
            cached.cache_clear()

    yield put
    for cached in caches:
        cached.cache_clear()


@pytest.fixture
def small_table(put_table: Callable[[str], None]) -> None:
    """Put a small table in the place of the one that ships."""
    put_table(SMALL_TABLE)


@pytest.mark.parametrize(
    ("version", "signature", "support"),
    [
        ("0.5.0", "add f32", Ability.COMPUTES),
        ("0.5.0", "tan f32", Ability.REFUSES),
        ("0.5.0", "sort i4", Ability.CRASHES),
        ("0.7.0", "sort i4", Ability.WRONG),
        ("0.9.0", "sort i4", Ability.MIXED),
        # Between two that were executed: where they agree.
        ("0.8.0", "tan f32", Ability.COMPUTES),
        ("0.6.0", "tan f32", Ability.UNTRIED),
        ("0.5.0", "add f64", Ability.UNTRIED),
        ("0.5.0", "erf f32", Ability.UNTRIED),
        # In the body of another op what fails is listed; an op of its own is what it is alone.
        ("0.5.0", "maximum f32 in reduce", Ability.REFUSES),
        ("0.6.0", "maximum f32 in reduce", Ability.UNTRIED),
        ("0.7.0", "maximum f32 in reduce", Ability.COMPUTES),
        ("0.5.0", "add f32 in reduce", Ability.COMPUTES),
        ("0.5.0", "maximum f32", Ability.UNTRIED),
        # Without elements any op that is known computes where any does; else it is as any other.
        ("0.9.0", "sort i4 of nothing", Ability.COMPUTES),
        ("0.9.0", "sort i8 of nothing", Ability.UNTRIED),
        ("0.7.0", "sort i4 of nothing", Ability.WRONG),
        ("0.7.0", "tan f32 of nothing", Ability.COMPUTES),
        # What was not tried without elements is not said to fail.
        ("0.5.0", "tan f32 of nothing", Ability.UNTRIED),
        ("0.7.0", "all_to_all f32 of nothing", Ability.REFUSES),
        # Quantized types may be made arithmetic of before.
        ("0.9.0", "reverse quant of nothing", Ability.REFUSES),
        ("0.7.0", "reverse quant of nothing", Ability.COMPUTES),
        ("0.5.0", "reverse quant of nothing", Ability.UNTRIED),
        # It becomes a constant, which may fail; and what communicates may stay.
        ("0.9.0", "reshape f6", Ability.COMPUTES),
        ("0.9.0", "reshape f6 of nothing", Ability.UNTRIED),
        ("0.9.0", "collective_broadcast f32 of nothing", Ability.REFUSES),
        ("0.9.0", "all_to_all f32 of nothing", Ability.UNTRIED),
        # What fails with other operands is not removed before.
        ("0.9.0", "iota i32 -> i1 of nothing", Ability.REFUSES),
        ("0.9.0", "iota i64 -> i1 of nothing", Ability.UNTRIED),
        ("0.9.0", "iota i64 -> i2 of nothing", Ability.COMPUTES),
        # Windows that do not overlap have rows of their own, or those of any.
        ("0.5.0", "pool f32 apart", Ability.COMPUTES),
        ("0.7.0", "pool f32 apart", Ability.COMPILES),
        ("0.7.0", "pool f32", Ability.REFUSES),
        ("0.7.0", "add f32 apart", Ability.COMPUTES),
    ],
)
@pytest.mark.usefixtures("small_table")
def test_what_a_release_makes_of_a_signature(
    version: str, signature: str, support: Ability
) -> None:
    """The letter of the Release, or of both its neighbours; everything else was not tried."""
    known = capabilities_of(find_release("jaxlib", version))
    assert known.support(signature) is support
    # Before the first and after the last there is no neighbour on one side.
    for name in ("jaxlib 0.4.38", "jaxlib 0.10.0", "libtpu 0.0.30"):
        assert not capabilities_of(find_release(name)).source


def test_a_release_that_was_executed_in_part_is_as_its_neighbours_else(
    put_table: Callable[[str], None],
) -> None:
    """What it was not tried with is what both make of it; what it was tried with is its own."""
    rows = "add\tc-c\tf32\nceil\tr-c\tf32\nfloor\trrc\tf32\ntan\tr-r\tf32\n"
    put_table(f"[jaxlib]\tcpu\t2026-11-29\t0.5.0 0.6.0~ 0.9.0\n{rows}")
    known = capabilities_of(find_release("jaxlib", "0.6.0"))
    ops = ("add f32", "ceil f32", "floor f32", "tan f32")
    found = [known.support(one).value for one in ops]
    assert found == ["c", "-", "r", "r"]
    assert "jaxlib 0.6.0, cpu" in known.shown_by("floor f32")
    assert "jaxlib 0.5.0 and 0.9.0, cpu" in known.shown_by("tan f32")
    assert computed_everywhere("add f32")
    # It is no neighbour: of another Release between the two it says nothing.
    assert capabilities_of(find_release("jaxlib", "0.7.0")).support("floor f32").value == "-"


@pytest.mark.parametrize(
    "row", ["add\tcc\tf32", "add\tccc", "add\tccz\tf32", "add\tccc\tf32\tmore", "add"]
)
def test_rows_that_do_not_fit(row: str) -> None:
    """A row with other letters than the section has Releases names its line."""
    with pytest.raises(TableError, match="row 3"):
        parse(f"# head\n[jaxlib]\tcpu\t2026-11-22\t0.5.0 0.7.0 0.9.0\n{row}\n")


def test_the_table_names_releases_that_there_are() -> None:
    """In order, each once, and no signature twice; it is small."""
    text = Path(TABLE).read_text("utf-8")
    assert len(text) < 2_000_000
    for distribution, section in parse(text).items():
        known = [release.version for release in releases(distribution)]
        assert list(section.executed) == [one for one in known if one in section.executed]
        for rows in section.rows.values():
            listed = [types for _, each in rows for types in each.split(";")]
            assert len(listed) == len(set(listed))


@pytest.mark.usefixtures("small_table")
@pytest.mark.parametrize(
    ("version", "signatures", "outcome", "stage", "reason"),
    [
        ("0.7.0", ["add f32", "tan f32"], Outcome.COMPATIBLE, Stage.EXECUTE, "needs 0.9.0"),
        ("0.5.0", ["add f32", "tan f32"], Outcome.INCOMPATIBLE, Stage.COMPILE, "tan f32: refused"),
        ("0.5.0", ["tan f32", "sort i4"], Outcome.CRASHED, Stage.COMPILE, "sort i4: crashed"),
        ("0.7.0", ["sort i4"], Outcome.WRONG_RESULT, Stage.EXECUTE, "sort i4: computed something"),
        ("0.9.0", ["sort i4"], Outcome.NOT_KNOWN, Stage.COMPILE, "some programs with it fail"),
        ("0.9.0", ["add f32", "erf f32"], Outcome.NOT_KNOWN, Stage.COMPILE, "erf f32 (not tried)"),
        ("0.6.0", ["tan f32"], Outcome.NOT_KNOWN, Stage.COMPILE, "tan f32 (not tried)"),
        ("0.10.0", ["add f32"], Outcome.NOT_KNOWN, Stage.COMPILE, "no program was executed on"),
        ("0.9.0", None, Outcome.NOT_KNOWN, Stage.COMPILE, "only the header was read"),
        # An obstacle that is known counts more than what is not known.
        ("0.5.0", ["erf f32", "tan f32"], Outcome.INCOMPATIBLE, Stage.COMPILE, "tan f32: refused"),
    ],
)
def test_a_prediction_goes_to_the_end(
    version: str, signatures: list[str] | None, outcome: Outcome, stage: Stage, reason: str
) -> None:
    """Whatever fails is named with its evidence; what was not tried is never compatible."""
    subject = _subject(*signatures or ())
    subject = subject if signatures is not None else replace(subject, signatures=None)
    verdict = predict(subject, f"jaxlib {version}", stage=Stage.EXECUTE)
    assert (verdict.outcome, verdict.stage) == (outcome, stage)
    assert reason in verdict.reason
    passes = {Outcome.COMPATIBLE: True, Outcome.NOT_KNOWN: None}.get(outcome, False)
    assert verdict.holds(Stage.EXECUTE) is passes
    # Up to reading only the obstacles count.
    read_only = predict(subject, f"jaxlib {version}")
    assert read_only.holds(Stage.DECODE) is (passes is not False)
    assert not read_only.not_known


@pytest.mark.usefixtures("small_table")
def test_the_evidence_is_named() -> None:
    """Which Releases were executed, on what, and when: also where nothing fails."""
    between = predict(_subject("add f32"), "jaxlib 0.8.0", stage="execute")
    said = " ".join(diagnostic.message for diagnostic in between.diagnostics)
    assert "executed on jaxlib 0.7.0 and 0.9.0, cpu, 2026-11-22" in said
    refused = predict(_subject("tan f32"), "jaxlib 0.5.0")
    assert refused.reason == "tan f32: refused, executed on jaxlib 0.5.0, cpu, 2026-11-22"


def test_ten_thousand_custom_calls() -> None:
    """Some are listed, and how many more there are."""
    targets = [f"custom_call target {number}" for number in range(10_000)]
    verdict = predict(_subject(*targets), "jaxlib 0.10.2")
    assert verdict.compatible
    assert len(verdict.not_known) == 21
    assert verdict.not_known[-1].what == "9980 more ops or custom calls"
    twenty = predict(_subject(*targets[:20]), "jaxlib 0.10.2").not_known
    assert {one.what for one in twenty} == {f"custom call {one[12:]!r}" for one in targets[:20]}


@pytest.mark.usefixtures("small_table")
def test_an_op_that_was_not_tried_is_not_known_to_compile() -> None:
    """As soon as compiling is judged, and not where it is only read."""
    for stage, known in ((Stage.DECODE, True), (Stage.COMPILE, None), (Stage.EXECUTE, None)):
        verdict = predict(_subject("erf f32"), "jaxlib 0.9.0", stage=stage)
        assert verdict.holds(stage) is known
        whats = [one.what for one in verdict.not_known]
        assert whats == ([] if known else ["erf f32 (not tried)"])


@pytest.mark.usefixtures("small_table")
def test_a_custom_call_of_an_advisory_is_no_doubt() -> None:
    """That it is one of TPUs, which a jaxlib for the CPU does not have, is known already."""
    target = "tpu_custom_call"
    subject = replace(
        _subject(f"custom_call {target}"), present=frozenset({f"custom_call:{target}"})
    )
    verdict = predict(subject, "jaxlib 0.5.0")
    assert verdict.reason.startswith("tpu-custom-call-cpu: ")
    assert verdict.not_known == ()


def test_the_ops_to_blame_have_places() -> None:
    """Where the bytes say it: file, line and column."""
    artifact = Artifact.load(_of_corpus("uniform_quantize_i8_f32"))
    verdict = predict(artifact, "jaxlib 0.10.2")
    places = blamed(artifact, [verdict])
    assert places.keys() == {"uniform_quantize f32 -> quant"}
    assert not blamed(artifact, [predict(artifact, "libtpu 0.0.30")])


@pytest.mark.parametrize(
    ("exported_by", "release", "holds"),
    [
        # What JAX exported in 2023 calls handlers that jaxlib dropped in 0.6.0.
        ("0.4.20", "jaxlib 0.4.13", True),
        ("0.4.20", "jaxlib 0.5.3", True),
        ("0.4.20", "jaxlib 0.10.2", False),
        ("0.4.20", "jaxlib 0.12.0.1", False),
        ("0.10.2", "jaxlib 0.10.2", True),
        ("0.10.2", "jaxlib 0.12.0.1", True),
        # No other distribution has handlers of them.
        ("0.10.2", "tensorflow 2.19.1", False),
        ("0.10.2", "tensorflow 2.21.0", False),
        ("0.10.2", "iree-base-compiler 3.13.0", False),
    ],
)
def test_calls_of_lapack(exported_by: str, release: str, *, holds: bool) -> None:
    """As compat_tests/real/executors/test_lapack.py sees it on the real Releases."""
    path = LAPACK / f"jax-{exported_by}" / "cholesky.mlir.bc"
    assert predict(path, release, stage=Stage.COMPILE).holds(Stage.COMPILE) is holds


@pytest.mark.parametrize(("name", "version"), COMPILED)
def test_what_the_ops_alone_do_not_show(name: str, version: str) -> None:
    """Ops that are removed, channels, sizes and operands decide, as seen on the real Release."""
    verdict = predict(artifact_of(name), f"jaxlib {version}", stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE) is COMPILED[name, version]


@pytest.mark.parametrize(
    ("name", "compiles", "computes"),
    [
        # As executed with iree-base-compiler 3.13.0 on 2026-11-23.
        ("fft_of_nothing", True, True),
        ("select_and_scatter_padded", False, False),
        ("select_and_scatter_by_one", False, False),
        # Which of two equal elements of a window is selected is left open, and differs from XLA.
        ("select_and_scatter_apart", True, None),
        ("abs_of_a_complex_constant", False, False),
        ("abs_of_a_complex_number", True, True),
        ("fft_by_halves", True, True),
        ("reverse_of_every_second", False, False),
        ("every_second_of_a_reverse", True, True),
        ("fft_by_thirds", False, False),
        ("fft_of_a_square", False, False),
        ("sum_up_unsigned", False, False),
        ("sum_up_unsigned_backwards", False, False),
        ("sum_of_few_unsigned", True, True),
        ("compare_with_floor", False, False),
        ("compare_below_floor", True, True),
        ("compare_with_other_floor", True, True),
        # It is folded to a constant, and refused.
        ("abs_of_a_complex_sum", None, None),
        ("reverse_of_a_scalar", False, False),
        ("dynamic_pad_of_a_scalar", False, False),
        # As executed on 2026-11-27. Bodies of sort and scatter become arithmetic of scalars.
        ("body_if_scatter", False, False),
        ("body_power_sort", False, False),
        ("body_round_scatter", False, False),
        ("body_while_sort", False, False),
        ("body_barrier", False, False),
        ("body_array_scatter", False, False),
        ("body_array_sort", False, False),
        ("body_array_reduce", True, True),
        # A reshape was dropped, and a loop of constants refused.
        ("body_reshape_sort", None, None),
        ("body_while_of_constants", None, None),
        # Equal keys of other elements came in another order; nothing was rounded.
        ("body_floor_sort_stable", True, None),
        ("body_tanh_sort", True, None),
        ("body_bf16_scatter", True, None),
    ],
)
def test_what_iree_compiles(name: str, compiles: bool | None, computes: bool | None) -> None:
    """It drops ops without elements, and rewrites windows and transforms only of some sizes."""
    verdict = predict(artifact_of(name), "iree-base-compiler 3.13.0", stage=Stage.EXECUTE)
    assert (verdict.holds(Stage.COMPILE), verdict.holds(Stage.EXECUTE)) == (compiles, computes)


@pytest.mark.parametrize(
    "name",
    [
        # Refused or died of on 2026-11-27, by one of these at least.
        "body_bytes",
        "body_cholesky_sort",
        "body_fft",
        "body_matrix_product",
        "body_triangular_solve",
        "body_while_called",
        "body_while_of_constants",
        "body_window_sort",
    ],
)
@pytest.mark.parametrize(
    "release", ["jaxlib 0.10.2", "jaxlib 0.12.0.1", "tensorflow 2.21.0", "jax-cuda13-pjrt 0.11.2"]
)
def test_a_body_of_more_than_scalars_is_not_green(name: str, release: str) -> None:
    """Such ops compile outside of bodies that are applied to scalars, and often not in them."""
    holds = predict(artifact_of(name), release, stage=Stage.COMPILE).holds(Stage.COMPILE)
    assert holds is not True


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("condition_draws", None),
        ("condition_of_a_partition", None),
        ("condition_draws_and_counts", None),
        ("body_draws", True),
    ],
)
def test_a_loop_that_is_ended_by_no_value_is_not_green(name: str, holds: bool | None) -> None:
    """Of the first two jaxlib 0.4.30 died on 2026-11-27: nothing is left that is carried."""
    verdict = predict(artifact_of(name), "jaxlib 0.4.30", stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE) is holds


@pytest.mark.parametrize("name", ["sdy_manual_of_one", "sdy_manual_of_two", "sdy_manual_for_two"])
def test_what_shardy_computes_by_parts_is_not_green(name: str) -> None:
    """Of two devices in a module of one part it was refused on 2026-11-27, of one compiled."""
    verdict = predict(artifact_of(name), "jaxlib 0.12.0.1", stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE) is None


def test_parts_of_a_module_for_two_devices_are_not_judged_as_those_of_one() -> None:
    """On one device it was refused on 2026-11-27, and on two it computes since 0.5.3."""
    verdict = predict(artifact_of("spmd_parts_of_two"), "jaxlib 0.12.0.1", stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE) is None
    assert "2 devices" in verdict.not_known[0].what


@pytest.mark.parametrize(
    ("name", "computing"),
    [
        ("trsm_of_two", ["0.5.3", "0.8.0", "0.8.1", "0.12.0.1"]),
        ("trsm_of_three", ["0.4.38", "0.5.1", "0.5.3", "0.8.0"]),
    ],
)
@pytest.mark.parametrize("version", ["0.4.38", "0.5.1", "0.5.3", "0.8.0", "0.8.1", "0.12.0.1"])
def test_a_triangular_system_is_solved_with_as_many_operands_as_then(
    version: str, name: str, computing: list[str]
) -> None:
    """As each of these jaxlibs computed it, or not, on 2026-11-27."""
    verdict = predict(artifact_of(name), f"jaxlib {version}", stage=Stage.EXECUTE)
    assert verdict.holds(Stage.EXECUTE) is (version in computing)


@pytest.mark.parametrize("version", ["0.6.0", "0.12.0.1"])
def test_a_sum_over_some_axes_of_a_mesh_is_the_sum_that_it_is(version: str) -> None:
    """JAX constrains what its body adds: six jaxlibs computed it on 2026-11-27."""
    artifact = artifact_of("sdy_constraint_in_a_sum")
    verdict = predict(artifact, f"jaxlib {version}", stage=Stage.EXECUTE)
    assert [one.what for one in verdict.not_known] == [
        "whether there are the 4 devices that the module is for"
    ]


@pytest.mark.parametrize("release", ["jaxlib 0.10.2", "jaxlib 0.12.0.1"])
def test_a_custom_call_in_a_scatter_is_read_before_0_11(release: str) -> None:
    """What Version an artifact is for makes no difference."""
    verdict = predict(artifact_of("body_custom_call_scatter"), release)
    assert verdict.holds(Stage.DECODE) is (release == "jaxlib 0.10.2")


@pytest.mark.parametrize("version", ["0.4.13", "0.4.33"])
def test_a_body_in_a_function_that_nothing_calls_is_not_green(version: str) -> None:
    """It was refused on 2026-11-26: such functions are removed after bodies are verified."""
    artifact = artifact_of("captures_in_what_nothing_calls")
    verdict = predict(artifact, f"jaxlib {version}", stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE) is None


@pytest.mark.parametrize(("name", "version"), FOLDED)
def test_what_may_be_folded_is_not_known(name: str, version: str) -> None:
    """A compiler takes it because it computes it itself: whether it does is not in the bytes."""
    verdict = predict(artifact_of(name), f"jaxlib {version}", stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE) is None
    assert verdict.not_known


@pytest.mark.parametrize(
    ("name", "compiles"),
    [
        *((f"jaxlib {version}", True) for version in ("0.4.13", "0.4.20", "0.4.30")),
        *((f"jaxlib {version}", False) for version in ("0.4.31", "0.5.3", "0.9.1", "0.12.0.1")),
        *((f"tensorflow {version}", False) for version in ("2.20.0", "2.21.0")),
        ("iree-base-compiler 3.13.0", False),
    ],
)
def test_what_is_removed_late_is_refused_before(name: str, compiles: bool) -> None:
    """Newer ones refuse a unary_einsum for an all_reduce that nothing uses, as was seen of each."""
    verdict = predict(artifact_of("all_reduce_of_an_einsum_unused"), name, stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE) is compiles


@pytest.mark.parametrize(("name", "compiles"), ON_IREE.items())
def test_small_differences_decide_on_iree(name: str, compiles: bool | None) -> None:
    """As 3.13.0 does with the same programs: `compat_tests/real/executors` has more of them."""
    verdict = predict(artifact_of(name), "iree-base-compiler 3.13.0", stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE) is compiles


@pytest.mark.parametrize(("name", "version"), ON_OLDER_IREE)
def test_small_differences_decide_on_older_iree(name: str, version: str) -> None:
    """Up to 3.11 it refuses some of what the next Release compiles, or the one before did."""
    verdict = predict(artifact_of(name), f"iree-base-compiler {version}", stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE) is ON_OLDER_IREE[name, version]


@pytest.mark.parametrize(
    ("name", "same"),
    [
        *(("argument_by_itself_xor", None), ("argument_times_zero", None)),
        *(("argument_doubled", True), ("dynamic_reshape_by_an_argument", False)),
        *(("real_dynamic_slice_by_arguments", False), ("reduce_of_two_constants", False)),
        *(("unary_einsum_unused", True), ("while_of_outside_asked_other", None)),
    ],
)
def test_an_argument_that_is_folded_away_is_unused(name: str, same: bool | None) -> None:
    """IREE before 3.9 ends at an argument that nothing uses, also where it removes the uses."""
    artifact = artifact_of(name)
    before, since = (
        predict(artifact, f"iree-base-compiler {one}", stage=Stage.EXECUTE)
        for one in ("3.8.0", "3.9.0")
    )
    assert (before.holds(Stage.EXECUTE), since.holds(Stage.EXECUTE)) == (same, True)


@pytest.mark.parametrize(
    "name",
    ["all_reduce_by_xor_unused", "all_reduce_of_booleans_unused", "barrier_quantized_unused"],
)
def test_xla_removes_what_iree_refuses_first(name: str) -> None:
    """What nothing uses IREE refuses of quantized types, and of what devices tell each other."""
    verdict = predict(artifact_of(name), "jaxlib 0.12.0.1", stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("branch_keeps_what_is_returned", False),
        *(("branch_gives_what_is_returned", True), ("branch_keeps_an_argument", True)),
    ],
)
def test_iree_loses_what_a_branch_keeps_and_main_returns(name: str, same: bool) -> None:
    """Of three that differ in one op, it gives no result of the one that it compiles as well."""
    verdict = predict(artifact_of(name), "iree-base-compiler 3.13.0", stage=Stage.EXECUTE)
    assert verdict.holds(Stage.EXECUTE) is same


@pytest.mark.parametrize(
    ("name", "same"),
    [
        *(("sum_of_65_f16", None), ("sum_of_64_f16", True), ("sum_of_65_f32", True)),
        *(("maximum_of_65_bf16", True), ("greatest_of_65_bf16_and_where", True)),
        ("window_of_65_f16", None),
        *(("product_over_65_bf16", None), ("product_over_64_bf16", True)),
        *(("product_over_65_bf16_to_f32", True), ("product_over_65_f32_to_f16", None)),
        *(("product_over_unknown_bf16", None), ("dot_of_65_bf16", None), ("dot_of_64_bf16", True)),
        *(("convolution_over_70_f16", None), ("convolution_over_60_f16", True)),
    ],
)
def test_many_narrow_floats_are_not_summed_alike(name: str, same: bool | None) -> None:
    """IREE adds them up in their own type; XLA does not."""
    artifact = artifact_of(name)
    iree = predict(artifact, "iree-base-compiler 3.13.0", stage=Stage.EXECUTE)
    assert iree.holds(Stage.EXECUTE) is same
    assert not predict(artifact, "jaxlib 0.12.0.1", stage=Stage.EXECUTE).reason.count("narrow-sums")


@pytest.mark.parametrize(
    ("name", "same"),
    [
        *(("quantized_to_i8", True), ("quantized_to_i16_from_a_zero_point", True)),
        *(("quantized_to_u8", None), ("quantized_to_i32", None)),
        *(("quantized_by_slices_to_i8", False), ("quantized_by_slices_to_u8", False)),
        *(("product_of_i8_quantized", None), ("product_of_f32_and_i8_quantized", None)),
        *(("multiply_i8_quantized", True), ("add_i8_quantized_to_another_scale", None)),
        *(("sqrt_i8_quantized", True), ("tanh_i8_quantized", True)),
    ],
)
def test_few_quantized_types_compute_the_same_on_iree(name: str, same: bool | None) -> None:
    """Storage without a sign loses its upper half, 32 bits their ends, integers are not rounded.

    Of none is NaN the same. Scales of slices it refuses.
    """
    verdict = predict(
        artifact_of(name), "iree-base-compiler 3.13.0", stage=Stage.EXECUTE, assume=["no-nan"]
    )
    assert verdict.holds(Stage.EXECUTE) is same


@pytest.mark.parametrize(
    ("name", "assumed"),
    [
        *(("converted_to_i32", "in-range no-nan"), ("converted_to_i8_clamped", "in-range no-nan")),
        *(("converted_to_i16_clamped", "no-nan"), ("converted_to_ui8_clamped", "no-nan")),
        ("converted_to_ui8_clamped_below", "in-range no-nan"),
        *(("converted_to_ui8_of_tanh", "in-range no-nan"), ("converted_to_i8_of_tanh", "no-nan")),
        *(("converted_to_i8_of_an_iota", ""), ("quantized_to_i8", "no-nan")),
    ],
)
def test_a_float_beyond_an_integer_is_another_on_iree(name: str, assumed: str) -> None:
    """Where it may be, as an argument; what is clamped is not, but below zero, or NaN."""
    artifact, release = artifact_of(name), "iree-base-compiler 3.13.0"
    needed = set(assumed.split())
    for left_out in {*needed, ""}:
        names = [one for one in needed if one != left_out]
        verdict = predict(artifact, release, stage=Stage.EXECUTE, assume=names)
        assert verdict.holds(Stage.EXECUTE) is (None if left_out else True)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        *(("cumulated_from_one", None), ("cumulated_from_zero", True)),
        *(("cumulated_from_the_end", None), ("cumulated_to_half", True)),
    ],
)
def test_a_scan_on_iree_loses_what_it_begins_with(name: str, same: bool | None) -> None:
    """But an identity; shorter windows are computed one by one."""
    verdict = predict(artifact_of(name), "iree-base-compiler 3.13.0", stage=Stage.EXECUTE)
    assert verdict.holds(Stage.EXECUTE) is same


@pytest.mark.parametrize("release", ["iree-base-compiler 3.13.0", "iree-base-compiler 3.8.0"])
def test_a_row_of_another_release_takes_nothing_away(release: str) -> None:
    """Only 3.9.0 to 3.12.0 were tried of it alone; of the others the op with elements tells."""
    rows = parse(read_file(TABLE).decode())["iree-base-compiler"].rows["atan2"]
    (outcomes,) = (letters for letters, types in rows if "f16 of nothing" in types.split(";"))
    assert outcomes == "----------cccc-"
    assert capabilities_of(find_release(release)).support("atan2 f16 of nothing") is (
        Ability.COMPUTES
    )


def test_nothing_is_said_of_a_release_that_executed_nothing() -> None:
    """No note says that ops compute the same where no program was executed."""
    verdict = predict(artifact_of("window_cut_multiplied"), "tensorflow 2.13.1", stage="execute")
    assert verdict.holds(Stage.COMPILE) is None
    assert not [note for note in verdict.diagnostics if "compute the same" in note.message]


def test_ops_that_nothing_uses_are_not_judged() -> None:
    """Not in a branch, a function or the rest; what others wait for is, whoever uses it."""
    artifact = Artifact.load(artifact_of("unused_ops"))
    names = signatures_by_name(Reading(read(artifact.data), artifact.data)).keys()
    unused = {"unary_einsum f32", "cbrt complex<f32>", "maximum complex<f32>"}
    assert names >= unused
    judged = examine(artifact).signatures
    assert judged is not None
    assert not judged & {"unary_einsum f32", "cbrt complex<f32>"}
    assert judged >= {"collective_permute f32", "if f32", "sine f32"}


def test_a_gate_up_to_compiling(tmp_path: Path) -> None:
    """A custom call fails it as not known, unless it is declared as provided."""
    path = tmp_path / "calls.mlir.bc"
    path.write_bytes(_of_corpus("custom_call_plain").read_bytes())
    rules: dict[str, object] = {"stage": "compile"}
    fields: dict[str, object] = {"consumers": {"all": ["jaxlib==0.10.2"]}, "rules": rules}
    result = gate([tmp_path], parse_policy(fields, root=tmp_path))
    assert not result.passed
    assert "custom call 'foo'" in str(result.findings[0].message)
    rules["provided_custom_calls"] = ["fo*"]
    assert gate([tmp_path], parse_policy(fields, root=tmp_path)).passed


@pytest.mark.parametrize(
    ("devices", "stage", "holds", "says"),
    [
        (None, Stage.DECODE, True, "needs"),
        (None, Stage.COMPILE, None, "whether there are the 2 devices that the module is for"),
        (1, Stage.COMPILE, False, "is for 2 devices, and there are 1: pin --allow drop-sharding"),
        (1, Stage.DECODE, False, "is for 2 devices"),
        (2, Stage.EXECUTE, True, "needs"),
        (8, Stage.EXECUTE, True, "needs"),
    ],
)
def test_a_program_for_several_devices(
    devices: int | None, stage: Stage, holds: bool | None, says: str
) -> None:
    """Whether there are as many is for the policy to say; an obstacle counts at every Stage."""
    artifact = Artifact.load(ARTIFACTS / "sharded_sum+1.0.0.mlir.bc")
    verdict = predict(examine(artifact).providing([], devices), "jaxlib 0.10.2", stage=stage)
    assert verdict.holds(stage) is holds
    assert says in verdict.reason


def test_a_gate_knows_how_many_devices_there_are(tmp_path: Path) -> None:
    """As the policy says; a number that is none is refused."""
    artifact = (ARTIFACTS / "sharded_sum+1.0.0.mlir.bc").read_bytes()
    (tmp_path / "sharded.mlir.bc").write_bytes(artifact)
    rules: dict[str, object] = {"stage": "compile"}
    fields: dict[str, object] = {"consumers": {"all": ["jaxlib==0.10.2"]}, "rules": rules}
    result = gate([tmp_path], parse_policy(fields, root=tmp_path))
    assert "whether there are the 2 devices" in str(result.findings[0].message)
    rules["devices"] = 2
    assert gate([tmp_path], parse_policy(fields, root=tmp_path)).passed
    rules["devices"] = 1
    assert not gate([tmp_path], parse_policy(fields, root=tmp_path)).passed
    for wrong in (0, -1, True, "8", 1.5):
        rules["devices"] = wrong
        with pytest.raises(PolicyError, match="not a number of devices"):
            parse_policy(fields, root=tmp_path)


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ({"custom_calls": ["a.*"], "provided_custom_calls": ["b.x"]}, "does not allow it"),
        ({"depth": "header", "provided_custom_calls": ["b.x"]}, "requires the content"),
        ({"depth": "header", "devices": 8}, "requires the content"),
        ({"depth": "header", "stage": "compile"}, "requires the content"),
    ],
)
def test_declarations_that_contradict_each_other(
    rules: dict[str, object], says: str, tmp_path: Path
) -> None:
    """A policy that cannot hold is refused where it is written."""
    fields: dict[str, object] = {"consumers": {"all": ["jaxlib==0.10.2"]}, "rules": rules}
    with pytest.raises(ContradictoryPolicy, match=says):
        parse_policy(fields, root=tmp_path)
    allowed = {"custom_calls": ["b.*"], "provided_custom_calls": ["b.x", "b.*"]}
    assert parse_policy({**fields, "rules": allowed}, root=tmp_path).rules.provided_custom_calls


def test_what_may_be_folded_away_is_no_obstacle() -> None:
    """Where an Advisory is in doubt for that reason, so is the table: jaxlib 0.4.20 refuses i4."""
    name = "i4 or ui4 in more than constants and conversions"
    subject = _subject("multiply i4")
    doubtful = replace(subject, forms={**subject.forms, name: None})
    assert predict(subject, "jaxlib 0.4.20").outcome is not Outcome.COMPATIBLE
    verdict = predict(doubtful, "jaxlib 0.4.20")
    assert verdict.compatible
    assert predict(doubtful, "jaxlib 0.4.20", stage="compile").holds(Stage.COMPILE) is None


@pytest.mark.parametrize("case", ["reduce_add_f32", "whole_attention", "quantized_abs_i8_f32"])
def test_the_operations_are_read_once(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To read them takes longest; analysis, forms and op signatures ask for types together."""
    scans = []

    class Counted(Scan):
        def _read_all(self, *, fast: bool) -> bool:
            scans.append(fast)
            return super()._read_all(fast=fast)

    monkeypatch.setattr("portable.bytecode.content.Scan", Counted)
    examine.cache_clear()
    examine(Artifact.load(_of_corpus(case)))
    assert len(scans) == 1
