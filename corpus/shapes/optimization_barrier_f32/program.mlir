func.func @main(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %0 = stablehlo.optimization_barrier %a : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
