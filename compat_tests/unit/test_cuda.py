"""What is predicted of CUDA: what three Releases of its plugin were seen to do, and of no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.compiled import artifact_of
from compat_tests.helpers.sealed import CASES
from compat_tests.helpers.written import Program, Step
from portable.artifact import Artifact
from portable.prediction import examine, predict
from portable.releases import find_release
from portable.releases.advisory import untried_for
from portable.runtime.environments import Recipe
from portable.runtime.executors import PlatformMissing, check_executor
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from portable.releases import Release

TRIED = find_release("jax-cuda13-pjrt", "0.11.2")
# How each Case ended on an NVIDIA H100 on 2026-11-27, by `portable corpus run --platform cuda`.
ENDED = json.loads((Path(__file__).parents[1] / "data" / "cuda.json").read_text("utf-8"))
_TURNED_DOWN = {Outcome.INCOMPATIBLE, Outcome.WRONG_RESULT, Outcome.CRASHED}
# Of these op signatures other programs compute something else: without the algorithm.
_FALSE_ALARMS = {("0.9.2", "dot_general_algorithm_bf16_f32")}
# So many are neither green nor red at the most.
_NOT_KNOWN = {"computed": 100, "refused": 22, "wrong": 22, "crashed": 4}


def _predicted(case: str, release: Release) -> Outcome:
    known = [one for one in CASES[case].artifacts if one.target.target <= release.target]
    return predict(Artifact.load(known[-1].path), release, stage=Stage.EXECUTE).outcome


@pytest.mark.parametrize("ended", _NOT_KNOWN)
@pytest.mark.parametrize("version", ENDED)
def test_a_verdict_is_what_was_seen(version: str, ended: str) -> None:
    """Of each Case: none that failed there is green, and none that computed is red."""
    release = find_release("jax-cuda13-pjrt", version)
    cases = [case for case, how in ENDED[version].items() if how == ended]
    found = {
        case: _predicted(case, release) for case in cases if (version, case) not in _FALSE_ALARMS
    }
    forbidden = _TURNED_DOWN if ended == "computed" else {Outcome.COMPATIBLE}
    assert {case: outcome for case, outcome in found.items() if outcome in forbidden} == {}
    open_ = [case for case, outcome in found.items() if outcome is Outcome.NOT_KNOWN]
    assert len(open_) <= _NOT_KNOWN[ended], open_


@pytest.mark.parametrize(
    ("artifact", "form", "has"),
    [
        # As the H100 computed them: otherwise than numpy, or as numpy does.
        *(
            (name, "compare of floats that holds for every number of their sign", has)
            for name, has in (
                ("nan_at_least_zero", None),
                ("nan_at_least_less", None),
                ("nan_negated_at_most_zero", None),
                ("nan_below_zero", False),
            )
        ),
        ("vectors_masked", "product of f32 that is not of the highest precision", None),
        ("masked", "product of f32 that is not of the highest precision", False),
    ],
)
def test_an_artifact_has_the_form(artifact: str, form: str, *, has: bool | None) -> None:
    """Of those that were executed."""
    assert examine(Artifact.load(artifact_of(artifact))).occurs(form) is has


@pytest.mark.parametrize(
    ("case", "form", "has"),
    [
        (
            "dot_general_mixed_i8_i8_to_i32",
            "dot_general of i8 to i32 over no multiple of four",
            False,
        ),
        (
            "dot_general_mixed_i4_i4_to_i32",
            "dot_general of i8 to i32 over no multiple of four",
            False,
        ),
        (
            "dot_general_algorithm_bf16_bf16",
            "dot_general with an algorithm that CUDA does not have",
            True,
        ),
        (
            "dot_general_algorithm_f8E4M3",
            "dot_general with an algorithm that CUDA does not have",
            True,
        ),
        (
            "dot_general_algorithm_tf32",
            "dot_general with an algorithm that CUDA does not have",
            False,
        ),
        ("convolution_of_constants_overflows_i8", "convolution to i8", None),
        ("convolution_padding", "convolution to i8", False),
        ("convolution_padding", "product of f32 that is not of the highest precision", None),
        ("dot_general_complex_f32", "product of f32 that is not of the highest precision", None),
        *(
            (case, "reduction of several elements from an initial value that changes them", has)
            for case, has in (("reduce_add_i32", None), ("reduce_empty_dimensions_f32", False))
        ),
    ],
)
def test_a_case_has_the_form(case: str, form: str, *, has: bool | None) -> None:
    """Of those that were executed."""
    assert examine(Artifact.load(CASES[case].artifacts[-1].path)).occurs(form) is has


@pytest.mark.parametrize("count", [0, 3, 4, 8, 9])
@pytest.mark.parametrize("result", ["i32_v1", "f32_v1"])
def test_no_four_bytes_divide_it(count: int, result: str) -> None:
    """A product of i8 over a number of elements: to i32, of which 3 and 9 were seen doubled."""
    program = Program()
    left, right = (
        program.tensor(program.scalar("i8_v1"), *shape) for shape in ((2, count), (count, 2))
    )
    numbers = {
        "lhs_contracting_dimensions": program.integers(1),
        "rhs_contracting_dimensions": program.integers(0),
    }
    product = Step("dot_general_v2", [0, 1], program.tensor(program.scalar(result), 2, 2), numbers)
    found = program.forms_of([left, right], [product])
    has = result == "i32_v1" and bool(count % 4)
    assert found["dot_general of i8 to i32 over no multiple of four"] is has


def test_nothing_is_known_of_releases_that_were_not_executed() -> None:
    """Neither of a newer one nor of an older one, whatever jaxlib of that number does."""
    path = CASES["add_f32"].artifacts[0].path
    for version, outcome in (
        *((version, Outcome.COMPATIBLE) for version in ENDED),
        ("0.11.1", Outcome.NOT_KNOWN),
        ("0.12.0", Outcome.NOT_KNOWN),
    ):
        verdict = predict(path, f"jax-cuda13-pjrt {version}", stage=Stage.EXECUTE)
        assert verdict.outcome is outcome, version


@pytest.mark.parametrize(
    ("feature", "versions"),
    [
        # Computed right in each, wrong on the CPU of some.
        ("divide by a constant whose reciprocal is not normal", {"0.9.2", "0.11.2", "0.12.0.1"}),
        # Computed wrong where they were executed, on CUDA alone or also on the CPU.
        ("product of f32 that is not of the highest precision", {"0.9.2", "0.11.2", "0.12.0.1"}),
        ("compare of floats that holds for every number of their sign", {"0.11.2"}),
        ("division of or by a quotient", {"0.11.2"}),
    ],
)
def test_what_others_fail_on_is_not_known_until_it_was_executed(
    feature: str, versions: set[str]
) -> None:
    """What jaxlib fails on, and what another Release for CUDA does."""
    open_ = {one for one in ENDED if untried_for(find_release("jax-cuda13-pjrt", one), {feature})}
    assert open_ == ENDED.keys() - versions


def test_a_plugin_reads_alone_and_executes_with_its_jaxlib() -> None:
    """By the driver of that, on its Python, on the platform of the plugin."""
    reads, executes = (Recipe.of(TRIED, to_execute=each) for each in (False, True))
    assert (reads.driver, reads.platform) == ("plugin", "cpu")
    assert (executes.driver, executes.platform, executes.python) == ("jaxlib", "cuda", "3.12")
    assert {"jaxlib==0.11.2", "jax-cuda13-plugin[with-cuda]==0.11.2"} <= {*executes.also}


def test_what_does_not_run_there_is_refused_before_four_gigabytes_are_installed() -> None:
    """The interpreter drives the same jaxlib, on the CPU alone."""
    assert check_executor("pjrt", release=TRIED)
    with pytest.raises(PlatformMissing, match="interpreter does not run on cuda"):
        check_executor("interpreter", release=TRIED)
