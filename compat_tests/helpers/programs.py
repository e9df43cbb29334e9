"""Programs that more than one room of tests executes, as MLIR text."""

__all__ = ["DYNAMIC", "ENDLESS", "MOVED"]

# Values are moved and nothing is computed: every element type can do that. Wants a `type`.
MOVED = """
func.func @main(%x: tensor<2x3x{type}>, %y: tensor<2x3x{type}>, %z: tensor<{type}>)
    -> (tensor<2x6x{type}>, tensor<3x2x{type}>, tensor<{type}>) {{
  %long = stablehlo.concatenate %x, %y, dim = 1
    : (tensor<2x3x{type}>, tensor<2x3x{type}>) -> tensor<2x6x{type}>
  %turned = stablehlo.transpose %y, dims = [1, 0] : (tensor<2x3x{type}>) -> tensor<3x2x{type}>
  return %long, %turned, %z : tensor<2x6x{type}>, tensor<3x2x{type}>, tensor<{type}>
}}
"""
DYNAMIC = """
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %sum = stablehlo.add %x, %x : tensor<?x3xf32>
  return %sum : tensor<?x3xf32>
}
"""
ENDLESS = """
func.func @main() -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.while(%i = %zero) : tensor<i32>
  cond { %yes = stablehlo.constant dense<true> : tensor<i1>
         stablehlo.return %yes : tensor<i1> }
  do { %next = stablehlo.add %i, %i : tensor<i32>
       stablehlo.return %next : tensor<i32> }
  return %end : tensor<i32>
}
"""
