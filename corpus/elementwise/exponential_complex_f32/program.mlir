func.func @main(%a: tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>) {
  %0 = stablehlo.exponential %a : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
