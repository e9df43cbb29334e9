func.func @main(%a: tensor<3x3xf32>) -> (tensor<3x3xf32>) {
  %0 = stablehlo.cholesky %a, lower = false : tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
