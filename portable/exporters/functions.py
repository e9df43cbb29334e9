"""JAX functions with example inputs: what is traced of them, and how exports of them are called.

A function that `jax.jit` made is exported as it is. Any other is traced as a function of its own
arrays, which become weights, and of the arrays and numbers that it takes; what else it takes, such
as a word or a function, is fixed. Where it changes its own arrays, as modules of flax nnx do in
training, it returns their new values too.
"""

from __future__ import annotations

import functools
import inspect
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portable.exporters.frameworks import ExportFailed, as_array, dotted
from portable.runtime.executors import InputMismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from portable.exporters.exported import ExportedArtifact
    from portable.runtime.executors.tensors import Array

__all__ = ["Function", "JaxConvention", "Taken", "function_of", "is_key"]

# JAX's types, which is imported where it is used: `PyTreeDef`, a leaf, `ShapedArray`.
_Tree = Any
_Leaf = Any
_Aval = Any
_VARIADIC = inspect.Parameter.VAR_POSITIONAL
_CPU = "cpu"  # where every Executor runs


@dataclass(frozen=True, slots=True)
class Taken:
    """What a function takes, taken apart.

    Args:
        parameters: The names of its positional parameters; none where it does not say.
        static: Which arguments are static for `jax.jit`, by number and by name.
        tree: How the others are nested.
        names: Of their leaves.
        fixed: The values of static arguments and of leaves that are no numbers, by name.
    """

    parameters: tuple[str, ...]
    static: frozenset[int | str]
    tree: _Tree
    names: tuple[str, ...]
    fixed: Mapping[str, object]

    def leaves(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[_Leaf]:
        """Return the leaves of arguments that are nested as these, and fixed at the same values."""
        given = _apart(self.parameters, self.static, args, kwargs)
        if given.tree != self.tree:
            raise InputMismatch(f"the inputs are {given.tree}, it was exported with {self.tree}")
        found = given.static | dict(zip(self.names, given.leaves, strict=True))
        for name, value in self.fixed.items():
            if not _same(found.get(name), value):
                raise InputMismatch(
                    f"{name!r} is {found.get(name)!r}, it was exported with {value!r}",
                    hint="export again for another value",
                )
        return given.leaves


@dataclass(frozen=True, slots=True)
class Function:
    """What `jax.export` exports.

    Args:
        jitted: The function.
        args: Its example inputs.
        kwargs: Those by name.
        weights: The arrays of its own, by name: the first leaves of its inputs.
        leaves: What the caller passes, by number: the rest.
        taken: How the caller passes it.
        changes: Whether it returns what it returns, and then the new values of weights by name.
    """

    jitted: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    weights: Mapping[str, _Leaf]
    leaves: Mapping[int, _Leaf]
    taken: Taken
    changes: bool = False


@dataclass(frozen=True, slots=True)
class JaxConvention:
    """Calls an export as its function is called.

    Args:
        taken: What the function takes.
        avals: The types of the leaves that `main` takes, by their numbers.
        platforms: What the number in front of them chooses from; none where it takes no number.
        tree: How the results are nested.
        results: Their types.
    """

    taken: Taken
    avals: Mapping[int, _Aval]
    platforms: tuple[str, ...]
    tree: _Tree
    results: tuple[_Aval, ...]

    def flat(
        self, exported: ExportedArtifact, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> list[Any]:
        """Return the inputs of `main`; as `Convention.flat`."""
        del exported
        leaves = self.taken.leaves(args, kwargs)
        found = [_array(leaves[n], self.avals[n], self.taken.names[n]) for n in sorted(self.avals)]
        if not self.platforms:
            return found
        if _CPU not in self.platforms:
            raise InputMismatch(f"exported for {', '.join(self.platforms)}, executed on {_CPU}")
        return [np.array(self.platforms.index(_CPU), np.int32), *found]

    def nested(self, arrays: list[Array], given: Sequence[Any]) -> Any:
        """Return arrays of JAX, nested; as `Convention.nested`."""
        import jax

        del given
        with jax.enable_x64(True):  # or 64 bits would become 32
            leaves = [_leaf(a, aval) for a, aval in zip(arrays, self.results, strict=True)]
        return jax.tree_util.tree_unflatten(self.tree, leaves)


def function_of(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Function:
    """Return what to export of a function with its example inputs.

    Args:
        function: A function, jitted or not, or a module that can be called.
        args: Its inputs.
        kwargs: Those by name.

    Returns:
        What `jax.export` exports of it.

    Raises:
        ExportFailed: It cannot be called, or two of its weights have one name.
    """
    if not callable(function):
        raise ExportFailed(
            f"{type(function).__name__} is not callable",
            hint="pass its .apply, with its parameters as an input"
            if hasattr(function, "apply")
            else None,
        )
    jit = _jitted()
    while not isinstance(function, jit) and hasattr(function, "lower"):
        function = function.__wrapped__  # by the jit of equinox or flax: it is traced here
    jitted = isinstance(function, jit)
    static: frozenset[int | str] = frozenset()
    if jitted:
        told = function._jit_info
        static = frozenset((*told.static_argnums, *told.static_argnames))
    given = _apart(_parameters(function), static, args, kwargs)
    if jitted:
        leaves = dict(enumerate(given.leaves))
        return Function(function, args, kwargs, {}, leaves, given.taken(leaves))
    return _lifted(function, given)


@functools.cache
def _jitted() -> type:
    """Return the class of what `jax.jit` makes, which has no public name."""
    import jax

    return type(jax.jit(len))


def is_key(aval: _Aval) -> bool:
    """Say whether something is a key of random numbers, which `main` takes as integers."""
    import jax

    return bool(jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key))


@dataclass(frozen=True, slots=True)
class _Apart:
    """Arguments, taken apart."""

    parameters: tuple[str, ...]
    static_keys: frozenset[int | str]
    static: dict[str, object]
    paths: tuple[tuple[Any, ...], ...]
    leaves: list[_Leaf]
    tree: _Tree

    def taken(self, inputs: Iterable[int]) -> Taken:
        names = tuple(_name(path, self.parameters) for path in self.paths)
        fixed = {names[n]: self.leaves[n] for n in set(range(len(names))) - set(inputs)}
        return Taken(self.parameters, self.static_keys, self.tree, names, self.static | fixed)


def _apart(
    parameters: tuple[str, ...],
    static: frozenset[int | str],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> _Apart:
    import jax

    told = [number for number in static if isinstance(number, int)]
    numbers = {n + len(args) if n < 0 else n for n in told} & set(range(len(args)))
    # None has no leaves: what follows a static argument keeps its number.
    rest = tuple(None if number in numbers else value for number, value in enumerate(args))
    named = {name: None if name in static else value for name, value in kwargs.items()}
    paths, tree = jax.tree_util.tree_flatten_with_path((rest, named))
    values = {_parameter(number, parameters): args[number] for number in numbers}
    values |= {name: value for name, value in kwargs.items() if name in static}
    leaves = [leaf for _, leaf in paths]
    return _Apart(parameters, static, values, tuple(path for path, _ in paths), leaves, tree)


def _lifted(function: Callable[..., Any], given: _Apart) -> Function:
    """Make a function of the arrays that a module holds, and of those that it takes."""
    import jax

    held, rebuild = _held(function)
    paths, tree = jax.tree_util.tree_flatten_with_path(held)
    own = [leaf for _, leaf in paths]
    weights = [number for number, leaf in enumerate(own) if hasattr(leaf, "dtype")]
    passed = {number: leaf for number, leaf in enumerate(given.leaves) if _is_traced(leaf)}
    taken = given.taken(passed)
    names = [_plain(dotted(path)) for path, _ in paths]

    def lifted(arrays: Sequence[Any], inputs: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
        module = jax.tree_util.tree_unflatten(tree, _replaced(own, weights, arrays))
        leaves = _replaced(given.leaves, passed, inputs)
        values, keywords = jax.tree_util.tree_unflatten(given.tree, leaves)
        whole = (module, (values, keywords))
        before = jax.tree_util.tree_leaves(whole)
        returned = rebuild(module)(*values, **keywords)
        changed = _changes(before, whole, (*names, *taken.names))
        _refuse_changes(
            [name for name in changed if not _is_like(changed[name], by_name.get(name))]
        )
        return returned, changed

    lifted.__name__ = getattr(function, "__name__", type(function).__name__)
    operands = ([own[n] for n in weights], list(passed.values()))
    by_name = _by_name([(names[n], own[n]) for n in weights])
    return Function(jax.jit(lifted), operands, {}, by_name, passed, taken, changes=True)


def _held(function: Callable[..., Any]) -> tuple[Any, Callable[[Any], Any]]:
    """Return what holds the arrays of a module, and what makes a module of it again.

    Modules of equinox and of flax nnx, and partial functions of JAX, are trees themselves; those of
    flax linen hold their variables apart; any other function is a leaf.
    """
    linen = sys.modules.get("flax.linen")
    if linen and isinstance(function, linen.Module) and function.scope is not None:
        module, variables = function.unbind()
        return variables, module.bind
    return function, lambda module: module


def _changes(before: list[_Leaf], after: Any, names: Sequence[str]) -> dict[str, _Leaf]:
    """Return what was changed, by name: a function of JAX has no state, modules of flax nnx do."""
    import jax

    equinox = sys.modules.get("equinox")
    if equinox:
        kind = equinox.nn.State  # is never changed, and no tree any more once it was used
        given = jax.tree_util.tree_leaves(after, is_leaf=lambda x: isinstance(x, kind))
        if any(isinstance(x, kind) for x in given):
            return {}
    leaves = jax.tree_util.tree_leaves(after)
    if len(leaves) != len(before):
        raise ExportFailed(
            "the function adds variables to a module while it runs",
            hint="return what it keeps, as by sow, and make the others when the module is made",
        )
    pairs = zip(names, before, leaves, strict=True)
    return {name: new for name, old, new in pairs if old is not new}


def _refuse_changes(names: Sequence[str]) -> None:
    """Refuse what would be lost: the caller's arrays never change, nor does what is no array."""
    if names:
        raise ExportFailed(
            f"the function changes {', '.join(map(repr, names))} while it runs, which would be "
            "lost",
            hint="hold it in the module that is exported, whose state is kept; or return the new "
            "value, and export jax.jit(function), which changes nothing that it takes",
        )


def _is_like(new: _Leaf, old: _Leaf | None) -> bool:
    """Say whether a leaf can take the place of a weight."""
    return old is not None and all(
        getattr(new, of, None) == getattr(old, of) for of in ("shape", "dtype")
    )


def _by_name(pairs: Iterable[tuple[str, _Leaf]]) -> dict[str, _Leaf]:
    found: dict[str, _Leaf] = {}
    for name, leaf in pairs:
        if name in found:
            raise ExportFailed(f"two weights are named {name!r}", hint="rename one of them")
        found[name] = leaf
    return found


def _replaced(leaves: Sequence[_Leaf], numbers: Iterable[int], values: Sequence[Any]) -> list[Any]:
    changed = list(leaves)
    for number, value in zip(numbers, values, strict=True):
        changed[number] = value
    return changed


def _is_traced(leaf: _Leaf) -> bool:
    """Say whether a leaf is an input: a truth of Python's is not, by which functions branch."""
    number = isinstance(leaf, (int, float, complex)) and not isinstance(leaf, bool)
    return number or hasattr(leaf, "dtype")


def _same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


def _array(leaf: _Leaf, aval: _Aval, name: str) -> Array:
    """Return an input of `main`; numbers of Python's have the types that JAX gives them."""
    import jax

    if is_key(aval):
        if getattr(leaf, "dtype", None) != aval.dtype:
            found = getattr(leaf, "dtype", type(leaf).__name__)
            raise InputMismatch(f"{name!r} is {found}, the function takes {aval.dtype}")
        return np.asarray(jax.random.key_data(leaf))
    if aval.dtype == jax.dtypes.float0:
        return np.zeros(np.shape(leaf), bool)
    if hasattr(leaf, "dtype") or jax.dtypes.scalar_type_of(leaf) is not _scalar(aval.dtype):
        return as_array(leaf)
    try:
        return np.asarray(leaf, aval.dtype)
    except OverflowError as error:
        raise InputMismatch(f"{name!r} is {leaf}, which {aval.dtype} cannot hold") from error


def _scalar(dtype: Any) -> type:
    import jax

    kinds = {bool: np.bool_, int: np.integer, float: np.floating, complex: np.complexfloating}
    return next(kind for kind, parent in kinds.items() if jax.dtypes.issubdtype(dtype, parent))


def _leaf(array: Array, aval: _Aval) -> Any:
    import jax

    if aval.dtype == jax.dtypes.float0:
        return np.zeros(array.shape, aval.dtype)  # as JAX, of numpy
    made = jax.numpy.asarray(array)
    if not is_key(aval):
        return made
    return jax.random.wrap_key_data(made, impl=aval.dtype._impl)


def _parameters(function: Any) -> tuple[str, ...]:
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()  # built in, without a signature
    return tuple(parameter.name for parameter in found if parameter.kind is not _VARIADIC)


def _parameter(number: int, parameters: Sequence[str]) -> str:
    return parameters[number] if number < len(parameters) else f"arg{number}"


def _name(path: Sequence[Any], parameters: Sequence[str]) -> str:
    """Return the name of a leaf of `(args, kwargs)`: `x`, or `params.w` inside of one."""
    group, first, *rest = path
    name = dotted([first])
    if dotted([group]) == "0":
        name = _parameter(int(name), parameters)
    return _plain(".".join([name, *filter(None, [dotted(rest)])]))


def _plain(name: str) -> str:
    """Return the name of a variable of flax nnx without that of its one leaf."""
    return name.removesuffix(".value")
