"""Lists of f8 that count from zero: XLA makes an iota of them, which it does not write of f8."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.eras import versions
from portable import pin, predict
from portable.errors import PortableError
from portable.runtime.executors import find_executor
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.artifact import Artifact
    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_LISTS = (*(range(count) for count in (1, 2, 3, 9, 16, 17)), range(1, 4), range(0, 6, 2))
_ELEMENTS = ("f8E4M3FN", "f8E5M2", "f8E4M3B11FNUZ", "f8E4M3FNUZ", "bf16")


def _programs() -> Iterator[Artifact]:
    """Yield programs that return a list, and such as add or convert it."""
    for element in _ELEMENTS:
        for numbers in _LISTS:
            t, f = f"tensor<{len(numbers)}x{element}>", f"tensor<{len(numbers)}xf32>"
            for made, given in (
                ("", t),
                (f"%r = stablehlo.add %a, %c : {t}", t),
                (f"%r = stablehlo.convert %c : ({t}) -> {f}", f),
            ):
                yield pin(
                    f"""func.func @main(%a: {t}) -> {given} {{
                      %c = stablehlo.constant dense<{[*map(float, numbers)]}> : {t}
                      {made}
                      return {"%r" if made else "%c"} : {given} }}""",
                    "0.14.0",
                ).artifact


@pytest.mark.parametrize("version", versions("0.4.30", "0.5.3", "0.10.2"))
def test_no_list_that_is_green_is_refused(
    version: str, release: Callable[[str], Environment]
) -> None:
    """What is predicted to be refused is, and some are where the Advisory says so."""
    name, refused = f"jaxlib {version}", 0
    with find_executor("pjrt", release(name)) as executor:
        for artifact in _programs():
            holds = predict(artifact, name, stage=Stage.COMPILE).holds(Stage.COMPILE)
            try:
                executor.compile(artifact)
                compiles = True
            except PortableError:
                compiles = False
            assert holds in {compiles, None}
            refused += holds is False
    assert bool(refused) is (version != "0.10.2")
