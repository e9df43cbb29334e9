func.func @main(%a: tensor<4xf32>) -> tensor<4xi1> {
  %powers = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E8M0FNU>
  %equal = stablehlo.compare EQ, %powers, %powers : (tensor<4xf8E8M0FNU>, tensor<4xf8E8M0FNU>) -> tensor<4xi1>
  return %equal : tensor<4xi1>
}
