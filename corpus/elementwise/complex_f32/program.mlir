func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xcomplex<f32>>) {
  %0 = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
