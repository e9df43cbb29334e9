"""Forms of what a compiler asks of the functions of a program: their names, types and calls."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import re
from itertools import chain
from typing import TYPE_CHECKING

from portable.bytecode.operations import IN_FUNCTION, like
from portable.prediction.form import SCATTERS, FormRule, kinds, ops, types, weaken
from portable.prediction.functions import CALLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from portable.bytecode.operations import Head, OpSignature
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading

__all__ = ["ENTRY", "aliased", "dictionaries"]

_BYTE = 8
_MODULE = "builtin.module"
_FUNCTION, _CALL = "vhlo.func_v1", "vhlo.call_v1"
_RETURN, _EINSUM = "vhlo.return_v1", "vhlo.unary_einsum_v1"
# Which do not compute from numbers; and which may compute nothing, or hand on what they take.
_SHAPED = frozenset({"vhlo.get_dimension_size"})
_WHOLE = kinds("case if reshape while") | CALLS.keys()
_UPDATE = "vhlo.dynamic_update_slice_v1"
_COMPLEX, _DOUBLE = "complex_v1", "f64_v1"
# What few runtimes have arrays of.
_SMALL_INTEGERS = ("i2", "ui2", "i4", "ui4")
_RARE_FLOATS = ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3")
_FNUZ = ("f8E4M3B11FNUZ", "f8E4M3FNUZ", "f8E5M2FNUZ")
_NO_FUNCTION = -1
# What may update operands in place, and how many of the first ones; None for all.
_UPDATED = {
    "vhlo.sort_v1": None,
    _UPDATE: 1,
    **dict.fromkeys(SCATTERS, 1),
}
# What gives what it takes, without another buffer.
_SAME = frozenset({"vhlo.optimization_barrier_v1", "vhlo.reshape_v1"})
_FOLLOWED = frozenset({*_UPDATED, *_SAME, _RETURN})
_HIDDEN = frozenset({"nested", "private"})
_ALIAS, _MEMORY, _MODE = "tf.aliasing_output", "mhlo.memory_kind", "mhlo.layout_mode"
_DONOR = "jax.buffer_donor"
_READ = frozenset({_ALIAS, _DONOR, _MEMORY, _MODE})
_WIDTH = re.compile(r"\d+")
_LAYOUT = re.compile(r"default|auto|\{(\d+(,\d+)*)?\}")
_MEMORIES = frozenset({"device", "pinned_host", "unpinned_host"})


def _text(reading: Reading, op: OpSignature | Head, field: str) -> str:
    value = reading.value(op, field).get("value")
    return value if isinstance(value, str) else ""


def _has_several_modules(reading: Reading) -> bool:
    """Find a module that stands in another."""
    return sum(reading.signatures[one] for one in reading.of(_MODULE)) > 1


def _calls_itself(reading: Reading) -> bool:
    """Find a function that is called by what it calls, and that is kept.

    What neither main nor another public function calls is removed.
    """
    public = [
        visit.number
        for visit in reading.walk.of([_FUNCTION])
        if _text(reading, visit.operation, "sym_visibility") not in _HIDDEN
    ]
    return _leads_back(reading, [reading.functions.main, *public])


def _calls_itself_unused(reading: Reading) -> bool:
    """Find a function that is called by what it calls, and that is removed by some."""
    functions = [visit.number for visit in reading.walk.of([_FUNCTION])]
    return not _calls_itself(reading) and _leads_back(reading, functions)


def _leads_back(reading: Reading, roots: Sequence[int]) -> bool:
    """Say whether calls that begin in some functions come to one that is being called."""
    functions = reading.functions
    called: dict[int, set[int]] = {}
    for call in reading.walk.of(CALLS):
        inside = called.setdefault(functions.within[call.number], set())
        inside.update(functions.called(call.number))
    done: dict[int, bool] = {}
    # Those that are being walked through, the outermost first, each with what else it calls.
    path: list[tuple[int, Iterator[int]]] = []
    for root in roots:
        if root not in done:
            done[root] = False
            path.append((root, iter(called.get(root, ()))))
        while path:
            function, rest = path[-1]
            if (inner := next(rest, None)) is None:
                done[function] = True
                path.pop()
            elif inner not in done:
                done[inner] = False
                path.append((inner, iter(called.get(inner, ()))))
            elif not done[inner]:
                return True
    return False


def _takes(*kinds: str, elements: bool = True) -> FormRule:
    """Find a function with an argument, or result, of some types or of tensors of them."""
    sought = frozenset(f"{kind}_v1" for kind in kinds)

    def find(reading: Reading) -> bool:
        pool = reading.content.pool
        names = {reading.element(n) if elements else pool.type(n).name for n in reading.edges}
        return not names.isdisjoint(sought)

    return FormRule(find, (types(sought),))


def _main_takes(*kinds: str, several: bool = False, results: bool = True) -> FormRule:
    """Find an argument of main of some element types, or a result unless those do not matter.

    With `several` one of several elements; perhaps one of a single element, or of none.
    """
    sought = frozenset(f"{kind}_v1" for kind in kinds)

    def find(reading: Reading) -> bool | None:
        edges = {*chain(*reading.sides_of_main[: 1 + results])}
        of_type = {one for one in edges if reading.element(one) in sought}
        shapes = [reading.dimensions(one) for one in of_type]
        if several and all(shape is not None and {*shape} <= {0, 1} for shape in shapes):
            return None if of_type else False
        return bool(of_type)

    return FormRule(find, (types(sought),))


def _main_takes_complex(reading: Reading) -> bool:
    """Find an argument or result of main that is of complex numbers of f64."""
    edges = {*chain(*reading.sides_of_main)}
    return any(reading.element(one) == _COMPLEX and reading.part(one) == _DOUBLE for one in edges)


def _takes_a_token(reading: Reading) -> bool:
    """Find an argument of main that is a token; what it calls is inlined."""
    inputs, _ = reading.sides_of_main
    return any(reading.content.pool.type(one).name == "token_v1" for one in set(inputs))


def dictionaries(reading: Reading, side: str) -> tuple[list[int], dict[int, dict[str, object]]]:
    """Find what hangs on the arguments or results of main.

    Args:
        reading: An artifact's ops.
        side: `arg_attrs` or `res_attrs`.

    Returns:
        The dictionary of each, and what is read of each dictionary.
    """
    pool = reading.content.pool
    index = None if reading.main is None else reading.attribute(reading.main, side)
    listed = None if index is None else pool.attribute(index).fields.get("elements")
    if not isinstance(listed, list):
        return [], {}
    known: dict[int, dict[str, object]] = {}
    for one in dict.fromkeys(listed):
        entries = pool.attribute(one).fields.get("entries")
        named = {
            str(pool.attribute(key).fields.get("value")): value
            for key, value in (entries if isinstance(entries, list) else ())
        }
        known[one] = {
            name: pool.attribute(named[name]).fields.get("value") for name in _READ & named.keys()
        }
    return listed, known


def aliased(reading: Reading) -> dict[int, object]:
    """Return the arguments that are to become results, each with the number of its result."""
    listed, known = reading.argument_attributes
    return {number: known[one][_ALIAS] for number, one in enumerate(listed) if _ALIAS in known[one]}


def _aliases(fits: Callable[[int, int], bool]) -> Callable[[Reading], bool | None]:
    """Find an argument that is to become a result that is not there, or of other bytes.

    Perhaps those of types below a byte, which Releases pack or do not.
    """

    def find(reading: Reading) -> bool | None:
        if reading.main is None or not reading.aliased:
            return False
        inputs, outputs = reading.sides_of_main
        perhaps = False
        for number, value in reading.aliased.items():
            if not isinstance(value, int) or not 0 <= value < len(outputs):
                return True
            if number >= len(inputs) or inputs[number] == outputs[value]:
                continue
            size, needed = _bytes(reading, inputs[number]), _bytes(reading, outputs[value])
            if size is None or needed is None:
                perhaps = True
            elif not fits(size, needed):
                return True
        return None if perhaps else False

    return find


def _bytes(reading: Reading, type_: int) -> int | None:
    """Return how many bytes a tensor has; None of one of less than a byte, or of no known size."""
    count, name = reading.content.pool.count(type_), reading.part(type_)
    times = 2 if reading.element(type_) == "complex_v1" else 1
    digits = _WIDTH.search(name.removesuffix("_v1"))
    bits = 8 if name == "bool_v1" else int(digits[0]) if digits else 0
    return None if count is None or bits < 8 else count * times * bits // 8


def _is_overwritten(reading: Reading) -> bool | None:
    """Find an argument that is to become one result, and is returned as another too.

    Perhaps what is computed from such an argument is computed too late.
    """
    results, main = reading.aliased, reading.functions.main
    used = set[int]()
    for visit in reading.walk.below(main) if results else ():
        # Values of a function are numbered from its arguments on.
        operands = visit.operands
        if visit.name == _RETURN and visit.operation.depth == IN_FUNCTION:
            lost = results.keys() - {
                one for at, one in enumerate(operands) if results.get(one) == at
            }
            if not lost.isdisjoint(operands):
                return True
            return None if lost & used else False
        used.update(results.keys() & operands)
    return False


def _returns_updated(*, computed: bool) -> FormRule:
    """Find a value that main returns, and that an op takes which may update it in place.

    It is an argument, or what is computed but no constant. Barriers and reshapes give what they
    take.
    """

    def find(reading: Reading) -> bool:
        flow, walk, main = reading.flow, reading.walk, reading.functions.main
        taken: set[Value] = set()
        before: dict[Value, Value] = {}
        for visit in walk.below(main) if main >= 0 else ():
            if visit.operation.depth != IN_FUNCTION or visit.name not in _FOLLOWED:
                continue
            values = flow.operands(visit)
            counts = [(at >= 0) is computed and one not in walk.constants for one, at in values]
            values = [before.get(value, value) for value in values]
            if visit.name in _SAME:
                before.update(((visit.number, at), value) for at, value in enumerate(values))
            elif visit.name in _UPDATED:
                taken.update(itertools.compress(values[: _UPDATED[visit.name]], counts))
            else:
                return not taken.isdisjoint(itertools.compress(values, counts))
        return False

    return FormRule(find, (ops(*_UPDATED),), across=True)


def _crosses(*names: str, bits: int = 8) -> FormRule:
    """Find an argument of main of some types that an op takes, or a result that an op gives.

    Perhaps it is one where that is a call, a loop or a branch. Of elements of fewer bits than a
    byte only those count that do not fill bytes.
    """
    elements = frozenset(f"{name}_v1" for name in names)

    def counts(reading: Reading, type_: int) -> bool:
        if reading.element(type_) not in elements:
            return False
        shape = reading.dimensions(type_) if bits < _BYTE else None
        return bits == _BYTE or (shape is not None and math.prod(shape) * bits % _BYTE > 0)

    def find(reading: Reading) -> bool | None:
        if reading.main is None:
            return False
        walk, main = reading.walk, reading.functions.main
        taken, _ = reading.sides_of_main
        given = {at for at, type_ in enumerate(taken) if counts(reading, type_)}
        perhaps = False
        for visit in walk.below(main):
            if visit.operation.depth != IN_FUNCTION:
                continue
            if visit.name == _RETURN:
                of_type = (one for one in visit.sources if one and counts(reading, walk.type(one)))
                crossing = {one[0] for one in of_type}
            elif reading.kinds[visit.operation.name] in _SHAPED or given.isdisjoint(
                value
                for value, source in zip(visit.operands, visit.sources, strict=True)
                if source is None
            ):
                continue
            else:
                crossing = {visit.number} if like(visit.operation) in reading.used else set()
            whole = {one for one in crossing if reading.kinds[walk.head(one).name] not in _WHOLE}
            if whole:
                return True
            perhaps |= bool(crossing)
        return None if perhaps else False

    return FormRule(find, (types(elements),), across=True)


def _shares_its_result(reading: Reading) -> bool:
    """Find two arguments that are to become one result."""
    results = reading.aliased.values()
    return len(results) > len(set(results))


def _is_given_twice(reading: Reading) -> bool:
    """Find an argument that is to become a result and says whether it is a donor of its buffer."""
    _, known = reading.argument_attributes
    return any(_ALIAS in one and _DONOR in one for one in known.values())


def _elsewhere(reading: Reading) -> bool:
    """Find an argument or result in a memory that XLA:CPU does not have."""
    sides = (reading.argument_attributes, reading.result_attributes)
    each = (one for _, known in sides for one in known.values())
    return any(_MEMORY in one and one[_MEMORY] not in _MEMORIES for one in each)


def _laid_out(reading: Reading) -> bool | None:
    """Find a layout mode of an argument or result that is none; perhaps one of several parts."""
    if reading.main is None:
        return False
    perhaps = False
    sides = (reading.argument_attributes, reading.result_attributes)
    orders = functools.cache(_order)
    for (listed, known), edges in zip(sides, reading.sides_of_main, strict=True):
        # Any number of arguments may be of one type and have one dictionary.
        pairs = {pair for pair in zip(listed, edges, strict=False) if _MODE in known[pair[0]]}
        for one, type_ in pairs:
            fits, dimensions = orders(str(known[one][_MODE])), reading.dimensions(type_)
            if isinstance(fits, list):
                fits = dimensions is None or fits == sorted(map(str, range(len(dimensions))))
            if fits is False:
                return True
            perhaps |= fits is None
    return None if perhaps else False


def _order(mode: str) -> list[str] | bool | None:
    """Return the dimensions that a layout mode orders, sorted as text; else whether it is a mode.

    That is not known where it has several parts.
    """
    if not _LAYOUT.fullmatch(mode):
        return None if mode.startswith("{") else False
    if not mode.startswith("{"):
        return True
    return sorted(one.lstrip("0") or "0" for one in filter(None, mode[1:-1].split(",")))


def _keeps_an_einsum(reading: Reading) -> bool:
    """Find a unary_einsum in a function that main does not need."""
    function = _NO_FUNCTION
    for visit in reading.walk.of([_FUNCTION, _EINSUM]):
        if visit.name == _FUNCTION:
            function = visit.number
        elif function not in reading.functions.reached:
            return True
    return False


ENTRY: dict[str, FormRule] = {
    "no function named main": FormRule(lambda reading: reading.main is None),
    "function main that is private": FormRule(
        lambda reading: (
            reading.main is not None and _text(reading, reading.main, "sym_visibility") in _HIDDEN
        )
    ),
    "module inside of a module": FormRule(_has_several_modules),
    "argument or result that is a buffer, a future or a witness": _takes(
        "buffer", "future", "witness", elements=False
    ),
    "argument or result that is a tuple": _takes("tuple", elements=False),
    "name that two functions or modules of one module have": FormRule(
        lambda reading: reading.functions.has_twins
    ),
    "call of a function that its module does not have": FormRule(
        lambda reading: reading.functions.lacks_some, (ops(*CALLS),)
    ),
    "function that calls itself": FormRule(_calls_itself, (ops(*CALLS),)),
    "function that calls itself, and that main does not need": FormRule(
        _calls_itself_unused, (ops(*CALLS),)
    ),
    "unary_einsum in a function that main does not need": FormRule(
        _keeps_an_einsum, (ops(_EINSUM),)
    ),
    "argument or result that is not ranked": _takes("unranked_tensor", elements=False),
    "argument or result of tf32 or index": _takes("tf31", "index"),
    "argument or result of f6E2M3FN or f6E3M2FN": _takes("f6E2M3FN", "f6E3M2FN"),
    "argument or result of f4E2M1FN or f8E8M0FNU": _takes("f4E2M1FN", "f8E8M0FNU"),
    "argument or result of main of a type that TensorFlow has no arrays of": _main_takes(
        "i2", "ui2", *_RARE_FLOATS, "f8E8M0FNU"
    ),
    "argument or result of main of f8E4M3B11FNUZ, f8E4M3FNUZ or f8E5M2FNUZ": _main_takes(*_FNUZ),
    "argument or result of main of i4 or ui4": _main_takes("i4", "ui4"),
    "argument or result of main of several i4 or ui4": _main_takes("i4", "ui4", several=True),
    "argument or result of main of a type that IREE is given no arrays of": weaken(
        _main_takes(*_SMALL_INTEGERS, *_RARE_FLOATS, "f8E4M3B11FNUZ", "quant", "quant_per_axis")
    ),
    "argument or result of main of a type that torch_xla has no arrays of": _main_takes(
        *_SMALL_INTEGERS, *_RARE_FLOATS, *_FNUZ, "f8E8M0FNU"
    ),
    "argument or result of main of f8E4M3FN or f8E5M2": _main_takes("f8E4M3FN", "f8E5M2"),
    "argument of main of ui16, ui32 or ui64": _main_takes("ui16", "ui32", "ui64", results=False),
    "argument or result of main of complex<f64>": FormRule(
        _main_takes_complex, (types([_COMPLEX]), types([_DOUBLE]))
    ),
    "argument that an op takes, or result that it gives, of a float that IREE has no buffers of": (
        _crosses(*_RARE_FLOATS, "f8E4M3B11FNUZ")
    ),
    "argument that an op takes, or result that it gives, of i4 that do not fill bytes": _crosses(
        "i4", "ui4", bits=4
    ),
    "argument that an op takes, or result that it gives, of i2 that do not fill bytes": _crosses(
        "i2", "ui2", bits=2
    ),
    "argument that is a token": FormRule(_takes_a_token, (types(["token_v1"]),)),
    "aliased argument of another size than its result": FormRule(_aliases(operator.eq)),
    "aliased argument that is smaller than its result": FormRule(_aliases(operator.ge)),
    "aliased argument that is used for more than its result": FormRule(_is_overwritten),
    "argument returned beside an update of it": _returns_updated(computed=False),
    "what is computed, returned beside an update of it": weaken(_returns_updated(computed=True)),
    "two arguments aliased to one result": FormRule(_shares_its_result),
    "aliased argument with a buffer donor attribute": FormRule(_is_given_twice),
    "argument or result in a memory that XLA:CPU does not have": FormRule(_elsewhere),
    "argument or result with a layout mode that is none": FormRule(_laid_out),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
