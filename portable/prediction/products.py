"""Products by an algorithm, which XLA:CPU has only for some shapes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from portable.bytecode.entries import Blob
from portable.bytecode.operations import IN_FUNCTION, like
from portable.prediction.form import CONVOLUTIONS, SIXTEEN_BITS, FormRule, kinds, ops, types, weaken
from portable.prediction.tensors import DYNAMIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from portable.bytecode.operations import Head, OpSignature
    from portable.prediction.forms import Reading

__all__ = [
    "CONTRACTING",
    "DOT",
    "DOTS",
    "IN_NO_LOOP",
    "PRODUCTS",
    "is_splat",
    "left_and_contracted",
    "prescribes_algorithm",
]

DOT = "vhlo.dot_general_v2"
DOTS = ("vhlo.dot_general_v1", DOT)
"""The ops whose operand types these forms depend on."""

_SIDES = ("lhs", "rhs")
_BOOLEAN, _EINSUM, _RETURN = "bool_v1", "vhlo.einsum_v1", "vhlo.return_v1"
CONTRACTING = (*DOTS, "vhlo.dot_v1", _EINSUM)
"""Those that multiply two tensors and add up."""
_PRODUCTS = (*CONTRACTING, *CONVOLUTIONS)
_F32 = "f32_v1"
_TF32 = "tf31_v1"  # as VHLO spells it
_MULTIPLIED = frozenset({"f8E4M3FN_v1", "f8E5M2_v1"})
_CONVOLVED = _MULTIPLIED | SIXTEEN_BITS | {_F32, "f64_v1"}
# Of these, so many stand in a word.
_I8, _WORD = "i8_v1", 4
_CONSTANT, _TRANSPOSE = "vhlo.constant", "vhlo.transpose"
# An algorithm of this alone is what a product without one has; that of f64 is not, even of f64.
_EXACT = frozenset({"f32_v1"})
# The only one of the others that XLA:CPU has in a loop, from some Release on.
_ONE_PRODUCT = "bf16_bf16_f32"
_OTHER = "another"
_INEXACT = frozenset({_ONE_PRODUCT, _OTHER})
# A vector of so many f32 is no longer multiplied in one loop with what computes the matrix.
_LONGEST_VECTOR = 4096


# What XLA:CPU computes in one loop with a product, wherever else it is used, and what in none.
_IN_THE_LOOP = kinds(
    "abs add and batch_norm_inference batch_norm_training broadcast broadcast_in_dim clamp"
    " concatenate convert dynamic_slice gather imag iota maximum minimum multiply negate pad real"
    " reduce reshape reverse select slice subtract transpose"
)
IN_NO_LOOP = kinds(
    "case convolution custom_call dot dot_general fft if infeed recv rng_bit_generator sort while"
)
"""The ops, without versions, that XLA:CPU computes in no loop with others."""
# What slides a window, and what IREE keeps apart from a product of what is computed from that.
_SLIDING = ("vhlo.reduce_window_v1", *CONVOLUTIONS)
_BETWEEN = kinds(
    "broadcast broadcast_in_dim concatenate convolution dot dot_general optimization_barrier pad"
    " reduce reduce_window reverse slice sort"
)
# What returns its operand in another order.
_TURNING = kinds("cholesky triangular_solve")


def _multiplies_by_one_number(algorithm: str) -> Callable[[Reading], bool | None]:
    """Find a dot_general by an algorithm with two of its three sizes being 1.

    These are those of the contraction, and of what is left of each operand. Perhaps it is computed
    otherwise, in batches and of two vectors: that depends on types, and on what computes them.
    """

    def found(reading: Reading) -> bool | None:
        perhaps = False
        for product, sizes in _sizes_of_products(reading, frozenset({algorithm})):
            if sizes.count(1) < 2 or 0 in sizes:
                continue
            operand = reading.dimensions((product.operand_types or (None,))[0]) or ()
            vectors = len(operand) == 1 < sizes[0] and not reading.dimensions(
                reading.result(product)
            )
            if not vectors and not reading.numbers(product, "lhs_batching_dimensions"):
                return True
            perhaps = True
        return None if perhaps else False

    return found


def _contracts_one_element(reading: Reading) -> bool:
    """Find a dot_general by an algorithm that multiplies without a sum."""
    found = _sizes_of_products(reading, _INEXACT)
    return any(sizes[0] == 1 and 0 not in sizes for _, sizes in found)


def _algorithm(reading: Reading, one: Head | OpSignature) -> str:
    """Return which kind of algorithm a product names, none where it is that of any product."""
    types = {*_precisions(reading, one)} - {"none_v1"}
    if types <= _EXACT:
        return ""
    index = reading.attribute(one, "num_primitive_operations")
    count = None if index is None else reading.content.pool.attribute(index).fields.get("value")
    return _ONE_PRODUCT if types == {"bf16_v1", "f32_v1"} and count == 1 else _OTHER


def _precisions(reading: Reading, one: Head | OpSignature) -> list[str]:
    """Return the types of an algorithm: of the operands, and of the accumulation."""
    return [
        reading.content.pool.type(index).name
        for part in ("lhs_precision_type", "rhs_precision_type", "accumulation_type")
        if isinstance(index := reading.value(one, part).get("value"), int)
    ]


def _sizes_of_products(
    reading: Reading, algorithms: frozenset[str]
) -> Iterator[tuple[OpSignature, list[int]]]:
    """Yield each product by some algorithms, and over how many elements it is contracted.

    And how many are left of each operand.
    """
    for signature in reading.of(DOT):
        sizes = [reading.dimensions(type_) for type_ in signature.operand_types or ()][:2]
        if _algorithm(reading, signature) not in algorithms or len(sizes) < 2:
            continue
        parts = [
            left_and_contracted(reading, signature, side, dimensions)
            for side, dimensions in zip(("lhs", "rhs"), sizes, strict=True)
            if dimensions is not None
        ]
        if len(parts) == 2:
            yield signature, [parts[1][1], *(free for free, _ in parts)]


def left_and_contracted(
    reading: Reading, product: Head | OpSignature, side: str, dimensions: Sequence[int]
) -> tuple[int, int]:
    """Return how many elements are left of an operand, and over how many it is contracted.

    Args:
        reading: An artifact's ops.
        product: The dot_general.
        side: Which operand, `lhs` or `rhs`.
        dimensions: Its sizes.
    """
    contracting, batching = (
        reading.numbers(product, f"{side}_{kind}_dimensions")
        for kind in ("contracting", "batching")
    )
    inside = {*contracting, *batching}
    # Lists, since each element of a generator costs a call.
    free = math.prod([n for at, n in enumerate(dimensions) if at not in inside])
    return free, math.prod([dimensions[at] for at in contracting if at < len(dimensions)])


def _multiplies_a_vector_of_booleans(reading: Reading) -> bool | None:
    """Find a product of one vector and a matrix of booleans, in no batches; perhaps an einsum."""
    perhaps = False
    for one in reading.of(*CONTRACTING):
        if reading.element(reading.result(one)) != _BOOLEAN or like(one) not in reading.used:
            continue
        taken = (*(one.operand_types or ()), None, None)[: len(_SIDES)]
        left, right = (reading.dimensions(type_) or (DYNAMIC,) for type_ in taken)
        sizes = _free_and_contracted(reading, one, left, right)
        if sizes is None:
            perhaps = True
        elif sizes[0] == 1 and min(sizes[1:]) > 1:
            return True
    return None if perhaps else False


def _free_and_contracted(
    reading: Reading, one: OpSignature, left: Sequence[int], right: Sequence[int]
) -> tuple[int, int, int] | None:
    """Return how many elements are left of both operands, and how many are summed.

    What is in batches counts as left of both. None of an einsum, and of sizes that are not known.
    """
    if DYNAMIC in {*left, *right} or reading.names[one.name] == _EINSUM:
        return None
    if reading.names[one.name] in DOTS:
        summed = left_and_contracted(reading, one, "lhs", left)[1]
    else:
        summed = left[-1]
    return math.prod(left) // (summed or 1), math.prod(right) // (summed or 1), summed


def _contracts_nothing(reading: Reading) -> bool:
    """Find a product over a dimension without elements, with a result that has some."""
    return any(
        0 in (reading.dimensions((signature.operand_types or (None,))[0]) or ())
        and 0 not in (reading.dimensions(reading.result(signature)) or ())
        for signature in reading.of(*CONTRACTING)
    )


def _computed_matrices(
    reading: Reading, algorithms: frozenset[str]
) -> Iterator[tuple[str, Head | None, bool]]:
    """Yield what computes the matrix of each product by an algorithm of a vector and a matrix.

    Args:
        reading: An artifact's ops.
        algorithms: Which kinds of algorithms.

    Yields:
        The op without its version, the op, and whether it is computed from what is turned; of an
        argument that may be computed elsewhere, nothing.
    """
    if all(_algorithm(reading, one) not in algorithms for one in reading.of(DOT)):
        return
    functions = sum(reading.signatures[one] for one in reading.of("vhlo.func_v1"))
    turned: set[int] = set()
    products = _Products(reading)
    for visit in reading.walk.of(_IN_THE_LOOP | {_TRANSPOSE, DOT}):
        operation, sources = visit.operation, visit.sources
        kind = reading.kinds[operation.name]
        before = [source[0] for source in sources if source]
        if kind == _TRANSPOSE or (kind in _IN_THE_LOOP and not turned.isdisjoint(before)):
            turned.add(visit.number)
        if visit.name != DOT or products.algorithm(operation) not in algorithms:
            continue
        for side, source in zip(("lhs", "rhs"), sources, strict=False):
            if source is None:
                if functions > 1 or operation.depth > IN_FUNCTION:
                    yield "", None, False
                continue
            made = reading.walk.head(source[0])
            if products.meets_a_vector(operation, side, made.results[source[1]]):
                yield reading.kinds[made.name], made, source[0] in turned


class _Products:
    """What is known of products: any number may share properties, and meet the same types."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._known: dict[tuple[object, ...], bool] = {}
        self._algorithms: dict[tuple[int, int], str] = {}

    def algorithm(self, product: Head) -> str:
        """Return what `_algorithm` does."""
        key = product.properties, product.attributes
        if key not in self._algorithms:
            self._algorithms[key] = _algorithm(self._reading, product)
        return self._algorithms[key]

    def meets_a_vector(self, product: Head, side: str, matrix: int) -> bool:
        """Say what `_meets_a_vector` does."""
        key = product.properties, product.attributes, product.results, side, matrix
        if key not in self._known:
            self._known[key] = _meets_a_vector(self._reading, product, side, matrix)
        return self._known[key]


def _meets_a_vector(reading: Reading, product: Head, side: str, matrix: int) -> bool:
    """Say whether the other operand of a product is a vector, and not too long."""
    dimensions, whole = reading.dimensions(matrix), reading.dimensions(reading.result(product))
    if dimensions is None or whole is None:
        return False
    free, contracted = left_and_contracted(reading, product, side, dimensions)
    return math.prod(whole) == free and contracted < _LONGEST_VECTOR


def _multiplies_a_computed_matrix(reading: Reading) -> bool | None:
    """Find a dot_general by an algorithm of a vector and a matrix that is computed in its loop.

    Perhaps it is where another op computes it: whether that is in the loop depends on where else it
    is used.
    """
    perhaps = False
    for kind, made, _ in _computed_matrices(reading, _INEXACT):
        if kind in _IN_THE_LOOP or (made and kind == _CONSTANT and is_splat(reading, made)):
            return True
        perhaps |= kind not in IN_NO_LOOP | {_CONSTANT}
    return None if perhaps else False


def is_splat(reading: Reading, constant: Head) -> bool:
    """Say whether a constant, of f32 or less, is one value throughout."""
    data = reading.value(constant, "value").get("data")
    return isinstance(data, Blob) and data.size <= 4


def _multiplies_a_turned_matrix(algorithm: str) -> Callable[[Reading], bool | None]:
    """Find a dot_general by an algorithm of a vector and a matrix that was transposed.

    Perhaps it is where something is computed from what was transposed.
    """

    def found(reading: Reading) -> bool | None:
        perhaps = False
        for kind, _, turned in _computed_matrices(reading, frozenset({algorithm})):
            if kind == _TRANSPOSE:
                return True
            perhaps |= turned or not kind or kind in _TURNING
        return None if perhaps else False

    return found


def prescribes_algorithm(reading: Reading, product: OpSignature) -> bool:
    """Say whether a dot_general names an algorithm."""
    index = reading.value(product, "lhs_precision_type").get("value")
    return isinstance(index, int) and reading.content.pool.type(index).name != "none_v1"


def _in_batches(reading: Reading) -> bool:
    """Find a dot_general by an algorithm that has batching dimensions."""
    return any(
        prescribes_algorithm(reading, one) and bool(reading.numbers(one, "lhs_batching_dimensions"))
        for one in reading.of(DOT)
    )


def _asks_cublas_for_too_much(reading: Reading) -> bool:
    """Find a dot_general by an algorithm that cuBLAS does not have.

    One that accumulates in 16 bits, of f8 other than two f8E4M3FN or one of them and f8E5M2, or of
    TF32 that is not made of f32.
    """
    for one in reading.of(DOT):
        *operands, accumulated = _precisions(reading, one) or ("",)
        eights = [kind for kind in operands if kind.startswith("f8")]
        refused = bool(eights) and ("f8E4M3FN_v1" not in eights or bool({*eights} - _MULTIPLIED))
        taken = {reading.element(type_) for type_ in one.operand_types or () if type_ is not None}
        if refused or accumulated in SIXTEEN_BITS or (_TF32 in operands and taken != {_F32}):
            return True
    return False


def _convolves_what_cudnn_lacks(reading: Reading) -> bool | None:
    """Find perhaps a convolution of a type that cuDNN has none of; one that is a product has."""
    of = (type_ for one in reading.of(*CONVOLUTIONS) for type_ in one.operand_types or ())
    elements = {reading.element(type_) for type_ in of if type_ is not None}
    return None if elements - _CONVOLVED else False


def _rounds_operands(reading: Reading) -> bool:
    """Find a product of f32, or of complex numbers of it, that is not of the highest precision."""
    return any(
        _F32 in {reading.part(type_) for type_ in one.operand_types or () if type_ is not None}
        and not _is_highest(reading, one)
        for one in reading.of(*_PRODUCTS)
    )


def _is_highest(reading: Reading, one: OpSignature) -> bool:
    """Say whether a product is requested at the highest precision of both operands."""
    asked = reading.value(one, "precision_config").get("elements")
    if not isinstance(asked, list) or len(asked) != len(_SIDES):
        return False
    return all(reading.case_at(index) == "HIGHEST" for index in asked)


def _convolves_bytes(reading: Reading) -> bool:
    """Find a convolution to i8."""
    of = reading.of(*CONVOLUTIONS)
    return any(reading.element(result) == _I8 for one in of for result in one.results)


def _contracts_bytes(reading: Reading) -> bool | None:
    """Find a product of i8 to i32 over no multiple of four elements; perhaps where it is open."""
    perhaps = False
    for one in reading.of(*DOTS):
        operand = (one.operand_types or (None,))[0]
        if operand is None or reading.element(operand) != _I8:
            continue
        if "i32_v1" in map(reading.element, one.results):
            sizes = reading.dimensions(operand)
            if sizes is None:
                perhaps = True
            elif left_and_contracted(reading, one, "lhs", sizes)[1] % _WORD:
                return True
    return None if perhaps else False


def _multiplies_what_slides(reading: Reading) -> bool | None:
    """Find perhaps a product of f32 that are computed from what a window gives at each place.

    IREE computes both in one loop, and for some sizes writes its result from the wrong one.
    """
    if reading.is_large:
        return None
    flow = reading.flow
    made = {
        (visit.number, at)
        for visit in reading.walk.of(_SLIDING)
        for at, type_ in enumerate(visit.operation.results)
        if reading.element(type_) == _F32
    }
    near = flow.reached(made, lambda _: True, {*reading.kinds} - _BETWEEN)
    products = reading.walk.of(CONTRACTING) if made else ()
    return None if any(one in near for visit in products for one in flow.operands(visit)) else False


_ALGORITHM = (ops(DOT),)


def _takes_a_product_of_booleans(reading: Reading) -> bool | None:
    """Find an op that takes a product of matrices of booleans, whatever else takes it.

    IREE adds up modulo 2 where an op takes the sum with it. Perhaps it is a convolution.
    """
    made = {
        (visit.number, 0): visit.name in CONTRACTING
        for visit in reading.walk.of([*CONTRACTING, *CONVOLUTIONS])
        if reading.element(reading.result(visit.operation)) == _BOOLEAN
    }
    if not made:
        return False
    taken = {
        source
        for visit in reading.walk
        if visit.name != _RETURN
        for source in visit.sources
        if source in made
    }
    return True if any(made[one] for one in taken) else None if taken else False


PRODUCTS: dict[str, FormRule] = {
    "dot_general with an algorithm that CUDA does not have": FormRule(
        _asks_cublas_for_too_much, _ALGORITHM
    ),
    # Of a vector, and where it is put together with others, it may be computed as it is.
    "product of f32 that is not of the highest precision": weaken(
        FormRule(_rounds_operands, (types([_F32]), ops(*_PRODUCTS)))
    ),
    "dot_general of i8 to i32 over no multiple of four": FormRule(
        _contracts_bytes, (types([_I8]), types(["i32_v1"]), ops(*DOTS))
    ),
    "convolution of numbers that cuDNN does not convolve": FormRule(
        _convolves_what_cudnn_lacks, (ops(*CONVOLUTIONS),)
    ),
    # Where nothing overflows nothing saturates.
    "convolution to i8": weaken(FormRule(_convolves_bytes, (types([_I8]), ops(*CONVOLUTIONS)))),
    "dot_general with an algorithm and batching dimensions": FormRule(_in_batches, _ALGORITHM),
    "product of a vector and a matrix of booleans": FormRule(
        _multiplies_a_vector_of_booleans, (types([_BOOLEAN]), ops(*CONTRACTING))
    ),
    "product over a dimension without elements": FormRule(_contracts_nothing, (ops(*CONTRACTING),)),
    "product of what is computed from a convolution or windows": FormRule(
        _multiplies_what_slides, (ops(*_SLIDING), ops(*CONTRACTING)), across=True
    ),
    "dot_general with an algorithm of two sizes that are 1": FormRule(
        _multiplies_by_one_number(_OTHER), _ALGORITHM
    ),
    "dot_general by bf16_bf16_f32 of two sizes that are 1": FormRule(
        _multiplies_by_one_number(_ONE_PRODUCT), _ALGORITHM
    ),
    "dot_general with an algorithm over one element": FormRule(_contracts_one_element, _ALGORITHM),
    "dot_general with an algorithm of a vector and a computed matrix": FormRule(
        _multiplies_a_computed_matrix, _ALGORITHM
    ),
    "dot_general with an algorithm of a vector and a transposed matrix": FormRule(
        _multiplies_a_turned_matrix(_OTHER), _ALGORITHM
    ),
    "dot_general by bf16_bf16_f32 of a vector and a transposed matrix": FormRule(
        _multiplies_a_turned_matrix(_ONE_PRODUCT), _ALGORITHM
    ),
    "product of booleans that an op takes": FormRule(
        _takes_a_product_of_booleans,
        (ops(*CONTRACTING, *CONVOLUTIONS), types([_BOOLEAN])),
        across=True,
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
