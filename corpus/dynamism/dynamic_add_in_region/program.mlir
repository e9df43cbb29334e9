func.func @main(%a: tensor<?xf32>, %i: tensor<f32>) -> (tensor<f32>) {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
