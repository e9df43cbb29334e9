func.func @main(%a: tensor<300xf32>, %u: tensor<2xf32>) -> (tensor<300xf32>) {
  %i = stablehlo.constant dense<64> : tensor<i8>
  %j = stablehlo.optimization_barrier %i : tensor<i8>
  %0 = stablehlo.dynamic_update_slice %a, %u, %j : (tensor<300xf32>, tensor<2xf32>, tensor<i8>) -> tensor<300xf32>
  return %0 : tensor<300xf32>
}
