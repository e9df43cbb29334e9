"""Where an Assumption holds IREE and XLA compute what numpy does, and elsewhere something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import ml_dtypes
import numpy as np
import pytest

import portable
from compat_tests.helpers.compiled import artifact_of
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from portable.runtime.executors import Executor

Array: TypeAlias = "np.ndarray[Any, Any]"

_COUNT = 4096
_LUCK = np.random.default_rng(11)
_ENGINES = {"iree": "iree-base-compiler 3.13.0", "pjrt": "jaxlib 0.10.2"}
_ELEMENTS = {"f": "f{}", "i": "i{}", "u": "ui{}"}


class _Op(NamedTuple):
    """An op, its operands, what numpy makes of them, and by which Assumption that is known."""

    name: str
    taken: Sequence[Array]
    right: Array
    assumed: str


def _sizes(least: float, most: float) -> Array:
    """Return numbers above zero whose logarithms are spread evenly."""
    made: Array = np.exp(_LUCK.uniform(np.log(least), np.log(most), _COUNT))
    return made


def _signed(least: float, most: float) -> Array:
    made: Array = _sizes(least, most) * _LUCK.choice([-1.0, 1.0], _COUNT)
    return made


def _parts(least: float, most: float, dtype: type[Any] = np.complex64) -> Array:
    made: Array = (_signed(least, most) + 1j * _signed(least, most)).astype(dtype)
    return made


_COMPLEX: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "log": np.log,
    "log_plus_one": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sine": np.sin,
    "cosine": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
}


def _of(name: str, right: Callable[..., Array], *taken: Array, assumed: str) -> _Op:
    """Return an op on numbers, and what it is of these in more digits."""
    wide = [np.asarray(one, np.complex128 if one.dtype.kind == "c" else float) for one in taken]
    exact = taken if taken[0].dtype.kind in "iu" else wide
    with np.errstate(all="ignore"):
        made = right(*exact)
    kind = taken[0].dtype.type(0).real.dtype if made.dtype.kind == "f" else taken[0].dtype
    return _Op(name, taken, made.astype(kind), assumed)


def _ops() -> dict[str, _Op]:
    """Return ops on numbers of which an Assumption holds, by a name."""
    made = {
        f"{name} c64": _of(name, right, _parts(1e-3, 80), assumed="off-axes")
        for name, right in _COMPLEX.items()
    }
    two = {"divide": np.divide, "power": np.power}
    made |= {
        f"{name} c64": _of(name, right, _parts(0.1, 3), _parts(0.1, 3), assumed="off-axes")
        for name, right in two.items()
    }
    wide = [_parts(1e-3, 80, np.complex128) for _ in range(2)]
    made["abs c128"] = _of("abs", np.abs, wide[0], assumed="off-axes")
    made["divide c128"] = _of("divide", np.divide, *wide, assumed="off-axes")
    made["maximum c64"] = _of("maximum", np.maximum, _parts(1, 9), _parts(1, 9), assumed="no-ties")
    made["minimum c64"] = _of("minimum", np.minimum, _parts(1, 9), _parts(1, 9), assumed="no-ties")
    angles = [_signed(1e-6, 1e6).astype(np.float32) for _ in range(2)]
    made["atan2 f32"] = _of("atan2", np.arctan2, *angles, assumed="off-axes")
    for dtype in (np.float32, np.float64):
        taken = _sizes(1e-5, 1e5).astype(dtype), _LUCK.uniform(-6, 6, _COUNT).astype(dtype)
        name = f"power f{np.dtype(dtype).itemsize * 8}"
        made[name] = _of("power", np.power, *taken, assumed="positive-bases")
    for whole in (np.int8, np.int32, np.int64, np.uint8, np.uint32):
        bases = np.arange(_COUNT).astype(whole)
        with np.errstate(all="ignore"):
            op = _of("power", np.power, bases, bases % 64, assumed="small-exponents")
        made[f"power {np.dtype(whole).name}"] = op
    return made


_OPS = _ops()


def _type(array: Array) -> str:
    bits = array.dtype.itemsize * 8
    if array.dtype.kind == "c":
        return f"tensor<{_COUNT}xcomplex<f{bits // 2}>>"
    return f"tensor<{_COUNT}x{_ELEMENTS[array.dtype.kind].format(bits)}>"


def _program(op: _Op) -> str:
    types, gives = [*map(_type, op.taken)], _type(op.right)
    given = ", ".join(f"%a{at}: {type_}" for at, type_ in enumerate(types))
    names = ", ".join(f"%a{at}" for at in range(len(types)))
    return f"""func.func @main({given}) -> {gives} {{
  %r = "stablehlo.{op.name}"({names}) : ({", ".join(types)}) -> {gives}
  return %r : {gives}
}}"""


@pytest.mark.parametrize("engine", _ENGINES)
@pytest.mark.parametrize("name", _OPS)
def test_it_is_numpy_s_where_it_is_assumed(
    name: str, engine: str, open_executor: Callable[..., Executor]
) -> None:
    """And not known, or wrong, of all numbers: by which Assumption it is, is in the table."""
    op = _OPS[name]
    artifact = portable.pin(_program(op), "1.8.0").artifact
    executor = open_executor(engine, _ENGINES[engine])
    (found,) = executor.compile(artifact).run([*op.taken])
    eps = 0 if op.right.dtype.kind in "iu" else float(ml_dtypes.finfo(op.right.dtype).eps)
    # Beside a zero of a sine an angle of 80 has few digits left.
    assert np.allclose(found, op.right, rtol=2**13 * eps, atol=2**8 * eps)
    without, assumed = (
        portable.predict(artifact, _ENGINES[engine], stage=Stage.EXECUTE, assume=names)
        for names in ([], [op.assumed])
    )
    assert assumed.holds(Stage.EXECUTE)
    depends = without.holds(Stage.EXECUTE) is None
    assert assumed.reason.endswith(f", assuming {op.assumed}") is depends
    assert depends or engine == "pjrt"


_SLICES = {
    "dynamic_slice": "stablehlo.dynamic_slice %x, %i, sizes = [4] : (tensor<104xi32>, {index})",
    "dynamic_update_slice": "stablehlo.dynamic_update_slice %x, %u, %i"
    " : (tensor<104xi32>, tensor<4xi32>, {index})",
}


@pytest.mark.parametrize(("index", "dtype"), [("i8", "int8"), ("i16", "int16"), ("ui64", "uint64")])
@pytest.mark.parametrize("op", _SLICES)
def test_slices_in_bounds_are_numpy_s(
    op: str, index: str, dtype: str, open_executor: Callable[..., Executor]
) -> None:
    """By every index that leaves room for all four; of others IREE takes other elements."""
    gives = "tensor<4xi32>" if op == "dynamic_slice" else "tensor<104xi32>"
    artifact = portable.pin(
        f"""func.func @main(%x: tensor<104xi32>, %u: tensor<4xi32>, %i: tensor<{index}>)
    -> {gives} {{
  %r = {_SLICES[op].format(index=f"tensor<{index}>")} -> {gives}
  return %r : {gives}
}}""",
        "0.9.0",
    ).artifact
    executable = open_executor("iree", _ENGINES["iree"]).compile(artifact)
    x, u = np.arange(104, dtype=np.int32), np.full(4, -1, np.int32)
    for start in range(101):
        (found,) = executable.run([x, u, np.asarray(start, dtype)])
        right = x.copy()
        right[start : start + 4] = u
        assert np.array_equal(found, right if op == "dynamic_update_slice" else x[start:][:4])
    without, assumed = (
        portable.predict(artifact, _ENGINES["iree"], stage=Stage.EXECUTE, assume=names)
        for names in ([], ["in-bounds"])
    )
    assert without.holds(Stage.EXECUTE) is None
    assert assumed.holds(Stage.EXECUTE)


@pytest.mark.parametrize("engine", _ENGINES)
def test_what_is_drawn_is_of_its_distribution(
    engine: str, open_executor: Callable[..., Executor]
) -> None:
    """Which numbers they are nothing says: that is not known, unless any will do."""
    artifact = portable.Artifact.load(artifact_of("uniform_numbers"))
    executor = open_executor(engine, _ENGINES[engine])
    ends = [np.asarray(end, np.float32) for end in (-3, 5)]
    executable = executor.compile(artifact)
    (found,) = executable.run(ends)
    assert ((found >= ends[0]) & (found < ends[1])).all()
    assert abs(found.mean() - 1) < 0.5
    outcomes = [
        portable.predict(artifact, _ENGINES[engine], stage=Stage.EXECUTE, assume=names)
        for names in ([], ["any-random"])
    ]
    assert [one.holds(Stage.EXECUTE) for one in outcomes] == [None, True]
    assert outcomes[0].not_known[0].what.endswith("; does not count if you assume any-random")
    assert outcomes[1].reason.endswith(", assuming any-random")
