func.func @main(%p: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %v = stablehlo.iota dim = 0 : tensor<4xf32>
  %u = stablehlo.dynamic_update_slice %v, %p, %one : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
  return %v, %u : tensor<4xf32>, tensor<4xf32>
}
