"""A traced graph as a function of JAX arrays: what torchax's lowerings of single ops leave open.

That is the graph itself with its control flow, which becomes StableHLO's `case` and `while`, the
streams of random numbers, and the lowerings of the user.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, ClassVar

from portable.exporters.decompositions import all_decompositions
from portable.exporters.derivatives import derivative_ops, pulled_back
from portable.exporters.frameworks import ExportFailed, dtype_name, first_line, is_higher_order
from portable.exporters.images import byte_images
from portable.exporters.lowerings import lowerings as lowerings_of_ours
from portable.exporters.lowerings import stored_lowerings
from portable.exporters.numbers import is_number, number_lowerings, numbers_as_arrays
from portable.exporters.random_numbers import Stream, random_ops
from portable.exporters.traced import place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["GraphLowering", "all_nodes"]

# Of the framework, which has no types here and is imported where it is used.
_Node = Any
_Graph = Any
_Arrays = Any


_GIVEN = "the lowering that was given"


def all_nodes(module: _Graph) -> Iterator[_Node]:
    """Yield the nodes of a graph and of the graphs that it branches into."""
    for node in module.graph.nodes:
        yield node
        if node.op == "get_attr":
            inner = _attribute(module, node.target)
            if hasattr(inner, "graph"):
                yield from all_nodes(inner)


class GraphLowering:
    """Evaluates graphs of ATen on JAX arrays.

    Args:
        lowerings: ATen or custom ops -> functions of JAX arrays; they come before torchax's.
        seed: What random numbers come from; None where none are drawn.
    """

    def __init__(self, lowerings: Mapping[Any, Callable[..., Any]], seed: Any = None) -> None:
        self._lowerings = dict(lowerings)
        self._ours = lowerings_of_ours()
        self._stored = stored_lowerings()
        self._derivatives = derivative_ops()
        self._of_numbers = number_lowerings()
        self._of_bytes = byte_images()
        self._random = random_ops()
        self._seed = seed
        self._drawn = 0
        self._loops = 0

    def run(self, module: _Graph, values: Sequence[Any]) -> list[Any]:
        """Return what a graph makes of its arguments, in the dtypes that PyTorch makes of them.

        Args:
            module: The graph.
            values: One for each of its placeholders.

        Raises:
            ExportFailed: An op cannot be lowered; says which and where.
        """
        from torch.fx.node import map_arg

        made: dict[_Node, Any] = {}
        given = iter(values)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                made[node] = next(given)
            elif node.op == "get_attr":
                made[node] = _attribute(module, node.target)
            elif node.op == "output":
                (returned,) = node.args
                nodes = returned if isinstance(returned, (tuple, list)) else [returned]
                return [_typed(map_arg(one, made.__getitem__), one) for one in nodes]
            else:
                args, kwargs = (map_arg(a, made.__getitem__) for a in (node.args, node.kwargs))
                made[node] = self._called(node, args, kwargs)
        raise ExportFailed("the graph of the model returns nothing")

    def _called(self, node: _Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        function, whose = self._lowering(node)
        try:
            args, kwargs = _own(_numbers(node, args)), _own(kwargs)
            if whose != _GIVEN:
                args, kwargs = _wide(node, args), _wide(node, kwargs)
            made = function(*args, **kwargs)
            told = node.meta.get("val")
            return _checked(made, told, node) if whose == _GIVEN else _as_told(made, told, node)
        except ExportFailed:
            raise
        except Exception as error:  # lowerings run two frameworks and the user's code
            raise ExportFailed(
                f"{whose} cannot lower {node.target}: {first_line(error)}", where=place(node)
            ) from error

    def _lowering(self, node: _Node) -> tuple[Callable[..., Any], str]:
        """Return what a node is lowered by, and whose it is."""
        from torchax.ops.ops_registry import all_aten_ops

        op = node.target
        if is_higher_order(op):
            return functools.partial(self.control_flow[op.name()], self), "portable"
        keys = op, getattr(op, "overloadpacket", None)
        given = next((key for key in keys if key in self._lowerings), None)
        if given is not None:
            return self._lowerings[given], _GIVEN
        ours = self._lowering_of_ours(node)
        if ours is not None:
            return ours, "portable"
        return next((all_aten_ops[key].func for key in keys if key in all_aten_ops), op), "torchax"

    def _lowering_of_ours(self, node: _Node) -> Callable[..., Any] | None:
        import torch

        op = node.target
        if op in self._of_numbers and any(map(is_number, node.all_input_nodes)):
            return functools.partial(self._of_numbers[op], node.meta["val"])
        if op in self._of_bytes and node.args[0].meta["val"].dtype == torch.uint8:
            return self._of_bytes[op]
        if op in self._derivatives:
            return functools.partial(self._derived, op)
        if op in self._stored:
            return functools.partial(self._stored[op], node.args[0].meta["val"])
        if op in self._ours:
            return self._ours[op]
        return self._seeded(node) if op in self._random else None

    @functools.cached_property
    def _decompositions(self) -> dict[Any, Callable[..., Any]]:
        return all_decompositions()

    def _derived(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        return pulled_back(op, self._derivatives[op], self._computed, args, kwargs)

    def _computed(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute an op that is in no graph, on JAX arrays; decomposed where that is known."""
        import torch
        from torch.fx.experimental.proxy_tensor import make_fx
        from torchax.ops.ops_registry import all_aten_ops

        if op in self._ours:
            return self._ours[op](*args, **kwargs)
        table = self._decompositions
        for key in (op, op.overloadpacket):
            if key in all_aten_ops and op not in table:
                return all_aten_ops[key].func(*args, **kwargs)
        arrays = [x for x in (*args, *kwargs.values()) if hasattr(x, "dtype")]
        examples = [torch.empty(x.shape, dtype=getattr(torch, x.dtype.name)) for x in arrays]

        def computed(*values: Any) -> Any:
            left = iter(values)
            passed = [next(left) if hasattr(x, "dtype") else x for x in args]
            named = {n: next(left) if hasattr(x, "dtype") else x for n, x in kwargs.items()}
            return op(*passed, **named)

        graph = make_fx(computed, decomposition_table=table, tracing_mode="fake")(*examples)
        return self.run(graph, arrays)

    def _seeded(self, node: _Node) -> Callable[..., Any]:
        if self._loops:
            raise ExportFailed(
                f"the model draws random numbers by {node.target} inside of a loop, where each "
                "turn would draw the same",
                where=place(node),
                hint="draw them before the loop",
            )
        stream = Stream(self._seed, self._drawn)
        self._drawn += 1
        like, function = _described(node.meta["val"]), self._random[node.target]
        return lambda *args, **kwargs: function(stream, like, *args, **kwargs)

    @contextlib.contextmanager
    def _loop(self) -> Iterator[None]:
        self._loops += 1
        try:
            yield
        finally:
            self._loops -= 1

    def _cond(self, chosen: Any, true: _Graph, false: _Graph, operands: _Arrays = ()) -> _Arrays:
        import jax
        import jax.numpy as jnp

        flag = jnp.asarray(chosen, bool).reshape(())
        branches = [lambda *given, g=graph: self.run(g, given) for graph in (true, false)]
        return jax.lax.cond(flag, *branches, *operands)

    def _while_loop(self, test: _Graph, body: _Graph, carried: _Arrays, more: _Arrays) -> _Arrays:
        import jax
        import jax.numpy as jnp

        first = tuple(jnp.asarray(value) for value in carried)

        def turn(values: _Arrays) -> _Arrays:
            made = self.run(body, (*values, *more))
            return tuple(jnp.asarray(m, v.dtype) for m, v in zip(made, values, strict=True))

        with self._loop():
            return jax.lax.while_loop(
                lambda values: self.run(test, (*values, *more))[0].reshape(()), turn, first
            )

    def _scan(self, body: _Graph, first: _Arrays, rows: _Arrays, more: _Arrays = ()) -> _Arrays:
        import jax

        def turn(carried: _Arrays, row: _Arrays) -> _Arrays:
            made = self.run(body, (*carried, *row, *more))
            return tuple(made[: len(first)]), tuple(made[len(first) :])

        with self._loop():
            carried, stacked = jax.lax.scan(turn, tuple(first), tuple(rows))
        return [*carried, *stacked]

    def _map(self, body: _Graph, rows: _Arrays, more: _Arrays = ()) -> _Arrays:
        return self._scan(body, (), rows, more)

    def _asserted(self, _: Any, op: Any, *values: Any, **named: Any) -> _Arrays:
        """Leave out what PyTorch asserts while it runs, of singular matrices for example."""
        if op not in self._ours:  # where those are
            raise ExportFailed(f"{op} has an effect, which StableHLO cannot express")
        del values, named
        return None, None

    def _inlined(self, _: bool, body: _Graph, *values: Any) -> _Arrays:
        return self.run(body, values)

    def _flex_attention(self, query: Any, key: Any, value: Any, *rest: Any) -> _Arrays:
        """Attention whose scores and mask are graphs of one score and its four places."""
        import jax
        import jax.numpy as jnp

        score, mask, scale, _, of_score, of_mask = rest
        groups = query.shape[1] // key.shape[1]
        key, value = (jnp.repeat(x, groups, axis=1) if groups > 1 else x for x in (key, value))
        wide = jnp.float64 if query.dtype == jnp.float64 else jnp.float32
        scores = scale * jnp.einsum("bhqd,bhkd->bhqk", query.astype(wide), key.astype(wide))
        places = [
            jax.lax.broadcasted_iota(jnp.int32, scores.shape, axis) for axis in range(scores.ndim)
        ]

        def each(graph: _Graph, values: _Arrays, more: _Arrays) -> Any:
            def one(*given: Any) -> Any:
                return self.run(graph, (*given, *more))[0]

            mapped: Callable[..., Any] = one
            for _ in range(scores.ndim):
                mapped = jax.vmap(mapped)
            return mapped(*values)

        scores = each(score, (scores, *places), of_score).astype(wide)
        seen = each(mask[-1], places, of_mask)
        scores = jnp.where(seen, scores, -jnp.inf)
        top = scores.max(-1, keepdims=True)
        weights = jnp.exp(scores - jnp.where(jnp.isfinite(top), top, 0))
        total = weights.sum(-1, keepdims=True)
        weights = weights / jnp.where(total == 0, 1, total)
        made = jnp.einsum("bhqk,bhkd->bhqd", weights, value.astype(wide)).astype(query.dtype)
        # Of base two: PyTorch makes natural logarithms of them outside of this op.
        sums, top = (jnp.log(total) + top)[..., 0] / _LOG2, top[..., 0] / _LOG2
        return made, sums, top

    control_flow: ClassVar[dict[str, Callable[..., Any]]] = {
        "cond": _cond,
        "while_loop": _while_loop,
        "scan": _scan,
        "map_impl": _map,
        "wrap_with_set_grad_enabled": _inlined,
        "with_effects": _asserted,
        "flex_attention": _flex_attention,
    }
    """What PyTorch calls higher-order ops, by name, with their lowerings."""


_LOG2 = math.log(2)


def _own(value: Any) -> Any:
    """Copy lists: those of PyTorch's graphs cannot be changed, as torchax does with some."""
    if isinstance(value, (list, tuple)):
        kind = list if isinstance(value, list) else tuple
        return kind(map(_own, value))
    return {k: _own(v) for k, v in value.items()} if isinstance(value, dict) else value


def _attribute(module: _Graph, target: str) -> Any:
    found = module
    for name in target.split("."):
        found = getattr(found, name)
    return found


def _typed(value: Any, node: _Node) -> Any:
    """Return a value in the dtype that PyTorch has: some lowerings answer in another width."""
    import jax.numpy as jnp

    wanted = getattr(getattr(node, "meta", {}).get("val"), "dtype", None)
    if value is None or wanted is None:  # a token that orders assertions, or no tensor
        return value
    return jnp.asarray(value).astype(dtype_name(wanted))


def _numbers(node: _Node, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments with truths and integers as floats, where PyTorch computes in those."""
    import jax.numpy as jnp
    import torch

    dtype = getattr(node.meta.get("val"), "dtype", None)
    pointwise = torch.Tag.pointwise in getattr(node.target, "tags", ())
    if pointwise:
        args = numbers_as_arrays(args, node.args)
    arrays = [value for value in args if hasattr(value, "dtype")]
    chooses = getattr(node.target, "overloadpacket", None) is torch.ops.aten.where
    floats = any(jnp.issubdtype(array.dtype, jnp.inexact) for array in arrays)
    if not pointwise or chooses or floats:
        return args
    if dtype is None or not (dtype.is_floating_point or dtype.is_complex):
        return args
    wanted = dtype_name(dtype)
    return tuple(a.astype(wanted) if hasattr(a, "dtype") else a for a in args)


# What adds or multiplies many values, and does not widen them by itself, in JAX or in torchax.
_ACCUMULATING = {
    "_embedding_bag",
    "_embedding_bag_forward_only",
    "cumprod",
    "cumsum",
    "index_add",
    "linalg_vector_norm",
    "native_group_norm",
    "native_layer_norm",
    "scatter_add",
    "scatter_reduce",
}


def _wide(node: _Node, value: Any) -> Any:
    """Return arguments of an op in the type in which PyTorch accumulates: of narrow floats float32.

    The square of 300 is beyond float16, and the sum of 300 ones beyond what bfloat16 counts to.
    """
    import jax
    import jax.numpy as jnp
    import torch

    name = getattr(getattr(node.target, "overloadpacket", None), "__name__", None)
    told = node.meta.get("val")
    first = told[0] if isinstance(told, (tuple, list)) else told
    # XLA makes a / (b * c) of a / b / c, and the product may be beyond float16.
    quotient = name == "div" and first.dtype == torch.float16
    if name not in _ACCUMULATING and not quotient:
        return value
    wanted = jnp.promote_types(dtype_name(first.dtype), jnp.float32)

    def widened(one: Any) -> Any:
        floats = hasattr(one, "dtype") and jnp.issubdtype(one.dtype, jnp.floating)
        return one.astype(wanted) if floats and jnp.issubdtype(wanted, jnp.floating) else one

    return jax.tree.map(widened, value)


def _as_told(made: Any, val: Any, node: _Node) -> Any:
    """Return what an op makes in PyTorch's dtypes: some lowerings answer in another width.

    Of several results the shapes are not looked at before one is taken: not all are used.
    """
    if isinstance(val, (tuple, list)) and isinstance(made, (tuple, list)):
        return [_cast(*pair) for pair in itertools.zip_longest(made, val)]
    if all(hasattr(one, "shape") for one in (made, val)) and not _is_shaped(made, val):
        if 0 not in val.shape or made.size:
            shape, size = (list(one.shape) for one in (made, val))
            raise ExportFailed(
                f"the lowering of {node.target} makes {shape}, PyTorch {size}",
                where=place(node),
                hint="give one: lowerings={op: function}",
            )
        made = made.reshape(val.shape)  # of no values at all
    return _cast(made, val)


def _is_shaped(made: Any, val: Any) -> bool:
    """Say whether an array has the shape that PyTorch has, where both are known."""
    if len(made.shape) != len(val.shape):
        return False
    sizes = zip(made.shape, val.shape, strict=True)
    # Dynamic dimensions have names of their own in PyTorch and in JAX.
    return all(a == b for a, b in sizes if isinstance(a, int) and isinstance(b, int))


def _cast(made: Any, val: Any) -> Any:
    if not all(hasattr(one, "dtype") for one in (made, val)):
        return made
    wanted = dtype_name(val.dtype)
    return made if made.dtype.name == wanted else made.astype(wanted)


def _checked(made: Any, val: Any, node: _Node) -> Any:
    """Return what a user's lowering made of a node, in PyTorch's dtypes; refuse other results."""
    import jax.numpy as jnp

    if isinstance(val, (tuple, list)):
        if not isinstance(made, (tuple, list)) or len(made) != len(val):
            found = f"{len(made)} values" if isinstance(made, (tuple, list)) else "one value"
            raise _mismatch(node, found, f"{len(val)}")
        return [_checked(m, v, node) for m, v in zip(made, val, strict=True)]
    if not hasattr(val, "dtype"):  # no tensor
        return made
    array, wanted = jnp.asarray(made), jnp.dtype(dtype_name(val.dtype))
    kinds = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
    kept = any(all(jnp.issubdtype(d, kind) for d in (array.dtype, wanted)) for kind in kinds)
    if not _is_shaped(array, val) or not kept:
        shape, size = (",".join(map(str, one.shape)) for one in (array, val))
        raise _mismatch(node, f"{array.dtype}[{shape}]", f"{wanted}[{size}]")
    return array.astype(wanted)


def _mismatch(node: _Node, made: str, wanted: str) -> ExportFailed:
    return ExportFailed(
        f"{_GIVEN} for {node.target} returns {made}, PyTorch makes {wanted}", where=place(node)
    )


def _described(value: Any) -> Any:
    """Return shapes and dtypes as JAX has them."""
    import jax

    if isinstance(value, (tuple, list)):
        return [_described(one) for one in value]
    return jax.ShapeDtypeStruct(tuple(value.shape), dtype_name(value.dtype))
