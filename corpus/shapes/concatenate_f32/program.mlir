func.func @main(%a: tensor<2x3xf32>) -> (tensor<2x6xf32>) {
  %0 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}
