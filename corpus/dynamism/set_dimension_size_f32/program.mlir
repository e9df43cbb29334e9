func.func @main(%a: tensor<4xf32>, %n: tensor<i32>) -> (tensor<?xf32, #stablehlo.bounds<4>>) {
  %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  return %0 : tensor<?xf32, #stablehlo.bounds<4>>
}
