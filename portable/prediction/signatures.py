"""What a compiler has to support: each op with its element types, as capabilities name them.

`add f32`, `compare f64 -> bool`, `gather f32 i32 -> f32`, `iota i64?`: the op without its version,
the element types of operands and results, `?` where a shape is dynamic, `?bounded` where it has
bounds. Neighbours of one type are written once, a custom call is written with its target. Of an op
whose operands are of the types of its results, as of most, only the results are written: what
operands are takes far longer to read. An op of several results that are treated alike, as `sort`,
has one signature for each type, and one more where a reduction has floats of different types,
`reduce different floats`, or a sort or reduction has a type below a byte and another:
`sort ui2 beside others`. An op without elements, and a `select_and_scatter` of windows that do
not overlap, say so: `fft complex<f32> of nothing`, `select_and_scatter f32 apart`; so does a
Fourier transform over a power of two, `fft complex<f32> by halves`. An op in the body of a
reduction has its own signature, as everywhere, and another: `maximum complex<f32> in reduce`.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
from typing import TYPE_CHECKING

from portable.bytecode.encoding import brief
from portable.bytecode.layouts import VHLO
from portable.bytecode.text import type_text
from portable.prediction.form import repeated
from portable.releases.capability import APART, HALVED, OF_NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from portable.bytecode.entries import Pool, PoolEntry
    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading

__all__ = ["CALL", "FLOATS", "IN", "signatures_by_name"]

CALL = "custom_call"
"""The op whose signature is the target."""
IN = " in "
"""What a signature has before the op in whose body it stands."""
_TOPK = "mhlo.topk"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Ops whose operands may be of other types than their results.
_TYPED = _words(
    "abs batch_norm_grad batch_norm_inference batch_norm_training bitcast_convert compare complex"
    " convert convolution dot dot_general dynamic_broadcast_in_dim dynamic_conv dynamic_gather"
    " dynamic_iota dynamic_pad dynamic_reshape dynamic_slice dynamic_update_slice einsum fft gather"
    " get_dimension_size imag is_finite map real real_dynamic_slice reduce reduce_scatter"
    " reduce_window rng rng_bit_generator scatter select_and_scatter set_dimension_size"
    " torch_index_select unary_einsum uniform_dequantize uniform_quantize all_reduce"
)
# Those of many operands: one type after another, unless results are of other types than operands.
_VARIADIC = _words(
    "all_gather all_reduce all_to_all case if infeed map optimization_barrier recv reduce"
    " reduce_scatter reduce_window sort tuple while"
)
# Those that apply their body to scalars; the first may have operands of different types.
_REDUCING = _words("map reduce reduce_window")
_APPLYING = _REDUCING | _words("all_reduce reduce_scatter scatter select_and_scatter")
_SELECTING, _TRANSFORMING = "select_and_scatter", "fft"
_DIFFERENT = "different floats"
_BESIDE = "beside others"
_BELOW_A_BYTE = _words("i2 i4 ui2 ui4 f4E2M1FN f6E2M3FN f6E3M2FN")
FLOATS = ("f", "bf", "tf")
"""How the names of the element types that are floats begin."""
# Functions, what ends a region and what is inlined are no ops of a compiler.
_LEFT_OUT = frozenset({"call", "composite", "func", "return"})
_VERSION = re.compile(r"_v\d+$")
# How deep an element type is said to lie, so that little is written of one in which many others
# nest: `tensor<2xcomplex<f32>>` is all of it.
_INSIDE = 2


def signatures_by_name(reading: Reading) -> dict[str, list[OpSignature]]:
    """Find what a compiler has to support.

    Args:
        reading: An artifact's ops.

    Returns:
        The signatures as capabilities name them, each with those that it stands for.
    """
    naming = _Naming(reading)
    found = naming.by_text(reading.signatures)
    for owner, inside in reading.content.scan().bodies.items():
        if (op := naming.ops[owner]) in _APPLYING:
            for text, ones in naming.by_text(inside).items():
                found.setdefault(f"{text}{IN}{op}", []).extend(ones)
    return found


class _Naming:
    """Names the op signatures of an artifact."""

    def __init__(self, reading: Reading) -> None:
        self.ops = [_compiled(name) for name in reading.names]
        self._reading = reading
        self._elements = _Elements(reading.content.pool)
        # Most of the ops of an artifact are of few kinds and types.
        self._known: dict[tuple[object, ...], list[str]] = {}
        self._texts: dict[str, str] = {}
        self._call = functools.cache(lambda target, more="": f"{CALL} {target}{more}")

    def by_text(self, signatures: Iterable[OpSignature]) -> dict[str, list[OpSignature]]:
        """Return some signatures by what capabilities call them."""
        found: dict[str, list[OpSignature]] = {}
        for signature in signatures:
            for text in self.texts(signature):
                found.setdefault(text, []).append(signature)
        return found

    def texts(self, signature: OpSignature) -> list[str]:
        """Return what capabilities call a signature; nothing for an op that no compiler sees."""
        op = self.ops[signature.name]
        if not op:
            return []
        if op == CALL:
            return [*self._called(signature)]
        operands = signature.operand_types if op in _TYPED else None
        key = (op, signature.results, operands)
        if key not in self._known:
            texts = _texts(op, signature.results, operands or (), self._elements)
            nothing = signature.results and all(map(self._elements.is_none, signature.results))
            named = [text + OF_NOTHING if nothing else text for text in texts]
            self._known[key] = [self._texts.setdefault(text, text) for text in named]
        if op == _SELECTING and _windows_are_apart(self._reading, signature):
            return [text + APART for text in self._known[key]]
        if op == _TRANSFORMING and _halves(self._reading, signature):
            return [text + HALVED for text in self._known[key]]
        return self._known[key]

    def _called(self, signature: OpSignature) -> Iterator[str]:
        """Yield the target of a custom call; and of MHLO's, with what else they were not tried."""
        target = self._reading.value(signature, "call_target_name").get("value")
        yield self._call(target)  # any number of calls may have one long target
        if not str(target).startswith("mhlo."):
            return
        element = next((self._elements.of(type_) for type_ in signature.results), "unknown")
        if not element.startswith(FLOATS if target != _TOPK else (*FLOATS, "i", "ui")):
            yield self._call(target, f" of {element}")
        if target == _TOPK and self._largest(signature) != 1:
            yield self._call(target, " of the smallest")

    def _largest(self, signature: OpSignature) -> object:
        """Return whether a call of topk says that it takes the largest; None if it does not say."""
        content = self._reading.content
        pool = content.pool
        number = content.dictionary(signature.attributes).get("mhlo.attributes")
        pairs = None if number is None else pool.attribute(number).fields.get("entries")
        for key, value in pairs if isinstance(pairs, list) else ():
            if pool.attribute(key).fields.get("value") == "largest":
                return pool.attribute(value).fields.get("value")
        return None


def _windows_are_apart(reading: Reading, signature: OpSignature) -> bool:
    """Say whether windows of several elements neither overlap nor are padded, and move by more.

    None is the only one over what it does not cover: IREE has no code for that.
    """
    over, source = (*(signature.operand_types or ()), None, None)[:2]
    shape = reading.dimensions(over) or ()
    sizes, strides = (
        repeated(reading.numbers(signature, f"window_{name}"), len(shape))
        for name in ("dimensions", "strides")
    )
    alone = max(sizes, default=1) == 1 or max(strides, default=1) == 1
    if alone or any(reading.numbers(signature, "padding")):
        return False
    shapes = (sizes, shape, reading.dimensions(source) or ())
    covered = all(one != 1 or size == of for size, of, one in zip(*shapes, strict=False))
    return covered and all(map(operator.ge, strides, sizes))


def _halves(reading: Reading, signature: OpSignature) -> bool:
    """Say whether a transform is over one dimension whose length is a power of two."""
    type_ = reading.value(signature, "fft_length").get("type")
    one = isinstance(type_, int) and reading.content.pool.count(type_) == 1
    return one and [n & n - 1 for n in reading.numbers(signature, "fft_length")] == [0]


def _compiled(op: str) -> str:
    """Return what a compiler calls an op; empty for what is none of its own."""
    plain = _plain(op) if op.startswith(f"{VHLO}.") else ""
    return "" if plain in _LEFT_OUT else plain


@functools.lru_cache(maxsize=1024)  # of more ops than VHLO has, for whatever else occurs
def _plain(op: str) -> str:
    return _VERSION.sub("", op.removeprefix(f"{VHLO}."))


def _texts(
    op: str,
    result_types: Iterable[int],
    operand_types: Iterable[int | None],
    elements: _Elements,
) -> Iterator[str]:
    results = [elements.of(type_) for type_ in result_types]
    operands = [elements.of(type_) for type_ in operand_types] if op in _TYPED else results
    if op in _VARIADIC and {*operands} == {*results}:
        types = {*results}
        yield from (f"{op} {one}" for one in types)
        if op in _REDUCING and sum(one.startswith(FLOATS) for one in types) > 1:
            yield f"{op} {_DIFFERENT}"
        if op in _REDUCING | {"sort"} and len(types) > 1:
            yield from (f"{op} {one} {_BESIDE}" for one in types & _BELOW_A_BYTE)
    elif op not in _TYPED or _once(operands) == _once(results):
        yield " ".join([op, *_once(results)])
    else:
        yield " ".join([op, *_once(operands), "->", *_once(results)])


def _once(types: list[str]) -> list[str]:
    return [one for one, _ in itertools.groupby(types)]


class _Elements:
    """The element types of an artifact's types, as signatures name them."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        # Of each type its text, and whether its tensors have no elements.
        self._known: dict[int | None, tuple[str, bool]] = {None: ("unknown", False)}
        # Of a method it would be a cycle, and all that was read would stay until it is collected.
        self._inner = functools.cache(functools.partial(_text, pool))

    def of(self, type_: int | None) -> str:
        """Return the element type of a tensor, with `?` if its shape is dynamic, or any type."""
        return self._about(type_)[0] or "unknown"

    def is_none(self, type_: int) -> bool:
        """Say whether tensors of a type have no elements, whatever their size at run time."""
        return self._about(type_)[1]

    def _about(self, type_: int | None) -> tuple[str, bool]:
        known = self._known.get(type_)
        if known is None and type_ is not None:
            entry = self._pool.type(type_)
            shape = entry.fields.get("shape")
            is_none = isinstance(shape, list) and 0 in shape and min(shape) == 0
            known = self._known[type_] = self._find(entry), is_none
        return known or ("unknown", False)

    def _find(self, entry: PoolEntry) -> str:
        element, shape = entry.fields.get("element"), entry.fields.get("shape")
        if not isinstance(element, int):
            return _VERSION.sub("", entry.name)
        text = self._inner(element)
        if entry.name != "tensor_v1":
            return f"{_VERSION.sub('', entry.name)}<{text}>"
        dynamic = isinstance(shape, list) and any(size < 0 for size in shape)
        bounded = entry.fields.get("encoding") is not None
        return text + "?" * dynamic + "bounded" * bounded


def _text(pool: Pool, element: int) -> str:
    # Parameters of quantization do not decide whether a compiler supports it.
    inner = pool.type(element).name.removesuffix("_v1")
    return inner if inner.startswith("quant") else brief(type_text(pool, element, _INSIDE))
