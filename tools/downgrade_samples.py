"""One program for each way to reach an older Version, large enough to time."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SAMPLES", "Sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """A program with Features that 0.9.0 lacks.

    Args:
        name: What it shows.
        features: The Features it stands for.
        program: MLIR text.
        allow: The rewrites that take it to 0.9.0; none where the expander does.
        runs: Whether XLA CPU executes it as it is.
        types: What the arguments become before it is executed, where their sizes are unknown.
        beside: What its time is compared with where it does not run as it is: the nearest program
            that does.
    """

    name: str
    features: tuple[str, ...]
    program: str
    allow: tuple[str, ...] = ()
    runs: bool = True
    types: str = ""
    beside: str = ""


_BIG = "tensor<262144xf32>"
_ACCURACY = (
    "result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>"
)
_FUNCTIONS = (
    "cbrt",
    "cosine",
    "exponential_minus_one",
    "log",
    "log_plus_one",
    "logistic",
    "rsqrt",
    "sine",
    "sqrt",
    "tan",
    "tanh",
    "exponential",
)


def _unary(op: str, attributes: str = "") -> str:
    return f"""
    func.func @main(%a: {_BIG}) -> {_BIG} {{
      %0 = "stablehlo.{op}"(%a) {{{attributes}}} : ({_BIG}) -> {_BIG}
      return %0 : {_BIG}
    }}"""


def _accuracy(op: str) -> Sample:
    forms: tuple[str, ...] = (f"{op}_v2",)
    if op == "exponential":
        forms += ("result_accuracy_v1", "result_accuracy_mode_v1")
    return Sample(f"accuracy of {op}", forms, _unary(op, _ACCURACY), ("drop-result-accuracy",))


def _sum(kind: str) -> str:
    return f"""({{
      ^bb0(%x: tensor<{kind}>, %y: tensor<{kind}>):
        %s = stablehlo.add %x, %y : tensor<{kind}>
        stablehlo.return %s : tensor<{kind}>
      }})"""


_COMPOSITE = f"""
func.func private @impl(%a: {_BIG}) -> {_BIG} {{
  %0 = stablehlo.tanh %a : {_BIG}
  %1 = stablehlo.multiply %0, %a : {_BIG}
  return %1 : {_BIG}
}}
func.func @main(%a: {_BIG}) -> {_BIG} {{
  %0 = stablehlo.composite "my.op" %a {{decomposition = @impl}} : ({_BIG}) -> {_BIG}
  return %0 : {_BIG}
}}"""

_DOT = """
func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <
    lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32,
    lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,
    allow_imprecise_accumulation = false>
    : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}"""

_QUANTIZED = """
func.func @main(%a: tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32:0, {2.0:1, 3.0:-2}>> {
  %0 = stablehlo.uniform_quantize %a
    : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32:0, {2.0:1, 3.0:-2}>>
  return %0 : tensor<2x4x!quant.uniform<i8:f32:0, {2.0:1, 3.0:-2}>>
}"""
_GATHER = """
func.func @main(%a: tensor<{b}x1024xf32>, %i: tensor<{b}x256x1xi32>) -> tensor<{b}x256xf32> {{
  %0 = "stablehlo.gather"(%a, %i) {{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0],
    start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}}
    : (tensor<{b}x1024xf32>, tensor<{b}x256x1xi32>) -> tensor<{b}x256xf32>
  return %0 : tensor<{b}x256xf32>
}}"""

_DYNAMIC_GATHER = """
func.func @main(%a: tensor<?x1024xf32>, %i: tensor<?x256x1xi32>) -> tensor<?x256xf32> {
  %s = stablehlo.constant dense<1> : tensor<2xi32>
  %0 = "stablehlo.dynamic_gather"(%a, %i, %s) {dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0],
    start_index_map = [1], index_vector_dim = 2>}
    : (tensor<?x1024xf32>, tensor<?x256x1xi32>, tensor<2xi32>) -> tensor<?x256xf32>
  return %0 : tensor<?x256xf32>
}"""

_SCATTER = f"""
func.func @main(%a: tensor<256x1024xf32>, %i: tensor<256x256x1xi32>, %u: tensor<256x256xf32>)
    -> tensor<256x1024xf32> {{
  %0 = "stablehlo.scatter"(%a, %i, %u) {_sum("f32")} {{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0],
      scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}}
    : (tensor<256x1024xf32>, tensor<256x256x1xi32>, tensor<256x256xf32>) -> tensor<256x1024xf32>
  return %0 : tensor<256x1024xf32>
}}"""

_ONE_GROUP = "replica_groups = dense<0> : tensor<1x1xi64>"


def _two(op: str, body: str) -> str:
    return f"""
    func.func @main(%a: {_BIG}, %b: {_BIG}) -> ({_BIG}, {_BIG}) {{
      %0:2 = "stablehlo.{op}"(%a, %b) {body} : ({_BIG}, {_BIG}) -> ({_BIG}, {_BIG})
      return %0#0, %0#1 : {_BIG}, {_BIG}
    }}"""


_ASYNC = f"""
func.func @main(%a: {_BIG}) -> {_BIG} {{
  %0 = "stablehlo.async_start"(%a) ({{
  ^bb0(%b: {_BIG}):
    %g = "stablehlo.all_reduce"(%b) {_sum("f32")} {{{_ONE_GROUP}}} : ({_BIG}) -> {_BIG}
    stablehlo.return %g : {_BIG}
  }}) : ({_BIG}) -> !stablehlo.future<{_BIG}>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<{_BIG}>) -> {_BIG}
  return %1 : {_BIG}
}}"""

_MESH = f"""
sdy.mesh @mesh = <["x"=1]>
func.func @main(%a: {_BIG}) -> {_BIG} {{
  %0 = "stablehlo.all_reduce"(%a) {_sum("f32")} {{
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh,
      axes = [#stablehlo.axis_ref<name = "x">]>}} : ({_BIG}) -> {_BIG}
  return %0 : {_BIG}
}}"""


_SHARDED = f"""
sdy.mesh @mesh = <["x"=1]>
func.func @main(%a: {_BIG} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) -> {_BIG} {{
  %0 = stablehlo.tanh %a : {_BIG}
  %1 = sdy.sharding_constraint %0 <@mesh, [{{}}]> : {_BIG}
  return %1 : {_BIG}
}}"""


def _reduced(kind: str) -> str:
    return f"""
    func.func @main(%a: tensor<1024x1024xf32>, %i: tensor<f32>) -> tensor<1024x{kind}> {{
      %0 = "stablehlo.reduce"(%a, %i) {_sum(kind)} {{dimensions = array<i64: 1>}}
        : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024x{kind}>
      return %0 : tensor<1024x{kind}>
    }}"""


_BROADCAST = f"""
func.func @main(%a: {_BIG}) -> {_BIG} {{
  %0 = "stablehlo.collective_broadcast"(%a) {{{_ONE_GROUP}}} : ({_BIG}) -> {_BIG}
  return %0 : {_BIG}
}}"""

_RANGE = _unary("tanh").replace(
    f"-> {_BIG}\n      return", f'-> {_BIG} loc("model.py":1:2 to :8)\n      return'
)

_IOTA = ("batching-dims-to-iota",)
_TYPES = "tensor<256x1024xf32>,tensor<256x256x1xi32>"

SAMPLES = (
    *map(_accuracy, _FUNCTIONS),
    Sample("tan", ("tan_v1",), _unary("tan")),
    Sample(
        "quantized by one scale for each slice",
        ("quant_per_axis_v1",),
        _QUANTIZED,
        ("quantized-to-arithmetic",),
        runs=False,
    ),
    Sample("composite", ("composite_v1", "composite_v2"), _COMPOSITE, ("composites-to-calls",)),
    Sample(
        "dot algorithm",
        (
            "dot_general_v2",
            "none_v1",
            "tf31_v1",
            "dot_algorithm_f8E4M3FN",
            "dot_algorithm_f8E4M3FN_operations",
        ),
        _DOT,
        ("drop-dot-algorithm",),
    ),
    Sample("gather with a batch", ("gather_v2",), _GATHER.format(b=256)),
    Sample(
        "gather with a batch of unknown size",
        ("dynamic_gather_v2",),
        _DYNAMIC_GATHER,
        _IOTA,
        types=_TYPES,
    ),
    Sample("scatter with a batch", ("scatter_v2",), _SCATTER),
    Sample(
        "all_reduce of two",
        ("all_reduce_v2",),
        _two("all_reduce", f"{_sum('f32')} {{{_ONE_GROUP}}}"),
        ("split-collectives",),
    ),
    Sample(
        "all_gather of two",
        ("all_gather_v2",),
        _two("all_gather", f"{{{_ONE_GROUP}, all_gather_dim = 0 : i64}}"),
        ("split-collectives",),
    ),
    Sample(
        "asynchronous all_reduce",
        ("async_start_v1", "async_done_v1", "future_v1"),
        _ASYNC,
        ("async-to-sync",),
    ),
    Sample(
        "mesh by name",
        (
            "axis_ref_v1",
            "mesh_axis_v1",
            "mesh_v1",
            "replica_group_mesh_axes_v1",
            "sub_axis_info_v1",
        ),
        _MESH,
        ("mesh-names-to-meshes",),
    ),
    Sample("sharding", ("sdy",), _SHARDED, ("drop-sharding",)),
    Sample(
        "promoting reduction",
        ("reduction_promotes",),
        _reduced("f64"),
        ("promotions-to-converts",),
        runs=False,
        beside=_reduced("f32"),
    ),
    Sample(
        "broadcast",
        ("collective_broadcast_v1",),
        _BROADCAST,
        ("broadcasts-to-permutes",),
        runs=False,
    ),
    Sample("range of lines", ("location_file_line_col_range",), _RANGE),
)
