func.func @main(%a: tensor<4xf32>, %p: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %v = stablehlo.abs %a : tensor<4xf32>
  %u = stablehlo.dynamic_update_slice %v, %p, %one : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
  %c = stablehlo.abs %b : tensor<3xf32>
  return %v, %u, %c : tensor<4xf32>, tensor<4xf32>, tensor<3xf32>
}
