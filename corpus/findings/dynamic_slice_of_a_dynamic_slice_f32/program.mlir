func.func @main(%a: tensor<10xf32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<1xf32>) {
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [4] : (tensor<10xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = stablehlo.dynamic_slice %0, %j, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}
