func.func @main(%a: tensor<2x3xf32>) -> (tensor<4x2x3xf32>) {
  %0 = stablehlo.broadcast %a, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}
