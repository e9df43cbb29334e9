"""Artifacts that are small and try to take much time, memory or output to read.

Each generator takes one parameter, to which the size of what it returns is about proportional.
There is one for every table of the format that can be many, long, shared or wide; what is deep is
in `nesting`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat_tests.helpers.bytecode_writer import Artifact, entry, operation, region, varint
from portable.bytecode.vhlo import ops as op_forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["ARTIFACTS"]

_UNKNOWN = ("builtin", entry(15))
_MODULE = entry(0, 0)  # the properties of builtin.module: no name, no visibility
_F32 = ("vhlo", entry(4))
_I64 = ("vhlo", entry(14))
_STRING_0 = ("builtin", entry(2, 0))


def _tensor(*shape: int) -> tuple[str, bytes]:
    """Return the type tensor<...xT0> of dimensions that are not negative."""
    return "vhlo", entry(20, len(shape), *(size << 1 for size in shape), 0)


def _array(*elements: int) -> tuple[str, bytes]:
    return "vhlo", entry(1, len(elements), *elements)


def _dictionary(pairs: Iterable[tuple[int, int]]) -> tuple[str, bytes]:
    flat = [number for pair in pairs for number in pair]
    return "builtin", entry(1, len(flat) // 2, *flat)


def _blob(dialect: str, code: int, type_: int, data: bytes) -> tuple[str, bytes]:
    return dialect, entry(code, type_, len(data)) + data


def _artifact(
    operations: Sequence[bytes],
    *,
    values: int = 0,
    names: Sequence[str] = (),
    attributes: Sequence[tuple[str, bytes]] = (),
    types: Sequence[tuple[str, bytes]] = (),
    properties: Sequence[bytes] = (),
    strings: Sequence[str] = (),
    resources: Sequence[int] = (),
    on_module: int | None = None,
) -> bytes:
    """Return an artifact with operations inside of a module, whose properties are the first."""
    head = varint(1) + varint(values) + varint(len(operations) << 1)
    body = head + b"".join(operations)
    module = operation(0, attributes=on_module, properties=0, isolated=True, regions=[body])
    return bytes(
        Artifact(
            names=("builtin.module", *names),
            attributes=[_UNKNOWN, *attributes],
            types=types,
            properties=[_MODULE, *properties],
            operations=[module],
            strings=strings,
            resources=resources,
        )
    )


def strings_many(n: int) -> bytes:
    """Strings that nothing uses."""
    return _artifact([], strings=["a"] * n)


def string_long_shared(n: int) -> bytes:
    """One long string, which many attributes are."""
    attributes = [("vhlo", entry(14, 0))] * n
    used = _array(*range(1, n + 1))
    call = operation(1, attributes=n + 2)
    return _artifact(
        [call],
        names=("vhlo.return_v1",),
        strings=["a" * n],
        attributes=[*attributes, used, _dictionary([(1, n + 1)])],
    )


def dialect_long_names_many(n: int) -> bytes:
    """Many operations of a dialect with a long name, none of them registered."""
    names = [f"?{'d' * n}.o{at}" for at in range(n)]
    ops = [operation(1 + at) for at in range(n)]
    return _artifact(ops, names=names)


def dialect_long_attributes_many(n: int) -> bytes:
    """Many attributes of a dialect with a long name, all in use."""
    foreign = ("d" * n, entry(3))
    attributes = [*[foreign] * n, _array(*range(1, n + 1)), _STRING_0]
    op = operation(1, attributes=n + 3)
    return _artifact(
        [op],
        names=("vhlo.return_v1",),
        strings=["a"],
        attributes=[*attributes, _dictionary([(n + 2, n + 1)])],
    )


def dialect_long_types_many(n: int) -> bytes:
    """Many types of a dialect with a long name."""
    return _artifact([], types=[("d" * n, entry(3))] * n)


def dialects_many(n: int) -> bytes:
    """Many dialects, with an operation of each."""
    ops = [operation(1 + at) for at in range(n)]
    return _artifact(ops, names=[f"d{at}.o" for at in range(n)])


def names_many(n: int) -> bytes:
    """Many operations that no table knows."""
    ops = [operation(1 + at) for at in range(n)]
    return _artifact(ops, names=[f"vhlo.o{at}" for at in range(n)])


def names_same(n: int) -> bytes:
    """One name many times over, with an operation of each."""
    ops = [operation(1 + at) for at in range(n)]
    return _artifact(ops, names=["vhlo.return_v1"] * n)


def operations_plain(n: int) -> bytes:
    """The smallest operations that there are."""
    return _artifact([operation(1)] * n, names=("vhlo.return_v1",))


def operations_with_results(n: int) -> bytes:
    """Operations that a pattern reads."""
    op = operation(1, results=[1])
    return _artifact(
        [op] * n, values=n, names=("vhlo.create_token_v1",), types=[_F32, ("vhlo", entry(22))]
    )


def operations_different(n: int) -> bytes:
    """Operations no two of which have the same form."""
    types = [_F32, *[_tensor(at) for at in range(n)]]
    ops = [operation(1, results=[1 + at]) for at in range(n)]
    return _artifact(ops, values=n, names=("vhlo.iota_v1",), types=types)


def operations_of_all_forms(n: int) -> bytes:
    """One operation of each sort and type, so that all forms are looked for among many others."""
    # bool, bf16, f16, f32, f64, i4, i8, i32, i64, ui8, ui32, i2, and complex of f32.
    codes = ((0,), (2,), (3,), (4,), (5,), (10,), (11,), (13,), (14,), (16,), (18,), (31,), (1, 3))
    scalars = [("vhlo", entry(*code)) for code in codes]
    types = [*scalars, *[("vhlo", entry(20, 1, 8, at)) for at in range(len(scalars))]]
    names = [name for name in op_forms() if name not in {"func_v1", "return_v1", "constant_v1"}]
    data = [_blob("vhlo", 15, len(scalars) + at, bytes(8)) for at in range(len(scalars))]
    made = [operation(1, properties=1 + at, results=[len(scalars) + at]) for at in range(len(data))]
    for at in range(len(names) * len(data)):
        of, kind = at % len(data), at % len(names)
        made.append(operation(2 + kind, operands=[of] * 3, results=[len(scalars) + of]))
    add = operation(2 + names.index("add_v1"), operands=[3, 3], results=[len(scalars) + 3])
    made += [add] * n
    return _artifact(
        made,
        values=len(made),
        names=("vhlo.constant_v1", *(f"vhlo.{name}" for name in names)),
        types=types,
        attributes=data,
        properties=[entry(1 + at) for at in range(len(data))],
    )


def results_wide(n: int) -> bytes:
    """One operation with many results, and one that uses them."""
    ops = [operation(1, results=[0] * n), operation(2, operands=range(n))]
    return _artifact(ops, values=n, names=("vhlo.scatter_v2", "vhlo.scatter_v2"), types=[_F32])


def dictionary_wide(n: int) -> bytes:
    """One dictionary with many keys."""
    return _dictionary_of(n, 1)


def dictionary_wide_shared(n: int) -> bytes:
    """Many operations of different forms that share a dictionary with many keys."""
    return _dictionary_of(n, n)


def _dictionary_of(keys: int, uses: int) -> bytes:
    attributes = [("builtin", entry(2, at)) for at in range(keys)]
    attributes.append(_dictionary((at, at) for at in range(1, keys + 1)))
    types = [_F32, *[_tensor(at) for at in range(uses)]]
    ops = [operation(1, attributes=keys + 1, results=[1 + at]) for at in range(uses)]
    return _artifact(
        ops,
        values=uses,
        names=("vhlo.tanh_v2",),
        types=types,
        strings=[f"k{at}" for at in range(keys)],
        attributes=attributes,
    )


def dictionary_shared_properties_many(n: int) -> bytes:
    """Operations with properties of their own that share a dictionary with many keys."""
    attributes = [("builtin", entry(2, at)) for at in range(n)]
    attributes.append(_dictionary((at, at) for at in range(1, n + 1)))
    ops = [operation(1, attributes=n + 1, properties=1 + at) for at in range(n)]
    return _artifact(
        ops,
        names=("vhlo.tanh_v2",),
        strings=[f"k{at}" for at in range(n)],
        attributes=attributes,
        properties=[entry(1 + at) for at in range(n)],
    )


def integer_wide(n: int) -> bytes:
    """An integer of many words, of a type that has no more than two."""
    value = "builtin", entry(8, 0, n) + varint(3) * n
    return _on_module(value, types=[("builtin", entry(0, 128 << 2))])


def integer_wide_and_known(n: int) -> bytes:
    """An integer that is as wide as its type says."""
    value = "builtin", entry(8, 0, n) + varint(3) * n
    return _on_module(value, types=[("builtin", entry(0, (64 * n) << 2))])


def integer_wide_shared(n: int) -> bytes:
    """A wide integer that many attributes hold."""
    wide = "builtin", entry(8, 0, n) + varint(3) * n
    return _on_module(
        *[wide, *[_array(1)] * n, _array(*range(2, n + 2))],
        types=[("builtin", entry(0, (64 * n) << 2))],
    )


def _on_module(*attributes: tuple[str, bytes], types: Sequence[tuple[str, bytes]] = ()) -> bytes:
    """Return an empty module, the last of some attributes as its attribute."""
    last = len(attributes)
    return _artifact(
        [],
        strings=["m.x"],
        attributes=[*attributes, _STRING_0, _dictionary([(last + 1, last)])],
        on_module=last + 2,
        types=types,
    )


def array_wide_shared(n: int) -> bytes:
    """A wide array that many arrays hold, each of them used."""
    wide = _array(*[1] * n)
    leaf = "vhlo", entry(2, 1)
    return _on_module(leaf, wide, *[_array(2)] * n, _array(*range(3, n + 3)))


def arrays_dense(n: int) -> bytes:
    """Arrays each of which holds all before it, as many as fit."""
    count = int((2 * n) ** 0.5)
    leaf = "vhlo", entry(2, 1)
    return _on_module(leaf, *[_array(*range(1, at + 2)) for at in range(count)])


def types_dense(n: int) -> bytes:
    """Tuples each of which holds all before it, as many as fit."""
    count = int((2 * n) ** 0.5)
    types = [_F32, *[("vhlo", entry(23, at + 1, *range(at + 1))) for at in range(count)]]
    return _on_module(("vhlo", entry(17, count)), types=types)


def function_wide_shared(n: int) -> bytes:
    """Many functions of one type with many arguments."""
    types = [("vhlo", entry(10)), _tensor(1), ("vhlo", entry(8, n, *[1] * n, 0))]
    attributes = [("vhlo", entry(14, 0)), ("vhlo", entry(17, 2)), _array()]
    # In the order of their names: arg_attrs, function_type, res_attrs, sym_name, sym_visibility.
    ops = [operation(1, properties=1 + at) for at in range(n)]
    attributes += [("vhlo", entry(14, 1 + at)) for at in range(n)]
    properties = [entry(3, 2, 3, 4 + at, 1) for at in range(n)]
    return _artifact(
        ops,
        names=("vhlo.func_v1",),
        types=types,
        strings=["", *[f"f{at}" for at in range(n)]],
        attributes=attributes,
        properties=properties,
    )


def _functions(n: int, types: Sequence[tuple[str, bytes]], of: int) -> bytes:
    """Return functions, each with an attribute of its own that holds one type, and an rng."""
    attributes = [("vhlo", entry(14, 0)), _array(), *[("vhlo", entry(17, of))] * n]
    properties = [entry(2, 3 + at, 2, 1, 1) for at in range(n)]
    ops = [operation(2, results=[0]), operation(3, results=[0], operands=[0, 0, 0])]
    ops += [operation(1, properties=1 + at) for at in range(n)]
    return _artifact(
        ops,
        values=2,
        names=("vhlo.func_v1", "vhlo.iota_v1", "vhlo.rng_v1"),
        types=types,
        strings=[""],
        attributes=attributes,
        properties=properties,
    )


def function_types_wide_shared(n: int) -> bytes:
    """Many attributes that are one type of functions with many arguments, beside four bits."""
    types = [_F32, ("vhlo", entry(8, n, *[0] * n, 0)), ("vhlo", entry(10))]
    return _functions(n, types, 1)


def function_types_wide_shared_computing(n: int) -> bytes:
    """The same with the arguments behind, and none of four bits."""
    return _functions(n, [_F32, _I64, ("vhlo", entry(8, 0, n, *[1] * n))], 2)


def function_types_wide_shared_refused(n: int) -> bytes:
    """The same with arguments of types that compilers refuse."""
    refused = [("vhlo", entry(code)) for code in (9, 10, 22, 34, 38)]
    return _functions(n, [_F32, *refused, ("vhlo", entry(8, n, *[0] * n, 0))], len(refused) + 1)


def argument_attributes_wide_shared(n: int) -> bytes:
    """Many arguments of main that share one dictionary with many keys, all of them the same."""
    text, function = [("vhlo", entry(14, at)) for at in range(3)], ("vhlo", entry(17, 1))
    pairs = [number for _ in range(n) for number in (3, 1)]
    attributes = [*text, function, ("vhlo", entry(6, n, *pairs)), _array(*[5] * n), _array()]
    return _artifact(
        [operation(1, properties=1)],
        names=("vhlo.func_v1",),
        types=[_F32, ("vhlo", entry(8, n, *[0] * n, 0))],
        strings=["", "main", "tf.aliasing_output"],
        attributes=attributes,
        properties=[entry(6, 4, 7, 2, 1)],
    )


def _calling(bodies: Sequence[Sequence[bytes]], counts: Sequence[int]) -> bytes:
    """Return functions that take and return one tensor, the first of them main.

    Args:
        bodies: What each does, by `_called`, `_tan` and `_returned`.
        counts: How many values each has.
    """
    names = ("func", "return", "call", "tan", "concatenate")
    attributes = [
        ("vhlo", entry(14, 0)),
        ("vhlo", entry(17, 2)),
        _array(),
        ("vhlo", entry(9, 0, 0)),
    ]
    attributes += [("vhlo", entry(14, 1 + at)) for at in range(len(bodies))]
    # In the order of their names: arg_attrs, function_type, res_attrs, sym_name, sym_visibility.
    properties = [entry(3, 2, 3, 5 + at, 1) for at in range(len(bodies))]
    properties += [entry(5 + at) for at in range(len(bodies))] + [entry(4)]
    ops = [
        operation(1, properties=1 + at, isolated=True, regions=[region(body, count, [1])])
        for at, (body, count) in enumerate(zip(bodies, counts, strict=True))
    ]
    return _artifact(
        ops,
        names=[f"vhlo.{name}_v1" for name in names],
        types=[_F32, _tensor(1), ("vhlo", entry(8, 1, 1, 1, 1)), ("vhlo", entry(10))],
        strings=["", "main", *[f"f{at}" for at in range(1, len(bodies))]],
        attributes=attributes,
        properties=properties,
    )


def _returned(of: int) -> bytes:
    return operation(2, operands=[of])


def _called(function: int, functions: int, of: int) -> bytes:
    return operation(3, properties=1 + functions + function, operands=[of], results=[1])


def _tan(of: int) -> bytes:
    return operation(4, operands=[of], results=[1])


def function_called_often(n: int) -> bytes:
    """A function of many operations that is called as often."""
    main = [*[_called(1, 2, at) for at in range(n)], _returned(n)]
    return _calling([main, [*map(_tan, range(n)), _returned(n)]], [n + 1, n + 1])


def functions_doubled(n: int) -> bytes:
    """Functions of which each calls the next one twice."""
    each = [[_called(1 + at, n + 1, 0), _called(1 + at, n + 1, 1), _returned(2)] for at in range(n)]
    return _calling([*each, [_tan(0), _returned(1)]], [*[3] * n, 2])


def functions_in_a_chain(n: int) -> bytes:
    """Functions of which each calls the next one."""
    each = [[_called(1 + at, n + 1, 0), _returned(1)] for at in range(n)]
    return _calling([*each, [_tan(0), _returned(1)]], [2] * (n + 1))


def function_wide_called_often(n: int) -> bytes:
    """A function of one operation with many operands that is called as often."""
    main = [*[_called(1, 2, at) for at in range(n)], _returned(n)]
    wide = operation(5, properties=5, operands=[0] * n, results=[1])
    return _calling([main, [wide, _returned(1)]], [n + 1, 2])


def layout_modes_long(n: int) -> bytes:
    """Many arguments of main, each of its own type, that share one long layout mode."""
    text = [("vhlo", entry(14, at)) for at in range(4)]
    types = [_F32, *[_tensor(at) for at in range(n)]]
    function = ("vhlo", entry(8, n, *range(1, n + 1), 0))
    attributes = [*text, ("vhlo", entry(17, n + 1)), ("vhlo", entry(6, 1, 3, 4))]
    return _artifact(
        [operation(1, properties=1)],
        names=("vhlo.func_v1",),
        types=[*types, function],
        attributes=[*attributes, _array(*[6] * n), _array()],
        strings=["", "main", "mhlo.layout_mode", "{0" + ",0" * n + ";}"],
        properties=[entry(7, 5, 8, 2, 1)],
    )


def elements_nested(n: int) -> bytes:
    """Many tensors of one type in which many others nest."""
    tuples = [("vhlo", entry(23, 6, *[at] * 6)) for at in range(8)]
    tensors = [("vhlo", entry(20, 1, at << 1, len(tuples))) for at in range(n)]
    ops = [operation(1, results=[1 + len(tuples) + at]) for at in range(n)]
    types = [_F32, *tuples, *tensors]
    return _artifact(ops, values=n, names=("vhlo.iota_v1",), types=types)


def initial_values_wide(n: int) -> bytes:
    """Many reductions of single elements that begin with one wide constant."""
    types = [_I64, _tensor(n), _tensor(1), *[_tensor(1, 1 + at) for at in range(n)]]
    attributes = [_blob("vhlo", 15, 1, bytes(8 * n)), _blob("vhlo", 15, 2, bytes(8))]
    total = n + 1
    inside = [
        operation(3, operands=[total, total + 1], results=[2]),
        operation(4, operands=[total]),
    ]
    body = region(inside, 3, [2, 2])
    ops = [operation(1, properties=1, results=[2])]
    ops += [
        operation(2, properties=2, operands=[0, 0], results=[3 + at], regions=[body])
        for at in range(n)
    ]
    return _artifact(
        ops,
        values=total,
        names=("vhlo.constant_v1", "vhlo.reduce_v1", "vhlo.add_v1", "vhlo.return_v1"),
        types=types,
        attributes=attributes,
        properties=[entry(1), entry(2)],
    )


def meshes_wide_shared(n: int) -> bytes:
    """Many meshes of the same many axes."""
    axis, axes = ("vhlo", entry(24, 1, 4)), _array(*[2] * n)
    meshes = [("vhlo", entry(25, 3, 0))] * n
    return _on_module(("vhlo", entry(14, 0)), axis, axes, *meshes, _array(*range(4, n + 4)))


def mesh_named_dictionary_shared(n: int) -> bytes:
    """Operations that share a dictionary with many keys, beside groups that name a mesh."""
    strings = [f"k{at}" for at in range(n)]
    attributes = [("builtin", entry(2, at)) for at in range(n)]
    attributes += [_dictionary((at, at) for at in range(1, n + 1))]
    attributes += [("vhlo", entry(14, 0)), ("vhlo", entry(23, n + 2, n + 4)), _array()]
    ops = [operation(1, attributes=n + 1, properties=1) for _ in range(n)]
    return _artifact(
        ops,
        names=("vhlo.tanh_v2",),
        strings=strings,
        attributes=attributes,
        properties=[entry(n + 3)],
    )


def tensor_wide_shared(n: int) -> bytes:
    """Many operations on a tensor of many dimensions, whose product is large."""
    types = [_I64, _tensor(*[1 << 40] * n)]
    data = _blob("vhlo", 15, 1, b"\xff")
    ops = [operation(1, properties=1 + at, results=[1]) for at in range(n)]
    return _artifact(
        ops,
        values=n,
        names=("vhlo.constant_v1",),
        types=types,
        attributes=[data] * n,
        properties=[entry(1 + at) for at in range(n)],
    )


def blob_shared(n: int) -> bytes:
    """Many pads by one long list of amounts."""
    data = _blob("vhlo", 15, 1, bytes(8 * n))
    types = [_I64, _tensor(n), *[_tensor(at) for at in range(n)]]
    ops = [operation(1, properties=1, results=[2 + at]) for at in range(n)]
    return _artifact(
        ops,
        values=n,
        names=("vhlo.pad_v1",),
        types=types,
        attributes=[data],
        properties=[entry(1, 1, 1)],
    )


def properties_many(n: int) -> bytes:
    """Custom calls, each with properties of its own, of one long target."""
    none = ("vhlo", entry(14, 1))
    attributes = [("vhlo", entry(14, 0)), none, ("vhlo", entry(2, 0)), _array()]
    attributes.append(("vhlo", entry(5, 1)))
    # api_version backend_config called_computations call_target_name has_side_effect
    # operand_layouts output_operand_aliases result_layouts, in the order of their names.
    fields = entry(5, 2, 1, 4, 3, 4, 4, 4)
    ops = [operation(1, properties=1 + at) for at in range(n)]
    return _artifact(
        ops,
        names=("vhlo.custom_call_v1",),
        strings=["t" * n, ""],
        attributes=attributes,
        properties=[fields] * n,
    )


def kernel_names_long(n: int) -> bytes:
    """Calls, each with properties of its own, of one kernel of LAPACK with a long name."""
    attributes = [("vhlo", entry(14, at)) for at in range(2)]
    attributes += [("vhlo", entry(2, 0)), _array(), ("vhlo", entry(5, 1))]
    ops = [operation(1, properties=1 + at, results=[1]) for at in range(n)]
    return _artifact(
        ops,
        values=n,
        names=("vhlo.custom_call_v1",),
        types=[_F32, _tensor(1)],
        strings=[f"lapack_s{'t' * n}_ffi", ""],
        attributes=attributes,
        properties=[entry(5, 2, 1, 4, 3, 4, 4, 4)] * n,
    )


def discardable_many(n: int) -> bytes:
    """Operations, each with a dictionary of its own, of one long key."""
    attributes = [("builtin", entry(2, 0)), *[_dictionary([(1, 1)])] * n]
    ops = [operation(1, attributes=2 + at) for at in range(n)]
    return _artifact(ops, names=("vhlo.return_v1",), strings=["k" * n], attributes=attributes)


def locations_many(n: int) -> bytes:
    """Locations in one file with a long name."""
    places = [("builtin", entry(11, 1, at, at)) for at in range(n)]
    return _artifact([], strings=["/" + "f" * n], attributes=[("builtin", entry(2, 0)), *places])


def location_files_many(n: int, length: int = 0) -> bytes:
    """Locations in many files, with names of at least so many characters."""
    files = [("builtin", entry(2, at)) for at in range(n)]
    places = [("builtin", entry(11, 1 + at, 1, 1)) for at in range(n)]
    names = [f"/{at}".ljust(length, "f") for at in range(n)]
    return _artifact([], strings=names, attributes=[*files, *places])


def locations_fused(n: int) -> bytes:
    """Fused locations each of which is made of all before it, as many as fit."""
    count = int((2 * n) ** 0.5)
    fused = [("builtin", entry(12, at + 1, *range(at + 1))) for at in range(count)]
    op = varint(1) + b"\0" + varint(count)
    return _artifact([op], names=("vhlo.tan_v1",), attributes=fused)


def locations_long_on_features(n: int) -> bytes:
    """A long file name in the location of each of many Features."""
    names = ["vhlo.tan_v1", "vhlo.tanh_v2", "vhlo.composite_v1", "vhlo.gather_v2", "vhlo.d"]
    attributes = [("builtin", entry(2, 0)), ("builtin", entry(11, 1, 1, 1))]
    ops = [varint(1 + at) + b"\0" + varint(2) for at in range(len(names))]
    return _artifact(ops, names=names, strings=["f" * n], attributes=attributes)


def regions_many(n: int) -> bytes:
    """An operation with many empty regions."""
    return _artifact([operation(1, regions=[varint(0)] * n)], names=("vhlo.case_v1",))


def blocks_many(n: int) -> bytes:
    """A region with many empty blocks."""
    body = varint(n) + varint(0) + varint(0) * n
    return _artifact([operation(1, regions=[body])], names=("vhlo.while_v1",))


def arguments_many(n: int) -> bytes:
    """A block with many arguments."""
    body = region([], values=n, arguments=[0] * n)
    return _artifact([operation(1, regions=[body])], names=("vhlo.while_v1",), types=[_F32])


def use_lists_many(n: int) -> bytes:
    """Operations with the orders in which their results are used."""
    orders = varint(2 << 1) + varint(1) + varint(0)
    op = varint(1) + bytes([2 | 32]) + varint(0) + varint(1) + varint(0) + orders
    return _artifact([op] * n, values=n, names=("vhlo.iota_v1",), types=[_F32])


def use_list_long(n: int) -> bytes:
    """An operation with a long order in which its result is used."""
    orders = varint(n << 1) + varint(0) * n
    op = varint(1) + bytes([2 | 32]) + varint(0) + varint(1) + varint(0) + orders
    return _artifact([op], values=1, names=("vhlo.iota_v1",), types=[_F32])


def successors_many(n: int) -> bytes:
    """An operation with many successors."""
    op = varint(1) + bytes([8]) + varint(0) + varint(n) + varint(0) * n
    return _artifact([op], names=("vhlo.return_v1",))


def resources_many(n: int) -> bytes:
    """Empty resources of one name."""
    return _artifact([], strings=["r" * n] * 1 + ["x"] * (n - 1), resources=[0] * n)


def numbers_long(n: int) -> bytes:
    """Tables whose numbers all take nine bytes: nothing reads them in one step."""
    wide = b"\0" + (1).to_bytes(8, "little")
    array = "vhlo", entry(1, n) + wide * n
    return _on_module(("vhlo", entry(2, 1)), array)


def texts_many(n: int) -> bytes:
    """Attributes that are written as text, one of them long."""
    return _on_module(
        ("vhlo", entry(2, 1)), *[("builtin", entry(99))] * n, _array(*range(2, n + 2))
    )


COUNTED: dict[str, tuple[Callable[[int], bytes], int]] = {
    made.__name__: (made, most)
    for made, most in (
        (dialects_many, 999),
        (dialect_long_names_many, 4095),
        (names_many, 4095),
        (names_same, 4095),
    )
}
"""Classes of which so many are read, beside the name and the dialect of the module, and no more."""

ARTIFACTS: dict[str, Callable[[int], bytes]] = {
    made.__name__: made
    for made in (
        strings_many, string_long_shared, dialect_long_attributes_many,
        dialect_long_types_many, operations_plain,
        operations_with_results, operations_different, operations_of_all_forms, results_wide,
        dictionary_wide,
        dictionary_wide_shared, dictionary_shared_properties_many, integer_wide,
        integer_wide_and_known, integer_wide_shared, array_wide_shared, arrays_dense, types_dense,
        function_wide_shared, function_types_wide_shared, function_types_wide_shared_computing,
        function_types_wide_shared_refused, argument_attributes_wide_shared,
        meshes_wide_shared, mesh_named_dictionary_shared, tensor_wide_shared, blob_shared,
        layout_modes_long, elements_nested, initial_values_wide,
        function_called_often, functions_doubled, functions_in_a_chain, function_wide_called_often,
        properties_many, kernel_names_long, discardable_many,
        locations_many, location_files_many, locations_fused, locations_long_on_features,
        regions_many, blocks_many, arguments_many, use_lists_many, use_list_long, successors_many,
        resources_many, numbers_long, texts_many,
    )
}  # fmt: skip
"""Every class of artifact by its name, each made from one parameter."""
