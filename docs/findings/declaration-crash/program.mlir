func.func private @unused(tensor<f32>) -> tensor<f32>

func.func @main(%a: tensor<f32>) -> tensor<f32> {
  return %a : tensor<f32>
}
