func.func @main(%a: tensor<4xf32>, %i: tensor<f32>) -> (tensor<4xf32>) {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
