"""What upstream's expander makes of a program computes what the program computed."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pytest

from portable.executors import BITS, Tolerance, find_executor
from portable.pin import serialize
from portable.serialization import NotExpressible
from portable.verification import verify
from tools.programs import load_programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.artifact import Artifact
    from portable.environments import Environment

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
