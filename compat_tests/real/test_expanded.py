"""What upstream's expander makes of a program computes what the program computed."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pytest

from portable.features.bridges import bridges
from portable.pinning.pipeline import NotExpressible, pin, serialize
from portable.runtime.executors import BITS, Tolerance, find_executor
from portable.runtime.verification import verify
from tools.programs import load_programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.artifact import Artifact
    from portable.runtime.environments import Environment

    Release = Callable[[str], Environment]

# What the expander rewrites, and the highest target at which it has to.
EXPANDED = (
    (re.compile(r"stablehlo\.tan\b"), "1.3.0"),
    (re.compile(r"(operand|input)_batching_dims = "), "1.0.0"),
)
# A tangent becomes sine over cosine: three roundings for one, more for complex numbers, where parts
# of an infinity may also become NaN, and a part that is small beside the other is off by what the
# other one's rounding is. All else moves values about.
TANGENT = Tolerance(ulps=2)
COMPLEX_TANGENT = {
    f"tan_complex_f{bits}": Tolerance(ulps=16, absolute=8 * float(np.finfo(f"f{bits // 8}").eps))
    for bits in (32, 64)
}


def _pairs() -> Iterator[tuple[str, Artifact, Artifact]]:
    """Yield each generated program that the expander changes, as it is and expanded."""
    for program in load_programs():
        for pattern, target in EXPANDED:
            if not pattern.search(program.text):
                continue
            with suppress(NotExpressible):  # result accuracy, which nothing expands
                expanded = serialize(program.text, target, locations="strip")
                with pytest.raises(NotExpressible):
                    serialize(program.text, target, locations="strip", expand=False)
                plain = serialize(program.text, "current", locations="strip")
                yield program.name, plain, expanded


@pytest.mark.parametrize("name", ["pjrt", "interpreter"])
def test_the_expander_keeps_the_meaning(release: Release, name: str) -> None:
    """On 100 inputs: equal bits, NaN and infinity among them; tangents within a distance."""
    changed = 0
    with find_executor(name, release("jaxlib 0.10.2")) as executor:
        for program, plain, expanded in _pairs():
            changed += 1
            usual = TANGENT if program.startswith("tan") else BITS
            near = COMPLEX_TANGENT.get(program, usual)
            verification = verify(
                plain,
                expanded,
                executor=executor,
                seeds=range(100),
                tolerance=near,
                specials=program not in COMPLEX_TANGENT,
            )
            assert verification.same, (program, verification.verdict.reason)
    assert changed >= 20


def test_pin_says_what_the_expander_did() -> None:
    """Each program that it changes, with how often, where, and how far results may be apart."""
    seen = set()
    for program in load_programs():
        for pattern, target in EXPANDED:
            if not pattern.search(program.text):
                continue
            with suppress(NotExpressible):
                rewrites = pin(program.text, target).rewrites
                assert [one.count for one in rewrites] == [len(pattern.findall(program.text))]
                (one,) = rewrites
                seen.add(one.name)
                assert one.exact == (one.name != "tan_v1")
                assert one.locations
    assert seen == {"tan_v1", "gather_v2", "scatter_v2"}


def test_pin_is_silent_where_nothing_was_rewritten() -> None:
    """At a Version that has the op, and for a program without such ops."""
    tan = "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
    tan += "%0 = stablehlo.tan %a : tensor<f32>\nreturn %0 : tensor<f32> }"
    assert pin(tan, "1.4.0").rewrites == ()
    assert pin(tan.replace("tan %", "sine %"), "0.9.0").rewrites == ()


def test_pin_says_what_was_allowed() -> None:
    """A rewrite that was allowed by its name, with the accuracy that its terms state."""
    text = "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n%0 = stablehlo.cosine %a "
    text += "{result_accuracy = #stablehlo.result_accuracy<mode = "
    text += "#stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<f32>\nreturn %0 : tensor<f32> }"
    (one,) = pin(text, "1.0.0", allow=["drop-result-accuracy"]).rewrites
    assert (one.name, one.exact, one.count) == ("drop-result-accuracy", False, 1)
    assert one.bound == bridges().rewrites["drop-result-accuracy"].bound
