func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %found = "stablehlo.dynamic_slice"(%a) <{slice_sizes = array<i64>}> : (tensor<f32>) -> tensor<f32>
  return %found : tensor<f32>
}
