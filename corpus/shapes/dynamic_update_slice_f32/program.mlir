func.func @main(%a: tensor<4x4xf32>, %u: tensor<2x2xf32>, %i: tensor<i32>) -> (tensor<4x4xf32>) {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
