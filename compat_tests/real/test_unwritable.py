"""What no portable artifact can hold is named: the op, the attribute or type, where, what to do."""

from __future__ import annotations

import pytest

import portable
from portable.bindings import LibraryError, find

# Attributes of MLIR and StableHLO, one or more of each kind that its parser knows, and types.
ATTRIBUTES = """
unit; true; 7 : i4; 1 : i7; 1 : i8; 1 : i32; 1 : i64; 1 : i128; 1 : si8; 1 : ui8; 1 : si32
1 : index; 1.0 : f16; 1.0 : f32; 1.0 : f64; 1.0 : bf16; 1.0 : f80; 1.0 : f128; 1.0 : tf32
1.0 : f8E4M3FN; "s"; "s" : i32; []; [1]; [unit]; [[array<i32: 1>]]; {}; {a = 1}; {a = unit}
{a = {b = array<i32: 1>}}; dense<1> : tensor<2xi32>; dense<1> : tensor<2xi7>
dense<1> : vector<2xi32>; dense<1.0> : tensor<1xf80>; dense<true> : tensor<9xi1>
dense<(1.0, 1.0)> : tensor<1xcomplex<f32>>; sparse<0, 1> : tensor<2xi32>; @f; @f::@g
dense_resource<x> : tensor<2xi32>
affine_map<(d) -> (d)>; affine_set<(d) : (d >= 0)>; strided<[1]>; distinct[0]<1>
array<i1: true>; array<i8: 1>; array<i16: 1>; array<i32: 1, 2>; array<i64: 1>; array<f32: 1.0>
array<f64: 1.0>; array<i32>; #vhlo.bool_v1<true>; #stablehlo.channel_handle<handle = 1, type = 1>
#stablehlo<precision HIGH>
"""
TYPES = """
i7; si8; ui8; i128; f32; f80; f128; tf32; index; none; complex<f32>; tensor<3xi7>; tensor<3xsi8>
tensor<3xf80>; tensor<3xindex>; tensor<*xf32>; tensor<3xf32, 1 : i32>; vector<3xf32>; memref<3xf32>
memref<3xf32, 1>; tuple<f32>; tuple<i7>; () -> (); !stablehlo.token; tensor<3xvector<2xf32>>
"""
IN_MAIN = "func.func @main(%a: tensor<f32>) -> tensor<f32> {{\n%0 = stablehlo.custom_call @f(%a) "
PROGRAMS = {
    "a discardable attribute": "{{x.probe = {}}}",
    "in a configuration": "{{backend_config = {{dims = {}}}, api_version = 4 : i32}}",
    "deep in a configuration": "{{backend_config = {{d = [{{e = {}}}]}}, api_version = 4 : i32}}",
}
PARTS = {
    "a discardable attribute": "x.probe",
    "in a configuration": "backend_config.dims",
    "deep in a configuration": "backend_config.d[0].e",
}


def _listed(text: str) -> list[str]:
    return text.strip().replace("\n", "; ").split("; ")


def _refusal(text: str) -> LibraryError | None:
    """Return why libStablehlo refuses it, in the words of `serialize`; None where it does not."""
    library = find()
    context = library.context()
    try:
        module = library.parse(text, context)
    except LibraryError:
        pytest.skip("no program")
    try:
        library.serialize(module, library.current.target)
    except LibraryError:
        with pytest.raises(LibraryError) as caught:
            portable.serialize(text, "current")
        return caught.value
    portable.serialize(text, "current")
    return None


@pytest.mark.parametrize("attribute", _listed(ATTRIBUTES))
@pytest.mark.parametrize("where", PROGRAMS)
def test_an_attribute_without_a_form_is_named(where: str, attribute: str) -> None:
    """Whatever attribute the serializer refuses: op, attribute and line, not only the op."""
    body = (
        IN_MAIN + PROGRAMS[where] + " : (tensor<f32>) -> tensor<f32>\nreturn %0 : tensor<f32>\n}}"
    )
    error = _refusal(body.format(attribute))
    if error is None:
        return
    assert "op stablehlo.custom_call cannot be written" in error.what
    assert PARTS[where] in error.what
    assert (error.where or "").endswith(":2:6")
    assert error.hint
    assert "legalize" not in str(error)


def test_an_attribute_that_the_bindings_cannot_show_ends_in_words_too() -> None:
    """They know no location as an attribute: the op is named, and its line."""
    body = IN_MAIN + PROGRAMS["in a configuration"]
    body += " : (tensor<f32>) -> tensor<f32>\nreturn %0 : tensor<f32>\n}}"
    error = _refusal(body.format("loc(unknown)"))
    assert error is not None
    assert error.what.startswith("op stablehlo.custom_call cannot be written")


def test_most_kinds_are_refused() -> None:
    """The list above is not empty of what matters: `array<i32>` is refused, `array<i64>` is not."""
    body = IN_MAIN + PROGRAMS["in a configuration"]
    body += " : (tensor<f32>) -> tensor<f32>\nreturn %0 : tensor<f32>\n}}"
    error = _refusal(body.format("array<i32: 1, 2>"))
    assert error is not None
    assert "backend_config.dims = array<i32: 1, 2>" in error.what
    assert "array<i64: ...>" in (error.hint or "")
    assert _refusal(body.format("array<i64: 1, 2>")) is None


@pytest.mark.parametrize("kind", _listed(TYPES))
@pytest.mark.parametrize("place", ["argument", "operand", "inner"])
def test_a_type_without_a_form_is_named(kind: str, place: str) -> None:
    """Of a function, of an op, and of the values in a region."""
    call = "%0 = stablehlo.custom_call @f() : () -> TYPE"
    text = {
        "argument": "func.func @main(%a: TYPE) {\nreturn\n}",
        "operand": f"func.func @main() {{\n{call}\nreturn\n}}",
        "inner": 'func.func @main(%p: tensor<i1>) {\n"stablehlo.if"(%p) ({\n'
        + call
        + "\n stablehlo.return\n}, {\n stablehlo.return\n}) : (tensor<i1>) -> ()\nreturn\n}",
    }[place].replace("TYPE", kind)
    error = _refusal(text)
    if error is None:
        return
    assert "cannot be written into a portable artifact: type of " in error.what
    assert error.where
    assert "legalize" not in str(error)


@pytest.mark.parametrize(
    "body",
    [
        "%0 = func.constant @main : (tensor<f32>) -> ()",
        "%0 = builtin.unrealized_conversion_cast %a : tensor<f32> to tensor<1xf32>",
        "builtin.module {}",
    ],
)
def test_an_op_without_a_form_is_named(body: str) -> None:
    """An op of a dialect that artifacts have otherwise."""
    error = _refusal(f"func.func @main(%a: tensor<f32>) {{\n{body}\nreturn\n}}")
    if error is None:
        return
    assert "op " in error.what
    assert "cannot be written into a portable artifact" in error.what
