func.func @main(%a: tensor<3x8xf32>) -> (tensor<3x5xcomplex<f32>>) {
  %0 = stablehlo.fft %a, type = RFFT, length = [8] : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
  return %0 : tensor<3x5xcomplex<f32>>
}
