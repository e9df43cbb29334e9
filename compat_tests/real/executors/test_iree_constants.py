"""What IREE computes of constants: other numbers are other code, and a part that is returned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable import pin, predict
from portable.errors import PortableError
from portable.runtime.executors import random_inputs
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.artifact import Artifact
    from portable.runtime.executors import Executor

_RELEASE = "iree-base-compiler 3.13.0"
_UNARY = ("ceil", "cosine", "exponential", "rsqrt", "sine", "sqrt", "tanh")
_BINARY = ("atan2", "remainder")
_SEVERAL = "[0.5, -1.5, 3.0, 2.0, 0.25]"
_COMPLEX = "[(0.5, 1.0), (-1.5, 0.0), (3.0, -1.0), (2.0, 0.5), (0.25, 0.0)]"


def _ops() -> Iterator[Artifact]:
    """Yield ops of constants: one number, one for all, different ones, and what is computed."""
    for element in ("f64", "f8E4M3FN"):
        for op in (*_UNARY, *_BINARY):
            operands = "%c, %c" if op in _BINARY else "%c"
            for shape, numbers in (("", "1.5"), ("5x", "1.5"), ("5x", _SEVERAL)):
                t = f"tensor<{shape}{element}>"
                yield pin(
                    f"""func.func @main() -> {t} {{
                      %c = stablehlo.constant dense<{numbers}> : {t}
                      %r = stablehlo.{op} {operands} : {t}
                      return %r : {t} }}""",
                    "1.9.0",
                ).artifact


def _parts() -> Iterator[Artifact]:
    """Yield programs that take a part of complex constants, and return it or do more with it."""
    f, c = "tensor<5xf32>", "tensor<5xcomplex<f32>>"
    for part in ("real", "imag"):
        for more, given, types in (
            ("", "%r", f),
            ("", "%r, %c", f"{f}, {c}"),
            (f"%z = stablehlo.log %c : {c}", "%r, %z", f"{f}, {c}"),
            (f"%z = stablehlo.cosine %a : {f}", "%z, %r", f"{f}, {f}"),
            (f"%z = stablehlo.negate %r : {f}", "%r, %z", f"{f}, {f}"),
            (f"%z = stablehlo.reverse %r, dims = [0] : {f}", "%z", f),
        ):
            yield pin(
                f"""func.func @main(%a: {f}) -> ({types}) {{
                  %c = stablehlo.constant dense<{_COMPLEX}> : {c}
                  %r = stablehlo.{part} %c : ({c}) -> {f}
                  {more}
                  return {given} : {types} }}""",
                "0.14.0",
            ).artifact


def _compiles(engine: Executor, artifact: Artifact) -> bool:
    try:
        executable = engine.compile(artifact)
        executable.run(random_inputs(executable.signature, 1))
    except PortableError:
        return False
    return True


def _counted(
    open_executor: Callable[..., Executor], artifacts: Iterator[Artifact]
) -> dict[bool | None, int]:
    """Return of how many it is known that they compile, or not, which has to be so."""
    engine, counted = open_executor("iree", _RELEASE), {True: 0, False: 0, None: 0}
    for artifact in artifacts:
        holds = predict(artifact, _RELEASE, stage=Stage.COMPILE).holds(Stage.COMPILE)
        counted[holds] += 1
        assert holds in {_compiles(engine, artifact), None}
    return counted


def test_ops_of_constants(open_executor: Callable[..., Executor]) -> None:
    """No op of constants that is green is refused, and none that is to be refused is computed."""
    counted = _counted(open_executor, _ops())
    assert counted[True] > counted[False] > len(_BINARY)


def test_parts_of_constants(open_executor: Callable[..., Executor]) -> None:
    """A part that is returned is, whatever else there is; of one that is taken it is not known."""
    assert _counted(open_executor, _parts()) == {True: 8, False: 0, None: 4}
