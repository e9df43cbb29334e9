func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %powers = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E8M0FNU>
  %squares = stablehlo.multiply %powers, %powers : tensor<4xf8E8M0FNU>
  %found = stablehlo.convert %squares : (tensor<4xf8E8M0FNU>) -> tensor<4xf32>
  return %found : tensor<4xf32>
}
