func.func @main(%a: tensor<4x4xf32>, %b: tensor<f32>) -> tensor<3x4xf32> {
  %0 = stablehlo.pad %a, %b, low = [-1, 0], high = [0, 0], interior = [0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
