func.func @main(%a: tensor<2x3xf32>) -> (tensor<2x4x3xf32>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}
