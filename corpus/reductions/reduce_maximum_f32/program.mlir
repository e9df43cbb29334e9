func.func @main(%a: tensor<4x5xf32>, %i: tensor<f32>) -> (tensor<4xf32>) {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
