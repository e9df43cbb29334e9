func.func @main(%a: tensor<2x3xf32>, %v: tensor<f32>) -> (tensor<4x6xf32>) {
  %0 = stablehlo.pad %a, %v, low = [1, 0], high = [0, 1], interior = [1, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
