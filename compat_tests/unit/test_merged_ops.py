"""Ops that are merged or simplified: what real jaxlibs computed otherwise is never green."""

from __future__ import annotations

import pytest

from compat_tests.helpers import fused, merged, simplified
from compat_tests.helpers.compiled import artifact_of
from compat_tests.helpers.matrices import ARTIFACTS
from portable.artifact import Artifact
from portable.prediction import examine, predict
from portable.prediction.fused import FUSED
from portable.prediction.indices import INDICES
from portable.prediction.merged import MERGED
from portable.prediction.simplified import SIMPLIFIED
from portable.prediction.specials import SPECIALS
from portable.prediction.unsigned import UNSIGNED
from portable.verdict import Stage

PROGRAMS = {
    **merged.PROGRAMS,
    **simplified.PROGRAMS,
    **simplified.ON_IREE,
    **fused.PROGRAMS,
}
WRONG = {**merged.WRONG, **simplified.WRONG, **fused.WRONG}
FORMS = {*MERGED, *FUSED, *SIMPLIFIED, *SPECIALS, *UNSIGNED, *INDICES}
RELEASES = sorted({version for versions in WRONG.values() for version in versions})


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("version", RELEASES)
def test_what_is_computed_otherwise_is_not_green(version: str, name: str) -> None:
    """Truth: `real/test_merged_ops.py`. What depends on the inputs, or threads, is not known."""
    holds = predict(artifact_of(name), f"jaxlib {version}", stage=Stage.EXECUTE)
    _check(name, holds.holds(Stage.EXECUTE), otherwise=version in WRONG.get(name, ()))


@pytest.mark.parametrize("name", simplified.ON_IREE)
def test_what_iree_computes_otherwise_is_not_green(name: str) -> None:
    """As above, of unsigned integers and of indices."""
    verdict = predict(artifact_of(name), "iree-base-compiler 3.13.0", stage=Stage.EXECUTE)
    otherwise = name in simplified.WRONG_ON_IREE
    _check(name, verdict.holds(Stage.EXECUTE), otherwise=otherwise)


def test_what_iree_refuses_elsewhere_is_not_known_of_constants() -> None:
    """Truth: it computes them, and refuses ceil of an argument of f64; every jaxlib computes both.

    Of iree-base-compiler 3.13.0, and of programs of torchvision, on 2026-11-27.
    """
    artifact = artifact_of("ceil_of_constants")
    found = predict(artifact, "iree-base-compiler 3.13.0", stage=Stage.EXECUTE)
    assert found.holds(Stage.EXECUTE) is None
    assert [one.what for one in found.not_known] == ["ceil f64 (fails unless folded away)"]
    assert predict(artifact, "jaxlib 0.12.0.1", stage=Stage.EXECUTE).holds(Stage.EXECUTE)


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("f8E4M3_argument_taken+1.8.0.mlir.bc", False),
        ("f8E4M3_result_given+1.8.0.mlir.bc", False),
        ("f8E4M3_argument_returned+1.8.0.mlir.bc", True),
        ("f8E4M3FN_argument_taken+0.9.0.mlir.bc", True),
    ],
)
def test_iree_has_no_buffers_of_some_floats(name: str, *, holds: bool) -> None:
    """Truth: what iree-base-compiler 3.13.0 compiles and refuses, on 2026-11-27."""
    artifact = ARTIFACTS / name
    verdict = predict(artifact, "iree-base-compiler 3.13.0", stage=Stage.COMPILE)
    assert verdict.holds(Stage.COMPILE) is holds


def _check(name: str, holds: bool | None, *, otherwise: bool) -> None:
    if PROGRAMS[name].perhaps:
        assert holds is None or (holds and not otherwise)
    else:
        assert holds is not otherwise


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_the_form_that_it_is_for(name: str) -> None:
    """And those beside it, which are computed right, have none."""
    program = PROGRAMS[name]
    forms = dict(examine(Artifact.load(artifact_of(name))).forms)
    # What stands beside many others.
    alone = {
        "update of a value by an earlier part of itself",
        "update of a value by any part of itself",
        "maximum or minimum of floats of which the second may be NaN",
        "clamp of floats",
        "clamp of floats other than from one constant number to constants",
        "reduction of many floats by maximum or minimum",
        # Of IREE alone: `test_iree_nan.py` has what was executed there.
        "exponential, logistic, or sine of f16, of NaN",
        # Of CUDA alone: `test_cuda.py` has what was executed there.
        "compare of floats that holds for every number of their sign",
    } - {program.form}
    found = {
        one: forms[one]
        for one in (*MERGED, *FUSED, *SIMPLIFIED, program.form)
        if one in forms and one not in alone
    }
    expected = None if program.perhaps else True
    assert found == ({program.form: expected} if program.form else {})
