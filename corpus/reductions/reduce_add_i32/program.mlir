func.func @main(%a: tensor<4x5xi32>, %i: tensor<i32>) -> (tensor<4xi32>) {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1] : (tensor<4x5xi32>, tensor<i32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
