func.func @main(%a: tensor<3xf32>, %b: tensor<2xi32>) -> (tensor<3xf32>, tensor<2xi32>) {
  %0:2 = stablehlo.optimization_barrier %a, %b : tensor<3xf32>, tensor<2xi32>
  return %0#0, %0#1 : tensor<3xf32>, tensor<2xi32>
}
